//! Passes that reorder and do nothing else.

use super::axes::{Axis, ascending};
use super::pass::{Pass, Spot};
use super::plan::{Machine, Reach, Shuffles};
use super::ranges::positions;

impl Machine<'_> {
    /// Strided: squares of the array transposed, on the way in or out, where blocks then lie
    /// [apart](Machine::apart).
    pub(super) fn transposition(&self, enter: bool) -> Pass {
        let Reach { chosen, lanes, rest } = self.shuffled();
        if !enter {
            let reach = Reach { chosen, lanes, rest };
            let (middle, apart) = (self.middle(), self.apart());
            return self.pass("transposition", &reach, (&middle, &apart), &|_| {});
        }
        let width = self.shape.lanes();
        let mut rest = rest;
        rest.push(Axis { distance: width, radix: self.block() / width });
        rest.retain(|axis| axis.radix > 1);
        let natural = vec![Axis::neighbours(width)];
        let reach = Reach { chosen: lanes, lanes: natural, rest: ascending(rest) };
        self.pass("transposition", &reach, (&self.identity(), &self.middle()), &|_| {})
    }

    /// Whole registers from where `from` says to their places.
    pub(super) fn copy(&self, from: &[usize]) -> Pass {
        let (width, n) = (self.shape.lanes(), self.ntt.size());
        let chosen = vec![Axis { distance: width, radix: 2 }];
        let mut rest = vec![Axis { distance: 2 * width, radix: n / (2 * width) }];
        rest.retain(|axis| axis.radix > 1);
        let reach = Reach { chosen, lanes: vec![Axis::neighbours(width)], rest };
        self.pass("copy", &reach, (&from.to_vec(), &self.identity()), &|_| {})
    }

    /// From the standard order to the program's.
    pub fn enter_order(&self) -> Vec<Pass> {
        self.reordering(true)
    }

    /// From the program's order to the standard one.
    pub fn leave_order(&self) -> Vec<Pass> {
        self.reordering(false)
    }

    fn reordering(&self, enter: bool) -> Vec<Pass> {
        let identity = self.identity();
        if self.standard || !self.inside() {
            return vec![self.copy(&identity)];
        }
        if self.shuffles == Shuffles::Striding {
            // Transposed elsewhere and copied, so that the arrays may be the same.
            let from = if enter { identity } else { self.apart() };
            return vec![self.transposition(enter), self.copy(&from)];
        }
        let reach = self.shuffled();
        let title = "words within registers";
        let pass = match enter {
            // The registers stay where the middle order has them.
            true => {
                let own = self.own();
                self.pass(title, &reach, (&identity, &own), &|hand| self.enter(hand))
            }
            false => {
                let pass = self.pass(title, &reach, (&self.middle(), &identity), &|hand| {
                    self.enter(hand);
                    self.leave(hand);
                });
                self.without_entry(pass)
            }
        };
        // Where blocks that were far apart share registers, words move from group to group.
        match self.stays(&pass) {
            true => vec![pass],
            false => vec![pass, self.copy(&identity)],
        }
    }

    /// Whether each group stores the words that it loads.
    fn stays(&self, pass: &Pass) -> bool {
        let lanes = self.shape.lanes();
        let words = |spots: &[Spot]| {
            let mut all: Vec<usize> = spots.iter().flat_map(|s| positions(s, lanes)).collect();
            all.sort_unstable();
            all
        };
        pass.groups.iter().all(|group| words(&group.loads) == words(&group.stores))
    }
}
