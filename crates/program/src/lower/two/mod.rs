//! Whole products modulo powers of two, q = 2^k with k ≤ 16, in words modulo 2^16.
//!
//! Words are residues: sums and products wrap, as they should, so nothing is reduced. The product
//! in the ring is one Toeplitz matrix–vector product [Winograd80 §IV]. Karatsuba and Toom–Cook
//! split it level by level, first along the coefficients, where a level's blocks are rows of words.
//! Then the remaining products go side by side, one in each lane, and the remaining levels work on
//! whole registers without a shuffle. Toom–Cook leaves its result D-fold, D = 2^s·odd. The very
//! last step multiplies by 2^(16−k−s)/odd and shifts 16 − k bits right, which divides, reduces and
//! centres at once. The plan ensures k + s ≤ 16.

mod direct;
mod fused;
mod leaf;
mod lifted;
mod linear;
mod matrix;
mod rows;
mod shape;
mod steps;

use super::transpose::{self, Square};
use super::{LowerError, Lowered, SHORT, Written, unsupported};
use crate::bounds::centred;
use crate::build::{Builder, call, repeat};
use crate::ir::*;
use crate::schedule::BaseProducts;
use crate::settle::{Choices, Refused};
pub use lifted::lower as lower_lifted;
use linear::{Family, Finish, Map, Place};
use matrix::Direct;
use ringforge_plan::{Form, Plan, Product, ToeplitzMatrix, odd_inverse};
use ringforge_ring::zq;
use ringforge_targets::{ALIGNMENT, Products, Target};
use shape::{Layout, Shape};
use steps::{Arena, Side, Step};

/// Words are residues modulo this.
const Q: u64 = 1 << 16;

/// Lowers a plan that is one Toeplitz matrix.
pub fn lower(
    plan: &Plan,
    matrix: &ToeplitzMatrix,
    (schedule, target): (&Choices, &Target),
    name: &str,
) -> Result<Lowered, LowerError> {
    let q = plan.ring.q();
    let form = || matrix.to_form();
    fits(plan, (schedule, target), &form)?;
    let square = Square { registers: target.registers, bits: SHORT };
    let shape = Shape::of(matrix.inner.as_ref(), matrix.degree, &form, (schedule, square))?;
    let (mut procedures, rows) = shape.helpers();
    procedures.push(shape.product(matrix, q, rows));
    let words = (target.registers, SHORT);
    Ok(Written::of(procedures).lowered(plan, name, words, schedule.clone()))
}

/// Refuses rings and schedules that words modulo 2^16 do not serve.
fn fits(
    plan: &Plan,
    (schedule, target): (&Choices, &Target),
    form: &dyn Fn() -> Form,
) -> Result<(), LowerError> {
    let q = plan.ring.q();
    if !q.is_power_of_two() || q > Q {
        return Err(unsupported(
            form(),
            format!("words are residues modulo 2^16, and 2^16 is no multiple of {q}"),
            "a modulus 2^k with k ≤ 16; a transform for others",
        ));
    }
    if let Some(site) = schedule.drop().iter().chain(schedule.add()).next() {
        return Err(super::no_such_site(site, [].iter()));
    }
    // Code that compilers turn into vectors has no registers to interleave.
    if target.products == Products::Words && schedule.base() == BaseProducts::BroadcastDot {
        return Err(Refused::other("base", "\"broadcast-dot\"", "\"lanes\"").into());
    }
    Ok(())
}

/// What multiplies by `factor` and shifts right to give the canonical residue modulo q of a
/// `divisor`-th of a word.
fn finish(q: u64, divisor: u64, words: usize) -> Finish {
    let (bits, lost) = (q.trailing_zeros(), divisor.trailing_zeros());
    let odd = divisor >> lost;
    let factor = zq::mul(odd_inverse(odd, Q), 1 << (16 - bits - lost), Q);
    Finish { factor, shift: (16 - bits) as u8, words }
}

/// Both sides of a level's products, diagonals and vectors.
type Sides = [Vec<Family>; 2];

/// The procedure, with the arrays that the steps of both sides grew in.
fn settled(builder: Builder, arenas: &[Arena; 2]) -> Procedure {
    let mut procedure = builder.finish();
    arenas.iter().for_each(|arena| arena.settle(&mut procedure));
    procedure
}

