//! What ends the process from outside: Ctrl-C, `kill`, a closed terminal.

use std::io;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// When a signal came. The signal ends the process, whatever the main thread does about compilers
/// that were killed.
static CAME: OnceLock<Instant> = OnceLock::new();

/// What a command has to say before it is ended.
type LastWords = Box<dyn FnOnce() + Send>;
static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

/// When a signal came, if one did. What is found out after this may come from a compiler or an
/// emulator that was killed.
pub fn came() -> Option<Instant> {
    CAME.get().copied()
}

/// If a signal ends the process, `words` runs first, once compilers and emulators are stopped. A
/// later call replaces an earlier one.
pub fn before_the_end(words: LastWords) {
    if let Ok(mut last) = LAST_WORDS.lock() {
        *last = Some(words);
    }
}

/// The command has come to its own end: `before_the_end` no longer holds.
pub fn no_last_words() {
    if let Ok(mut last) = LAST_WORDS.lock() {
        *last = None;
    }
}

/// Waits for the end, if a signal came. The main thread calls this before it ends the process in
/// its own way.
pub fn give_way() {
    while came().is_some() {
        std::thread::park();
    }
}

/// From now on, such a signal ends the programs that were started and removes what is unfinished.
/// Then it ends this process with 128 plus the signal's number, as shells report it. A signal that
/// was ignored when the process began (`nohup`, a background job of a script) stays ignored.
///
/// # Errors
/// The operating system refuses the handler.
pub fn watch() -> io::Result<()> {
    let ignored = ignored();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    let mut signals = Signals::new(heeded)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut arrivals = signals.forever();
        let Some(signal) = arrivals.next() else { return };
        CAME.get_or_init(Instant::now);
        ringforge_toolchain::stop_children();
        let words = LAST_WORDS.lock().ok().and_then(|mut last| last.take());
        if let Some(words) = words {
            let said = std::thread::Builder::new().spawn(move || {
                words();
                end(signal);
            });
            // What nobody reads is ended by a second signal.
            if said.is_ok() {
                arrivals.next();
            }
        }
        end(signal);
    })?;
    Ok(())
}

/// First stops those that write, then removes what they wrote: other threads may have started
/// something meanwhile.
fn end(signal: i32) -> ! {
    ringforge_toolchain::stop_children();
    ringforge_toolchain::remove_unfinished();
    std::process::exit(128 + signal)
}

/// The signals that are ignored, signal n as bit n - 1; none if the operating system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
