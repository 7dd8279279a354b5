//! Products modulo any monic f: the unreduced product's halves L + x^n·H as two Toeplitz matrices times one
//! vector, then its remainder by f.
//!
//! With x^n ≡ Σ w_t·x^t, the quotient by f obeys Q_i = H_i + Σ w_t·Q_{i+n−t}, and the remainder is
//! c_i = L_i + Σ w_t·Q_{i−t}. If there are few t, and none so near to n that quotient coefficients
//! in one register depend on each other, this is computed directly, from the top down. Otherwise
//! the quotient is ⌊H·μ/x^(n−2)⌋ with μ = ⌊x^(2n−2)/f⌋. That is another Toeplitz matrix, of
//! constants, and so is the sum in c_i. Nothing is reduced in between. A matrix by Toom–Cook leaves
//! s bits fewer than it is given. So k + s ≤ 16, or k + 3s ≤ 16 if the quotient's matrix and the
//! last one are taken.

use super::linear::Finish;
use super::{Q, Shape, direct, family, fits, matrix, matrix_procedure, settled};
use crate::bounds::centred;
use crate::build::{Builder, call_at, repeat, straight};
use crate::ir::*;
use crate::lower::transpose::Square;
use crate::lower::{LowerError, Lowered, SHORT, Written, general, unsupported};
use crate::settle::Choices;
use ringforge_plan::{Inside, Lift, Plan, Product, ToeplitzPair, odd_inverse};
use ringforge_ring::zq;
use ringforge_targets::ALIGNMENT;
use ringforge_targets::Target;

/// Where the word is that many behind the first one of a register.
type At<'a> = &'a dyn Fn(i64) -> Index;
/// A summand: an array, its word's place behind the register's first one, and its factor.
type Term = (BufferId, i64, i64);

/// Lowers a lift to two Toeplitz matrices.
pub fn lower(
    plan: &Plan,
    lift: &Lift,
    pair: &ToeplitzPair,
    (schedule, target): (&Choices, &Target),
    name: &str,
) -> Result<Lowered, LowerError> {
    let (q, n, size) = (plan.ring.q(), plan.ring.degree(), pair.size);
    let form = || lift.to_form();
    fits(plan, (schedule, target), &form)?;
    let square = Square { registers: target.registers, bits: SHORT };
    let lanes = square.lanes();
    if !size.is_multiple_of(lanes) || n < lanes {
        let why = format!("matrices of size {size} for {n} coefficients do not fill registers");
        return Err(unsupported(
            form(),
            why,
            format!("a size that is a multiple of {lanes}, and n ≥ {lanes}"),
        ));
    }
    let (mut procedures, divisor) =
        if matches!(pair.inner.inside(), Inside::Dots) && size <= direct::LARGEST * lanes {
            (vec![direct::procedure("matrix", size, lanes)], 1)
        } else {
            let shape = Shape::of(pair.inner.as_ref(), n, &form, (schedule, square))?;
            let (mut procedures, rows) = shape.helpers();
            procedures.push(shape.matrix(rows));
            (procedures, shape.divisor())
        };
    let terms = ToeplitzPair::steps(&plan.ring, lanes);
    let bits = q.trailing_zeros() + divisor.trailing_zeros() * if terms.is_some() { 1 } else { 3 };
    if bits > 16 {
        let why = format!("what is left of f takes words of {bits} bits with Toom-Cook");
        return Err(unsupported(form(), why, "karatsuba in its place"));
    }
    let matrix = ProcedureId(procedures.len() as u32 - 1);
    let mut builder = Builder::new("mul", Some(Computes::Product), Q);
    let [c, a, b] = builder.product((n, SHORT), [centred(q); 3]);
    let product = Remainder { builder, n, q, size, matrix, lanes };
    procedures.push(match terms {
        Some(terms) => product.in_steps([c, a, b], &terms),
        None => product.by_quotient([c, a, b], plan),
    });
    let words = (target.registers, SHORT);
    Ok(Written::of(procedures).lowered(plan, name, words, schedule.clone()))
}

