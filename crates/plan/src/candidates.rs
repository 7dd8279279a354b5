//! Plans for any ring: every way to multiply in it that the methods allow, cheapest first by the
//! model of [`Plan::slots`].
//!
//! An unreduced product is computed in one of two ways. The first cuts it into blocks of one, two
//! or three registers of the target and uses a transform of smooth length. A monomial factor takes
//! what is left over [Chiu25 §3.1]. The second splits x^N + 1 in halves [Seiler18 §2]. Both run
//! over q itself if q has the roots, and otherwise over primes that have them [Hwang24 §4.2]. The
//! search prefers small primes, because headroom above a residue saves reductions. Modulo powers of
//! two there are also Toeplitz matrices [Winograd80 §IV], for any f. The schoolbook product works
//! for every q and is the last resort.

use crate::automatic::NoPlan;
use crate::domain::Domain;
use crate::operand::Operand;
use crate::plain::Plain;
use crate::plan::Plan;
use crate::primes::{Width, primes};
use crate::registry::build_product;
use crate::sexpr::Form;
use crate::shapes::{Shape, Shapes};
use crate::stages::Stages;
use crate::toeplitz_pair::ToeplitzPair;
use ringforge_ring::{Ring, zq};
use ringforge_targets::Target;

/// Degrees that plans are made for.
pub const DEGREES: std::ops::RangeInclusive<usize> = 16..=2048;
/// The largest modulus that all kinds of plans are made for.
pub const LARGEST_MODULUS: u64 = 1 << 16;
/// Bits of the words that hold residues modulo powers of two.
const WORD_BITS: u8 = 16;
/// How many shapes of one family are built and compared.
const SHAPES: usize = 4;

/// A plan that multiplies in a ring, and what speaks for it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The plan, checked.
    pub plan: Plan,
    /// What it does, in a few words.
    pub why: String,
    /// Modelled vector slots per product on the target, [`Plan::slots`].
    pub cost: f64,
}

impl Candidate {
    /// Whether this is the schoolbook product, which has the fewest kinds of steps to prove.
    pub fn is_definition(&self) -> bool {
        match self.plan.root.stages() {
            Stages::Remainder(lift) => matches!(lift.inner.stages(), Stages::Direct),
            _ => false,
        }
    }
}

/// All sensible plans for a ring and these operands, cheapest first: the presets for it, and plans
/// made for it. There is at least one for q of at most 2^16 and degrees from 16 to 2048.
///
/// ```
/// use ringforge_plan::{Operand, candidates};
/// use ringforge_targets::AVX2;
/// let ring = "Z2048[x]/(x^677 - 1)".parse().unwrap();
/// let found = candidates(&ring, [Operand::Big, Operand::Small], "mine", &AVX2).unwrap();
/// assert!(found.windows(2).all(|pair| pair[0].cost <= pair[1].cost));
/// assert!(found.iter().all(|c| c.plan.covers([Operand::Big, Operand::Small])));
/// ```
///
/// # Errors
/// [`NoPlan`] for a degree or modulus beyond that no preset serves, or operands wider than q.
pub fn candidates(
    ring: &Ring,
    operands: [Operand; 2],
    name: &str,
    target: &Target,
) -> Result<Vec<Candidate>, NoPlan> {
    let (n, q) = (ring.degree(), ring.q());
    let refuse = |why: String, would_work: &str| {
        Err(NoPlan { ring: ring.to_string(), why, would_work: would_work.into() })
    };
    if let Some(why) = operands.iter().find_map(|operand| operand.too_wide(q)) {
        return refuse(why, "`big`, which is every centred coefficient");
    }
    let mut maker = Maker { ring, operands, name, target, found: Vec::new() };
    for preset in Plan::names().filter_map(|name| Plan::find(name).ok()) {
        if preset.ring == *ring && preset.covers(operands) {
            let why = format!("the plan {}", preset.name);
            maker.add(preset, why);
        }
    }
    if let Ok(plan) = Plan::automatic(ring, name) {
        maker.add(plan, format!("over {q} itself, in halves"));
    }
    if DEGREES.contains(&n) {
        for registers in target.widths().filter(|_| q <= LARGEST_MODULUS) {
            maker.make(&Target { registers, ..*target });
        }
        maker.plain();
    }
    let mut found = maker.found;
    if found.is_empty() {
        let why = match DEGREES.contains(&n) {
            true => format!("its modulus {q} is more than {LARGEST_MODULUS}"),
            false => format!("its degree {n} is not in {} to {}", DEGREES.start(), DEGREES.end()),
        };
        return refuse(why, "q up to 65536 and degrees from 16 to 2048, or a plan of your own");
    }
    found.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    Ok(found)
}

