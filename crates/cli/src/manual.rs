//! `ringforge manual`: pages for man(1), made of what `--help` says.

use std::path::Path;

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::ui::{Failure, Ui};

/// Writes a page for the command and one for each of its subcommands into `out`.
///
/// # Errors
/// A file cannot be written.
pub fn run(ui: &Ui, out: &str) -> Result<u8, Failure> {
    let mut command = Cli::command();
    command.build();
    let pages = std::iter::once(command.clone()).chain(command.get_subcommands().cloned());
    for page in pages.filter(|page| page.get_name() != "help") {
        let manual = clap_mangen::Man::new(page);
        let name = manual.get_filename();
        let mut text = Vec::new();
        manual
            .render(&mut text)
            .map_err(|e| Failure::failed(format!("cannot make {name}: {e}")))?;
        let path = Path::new(out).join(&name);
        ringforge_toolchain::replace_file(&path, text)
            .map_err(|e| Failure::failed(e.to_string()))?;
        ui.say(path.display().to_string());
    }
    Ok(0)
}
