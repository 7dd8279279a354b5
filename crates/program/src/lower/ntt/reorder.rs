//! Passes that reorder and do nothing else.

use super::pass::Pass;
use super::plan::{Machine, Shuffles};

impl Machine<'_> {
    /// Strided: squares of the array transposed, on the way in or out.
    pub(super) fn transposition(&self, enter: bool) -> Pass {
        let (_, lanes, _) = self.logs();
        let (low, high): (Vec<u32>, Vec<u32>) =
            ((0..lanes).collect(), (lanes..2 * lanes).collect());
        let (identity, middle) = (self.identity(), self.middle());
        match enter {
            true => self.pass("transposition", &high, &low, &identity, Some(&middle), &|_| {}),
            false => self.pass("transposition", &low, &high, &middle, Some(&identity), &|_| {}),
        }
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
            let (lanes, one) = (self.lanes_natural(), [self.logs().1]);
            return vec![self.pass("copy", &one, &lanes, &identity, Some(&identity), &|_| {})];
        }
        if self.shuffles == Shuffles::Striding {
            // Transposed elsewhere and copied, so that the arrays may be the same.
            let (lanes, one) = (self.lanes_natural(), [self.logs().1]);
            let copy = self.pass("copy", &one, &lanes, &identity, Some(&identity), &|_| {});
            return vec![self.transposition(enter), copy];
        }
        let (chosen, lanes) = self.shuffled_bits();
        let title = "words within registers";
        vec![match enter {
            // The registers stay where the middle order has them.
            true => {
                let own = self.own();
                self.pass(title, &chosen, &lanes, &identity, Some(&own), &|hand| self.enter(hand))
            }
            false => {
                let pass =
                    self.pass(title, &chosen, &lanes, &self.middle(), Some(&identity), &|hand| {
                        self.enter(hand);
                        self.leave(hand);
                    });
                self.without_entry(pass)
            }
        }]
    }
}
