//! How a built program is started: natively, or behind a command such as an emulator.

use std::path::Path;
use std::process::Command;

/// A command that stands in front of every program that is run, as Cargo's runners do:
/// empty for the own machine, `qemu-aarch64 -L /usr/aarch64-linux-gnu` for a foreign one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runner {
    prefix: Vec<String>,
}

impl Runner {
    /// Runs programs directly.
    pub fn native() -> Runner {
        Runner::default()
    }

    /// Splits `text` at spaces into the command and its first arguments.
    pub fn parse(text: &str) -> Runner {
        Runner { prefix: text.split_whitespace().map(str::to_owned).collect() }
    }

    /// Whether programs run directly on this machine.
    pub fn is_native(&self) -> bool {
        self.prefix.is_empty()
    }

    /// The command that starts `program`.
    pub fn command(&self, program: &Path) -> Command {
        match self.prefix.split_first() {
            None => Command::new(program),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_precedes_the_program() {
        let command = Runner::parse("qemu-aarch64 -L /sys-root").command(Path::new("/t/prog"));
        assert_eq!(command.get_program(), "qemu-aarch64");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-L", "/sys-root", "/t/prog"]);
        assert_eq!(Runner::native().command(Path::new("/t/prog")).get_program(), "/t/prog");
        assert!(Runner::parse("  ").is_native());
    }
}
