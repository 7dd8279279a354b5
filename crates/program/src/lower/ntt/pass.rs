//! Passes over an array: which words stand together in registers, and what is done to them.
//!
//! An element is known by its *index*, its place in an array that is transformed in place (leaf
//! number times d plus coefficient, in the end). A register is the list of the indices in its
//! lanes. So butterflies, multipliers, stores and the order that a transform leaves follow from the
//! indices, whatever was shuffled before.

use super::ranges::interleaved;
use crate::lower::Square;
use ringforge_plan::{Butterflies, LevelSplit};

/// What a step does to the registers of a group; registers are numbered within the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A butterfly of level `level`, its constants by lane.
    Butterfly {
        /// Level in the order of execution.
        level: u32,
        /// The registers of its elements, the lowest first, as many as the split's radix.
        registers: Vec<usize>,
        /// What it splits.
        split: LevelSplit,
        /// Which kind.
        kind: Butterflies,
        /// Its constants, each by lane.
        factors: Vec<Vec<u64>>,
        /// The index of its lowest element, by lane.
        lowest: Vec<usize>,
    },
    /// A product with a constant for each lane.
    Scale {
        /// The register.
        register: usize,
        /// The constants.
        factor: Vec<u64>,
    },
    /// (a, b) become their low and their high halves interleaved by elements of `unit` bits.
    Interleave {
        /// First register, afterwards the low halves.
        a: usize,
        /// Second register, afterwards the high halves.
        b: usize,
        /// Bits of an element.
        unit: u8,
    },
    /// The canonical residue.
    Freeze {
        /// The register.
        register: usize,
    },
}

impl Step {
    /// The constants that it multiplies by, each by lane.
    pub fn factors(&self) -> &[Vec<u64>] {
        match self {
            Step::Butterfly { factors, .. } => factors,
            Step::Scale { factor, .. } => std::slice::from_ref(factor),
            Step::Interleave { .. } | Step::Freeze { .. } => &[],
        }
    }
}

/// Where a register's words lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// One after the other.
    Whole(usize),
    /// Parts of 128 bits.
    Parts(Vec<usize>),
    /// At a distance; stores only.
    Strided(usize, usize),
}

impl Spot {
    /// Its positions, in a fixed order: what must step evenly for a loop.
    pub fn bases(&self) -> Vec<usize> {
        match self {
            Spot::Whole(at) | Spot::Strided(at, _) => vec![*at],
            Spot::Parts(all) => all.clone(),
        }
    }
}

/// Registers that are in hand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Where each register comes from.
    pub loads: Vec<Spot>,
    /// What is done.
    pub steps: Vec<Step>,
    /// Where each register goes.
    pub stores: Vec<Spot>,
}

/// Groups that do the same at different places; group number `u·inner + v`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// For people.
    pub title: String,
    /// Groups, `outer·inner` of them.
    pub groups: Vec<Group>,
    /// Rounds of the outer loop.
    pub outer: usize,
    /// Rounds of the inner loop.
    pub inner: usize,
}

impl Pass {
    /// Whether every group writes where it reads and nowhere else.
    pub fn in_place(&self) -> bool {
        let sorted = |spots: &[Spot]| {
            let mut all: Vec<usize> = spots.iter().flat_map(Spot::bases).collect();
            all.sort_unstable();
            all
        };
        self.groups.iter().all(|g| {
            g.stores.iter().all(|s| !matches!(s, Spot::Strided(..)))
                && sorted(&g.loads) == sorted(&g.stores)
        })
    }
}

/// A group in the making: its registers as lists of indices.
#[derive(Clone, Debug)]
pub struct Hand {
    shape: Square,
    /// The indices in each register.
    pub registers: Vec<Vec<usize>>,
    steps: Vec<Step>,
}

impl Hand {
    /// Registers with these indices.
    pub fn new(shape: Square, registers: Vec<Vec<usize>>) -> Hand {
        Hand { shape, registers, steps: Vec::new() }
    }

