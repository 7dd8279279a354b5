//! The `ringforge` command.
//!
//! Exit status: 0 proved (or done), 1 refuted, unknown or failed, 2 bad usage or input.

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
mod summary;
mod target;
mod ui;
mod verify;
mod views;
mod widen;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use ui::{Failure, Ui};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let ui = Ui { json: cli.json, quiet: cli.quiet };
    // Without a handler an interrupt would leave the unfinished package behind.
    let handler = ctrlc::set_handler(|| {
        ringforge_toolchain::remove_unfinished();
        std::process::exit(130);
    });
    if let Err(error) = handler {
        ui.fail(&Failure::failed(format!("cannot catch interrupts: {error}")));
        return ExitCode::from(1);
    }
    let done = match &cli.command {
        Command::List => list::run(&ui),
        Command::Completions { shell } => {
            clap_complete::generate(
                *shell,
                &mut Cli::command(),
                "ringforge",
                &mut std::io::stdout(),
            );
            Ok(0)
        }
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
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            ui.fail(&failure);
            ExitCode::from(failure.status)
        }
    }
}
