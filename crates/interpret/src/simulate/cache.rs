//! A first-level cache: which lines it holds, the least recently used of a set leaving first.

use ringforge_target as target;

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
    pub fn new(cache: &target::Cache) -> Cache {
        let target::Cache { size, ways, line, .. } = *cache;
        Cache { sets: vec![Vec::new(); size / ways / line], ways, line: line as u64 }
    }

    /// Touches the bytes `from .. to`.
    pub fn touch(&mut self, from: u64, to: u64, store: bool) -> Misses {
        let mut misses = Misses::default();
        for number in from / self.line..to.div_ceil(self.line) {
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
        let small = target::Cache { size: 1024, ways: 2, line: 64, latency: 1, transfer: 1 };
        let mut cache = Cache::new(&small);
        let mut all = |bytes: u64, store| cache.touch(0, bytes, store);
        assert_eq!(all(1024, true).fetched, 16);
        assert_eq!(all(1024, false).fetched, 0);
        // Half as much again: each set gets a third line, and in the next round loses each before its turn.
        let more = all(1536, false);
        assert_eq!((more.fetched, more.written_back), (8, 8));
        let more = all(1536, false);
        assert_eq!((more.fetched, more.written_back), (24, 8));
    }
}
