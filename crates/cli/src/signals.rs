//! What ends the process from outside: Ctrl-C, `kill`, a closed terminal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A signal came: the process ends by it, whatever the main thread makes of compilers that were killed.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Waits for the end, if a signal came; for the main thread, before it ends the process in its own way.
pub fn give_way() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// From now on such a signal ends the programs that were started and removes what is unfinished, and then ends this
/// process with 128 and its number, as shells say it. A signal that was ignored when the process began (`nohup`, a
/// job in the background of a script) stays ignored.
///
/// # Errors
/// The operating system refuses the handler.
pub fn watch() -> io::Result<()> {
    let ignored = ignored();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    let mut signals = Signals::new(heeded)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            ENDING.store(true, Ordering::SeqCst);
            // First who writes, then what was written.
            ringforge_toolchain::stop_children();
            ringforge_toolchain::remove_unfinished();
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// The signals that are ignored, signal n as bit n - 1; none where the kernel does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
