//! Compiles the timing driver that ringforge's own candidates use, so that everything is
//! measured by the same code.

fn main() {
    let driver = "../../crates/toolchain/src/driver/timing.c";
    println!("cargo:rerun-if-changed={driver}");
    cc::Build::new().file(driver).compile("timing");
}