impl Shape {
    /// The procedures that multiply in lanes, and the last one with the size of its rows.
    fn helpers(&self) -> (Vec<Procedure>, (usize, ProcedureId)) {
        let registers = self.square.lanes();
        let mut procedures = Vec::new();
        let row_parts: usize = self.rows.iter().map(Step::parts).product();
        let lane_parts: usize = self.lanes.iter().map(Step::parts).product();
        let row_size = self.size / row_parts;
        // What `lanes` calls, or the whole.
        let part = row_size / lane_parts;
        let name = format!("toeplitz{part}");
        procedures.push(match (self.layout, self.fused) {
            (Layout::Rows, _) => rows::procedure(&name, part, registers),
            (_, true) => fused::procedure(&name, part, registers),
            (_, false) => leaf::procedure(&name, part, registers),
        });
        if !self.lanes.is_empty() {
            procedures.push(self.in_lanes(row_size, part));
        }
        let last = ProcedureId(procedures.len() as u32 - 1);
        (procedures, (row_size, last))
    }

    /// Whether rows are loaded in pairs from one buffer.
    fn paired(&self) -> bool {
        self.layout == Layout::Interleaved
    }

    fn arenas(&self, builder: &mut Builder) -> [Arena; 2] {
        ["t_words", "v_words"]
            .map(|name| Arena::new(builder, name, (!self.paired(), self.square.lanes())))
    }

    /// Products of `size` side by side, one in each lane, `(out, diagonals, vector)`.
    fn in_lanes(&self, size: usize, leaf: usize) -> Procedure {
        let lanes = self.square.lanes();
        let (mut builder, [out, t, v]) = matrix_procedure(&format!("lanes{size}"), size * lanes);
        let mut arenas = self.arenas(&mut builder);
        let sides = [t, v].map(|buffer| vec![family(buffer, 0)]);
        let lengths: (usize, &dyn Fn(usize) -> usize) = (size * lanes, &|length| length);
        let sides = split(&mut builder, &self.lanes, lengths, sides, None, &mut arenas);
        let products: usize = self.lanes.iter().map(Step::products).product();
        let stride = leaf * lanes;
        let results = builder.local("results", products * stride);
        let calls = calls(&mut builder, &sides, (results, stride), ProcedureId(0));
        builder.stage(&format!("{products} products of size {leaf}"), "", calls);
        let to = (family(out, 0), None, lanes);
        join(&mut builder, &self.lanes, size * lanes, (results, stride), to);
        settled(builder, &arenas)
    }

    /// The product in the ring.
    fn product(&self, matrix: &ToeplitzMatrix, q: u64, rows: (usize, ProcedureId)) -> Procedure {
        let (n, size, width) = (matrix.degree, self.size, self.square.lanes());
        let mut builder = Builder::new("mul", Some(Computes::Product), Q);
        let [c, a, b] = builder.product((n, SHORT), [centred(q); 3]);
        let mut arenas = self.arenas(&mut builder);
        let direct = match self.rows[0] {
            // What is elsewhere takes code of its own.
            _ if self.layout == Layout::Rows => None,
            Step::Halves(_) => None,
            Step::Toom(ref toom) => {
                matrix::direct(&mut builder, matrix, (a, b), (toom.parts(), width))
            }
        };
        let (t, v) = match &direct {
            Some(direct) => {
                let title = "ends of the operands, padded with zeros";
                builder.stage(title, "", direct.body.clone());
                ((b, 0), (a, 0))
            }
            None => {
                let t = arenas[0].take(&mut builder, 2 * size);
                let body = matrix::diagonals(&mut builder, matrix, (b, t.0), width);
                builder.stage("diagonals of the matrix", "[Winograd80 §IV]", body);
                let v = arenas[1].take(&mut builder, size);
                let body = matrix::vector(&mut builder, (a, n), (v.0, size), width);
                builder.stage("the vector, padded with zeros", "", body);
                (t, v)
            }
        };
        let sides = [t, v].map(|(buffer, start)| vec![family(buffer, start)]);
        let finish = Some(finish(q, self.divisor(), n));
        self.multiply(&mut builder, &mut arenas, (sides, direct), (c, finish), rows);
        settled(builder, &arenas)
    }