    /// What was done so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Registers that differ in one digit of the indices, all lanes alike: `radix` of them,
    /// `distance` apart, the lowest first.
    fn together(&self, distance: usize, radix: usize) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        for indices in &self.registers {
            if indices.iter().all(|i| (i / distance).is_multiple_of(radix)) {
                let at = |k: usize| {
                    let partner: Vec<usize> = indices.iter().map(|i| i + k * distance).collect();
                    self.registers.iter().position(|r| *r == partner)
                };
                all.extend((0..radix).map(at).collect::<Option<Vec<usize>>>());
            }
        }
        all
    }

    /// A level of butterflies, the constants by the index of the lowest element.
    pub fn level(
        &mut self,
        (level, distance): (u32, usize),
        (split, kind): (LevelSplit, Butterflies),
        constants: &dyn Fn(usize) -> Vec<u64>,
    ) {
        let together = self.together(distance, split.radix());
        let met = together.len() * split.radix();
        assert_eq!(met, self.registers.len(), "registers that meet at distance {distance}");
        for registers in together {
            let mut factors = vec![Vec::new(); split.factors()];
            for &i in &self.registers[registers[0]] {
                factors.iter_mut().zip(constants(i)).for_each(|(all, c)| all.push(c));
            }
            let lowest = self.registers[registers[0]].clone();
            self.steps.push(Step::Butterfly { level, registers, split, kind, factors, lowest });
        }
    }

    /// Interleaves the registers that are `distance` apart.
    pub fn interleave(&mut self, unit: u8, distance: usize) {
        for pair in self.together(distance, 2) {
            self.interleave_pair(unit, pair[0], pair[1]);
        }
    }

    /// Interleaves two registers.
    pub fn interleave_pair(&mut self, unit: u8, a: usize, b: usize) {
        let (low, high) = interleaved(self.shape, &self.registers[a], &self.registers[b], unit);
        self.registers[a] = low;
        self.registers[b] = high;
        self.steps.push(Step::Interleave { a, b, unit });
    }

    /// Products with constants by index, of registers that pass.
    fn scaled(&mut self, factor: &dyn Fn(usize) -> u64, of: impl Fn(usize) -> bool) {
        for (register, indices) in self.registers.iter().enumerate().filter(|(r, _)| of(*r)) {
            let factor: Vec<u64> = indices.iter().map(|&i| factor(i)).collect();
            self.steps.push(Step::Scale { register, factor });
        }
    }

    /// Products with constants by index.
    pub fn scale(&mut self, factor: &dyn Fn(usize) -> u64) {
        self.scaled(factor, |_| true);
    }

    /// As [`Hand::scale`], what the last level multiplied anyway taking it up there.
    pub fn scale_into_last(&mut self, level: u32, factor: &dyn Fn(usize) -> u64, q: u64) {
        let mut left: Vec<bool> = vec![true; self.registers.len()];
        for step in &mut self.steps {
            if let Step::Butterfly { level: l, registers, split, kind, factors, .. } = step
                && *l == level
                && *kind == Butterflies::GentlemanSande
                && !matches!(split, LevelSplit::Roots { .. })
            {
                // Output k is constant k - 1 times something.
                for (&register, own) in registers[1..].iter().zip(factors) {
                    left[register] = false;
                    for (c, &i) in own.iter_mut().zip(&self.registers[register]) {
                        *c = ringforge_ring::zq::mul(*c, factor(i), q);
                    }
                }
            }
        }
        self.scaled(factor, |register| left[register]);
    }

    /// Canonical residues.
    pub fn freeze(&mut self) {
        let all = 0..self.registers.len();
        self.steps.extend(all.map(|register| Step::Freeze { register }));
    }

    /// The group, from where the indices lay (`loads`) to where `position` wants them.
    pub fn finish(self, loads: Vec<Spot>, position: &dyn Fn(usize) -> usize) -> Group {
        let stores = self.registers.iter().map(|r| spot(self.shape, r, position)).collect();
        Group { loads, steps: self.steps, stores }
    }
}

/// Where a register's words lie, if they lie so that a load or store finds them.
pub fn spot(shape: Square, indices: &[usize], position: &dyn Fn(usize) -> usize) -> Spot {
    let at: Vec<usize> = indices.iter().map(|&i| position(i)).collect();
    let steps = |at: &[usize], by: usize| at.windows(2).all(|w| w[1] == w[0] + by);
    if steps(&at, 1) {
        return Spot::Whole(at[0]);
    }
    if at.chunks(shape.part()).all(|part| steps(part, 1)) {
        return Spot::Parts(at.iter().step_by(shape.part()).copied().collect());
    }
    let stride = at[1].abs_diff(at[0]);
    assert!(stride > 1 && steps(&at, stride), "words at {at:?}");
    Spot::Strided(at[0], stride)
}
