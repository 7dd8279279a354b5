//! A processor that executes out of order.

use super::cache::Misses;
use ringforge_targets::{Kind, Processor};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// What is busy in a cycle.
#[derive(Clone, Copy, Default)]
struct Busy {
    units: u8,
    loads: u8,
    splits: u8,
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

/// Where the words of a load come from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source {
    /// When a store had the last of them; 0: long ago.
    pub stored: u64,
    /// Where no one store had all of them: when the last is in the cache; else 0.
    pub cached: u64,
    /// Whether they lie in two lines.
    pub split: bool,
}

/// When the words of a store can be had.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// By a load of no others.
    pub ready: u64,
    /// From the cache.
    pub cached: u64,
}

/// What an instruction takes a place of, beside the window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// A register for its result.
    Result,
    /// That, and a place among those that wait.
    Arithmetic,
    /// A place among the stores.
    Store,
}

/// The latest store that came into the cache.
#[derive(Clone, Copy, Default)]
struct Committed {
    at: u64,
    line: u64,
    /// How many came in that cycle.
    count: u32,
}

/// When instructions begin or leave, the earliest first.
type Begins = BinaryHeap<Reverse<u64>>;

/// Instructions on their way.
pub struct Pipeline<'a> {
    processor: &'a Processor,
    /// What is busy, by cycle.
    busy: Vec<Busy>,
    /// The cycle in which the next instruction enters, and how many have entered in it.
    now: u64,
    taken: u32,
    /// When those in flight leave, in order: all, those with results, and stores, which leave when they are in the cache.
    flight: VecDeque<u64>,
    results: VecDeque<u64>,
    stores: VecDeque<u64>,
    /// When those that wait begin: arithmetic, and stores.
    arithmetic: Begins,
    data: Begins,
    /// For each unit when those begin that are bound to it.
    bound: [Begins; 8],
    committed: Committed,
    /// When the code of the next instruction is there.
    code: f64,
    /// When the way to the next level of memory is free.
    way: f64,
    /// When the latest leaves.
    last: u64,
    entered: u64,
    used: Used,
}

/// Takes what begins in a cycle or before from those that wait.
fn begun(waiting: &mut Begins, now: u64) {
    while waiting.peek().is_some_and(|Reverse(at)| *at <= now) {
        waiting.pop();
    }
}

/// The first cycle from `now` on in which fewer than `places` wait.
fn place(waiting: &mut Begins, places: usize, mut now: u64) -> u64 {
    begun(waiting, now);
    while waiting.len() >= places {
        if let Some(Reverse(at)) = waiting.pop() {
            now = now.max(at);
        }
        begun(waiting, now);
    }
    now
}