impl Shape {
    /// The procedure `(out, diagonals, vector)` for a whole matrix; of the words all are right but the
    /// top bits that its divisions cost.
    fn matrix(&self, rows: (usize, ProcedureId)) -> Procedure {
        let (size, square, divisor) = (self.size, self.square, self.divisor());
        let (mut builder, [out, t, v]) = matrix_procedure("matrix", size);
        let mut arenas = self.arenas(&mut builder);
        let mut sides = [t, v].map(|buffer| vec![family(buffer, 0)]);
        if self.paired() {
            // Rows are loaded in pairs from one buffer.
            let [ts, vs] = &mut arenas;
            let at = [ts.take(&mut builder, 2 * size), vs.take(&mut builder, size)];
            let mut body = Vec::new();
            for (from, to, words) in [(t, at[0], 2 * size), (v, at[1], size)] {
                body.extend(matrix::copy(&mut builder, (from, 0), to, (words, 1), square.lanes()));
            }
            builder.stage("matrix and vector beside what is made of them", "", body);
            sides = at.map(|(buffer, base)| vec![family(buffer, base)]);
        }
        let lost = divisor.trailing_zeros();
        let factor = odd_inverse(divisor >> lost, Q);
        let finish = (divisor > 1).then_some(Finish { factor, shift: lost as u8, words: size });
        self.multiply(&mut builder, &mut arenas, (sides, None), (out, finish), rows);
        settled(builder, &arenas)
    }
}

/// The exported procedure in the making.
struct Remainder {
    builder: Builder,
    n: usize,
    q: u64,
    size: usize,
    /// The procedure that multiplies by a matrix.
    matrix: ProcedureId,
    /// Words of a register.
    lanes: usize,
}

impl Remainder {
    fn call(&self, out: (BufferId, usize), diagonals: (BufferId, usize), v: BufferId) -> Stmt {
        call_at(self.matrix, [out, diagonals, (v, 0)])
    }

    /// The unreduced product: L, and H from word `front` of an array that has as many zeros before it and
    /// a register of them behind.
    fn halves(&mut self, a: BufferId, b: BufferId, front: usize) -> [BufferId; 2] {
        let (n, size, lanes) = (self.n, self.size, self.lanes);
        let diagonals = self.builder.local("diagonals", 2 * size + n);
        let vector = self.builder.local("vector", size);
        let (low, high) =
            (self.builder.local("low", size), self.builder.local("high", front + size + lanes));
        // Zeros first: they reach into what is written next.
        let behind = (1..=(size + 1).div_ceil(lanes)).map(|i| 2 * size + n - i * lanes);
        let mut body = vec![matrix::zeros(diagonals, (0..size).step_by(lanes).chain(behind))];
        let to = (diagonals, matrix::main_diagonal(size));
        body.extend(matrix::copy(&mut self.builder, (b, 0), to, (n, 1), lanes));
        self.builder.stage("diagonals of both matrices", "[Winograd80 §IV]", body);
        let body = matrix::vector(&mut self.builder, (a, n), (vector, size), lanes);
        self.builder.stage("the vector, padded with zeros", "", body);
        let around = (0..front).step_by(lanes).chain([front + size]);
        let body = vec![
            matrix::zeros(high, around),
            self.call((low, 0), (diagonals, 0), vector),
            // The rows from x^n on are those of the diagonals n further on.
            self.call((high, front), (diagonals, n), vector),
        ];
        self.builder.stage("both halves of the product", "", body);
        [low, high]
    }

    /// The remainder where x^n is the sum of few terms (t, w_t), by the recursion.
    fn in_steps(mut self, [c, a, b]: [BufferId; 3], terms: &[(usize, i64)]) -> Procedure {
        let (n, lanes) = (self.n, self.lanes);
        let front = lanes;
        let [low, high] = self.halves(a, b, front);
        // The quotient, in place: registers in which a term has anything to add.
        let reach = |t: usize| (t >= 2).then(|| (t - 2) / lanes);
        let mut body = Vec::new();
        let mut ends: Vec<usize> = terms.iter().filter_map(|&(t, _)| reach(t)).collect();
        ends.sort_unstable();
        ends.dedup();
        while let Some(last) = ends.pop() {
            let first = ends.last().map_or(0, |&end| end + 1);
            let here: Vec<Term> = (terms.iter())
                .filter(|&&(t, _)| reach(t) >= Some(last))
                .map(|&(t, w)| (high, (front + n - t) as i64, w))
                .collect();
            let place = front as i64;
            body.extend(self.runs((last, first), &|block, at| {
                let a = sum(block, at, (high, place), &here);
                block.store(high, at(place), a);
            }));
        }
        if !body.is_empty() {
            self.builder.stage("the quotient by f, from the top down", "", body);
        }
        // The remainder.
        let mut starts: Vec<usize> = terms.iter().map(|&(t, _)| t / lanes).chain([0]).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut body = Vec::new();
        let last = n.div_ceil(lanes);
        for (i, &first) in starts.iter().enumerate() {
            let next = starts.get(i + 1).copied().unwrap_or(last);
            let here = terms.iter().filter(|&&(t, _)| t / lanes <= first);
            let here: Vec<Term> = here.map(|&(t, w)| (high, front as i64 - t as i64, w)).collect();
            body.extend(self.stored(c, (first, next), (low, &here)));
        }
        self.builder.stage("the remainder, canonical", "", body);
        self.builder.finish()
    }