    /// The product of the matrix with these diagonals and this vector.
    fn multiply(
        &self,
        builder: &mut Builder,
        arenas: &mut [Arena; 2],
        (sides, direct): (Sides, Option<Direct>),
        (out, finish): (BufferId, Option<Finish>),
        (row_size, lanes): (usize, ProcedureId),
    ) {
        let (rows, size, width) = (&self.rows, self.size, self.square.lanes());
        let apart = |length| self.apart(length);
        let sides = split(builder, rows, (size, &apart), sides, direct, arenas);
        let products = match self.layout {
            Layout::Rows => each(builder, &sides, row_size, lanes),
            _ => self.grouped(builder, &sides, row_size, lanes),
        };
        let products = (products, self.apart(row_size));
        let Some(last) = finish.filter(|_| self.layout == Layout::Rows) else {
            return join(builder, rows, size, products, (family(out, 0), finish, width));
        };
        // Where the result ends within a block, the last step would stand several times.
        let whole = builder.local("whole", size);
        join(builder, rows, size, products, (family(whole, 0), None, width));
        let map = Map::finish((whole, out), last, width);
        let body = map.statements(builder);
        builder.stage("division, reduction", "", body);
    }

    /// The distance of rows of this length that are put in lanes: whole registers, so that few
    /// stores cross a cache line. Portable C wants them one after another.
    fn apart(&self, length: usize) -> usize {
        if self.paired() { length.next_multiple_of(self.square.lanes()) } else { length }
    }

    /// The products of rows, as many at a time as a register has lanes, into rows of an array.
    fn grouped(
        &self,
        builder: &mut Builder,
        sides: &Sides,
        size: usize,
        lanes: ProcedureId,
    ) -> BufferId {
        let starts = |families: &[Family], block: usize| -> Vec<transpose::Row> {
            let each = |f: &Family| {
                let first = f.place.base + block * f.apart;
                let at = |i| (f.place.buffer, first + i * f.place.stride);
                (0..f.count).map(at).collect()
            };
            families.iter().flat_map(|f| -> Vec<transpose::Row> { each(f) }).collect()
        };
        let (t, v) = ([starts(&sides[0], 0), starts(&sides[0], 1)], starts(&sides[1], 0));
        let (count, square) = (v.len(), self.square);
        let width = square.lanes();
        let groups = count.div_ceil(width);
        let apart = self.apart(size);
        let rows = builder.local("rows", groups * width * apart);
        let [lane_t, lane_v, lane_c] = [("lane_t", 2), ("lane_v", 1), ("lane_c", 1)]
            .map(|(name, times)| builder.local(name, times * size * width));
        let between = (!self.paired())
            .then(|| ["between", "beside"].map(|name| builder.local(name, width * width)));
        for group in 0..groups {
            // Spare lanes do the last product again.
            let of = |all: &[transpose::Row]| -> Vec<transpose::Row> {
                (0..width).map(|lane| all[(group * width + lane).min(all.len() - 1)]).collect()
            };
            let results: Vec<transpose::Row> =
                (0..width).map(|lane| (rows, (group * width + lane) * apart)).collect();
            let (first, second) = ((lane_t, 0), (lane_t, size * width));
            let vectors = (of(&v), (lane_v, 0), size);
            let rows_in = match between {
                // Both blocks of a window are one after the other.
                Some(_) => vec![(of(&t[0]), first, 2 * size), vectors],
                None => vec![(of(&t[0]), first, size), (of(&t[1]), second, size), vectors],
            };
            let mut body = Vec::new();
            for (rows, to, columns) in rows_in {
                body.extend(square.into_lanes(builder, &rows, to, columns, between));
            }
            body.push(call(lanes, [lane_c, lane_t, lane_v]));
            body.extend(square.out_of_lanes(builder, (lane_c, 0), &results, size, between));
            let last = (group * width + width).min(count);
            let title =
                format!("products {} to {last} of size {size}, in lanes", group * width + 1);
            builder.stage(&title, "", body);
        }
        rows
    }
}

/// The products of rows, one after another, into rows of an array.
fn each(builder: &mut Builder, sides: &Sides, size: usize, procedure: ProcedureId) -> BufferId {
    let count: usize = sides[1].iter().map(|family| family.count).sum();
    let rows = builder.local("rows", count * size);
    let calls = calls(builder, sides, (rows, size), procedure);
    builder.stage(&format!("{count} products of size {size}"), "", calls);
    rows
}

/// A call for each product, whose result goes to its place in an array.
fn calls(
    builder: &mut Builder,
    sides: &Sides,
    (results, stride): (BufferId, usize),
    procedure: ProcedureId,
) -> Vec<Stmt> {
    let mut calls = Vec::new();
    let mut number = 0;
    for (t, v) in sides[0].iter().zip(&sides[1]) {
        let counter = (t.count > 1).then(|| builder.counter());
        let at = |place: Place| match counter {
            Some(counter) => (place.buffer, Index::strided(place.base, counter, place.stride)),
            None => (place.buffer, Index::at(place.base)),
        };
        let result = Place { buffer: results, base: number * stride, stride };
        let arguments = vec![at(result), at(t.place), at(v.place)];
        let call = Stmt::Call { procedure, arguments };
        calls.push(match counter {
            Some(counter) => repeat(counter, t.count, vec![call]),
            None => call,
        });
        number += t.count;
    }
    calls
}

