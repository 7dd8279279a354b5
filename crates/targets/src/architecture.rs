//! Instruction sets: what objects are for, what compiles them and what runs them where the host is another.

/// A core for which cycles are estimated from executed instructions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Core {
    /// Its name.
    pub name: &'static str,
    /// What it takes for them.
    pub model: Model,
}

/// How cycles follow from executed instructions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Model {
    /// A line fitted to published figures.
    Slots {
        /// For a slot of the multiplier: a vector product of 128 bits takes two, one to words of twice the width takes
        /// one. Also the least that those slots take.
        multiply: f64,
        /// For another vector operation.
        other: f64,
        /// For a vector register that is loaded or stored.
        moved: f64,
    },
    /// One instruction after the other, each with its time.
    InOrder(InOrder),
}

/// Cycles of a core that executes in order, without waiting for memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InOrder {
    /// An operation on registers, products included; a branch that is not taken.
    pub plain: u64,
    /// A division, at most.
    pub divide: u64,
    /// A load that does not follow another.
    pub load: u64,
    /// A load that follows another, whose result is not its address.
    pub next_load: u64,
    /// A store.
    pub store: u64,
    /// What loads and stores of several registers take beside a cycle for each.
    pub several: u64,
    /// What follows a taken branch, beside the branch itself.
    pub taken: u64,
    /// More, where its target is not aligned to a word.
    pub crooked: u64,
    /// More, for an access that is not aligned to its size.
    pub unaligned: u64,
    /// More, for an address that the instruction before has computed.
    pub address: u64,
}

/// An instruction set with its calling convention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Architecture {
    /// Its name, Rust's and the kernel's where they run on it.
    pub name: &'static str,
    /// The calling convention, as contracts name it.
    pub abi: &'static str,
    /// Its Linux, or its lack of a system, as compilers name it.
    pub triple: &'static str,
    /// What compilers are always called with.
    pub arguments: &'static [&'static str],
    /// Whether it has no system: programs enter and leave by themselves, and only the compiler has their library.
    pub bare: bool,
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
    /// The core for which cycles are estimated, if instructions can be counted.
    pub core: Option<Core>,
}

/// x86-64 under System V's convention.
pub const X86_64: Architecture = Architecture {
    name: "x86_64",
    abi: "sysv-x86-64",
    triple: "x86_64-linux-gnu",
    arguments: &[],
    bare: false,
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
    arguments: &[],
    bare: false,
    compiler: "aarch64-linux-gnu-gcc",
    emulator: "qemu-aarch64",
    root: "/usr/aarch64-linux-gnu",
    packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    emulator_package: "qemu-user",
    // Fitted to 57 published figures of Neon code, 8.5 % rms, worst 20 %.
    core: Some(Core {
        name: "Cortex-A72",
        model: Model::Slots { multiply: 1.12, other: 0.12, moved: 0.86 },
    }),
};

/// Armv7E-M (Thumb with the DSP extension, as the Cortex-M4 has it) under Arm's 32-bit standard, all arguments in
/// core registers.
pub const ARMV7E_M: Architecture = Architecture {
    name: "armv7e-m",
    abi: "aapcs",
    triple: "thumbv7em-none-eabi",
    arguments: &["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft"],
    bare: true,
    compiler: "arm-none-eabi-gcc",
    emulator: "qemu-arm",
    root: "/usr/lib/arm-none-eabi",
    packages: "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    emulator_package: "qemu-user",
    // Technical Reference Manual, table 3-1 and section 3.3.3; 21 published figures within 1.9 %.
    core: Some(Core {
        name: "Cortex-M4",
        model: Model::InOrder(InOrder {
            plain: 1,
            divide: 12,
            load: 2,
            next_load: 1,
            store: 1,
            several: 1,
            taken: 2,
            crooked: 1,
            unaligned: 1,
            address: 1,
        }),
    }),
};

/// All of them.
pub const ARCHITECTURES: [&Architecture; 3] = [&X86_64, &AARCH64, &ARMV7E_M];

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
