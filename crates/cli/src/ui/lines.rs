//! Progress without a terminal: in the logs of CI, of services and of `nohup`.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::TermLike;

/// From one line to the next; what takes less says nothing.
const PERIOD: Duration = Duration::from_secs(5);

/// Writes one line a [`PERIOD`] to standard error and lets the other drawings pass.
#[derive(Debug)]
pub struct Lines {
    last: Mutex<Instant>,
}

impl Lines {
    /// The first line comes after a whole period.
    pub fn new() -> Lines {
        Lines { last: Mutex::new(Instant::now()) }
    }

    fn is_due(&self) -> bool {
        // An instant is sound whatever the thread was doing that panicked.
        let mut last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        let due = last.elapsed() >= PERIOD;
        if due {
            *last = Instant::now();
        }
        due
    }
}

impl TermLike for Lines {
    fn width(&self) -> u16 {
        100
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.write_str(line)
    }

    /// A drawing is one string and empty ones around it.
    fn write_str(&self, text: &str) -> io::Result<()> {
        let text = text.trim();
        if text.is_empty() || !self.is_due() {
            return Ok(());
        }
        writeln!(io::stderr(), "{text}")
    }

    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
