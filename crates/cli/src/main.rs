//! The `ringforge` command.
//!
//! Exit status: 0 proved (or done), 1 refuted, unknown or failed, 2 bad usage or input, 128 and a signal's number
//! where that ended it.

mod args;
mod bench;
mod chain;
mod check;
mod choose;
mod coverage;
mod dispatch;
mod entry;
mod explain;
mod forge;
mod library;
mod list;
mod make;
mod manual;
mod map;
mod modelled;
mod mutate;
mod objects;
mod package;
mod peers;
mod picture;
mod placement;
mod plans;
mod preset;
mod primitives;
mod project;
mod proof;
mod prove;
mod recheck;
mod report;
mod rival;
mod safety;
mod schoolbook;
mod search;
mod signals;
mod size;
mod summary;
mod target;
mod trial;
mod ui;
mod untried;
mod verdict;
mod verify;
mod views;
mod widen;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Cli, Command};
use ui::{Failure, Ui};

/// A proof makes many small terms: with this allocator it takes some 10 % less time than with the C library's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of `mi_option_purge_delay`: milliseconds until memory that was freed goes back to the system.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// A proof makes large tables by the hundred, and frees each before the next. By default, freed
/// memory goes back to the system after 10 ms. The system would then hand it out, and clear it,
/// again, which takes up to a third of a proof's time.
fn keep_freed_memory() {
    // A number is set, which any thread may do; what the environment says of it stays.
    #[allow(unsafe_code)]
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, 1000);
    }
}

fn main() -> ExitCode {
    // A shell that wants completions sets COMPLETE and calls this command.
    clap_complete::CompleteEnv::with_factory(Cli::command).complete();
    keep_freed_memory();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => {
            // Help and the version go to standard output, which may be full.
            if let Err(error) = answer.print() {
                ui::lost(&error);
            }
            return ui::status(u8::try_from(answer.exit_code()).unwrap_or(2));
        }
    };
    let ui = Ui { json: cli.json, quiet: cli.quiet };
    if let Err(error) = signals::watch() {
        ui.fail(&Failure::failed(format!("cannot catch interrupts: {error}")));
        return ExitCode::from(1);
    }
    if let Err(failure) = believable(&cli.command) {
        ui.fail(&failure);
        return ui::status(failure.status);
    }
    let done = match &cli.command {
        Command::List => list::run(&ui),
        Command::Completions { shell } => completions(*shell),
        Command::Manual { out } => manual::run(&ui, out),
        Command::Forge(args) => forge::run(&ui, args),
        Command::Package(args) => library::run(&ui, args),
        Command::Explain(args) => explain::run(&ui, args),
        Command::Bench(args) => bench::run(&ui, args),
        Command::Prove(args) => prove::run(&ui, args),
        Command::Recheck(args) => recheck::run(&ui, args),
        Command::Check(args) => check::run(&ui, args),
        Command::Search(args) => search::run(&ui, args),
        Command::Primitives(args) => primitives::run(&ui, args),
        Command::Mutate(args) => mutate::run(&ui, args),
    };
    signals::give_way();
    match done {
        Ok(status) => ui::status(status),
        Err(failure) => {
            ui.fail(&failure);
            ui::status(failure.status)
        }
    }
}

/// Prints the script by which a shell asks this command for completions.
fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let shells = clap_complete::env::Shells::builtins();
    let name = shell.to_string();
    let asked = shells.completer(&name).ok_or_else(|| {
        let known: Vec<&str> = shells.names().collect();
        Failure::input(ui::unknown("shell", &name, &known))
    })?;
    let mut script = Vec::new();
    asked
        .write_registration("COMPLETE", "ringforge", "ringforge", "ringforge", &mut script)
        .map_err(|error| Failure::failed(format!("cannot write completions: {error}")))?;
    ui::write(&script);
    Ok(0)
}

/// A command that says `proved` needs a kernel compiled with overflow checks; others do not.
fn believable(command: &Command) -> Result<(), Failure> {
    let proves = matches!(
        command,
        Command::Forge(_)
            | Command::Package(_)
            | Command::Prove(_)
            | Command::Recheck(_)
            | Command::Mutate(_)
    );
    if !proves {
        return Ok(());
    }
    // The question is a panic, which is to be silent. There are no other threads yet that could have one.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let checked = ringforge_kernel::overflow_is_a_panic();
    std::panic::set_hook(hook);
    if checked {
        return Ok(());
    }
    Err(Failure::failed(
        "this ringforge was built without checks of overflow in its kernel, so nothing that it accepts could be \
         believed; build it in its repository, or with `cargo install ringforge --locked --config \
         profile.release.package.ringforge-kernel.overflow-checks=true`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options have numbers only: this one's default is known, and the environment may set it.
    #[test]
    fn freed_memory_is_kept_for_a_second() {
        #[allow(unsafe_code)] // a number is read
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        if std::env::var_os("MIMALLOC_PURGE_DELAY").is_none() {
            assert_eq!(delay(), 10);
            keep_freed_memory();
            assert_eq!(delay(), 1000);
        }
    }
}
