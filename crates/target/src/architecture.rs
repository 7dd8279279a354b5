//! Instruction sets: what objects are for, what compiles them and what runs them where the host is another.

/// What a core takes for executed instructions, in cycles: a line fitted to published figures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Core {
    /// Its name.
    pub name: &'static str,
    /// For a slot of the multiplier: a vector product of 128 bits takes two, one to words of twice the width takes
    /// one. Also the least that those slots take.
    pub multiply: f64,
    /// For another vector operation.
    pub other: f64,
    /// For a vector register that is loaded or stored.
    pub moved: f64,
}

/// An instruction set with its calling convention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Architecture {
    /// Its name, Rust's and the kernel's.
    pub name: &'static str,
    /// The calling convention, as contracts name it.
    pub abi: &'static str,
    /// Its Linux as compilers name it.
    pub triple: &'static str,
    /// The compiler that makes its objects on other machines.
    pub compiler: &'static str,
    /// The emulator of its programs.
    pub emulator: &'static str,
    /// Where the libraries of its programs are on other machines.
    pub root: &'static str,
    /// Debian's packages of the compiler and of the libraries.
    pub packages: &'static str,
    /// Debian's package of the emulator.
    pub emulator_package: &'static str,
    /// The core that executed instructions are reckoned for, where they can be counted.
    pub core: Option<Core>,
}

/// x86-64 under System V's convention.
pub const X86_64: Architecture = Architecture {
    name: "x86_64",
    abi: "sysv-x86-64",
    triple: "x86_64-linux-gnu",
    compiler: "x86_64-linux-gnu-gcc",
    emulator: "qemu-x86_64",
    root: "/usr/x86_64-linux-gnu",
    packages: "gcc-x86-64-linux-gnu libc6-dev-amd64-cross",
    emulator_package: "qemu-user",
    core: None,
};

/// AArch64 under its procedure call standard.
pub const AARCH64: Architecture = Architecture {
    name: "aarch64",
    abi: "aapcs64",
    triple: "aarch64-linux-gnu",
    compiler: "aarch64-linux-gnu-gcc",
    emulator: "qemu-aarch64",
    root: "/usr/aarch64-linux-gnu",
    packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    emulator_package: "qemu-user",
    // Fitted to 57 published figures of Neon code, 8.5 % rms, worst 20 %.
    core: Some(Core { name: "Cortex-A72", multiply: 1.12, other: 0.12, moved: 0.86 }),
};

/// All of them.
pub const ARCHITECTURES: [&Architecture; 2] = [&X86_64, &AARCH64];

impl Architecture {
    /// The one whose calling convention contracts call `abi`.
    pub fn of_abi(abi: &str) -> Option<&'static Architecture> {
        ARCHITECTURES.into_iter().find(|a| a.abi == abi)
    }

    /// The machine that this was compiled for.
    pub fn host() -> Option<&'static Architecture> {
        ARCHITECTURES.into_iter().find(|a| a.name == std::env::consts::ARCH)
    }

    /// Whether it is the machine that this was compiled for.
    pub fn is_host(&self) -> bool {
        self.name == std::env::consts::ARCH
    }
}