/// The first cycle from `now` on in which fewer than `places` are in flight.
fn room(flight: &mut VecDeque<u64>, places: usize, mut now: u64) -> u64 {
    while flight.len() >= places {
        now = now.max(flight.pop_front().unwrap_or(0));
    }
    now
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
            results: VecDeque::new(),
            stores: VecDeque::new(),
            arithmetic: Begins::new(),
            data: Begins::new(),
            bound: Default::default(),
            committed: Committed::default(),
            code: 0.0,
            way: 0.0,
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
            let now = self.slot(true, Takes::Nothing);
            self.leaves(now + 1, true, Takes::Nothing);
        }
    }

    /// Lines come and go between the levels of memory; returns the cycle until which what needs them waits.
    pub fn transfer(&mut self, misses: Misses) -> u64 {
        if misses.fetched == 0 {
            return 0;
        }
        let cache = &self.processor.cache;
        let began = self.way.max(self.now as f64);
        let back = f64::from(misses.written_back) * cache.back;
        self.way = began + f64::from(misses.fetched) * cache.fetch + back;
        self.way as u64 + u64::from(cache.latency)
    }

    /// Code that takes so many cycles to come; nothing enters before.
    pub fn fetch(&mut self, cycles: f64) {
        let began = self.code.max(self.now as f64 - self.processor.ahead);
        self.code = began + cycles;
    }

    /// Arithmetic whose operands are ready at cycle `from`. If a load among them was `late`, it begins once without
    /// success, when the load should have been ready. Returns the cycle in which its result can be used.
    pub fn enter(&mut self, kind: Kind, from: u64, late: bool) -> u64 {
        let timing = self.processor.timing(kind);
        let mut done = from;
        if late && self.processor.replays {
            self.begin(timing.units, from.max(self.now + 1));
        }
        for _ in 0..timing.times {
            let now = self.slot(true, Takes::Arithmetic);
            let at = self.begin(timing.units, done.max(now + 1));
            self.arithmetic.push(Reverse(at));
            done = at + u64::from(timing.latency);
            self.leaves(done, true, Takes::Arithmetic);
        }
        done
    }

    /// A load, of what is in the cache from cycle `there` on. `alone` says that it is no memory operand of the next
    /// instruction. Returns the cycle in which what it loads can be used.
    pub fn load(&mut self, alone: bool, there: u64, source: Source) -> u64 {
        let takes = if alone { Takes::Result } else { Takes::Nothing };
        let now = self.slot(alone, takes);
        let Processor { loads, splits, load_latency, forward, blocked, .. } = *self.processor;
        let split = u32::from(source.split);
        // It begins when its address is known, which is always.
        let begin = self.free(now + 1, |b| {
            u32::from(b.loads) + split < loads && u32::from(b.splits) + split <= splits
        });
        let busy = &mut self.busy[begin as usize];
        busy.loads += 1 + split as u8;
        busy.splits += split as u8;
        self.used.memory[0] += u64::from(1 + split);
        let mut done = there.max(begin + u64::from(load_latency));
        if source.stored > 0 {
            done = done.max(source.stored + u64::from(forward));
        }
        if source.cached > begin {
            done = done.max(source.cached + u64::from(blocked));
        }
        self.leaves(done, alone, takes);
        done
    }

    /// A store of data that is there from cycle `data`, to lines that are in the cache from cycle `there`.
    pub fn store(&mut self, data: u64, there: u64, lines: Range<u64>) -> Stored {
        let now = self.slot(true, Takes::Store);
        let at = self.free(data.max(now + 1), |b| u32::from(b.stores) < self.processor.stores);
        self.busy[at as usize].stores += 1;
        self.used.memory[1] += 1;
        self.data.push(Reverse(at));
        let ready = at + u64::from(self.processor.timing(Kind::Store).latency);
        self.leaves(ready, true, Takes::Store);
        // It comes into the cache after all before it, when no instruction before it can fail.
        for line in lines {
            let Committed { at, line: before, count } = self.committed;
            let earliest = there.max(self.last + 1);
            let joins = earliest <= at && line == before && count < self.processor.commits;
            self.committed = match joins {
                true => Committed { at, line, count: count + 1 },
                false => Committed { at: earliest.max(at + 1), line, count: 1 },
            };
        }
        self.stores.push_back(self.committed.at);
        Stored { ready, cached: self.committed.at }
    }

    /// Takes one of some units in the first cycle from `from` on in which it is free.
    fn begin(&mut self, units: u8, from: u64) -> u64 {
        let mut units = units;
        if self.processor.bound {
            let now = self.now;
            let these = (0..8).filter(|u| units >> u & 1 == 1);
            let fewest = these.min_by_key(|&u| {
                begun(&mut self.bound[u], now);
                (self.bound[u].len(), Reverse(u))
            });
            units = fewest.map_or(units, |u| 1 << u);
        }
        let at = self.free(from, |b| units & !b.units != 0);
        let free = units & !self.busy[at as usize].units;
        let unit = free.trailing_zeros() as usize;
        self.busy[at as usize].units |= 1 << unit;
        self.used.units[unit] += 1;
        if self.processor.bound {
            self.bound[unit].push(Reverse(at));
        }
        at
    }

    /// The cycle in which the next instruction enters.
    fn slot(&mut self, alone: bool, takes: Takes) -> u64 {
        let queues = self.processor.queues;
        self.entered += u64::from(alone);
        if self.taken >= self.processor.dispatch {
            self.now += 1;
            self.taken = 0;
        }
        let before = self.now;
        let mut now = before.max(self.code as u64);
        if alone {
            now = room(&mut self.flight, queues.window, now);
        }
        now = match takes {
            Takes::Nothing => now,
            Takes::Result => room(&mut self.results, queues.results, now),
            Takes::Arithmetic => {
                let now = room(&mut self.results, queues.results, now);
                place(&mut self.arithmetic, queues.arithmetic, now)
            }
            Takes::Store => {
                let now = room(&mut self.stores, queues.stores, now);
                place(&mut self.data, queues.data, now)
            }
        };
        self.now = now;
        if now != before {
            self.taken = 0;
        }
        self.taken += u32::from(alone);
        now
    }

    /// An instruction leaves in order, after all before it.
    fn leaves(&mut self, done: u64, alone: bool, takes: Takes) {
        self.last = self.last.max(done);
        if alone {
            self.flight.push_back(self.last);
        }
        if matches!(takes, Takes::Result | Takes::Arithmetic) {
            self.results.push_back(self.last);
        }
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
    use ringforge_targets::{REDWOOD_COVE, ZEN4};

    const LONG_AGO: Source = Source { stored: 0, cached: 0, split: false };

    /// Cycles that `count` instructions of a kind take, each using the one before where they are `chained`.
    fn cycles(processor: &Processor, kind: Kind, count: u64, chained: bool) -> u64 {
        let mut pipeline = Pipeline::new(processor);
        let mut ready = 0;
        for _ in 0..count {
            ready = pipeline.enter(kind, if chained { ready } else { 0 }, false);
        }
        pipeline.cycles()
    }

    #[test]
    fn chains_take_latencies_and_copies_take_units() {
        let (n, ends) = (600, 30);
        for (processor, kind, latency, units) in [
            (&ZEN4, Kind::Plain, 1, 4),
            (&ZEN4, Kind::Multiply, 3, 2),
            (&ZEN4, Kind::Shuffle, 1, 3),
            (&ZEN4, Kind::Cross, 3, 2),
            (&REDWOOD_COVE, Kind::Plain, 1, 3),
            (&REDWOOD_COVE, Kind::Compare, 1, 2),
            (&REDWOOD_COVE, Kind::Multiply, 5, 2),
            (&REDWOOD_COVE, Kind::MultiplyLow, 10, 1),
            (&REDWOOD_COVE, Kind::Cross, 3, 1),
        ] {
            let chain = cycles(processor, kind, n, true);
            assert!((n * latency..n * latency + ends).contains(&chain), "{kind:?}: {chain}");
            let copies = cycles(processor, kind, n, false);
            assert!((n / units..n / units + ends).contains(&copies), "{kind:?}: {copies}");
        }
    }

    #[test]
    fn what_is_mixed_is_bound_by_what_enters() {
        let mut pipeline = Pipeline::new(&ZEN4);
        for _ in 0..300 {
            for kind in [Kind::Plain, Kind::Plain, Kind::Multiply, Kind::Shuffle] {
                pipeline.enter(kind, 0, false);
            }
            pipeline.overhead(2);
        }
        let cycles = pipeline.cycles();
        assert!((300..320).contains(&cycles), "{cycles}");
    }

    #[test]
    fn units_bound_at_entry_are_shared_evenly() {
        // Two thirds of the units are the multiplier's; sums that could take those go to the third.
        let mut pipeline = Pipeline::new(&REDWOOD_COVE);
        for _ in 0..300 {
            for kind in [Kind::Multiply, Kind::Multiply, Kind::Plain] {
                pipeline.enter(kind, 0, false);
            }
        }
        let cycles = pipeline.cycles();
        assert!((300..330).contains(&cycles), "{cycles}");
    }

    #[test]
    fn a_load_waits_for_its_store_and_a_long_wait_stops_what_is_behind() {
        let mut pipeline = Pipeline::new(&ZEN4);
        let Stored { ready: stored, .. } = pipeline.store(100, 0, 0..1);
        let loaded = pipeline.load(true, 0, Source { stored, ..LONG_AGO });
        assert_eq!(loaded, stored + u64::from(ZEN4.forward));
        // As many results as there are registers enter behind a slow one, and no more.
        let slow = pipeline.enter(Kind::Plain, 10_000, false);
        let count = ZEN4.queues.results;
        let all: Vec<u64> = (0..count).map(|_| pipeline.enter(Kind::Plain, 0, false)).collect();
        assert!(all[0] < 200 && all[count - 1] >= slow, "{all:?}");
    }

    #[test]
    fn a_load_of_what_two_stores_had_waits_for_the_cache() {
        let mut pipeline = Pipeline::new(&REDWOOD_COVE);
        let stored = [50, 60].map(|data| pipeline.store(data, 0, 0..1));
        let source = Source { stored: stored[1].ready, cached: stored[1].cached, split: false };
        let loaded = pipeline.load(true, 0, source);
        assert_eq!(loaded, stored[1].cached + u64::from(REDWOOD_COVE.blocked));
        assert!(stored[1].cached > stored[1].ready);
        // Later, when they are there, it is a load as others are.
        pipeline.enter(Kind::Plain, 0, false);
        pipeline.fetch(500.0);
        pipeline.overhead(1);
        let now = pipeline.now();
        assert_eq!(pipeline.load(true, 0, source), now + 1 + u64::from(REDWOOD_COVE.load_latency));
    }

    #[test]
    fn stores_come_into_the_cache_in_order_and_pairs_of_one_line_together() {
        let cycles = |line: &dyn Fn(u64) -> u64| {
            let mut pipeline = Pipeline::new(&REDWOOD_COVE);
            for i in 0..600 {
                pipeline.store(0, 0, line(i)..line(i) + 1);
            }
            pipeline.committed.at
        };
        let (together, apart) = (cycles(&|i| i / 2), cycles(&|i| i));
        assert!((300..320).contains(&together), "{together}");
        assert!((600..620).contains(&apart), "{apart}");
    }

    #[test]
    fn memory_operands_take_no_place_of_their_own() {
        let mut pipeline = Pipeline::new(&ZEN4);
        for _ in 0..600 {
            let loaded = pipeline.load(false, 0, LONG_AGO);
            pipeline.enter(Kind::Plain, loaded, false);
        }
        assert_eq!(pipeline.entered(), 600);
        let cycles = pipeline.cycles();
        assert!((300..320).contains(&cycles), "{cycles}");
    }

    #[test]
    fn one_load_across_lines_is_done_in_a_cycle() {
        let cycles = |split| {
            let mut pipeline = Pipeline::new(&REDWOOD_COVE);
            for _ in 0..600 {
                pipeline.load(true, 0, Source { split, ..LONG_AGO });
            }
            pipeline.cycles()
        };
        let (whole, split) = (cycles(false), cycles(true));
        assert!((200..220).contains(&whole) && (600..620).contains(&split), "{whole} {split}");
    }

    #[test]
    fn what_waits_for_a_late_load_begins_twice() {
        let cycles = |processor: &Processor, late| {
            let mut pipeline = Pipeline::new(processor);
            for _ in 0..600 {
                pipeline.enter(Kind::Multiply, 0, late);
            }
            pipeline.cycles()
        };
        let [once, twice] = [false, true].map(|late| cycles(&REDWOOD_COVE, late));
        assert!((300..320).contains(&once) && (600..620).contains(&twice), "{once} {twice}");
        assert_eq!(cycles(&ZEN4, true), cycles(&ZEN4, false));
    }

    #[test]
    fn code_that_comes_slowly_is_waited_for() {
        let mut pipeline = Pipeline::new(&REDWOOD_COVE);
        for _ in 0..100 {
            pipeline.fetch(4.0);
            for _ in 0..10 {
                pipeline.enter(Kind::Plain, 0, false);
            }
        }
        let cycles = pipeline.cycles();
        assert!((390..420).contains(&cycles), "{cycles}");
    }
}
