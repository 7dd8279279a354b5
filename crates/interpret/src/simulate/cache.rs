//! A first-level cache: which lines it holds, the least recently used of a set leaving first.

use ringforge_targets::Lines;

/// Lines of the cache, by set; the latest used last.
pub struct Cache {
    sets: Vec<Vec<Line>>,
    ways: usize,
    line: u64,
}

#[derive(Clone, Copy)]
struct Line {
    number: u64,
    written: bool,
}

/// What came of an access.
#[derive(Clone, Copy, Default)]
pub struct Misses {
    /// Lines that were not there.
    pub fetched: u32,
    /// Lines that had to leave and had been written.
    pub written_back: u32,
}

impl Cache {
    /// An empty cache.
    pub fn new(lines: &Lines) -> Cache {
        let Lines { size, ways, line } = *lines;
        Cache { sets: vec![Vec::new(); size / ways / line], ways, line: line as u64 }
    }

    /// The lines of the bytes `from .. to`, by number.
    pub fn lines(&self, from: u64, to: u64) -> std::ops::Range<u64> {
        from / self.line..to.div_ceil(self.line)
    }

    /// Touches the bytes `from .. to`.
    pub fn touch(&mut self, from: u64, to: u64, store: bool) -> Misses {
        let mut misses = Misses::default();
        for number in self.lines(from, to) {
            let count = self.sets.len() as u64;
            let set = &mut self.sets[(number % count) as usize];
            let mut line = match set.iter().position(|l| l.number == number) {
                Some(at) => set.remove(at),
                None => {
                    misses.fetched += 1;
                    if set.len() == self.ways {
                        misses.written_back += u32::from(set.remove(0).written);
                    }
                    Line { number, written: false }
                }
            };
            line.written |= store;
            set.push(line);
        }
        misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_leaves() {
        let mut cache = Cache::new(&Lines { size: 1024, ways: 2, line: 64 });
        let mut all = |bytes: u64, store| cache.touch(0, bytes, store);
        assert_eq!(all(1024, true).fetched, 16);
        assert_eq!(all(1024, false).fetched, 0);
        // Half as much again: each set gets a third line, and in the next round loses each before its turn.
        let more = all(1536, false);
        assert_eq!((more.fetched, more.written_back), (8, 8));
        let more = all(1536, false);
        assert_eq!((more.fetched, more.written_back), (24, 8));
    }

    #[test]
    fn a_register_may_lie_in_two_lines() {
        let cache = Cache::new(&Lines { size: 1024, ways: 2, line: 64 });
        assert_eq!(cache.lines(32, 64), 0..1);
        assert_eq!(cache.lines(34, 66), 0..2);
    }
}
