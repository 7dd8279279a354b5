//! What a proof may take, and how that is watched.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Milliseconds between two looks at the memory: a look takes some 30 µs.
const PAUSE: u64 = 20;

/// The part of the machine's memory that is left to others.
const LEFT: u64 = 16;

/// Limits and level of detail.
#[derive(Clone, Debug)]
pub struct Options {
    /// Give up (unknown) after this time, also while executing.
    pub time_limit: Option<Duration>,
    /// Give up (unknown) when this process holds more than that many bytes. It does so as well when of the machine's
    /// memory, or of what its control group may hold, less than a sixteenth is left.
    pub memory_limit: u64,
    /// Instructions to execute at most in one call.
    pub max_steps: u64,
    /// Values of a variable to enumerate at most.
    pub max_points: u64,
    /// Enumeration work (points times operations) in all.
    pub max_work: u64,
    /// Whether the report carries the certificate's text (its digest is always there).
    pub certificate: bool,
    /// How long to look for inputs that show a failure.
    pub search: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            time_limit: Some(Duration::from_secs(2 * 3600)),
            memory_limit: 24 << 30,
            max_steps: 50_000_000,
            max_points: 1 << 28,
            max_work: 1 << 35,
            certificate: false,
            search: Duration::from_secs(5),
        }
    }
}

impl Options {
    /// The limit that is reached by what began then, if one is.
    pub fn reached(&self, started: Instant) -> Option<String> {
        if let Some(t) = self.time_limit.filter(|&t| started.elapsed() > t) {
            return Some(format!("the time limit of {:.0} s was reached", t.as_secs_f64()));
        }
        let memory = self.memory_limit;
        if resident().is_some_and(|bytes| bytes > memory) {
            return Some(format!("the memory limit of {} MB was reached", memory >> 20));
        }
        let short = |&(all, left): &(u64, u64)| left < all / LEFT;
        let (all, left) = [machine(), group()].into_iter().flatten().find(short)?;
        Some(format!("of {} MB of memory {} are left, less than a {LEFT}th", all >> 20, left >> 20))
    }
}

/// The number of kilobytes after a name, from a file of such lines, in bytes.
fn bytes_of(file: &str, name: &str) -> Option<u64> {
    let line = file.lines().find_map(|l| l.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// Bytes of memory that this process holds, where the system says so.
fn resident() -> Option<u64> {
    bytes_of(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Bytes of memory that the machine has, and that may still be asked for.
fn machine() -> Option<(u64, u64)> {
    let file = std::fs::read_to_string("/proc/meminfo").ok()?;
    Some((bytes_of(&file, "MemTotal:")?, bytes_of(&file, "MemAvailable:")?))
}

/// The same for the control group, if it has a limit. Files in its memory do not count, because
/// they are dropped when memory is needed.
fn group() -> Option<(u64, u64)> {
    let read = |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/memory.{name}")).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let files = || {
        let stat = read("stat")?;
        stat.lines().find_map(|l| l.strip_prefix("file "))?.trim().parse::<u64>().ok()
    };
    let all = number("max")?;
    let held = number("current")?.saturating_sub(files().unwrap_or(0));
    Some((all, all.saturating_sub(held)))
}

/// Looks at the limits now and then, from any thread, and keeps the first that was reached.
#[derive(Debug)]
pub(crate) struct Watch {
    options: Options,
    started: Instant,
    /// Milliseconds from the start to the next look.
    next: AtomicU64,
    reached: OnceLock<String>,
}

impl Watch {
    pub fn new(options: &Options, started: Instant) -> Watch {
        Watch {
            options: options.clone(),
            started,
            next: AtomicU64::new(0),
            reached: OnceLock::new(),
        }
    }

    /// Whether no limit is reached.
    pub fn goes_on(&self) -> bool {
        let now = self.started.elapsed().as_millis() as u64;
        let next = self.next.load(Ordering::Relaxed);
        if now >= next
            && self
                .next
                .compare_exchange(next, now + PAUSE, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
            && let Some(limit) = self.options.reached(self.started)
        {
            let _ = self.reached.set(limit);
        }
        self.reached.get().is_none()
    }

    /// The limit that was reached, if one was.
    pub fn reached(&self) -> Option<&str> {
        self.reached.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let file = "MemTotal:       24017480 kB\nMemFree:  17 kB\nHugePages_Total:       0\n";
        assert_eq!(bytes_of(file, "MemTotal:"), Some(24017480 << 10));
        assert_eq!(bytes_of(file, "MemFree:"), Some(17 << 10));
        assert_eq!(bytes_of(file, "HugePages_Total:"), None);
        assert_eq!(bytes_of(file, "MemAvailable:"), None);
    }

    #[test]
    fn the_first_limit_is_kept() {
        let options = Options { time_limit: Some(Duration::from_millis(40)), ..Options::default() };
        let watch = Watch::new(&options, Instant::now());
        assert!(watch.goes_on() && watch.reached().is_none());
        std::thread::sleep(Duration::from_millis(80));
        assert!(!watch.goes_on());
        let limit = "the time limit of 0 s was reached";
        assert_eq!(watch.reached(), Some(limit));
        let few = Options { memory_limit: 1, ..options };
        let watch = Watch::new(&few, Instant::now());
        assert!(!watch.goes_on());
        assert_eq!(watch.reached(), Some("the memory limit of 0 MB was reached"));
    }
}