    /// The remainder by two more matrices.
    fn by_quotient(mut self, [c, a, b]: [BufferId; 3], plan: &Plan) -> Procedure {
        let (n, q, size) = (self.n, self.q, self.size);
        let [low, high] = self.halves(a, b, 0);
        let mut table = |name: &str, entries: &dyn Fn(i64) -> Option<u64>| {
            let main = matrix::main_diagonal(size) as i64;
            let entry = |k: usize| entries(k as i64 - main).unwrap_or(0);
            let words = (0..2 * size).map(|k| zq::centered(entry(k), q) as i32).collect();
            self.builder.buffer(name, Role::Table(words), 2 * size, ALIGNMENT)
        };
        let reciprocal = general::reciprocal(&plan.ring);
        let mu = table("reciprocal", &|k| {
            let index = (n as i64 - 2).checked_add(k).filter(|_| k <= 0)?;
            reciprocal.get(usize::try_from(index).ok()?).copied()
        });
        let f = table("minus_f", &|k| {
            let coefficient = plan.ring.modulus()[..n].get(usize::try_from(k).ok()?)?;
            Some(zq::unsigned(-coefficient, q))
        });
        let (quotient, rest) =
            (self.builder.local("quotient", size), self.builder.local("rest", size));
        let body = vec![self.call((quotient, 0), (mu, 0), high)];
        self.builder.stage("the quotient: the upper half times the reciprocal of f", "", body);
        let body = vec![self.call((rest, 0), (f, 0), quotient)];
        self.builder.stage("minus the quotient times f", "", body);
        let body = self.stored(c, (0, n.div_ceil(self.lanes)), (low, &[(rest, 0, 1)]));
        self.builder.stage("the remainder, canonical", "", body);
        self.builder.finish()
    }

    /// Runs of a body for registers `first` to `last`, the last one first; it is given the index of a word
    /// `offset` from the register.
    fn runs(
        &mut self,
        (last, first): (usize, usize),
        body: &dyn Fn(&mut Block, At),
    ) -> Option<Stmt> {
        let lanes = self.lanes as i64;
        let counter = (last > first).then(|| self.builder.counter());
        let at = |offset: i64| Index {
            base: last as i64 * lanes + offset,
            terms: counter.map(|counter| (counter, -lanes)).into_iter().collect(),
        };
        let block = straight(|block| body(block, &at));
        Some(match counter {
            Some(counter) => repeat(counter, last - first + 1, vec![block]),
            None => block,
        })
    }

    /// Registers `first` up to `next` of sums, as canonical residues, into `c`.
    fn stored(
        &mut self,
        c: BufferId,
        (first, next): (usize, usize),
        (low, terms): (BufferId, &[Term]),
    ) -> Vec<Stmt> {
        let (lanes, n) = (self.lanes, self.n);
        let unused = 16 - self.q.trailing_zeros() as u8;
        let write = |block: &mut Block, at: At, count: usize| {
            let a = sum(block, at, (low, 0), terms);
            let a = block.sign_extended(a, unused);
            block.store_first((c, at(0)), a, (count, lanes));
        };
        let whole = next.min(n / lanes);
        let mut all = Vec::new();
        if whole > first {
            all.extend(self.runs((whole - 1, first), &|block, at| write(block, at, lanes)));
        }
        if next > whole {
            all.extend(self.runs((whole, whole), &|block, at| write(block, at, n % lanes)));
        }
        all
    }
}

/// A register of one array and so many times those of others.
fn sum(block: &mut Block, at: At, (first, offset): (BufferId, i64), terms: &[Term]) -> Value {
    let mut sum = block.load(first, at(offset));
    // Factors that are in registers.
    let mut factors: Vec<(i64, Value)> = Vec::new();
    for &(buffer, offset, w) in terms {
        let mut a = block.load(buffer, at(offset));
        if w.abs() != 1 {
            let known = factors.iter().find(|known| known.0 == w).map(|known| known.1);
            let factor = known.unwrap_or_else(|| block.splat(w as i32));
            factors.push((w, factor));
            a = block.push(Op::MulLo(a, factor));
        }
        sum = block.joined(Some(sum), a, w == -1);
    }
    sum
}
