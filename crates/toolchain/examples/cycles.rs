//! What a program for Cortex-M4 takes between the hints 48 and 49: executed instructions, and cycles of the model.
//!
//! `cargo run --release -p ringforge-toolchain --example cycles -- PROGRAM [ARGUMENT…]`

use std::process::{Command, ExitCode, Stdio};

use ringforge_targets::ARMV7E_M;
use ringforge_toolchain::count::{CountError, Counter, Counts};

fn counts() -> Result<Counts, CountError> {
    let counter = Counter::new()?;
    let mut command = Command::new(ARMV7E_M.emulator);
    command.args(std::env::args_os().skip(1)).stdout(Stdio::null());
    counter.watch(&mut command);
    match command.status() {
        Ok(status) if status.success() => counter.counts(ARMV7E_M.core.map(|core| core.model)),
        Ok(status) => Err(CountError::Silent(status.to_string())),
        Err(e) => Err(CountError::Silent(e.to_string())),
    }
}

fn main() -> ExitCode {
    match counts() {
        Ok(counts) => {
            println!("{} {}", counts.executed, counts.in_order.unwrap_or(0));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
