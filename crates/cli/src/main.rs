//! The `ringforge` command.
//!
//! Exit status: 0 proved (or done), 1 refuted, unknown or failed, 2 bad usage or input, 128 and a signal's number
//! where that ended it.

mod args;
mod bench;
mod check;
mod choose;
mod entry;
mod explain;
mod forge;
mod glue;
mod lab;
mod library;
mod list;
mod make;
mod manual;
mod mutate;
mod package;
mod peers;
mod picture;
mod placement;
mod plans;
mod preset;
mod primitives;
mod proof;
mod prove;
mod recheck;
mod reckoned;
mod report;
mod safety;
mod search;
mod signals;
mod summary;
mod target;
mod ui;
mod verify;
mod views;
mod widen;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Cli, Command};
use ui::{Failure, Ui};

fn main() -> ExitCode {
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
    let done = match &cli.command {
        Command::List => list::run(&ui),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "ringforge", &mut script);
            ui::write(&script);
            Ok(0)
        }
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
    match done {
        Ok(status) => ui::status(status),
        Err(failure) => {
            ui.fail(&failure);
            ui::status(failure.status)
        }
    }
}