/// Levels of Toom–Cook at the top of a Toeplitz matrix, and the bits that they cost.
const TOOMS: [(&[usize], u32); 8] = [
    (&[], 0),
    (&[3], 1),
    (&[4], 3),
    (&[5], 3),
    (&[3, 3], 2),
    (&[4, 3], 4),
    (&[5, 3], 4),
    (&[5, 3, 3], 5),
];

struct Maker<'a> {
    ring: &'a Ring,
    operands: [Operand; 2],
    name: &'a str,
    target: &'a Target,
    found: Vec<Candidate>,
}

impl Maker<'_> {
    fn add(&mut self, plan: Plan, why: String) {
        let same = |c: &Candidate| c.plan.root.to_form() == plan.root.to_form();
        if !self.found.iter().any(same) {
            let cost = plan.slots(self.target);
            self.found.push(Candidate { plan, why, cost });
        }
    }

    /// Adds the plan with this tree, where its methods allow it.
    fn tree(&mut self, tree: Form, operands: [Operand; 2], why: String) {
        let mut parts = vec![Form::word(self.name), Form::list("ring", [Form::text(self.ring)])];
        if operands != [Operand::Big; 2] {
            parts.push(Form::list("operands", operands.map(Operand::form)));
        }
        parts.push(tree);
        if let Ok(plan) = Plan::parse(&Form::list("plan", parts).to_string()) {
            self.add(plan, why);
        }
    }

    /// Plain C, in the form that has less to do.
    fn plain(&mut self) {
        let quotient = Plain::suits_quotient(self.ring);
        let (form, what) = match quotient {
            true => (Form::list("plain", [Form::word("quotient")]), "three products"),
            false => (Form::list("plain", []), "sums folded by f"),
        };
        self.tree(form, self.operands, format!("plain C, {what}"));
    }

    /// Adds the plans whose blocks and matrices are for registers of this target.
    fn make(&mut self, target: &Target) {
        let (n, q) = (self.ring.degree(), self.ring.q());
        let domain = Domain::of_operands(self.ring, self.operands);
        let length = 2 * n - 1;
        let dense = Form::parse(&format!("(lift {length} (schoolbook))"))
            .and_then(|form| build_product(&form, &domain))
            .is_ok_and(|node| matches!(node.stages(), Stages::Remainder(lift) if lift.is_dense()));
        // The two products that reduce by a dense f are products of any residues.
        let operands = if dense { [Operand::Big; 2] } else { self.operands };
        let bounds = operands.map(|operand| operand.bound(q));
        // An eighth more: digits and sums of digits that are not canonical need room as well.
        let bound = n as u128 * u128::from(bounds[0]) * u128::from(bounds[1]);
        let bound = bound + bound / 8;

        let mut shapes = Shapes::new(n, target);
        let mut spaces = vec![shapes.lifted()];
        match domain.binomial() {
            Some((_, 1)) => spaces.push(shapes.cyclic()),
            Some((_, w)) if w == q - 1 => spaces.push(shapes.negacyclic()),
            _ => {}
        }
        for space in &spaces {
            self.over_the_modulus(&mut shapes, space, q);
            self.over_primes((&mut shapes, target), space, bound);
        }
        self.powers_of_two(&domain, target.registers.lanes(WORD_BITS));
        self.trinomial(q);
        // Slow to run and quick to prove: what is left where nothing else succeeds. Sums of narrower operands are shorter.
        let tree = Form::list("lift", [Form::word(length), Form::list("schoolbook", [])]);
        self.tree(tree, self.operands, format!("over {q} itself, schoolbook"));
    }

    /// Transforms of x^n ± x^(n/2) + 1: first by its two roots, then by splits in three and in two,
    /// as far as q's roots and n allow. A second plan has one split less, because dot products of
    /// pairs may cost less than a level.
    fn trinomial(&mut self, q: u64) {
        let n = self.ring.degree();
        let f = self.ring.modulus();
        let middle = f[n / 2];
        let others = (1..n).any(|i| i != n / 2 && f[i] != 0);
        if !n.is_multiple_of(2) || others || f[0] != 1 || middle.abs() != 1 || !zq::is_prime(q) {
            return;
        }
        let mut left = ((n / 2) as u64, q - 1);
        let own = if middle == -1 { 6 } else { 3 };
        if !left.1.is_multiple_of(own) {
            return;
        }
        left.1 /= own;
        let mut radices = vec![2];
        for radix in [3, 2] {
            while left.0.is_multiple_of(radix) && left.1.is_multiple_of(radix) {
                left = (left.0 / radix, left.1 / radix);
                radices.push(radix);
            }
        }
        let fewer = radices.len() - usize::from(radices.len() > 1);
        for levels in [radices.len(), fewer] {
            let words = radices[..levels].iter().map(Form::word);
            let end = Form::list("weighted-convolution", [Form::list("toeplitz", [])]);
            let tree = Form::list("mixed-radix", words.chain([end]));
            self.tree(
                tree,
                [Operand::Big; 2],
                format!("over {q} itself, by {levels} levels of splits"),
            );
        }
    }

    /// Plans over q itself.
    fn over_the_modulus(&mut self, shapes: &mut Shapes, room: &[Shape], q: u64) {
        if q.is_multiple_of(2) {
            return;
        }
        let allowed = room.iter().filter(|shape| shape.allowed(q));
        for shape in allowed.take(2 * SHAPES) {
            if let Some(inner) = shapes.inner(shape, q) {
                let why = format!("over {q} itself: {shape}");
                self.tree(shape.outer(inner), [Operand::Big; 2], why);
            }
        }
    }

    /// Plans over other primes, of 16 bits and of 32.
    fn over_primes(
        &mut self,
        (shapes, target): (&mut Shapes, &Target),
        room: &[Shape],
        bound: u128,
    ) {
        for width in [Width::Short, Width::Long] {
            let usual = |shape: &&Shape| shape.fits(width, target);
            let take = if width == Width::Short { SHAPES } else { SHAPES / 2 };
            for shape in room.iter().filter(usual).take(take) {
                for primes in primes(shape.order(), bound, width) {
                    let part = |&p: &u64| {
                        Some(Form::list("prime", [Form::word(p), shapes.inner(shape, p)?]))
                    };
                    let Some(parts) = primes.iter().map(part).collect::<Option<Vec<Form>>>() else {
                        continue;
                    };
                    let names: Vec<String> = primes.iter().map(u64::to_string).collect();
                    let why = format!("over {}: {shape}", names.join(", "));
                    self.tree(shape.outer(Form::list("change-modulus", parts)), self.operands, why);
                }
            }
        }
    }

    /// Toeplitz matrices modulo powers of two, in registers of so many words that wrap: one where f is x^n - w, two for
    /// the unreduced product else.
    fn powers_of_two(&mut self, domain: &Domain, lanes: usize) {
        let (n, q) = (self.ring.degree(), domain.q);
        if !q.is_power_of_two() {
            return;
        }
        let single = domain.binomial().is_some();
        // Whatever becomes of the unreduced product is divided again.
        let divisions =
            if single || ToeplitzPair::steps(self.ring, lanes).is_some() { 1 } else { 3 };
        for (tooms, lost) in TOOMS {
            for levels in [0u32, 2, 3, 4, 5, 6] {
                // Leaves of at least 5, as many as fill the matrix, in whole registers.
                let unit = tooms.iter().product::<usize>() << levels;
                let size =
                    n.next_multiple_of(unit * lanes / zq::gcd(unit as u64, lanes as u64) as usize);
                let small = levels == 0;
                let leaves = if small { lanes..=6 * lanes } else { 5..=32 };
                if (small && !tooms.is_empty())
                    || q.trailing_zeros() + lost * divisions > u32::from(WORD_BITS)
                    || !leaves.contains(&(size / unit))
                {
                    continue;
                }
                let karatsuba = (0..levels)
                    .fold(Form::list("toeplitz", []), |f, _| Form::list("karatsuba", [f]));
                let names: String = tooms.iter().map(|toom| format!("Toom-{toom}, ")).collect();
                let what = match levels {
                    0 => "dot products".to_string(),
                    _ => format!("{names}Karatsuba, {levels} levels"),
                };
                let inner = tooms.iter().rev().fold(karatsuba, |small, &toom| {
                    Form::list("toom-cook", [Form::word(toom), small])
                });
                if single && levels >= 2 {
                    let why = format!("one Toeplitz matrix of {size} by {what}");
                    let tree = Form::list("toeplitz-matrix", [Form::word(size), inner.clone()]);
                    self.tree(tree, [Operand::Big; 2], why);
                }
                if !single || small {
                    let why = format!("two Toeplitz matrices of {size} by {what}");
                    let pair = Form::list("toeplitz-pair", [Form::word(size), inner]);
                    let tree = Form::list("lift", [Form::word(2 * n - 1), pair]);
                    self.tree(tree, [Operand::Big; 2], why);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "candidates_tests.rs"]
mod tests;