/// A procedure (out, diagonals, vector) in the making, for a result of so many words.
fn matrix_procedure(name: &str, words: usize) -> (Builder, [BufferId; 3]) {
    let mut builder = Builder::new(name, None, Q);
    let arrays = [
        ("out", Role::Output, words),
        ("diagonals", Role::Input, 2 * words),
        ("vector", Role::Input, words),
    ];
    let arrays = arrays.map(|(name, role, words)| builder.buffer(name, role, words, ALIGNMENT));
    (builder, arrays)
}

/// Blocks that start at a word, once.
fn family(buffer: BufferId, base: usize) -> Family {
    Family { place: Place { buffer, base, stride: 0 }, count: 1, apart: 0 }
}

/// Goes down all steps. `length` is the size of the product in words, in the layout at hand.
/// `apart` gives the distance between the last rows of a length. The first step may find its blocks
/// elsewhere.
fn split(
    builder: &mut Builder,
    steps: &[Step],
    (length, apart): (usize, &dyn Fn(usize) -> usize),
    mut sides: Sides,
    direct: Option<Direct>,
    arenas: &mut [Arena; 2],
) -> Sides {
    let mut length = length;
    for (number, step) in steps.iter().enumerate() {
        length /= step.parts();
        let (title, cite) = step.title(length);
        // Rows that are split again are one after another.
        let apart = if number + 1 == steps.len() { apart(length) } else { length };
        let both = [(Side::Diagonals, "diagonals"), (Side::Vectors, "vectors")];
        for (i, (side, what)) in both.into_iter().enumerate() {
            let (mut maps, mut families) = (Vec::new(), Vec::new());
            for family in &sides[i] {
                let made = step.down(side, family, (length, apart), builder, &mut arenas[i]);
                maps.push(made.0);
                families.extend(made.1);
            }
            if let (0, Some(direct)) = (number, &direct) {
                maps[0].inputs.clone_from(&direct.places[i]);
                maps[0].elsewhere.clone_from(&direct.elsewhere[i]);
            }
            let body: Vec<Stmt> = maps.iter().flat_map(|map| map.statements(builder)).collect();
            if !body.is_empty() {
                builder.stage(&format!("{title}, {what}"), cite, body);
            }
            sides[i] = families;
        }
    }
    sides
}

/// Comes up all steps; the products of the last one are rows, some distance apart.
fn join(
    builder: &mut Builder,
    steps: &[Step],
    length: usize,
    (rows, apart): (BufferId, usize),
    (out, finish, lanes): (Family, Option<Finish>, usize),
) {
    // The families of each level, in the order in which `split` made them.
    let mut lengths = vec![length];
    let mut counts: Vec<Vec<usize>> = vec![vec![1]];
    for step in steps {
        lengths.push(lengths[lengths.len() - 1] / step.parts());
        let last = &counts[counts.len() - 1];
        counts.push(match step {
            Step::Toom(toom) => last.iter().map(|count| count * toom.points()).collect(),
            Step::Halves(_) => {
                last.iter().flat_map(|&count| vec![count; step.products()]).collect()
            }
        });
    }
    let families = |buffer, counts: &[usize], stride: usize| -> Vec<Family> {
        let mut base = 0;
        let next = |&count: &usize| {
            let family = Family { place: Place { buffer, base, stride }, count, apart: 0 };
            base += count * stride;
            family
        };
        counts.iter().map(next).collect()
    };
    let mut products = families(rows, &counts[steps.len()], apart);
    for (level, step) in steps.iter().enumerate().rev() {
        let (length, part) = (lengths[level], lengths[level + 1]);
        let total: usize = counts[level].iter().sum();
        let results = match level {
            0 => vec![out.clone()],
            _ => {
                let name = format!("joined{level}");
                let buffer = builder.local(&name, total * length);
                families(buffer, &counts[level], length)
            }
        };
        let each = if let Step::Toom(_) = step { 1 } else { step.products() };
        let mut body = Vec::new();
        for (result, products) in results.iter().zip(products.chunks(each)) {
            let finish = finish.filter(|_| level == 0);
            let map = step.join(products, part, result, (finish, lanes));
            body.extend(map.statements(builder));
        }
        let (title, cite) = step.title(part);
        builder.stage(&format!("{title}, sums of products"), cite, body);
        products = results;
    }
}
