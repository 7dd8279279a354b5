//! A processor that executes out of order.

use super::cache::Misses;
use ringforge_target::{Kind, Processor};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What is busy in a cycle.
#[derive(Clone, Copy, Default)]
struct Busy {
    units: u8,
    loads: u8,
    stores: u8,
}

/// How often the ports of a processor were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Cycles in which each arithmetic unit began something.
    pub units: [u64; 8],
    /// Loads, and stores.
    pub memory: [u64; 2],
}

/// Instructions on their way.
pub struct Pipeline<'a> {
    processor: &'a Processor,
    /// What is busy, by cycle.
    busy: Vec<Busy>,
    /// The cycle in which the next instruction enters, and how many have entered in it.
    now: u64,
    taken: u32,
    /// When each of those in flight leaves, in order.
    flight: VecDeque<u64>,
    /// When those that wait begin.
    waiting: BinaryHeap<Reverse<u64>>,
    /// When the way to the next level of memory is free.
    way: u64,
    /// When the latest leaves.
    last: u64,
    entered: u64,
    used: Used,
}

impl<'a> Pipeline<'a> {
    /// An empty processor.
    pub fn new(processor: &'a Processor) -> Pipeline<'a> {
        Pipeline {
            processor,
            busy: Vec::new(),
            now: 0,
            taken: 0,
            flight: VecDeque::new(),
            waiting: BinaryHeap::new(),
            way: 0,
            last: 0,
            entered: 0,
            used: Used::default(),
        }
    }

    /// Cycles until everything has left.
    pub fn cycles(&self) -> u64 {
        self.last.max(self.now)
    }

    /// Instructions that have entered.
    pub fn entered(&self) -> u64 {
        self.entered
    }

    /// The cycle in which the next instruction enters, at the earliest.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// How often the ports were used.
    pub fn used(&self) -> Used {
        self.used
    }

    /// Instructions that enter and keep nothing busy that vector code needs.
    pub fn overhead(&mut self, instructions: u32) {
        for _ in 0..instructions {
            let now = self.slot(true);
            self.leaves(now + 1);
        }
    }

    /// Lines come and go between the levels of memory; returns the cycle until which what needs them waits.
    pub fn transfer(&mut self, misses: Misses) -> u64 {
        if misses.fetched == 0 {
            return 0;
        }
        let cache = &self.processor.cache;
        let lines = misses.fetched + misses.written_back;
        self.way = self.way.max(self.now) + u64::from(lines * cache.transfer);
        self.way + u64::from(cache.latency)
    }

    /// Code that is not there comes from the next level; nothing enters before.
    pub fn fetch(&mut self, misses: Misses) {
        if misses.fetched > 0 {
            self.now += u64::from(misses.fetched * self.processor.code.transfer);
            self.taken = 0;
        }
    }

    /// An instruction whose operands are there from cycle `from`, and which loads, where it does, words that
    /// were stored in cycle `stored` (0: long ago). `alone` says that it is no memory operand of the next one.
    /// Returns the cycle in which its result can be used.
    pub fn enter(&mut self, kind: Kind, alone: bool, from: u64, stored: Option<u64>) -> u64 {
        let timing = self.processor.timing(kind);
        let now = self.slot(alone);
        let mut at = from.max(now + 1);
        let loads = u8::from(stored.is_some());
        let stores = u8::from(kind == Kind::Store);
        // A load begins when its address is known, which is always; its arithmetic when the word is there.
        let loaded = stored.map_or(0, |stored| {
            let begin = self.free(now + 1, |b| u32::from(b.loads) < self.processor.loads);
            self.busy[begin as usize].loads += loads;
            self.used.memory[0] += u64::from(loads);
            let waits = if stored == 0 { 0 } else { stored + u64::from(self.processor.forward) };
            waits.max(begin + u64::from(self.processor.load_latency))
        });
        at = at.max(loaded);
        let done = if timing.units != 0 {
            at = self.free(at, |b| timing.units & !b.units != 0);
            let free = timing.units & !self.busy[at as usize].units;
            self.busy[at as usize].units |= free & free.wrapping_neg();
            self.used.units[free.trailing_zeros() as usize] += 1;
            at + u64::from(timing.latency)
        } else if stores > 0 {
            at = self.free(at, |b| u32::from(b.stores) < self.processor.stores);
            self.busy[at as usize].stores += stores;
            self.used.memory[1] += u64::from(stores);
            at + u64::from(timing.latency)
        } else {
            at
        };
        self.waiting.push(Reverse(at));
        self.leaves(done);
        done
    }

    /// The cycle in which the next instruction enters.
    fn slot(&mut self, alone: bool) -> u64 {
        self.entered += u64::from(alone);
        if self.taken >= self.processor.dispatch {
            self.now += 1;
            self.taken = 0;
        }
        let before = self.now;
        while self.flight.len() >= self.processor.window {
            let left = self.flight.pop_front().unwrap_or(0);
            self.now = self.now.max(left);
        }
        loop {
            while self.waiting.peek().is_some_and(|Reverse(at)| *at <= self.now) {
                self.waiting.pop();
            }
            if self.waiting.len() < self.processor.waiting {
                break;
            }
            if let Some(Reverse(at)) = self.waiting.pop() {
                self.now = self.now.max(at);
            }
        }
        if self.now != before {
            self.taken = 0;
        }
        self.taken += u32::from(alone);
        self.now
    }

    /// An instruction leaves in order, after all before it.
    fn leaves(&mut self, done: u64) {
        self.last = self.last.max(done);
        self.flight.push_back(self.last);
    }

    /// The first cycle from `from` on that suits.
    fn free(&mut self, from: u64, suits: impl Fn(&Busy) -> bool) -> u64 {
        let mut at = from as usize;
        loop {
            if self.busy.len() <= at {
                self.busy.resize(at + 1024, Busy::default());
            }
            if suits(&self.busy[at]) {
                return at as u64;
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_target::ZEN4;

    /// Cycles that `count` instructions of a kind take, each using the one before where they are `chained`.
    fn cycles(kind: Kind, count: u64, chained: bool) -> u64 {
        let mut pipeline = Pipeline::new(&ZEN4);
        let mut ready = 0;
        for _ in 0..count {
            let done = pipeline.enter(kind, true, if chained { ready } else { 0 }, None);
            ready = done;
        }
        pipeline.cycles()
    }

    #[test]
    fn chains_take_latencies_and_copies_take_units() {
        let (n, ends) = (600, 8);
        for (kind, latency, units) in [
            (Kind::Plain, 1, 4),
            (Kind::Multiply, 3, 2),
            (Kind::Shuffle, 1, 3),
            (Kind::Cross, 3, 2),
        ] {
            let chain = cycles(kind, n, true);
            assert!((n * latency..n * latency + ends).contains(&chain), "{kind:?}: {chain}");
            let copies = cycles(kind, n, false);
            assert!((n / units..n / units + ends).contains(&copies), "{kind:?}: {copies}");
        }
        let stores = cycles(Kind::Store, n, false);
        assert!((n..n + ends).contains(&stores), "{stores}");
    }

    #[test]
    fn what_is_mixed_is_bound_by_what_enters() {
        let mut pipeline = Pipeline::new(&ZEN4);
        for _ in 0..300 {
            for kind in [Kind::Plain, Kind::Plain, Kind::Multiply, Kind::Shuffle] {
                pipeline.enter(kind, true, 0, None);
            }
            pipeline.overhead(2);
        }
        let cycles = pipeline.cycles();
        assert!((300..320).contains(&cycles), "{cycles}");
    }

    #[test]
    fn a_load_waits_for_its_store_and_a_long_wait_stops_what_is_behind() {
        let mut pipeline = Pipeline::new(&ZEN4);
        let stored = pipeline.enter(Kind::Store, true, 100, None);
        let loaded = pipeline.enter(Kind::Load, true, 0, Some(stored));
        assert_eq!(loaded, stored + u64::from(ZEN4.forward));
        // As many as the window holds enter behind a slow one, and no more.
        let slow = pipeline.enter(Kind::Plain, true, 10_000, None);
        let all: Vec<u64> =
            (0..ZEN4.window).map(|_| pipeline.enter(Kind::Plain, true, 0, None)).collect();
        assert!(all[0] < 200 && all[ZEN4.window - 1] >= slow, "{all:?}");
    }

    #[test]
    fn memory_operands_take_no_place_of_their_own() {
        let mut pipeline = Pipeline::new(&ZEN4);
        for _ in 0..600 {
            let loaded = pipeline.enter(Kind::Load, false, 0, Some(0));
            pipeline.enter(Kind::Plain, true, loaded, None);
        }
        assert_eq!(pipeline.entered(), 600);
        let cycles = pipeline.cycles();
        assert!((300..320).contains(&cycles), "{cycles}");
    }
}
