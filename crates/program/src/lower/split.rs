//! Small products in parts by lanes: what a method says as linear maps of chunks becomes sums of rows,
//! its constants rows of factors, one for each lane. Nothing here knows which method it is.

use super::flat::flattened;
use super::lane_methods::{Convolutions, Made, Place, Rows};
use super::small::{Small, SplitSmall};
use super::spare::spare;
use super::trinomial::negated;
use super::{LowerError, Lowering, beyond, unsupported};
use crate::bounds::WORD;
use crate::ir::*;
use ringforge_plan::{ChunkOp, Part, SmallModulus, Split, rotated};
use std::collections::HashMap;

/// A multiplication by constants, one for each lane.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    /// By 1 in every lane.
    One,
    /// By −1 in every lane.
    Minus,
    /// By anything.
    Factor(Factor),
}

/// A linear map whose constants and reductions are chosen.
struct Map<'a> {
    ops: &'a [ChunkOp],
    inputs: usize,
    /// For every value the first one that is the same.
    same: Vec<usize>,
    constants: HashMap<usize, Constant>,
    /// Largest magnitude of every value, and whether it is reduced when it is made.
    bounds: Vec<i64>,
    reduced: Vec<bool>,
}

/// A value of a map, and the rows where its coefficients go.
type Output<'a> = (usize, &'a Rows, Vec<usize>);
/// Rows of a map's inputs: (chunk, coefficient of the chunk).
type Load<'a> = dyn FnMut(&mut Block, usize, usize) -> Value + 'a;

impl Lowering<'_> {
    /// What multiplying by these residues, one for each lane, is, and its bound for words within
    /// `bound`.
    pub(super) fn constant(
        &mut self,
        place: &Place,
        name: &str,
        values: Vec<u64>,
        bound: i64,
    ) -> (Constant, i64) {
        let first = values[0];
        let equal = values.iter().all(|&c| c == first);
        if equal && first == 1 {
            return (Constant::One, bound);
        }
        if equal && first == self.q - 1 {
            return (Constant::Minus, bound);
        }
        let most = values.iter().map(|&c| self.bounds.product(c, bound)).max().unwrap_or(0);
        let factor = match equal {
            true => Factor::Splat(first),
            false => self.lane_factors(place, name, values),
        };
        (Constant::Factor(factor), most)
    }

    /// A word times a constant, and whether it is the negative.
    pub(super) fn times_constant(
        &self,
        block: &mut Block,
        a: Value,
        constant: Constant,
    ) -> (Value, bool) {
        match constant {
            Constant::One => (a, false),
            Constant::Minus => (a, true),
            Constant::Factor(factor) => (block.times(a, factor, self.schedule.multiply()), false),
        }
    }

    /// Products by way of smaller ones.
    pub(super) fn split_product(&mut self, small: &SplitSmall, all: Convolutions) -> Made {
        let Convolutions { place, moduli, size, rows: [a, b, out], bound } = all;
        let q = self.q;
        let spared = move |split: Split| if place.spares { spare(split, q) } else { split };
        let splits: Option<Vec<Split>> =
            moduli.iter().map(|&m| small.node.split(m).map(spared)).collect();
        let Some(splits) = splits else {
            let node = small.node.to_form();
            return Err(unsupported(node, "it does not split every modulus", "(toeplitz)"));
        };
        let (splits, methods) = self.in_few_steps(splits, &small.parts, &spared);
        let first = &splits[0];
        let (lanes, m) = (self.lanes, first.chunks[0].len());
        let name = format!("there{size}_");
        let maps: Vec<&[ChunkOp]> = splits.iter().map(|s| &s.forward[..]).collect();
        let inputs = vec![bound; first.chunks.len()];
        let used: Vec<usize> = first.parts.iter().flat_map(|part| part.values.clone()).collect();
        let room = self.room(&methods);
        let there = self.map(place, &name, &maps, inputs, (&used, room))?;
        let mut block = Block::default();
        let mut operands = Vec::new();
        for (side, rows) in [("a", a), ("b", b)] {
            let of_parts: Vec<Rows> = (first.parts.iter().enumerate())
                .map(|(p, part)| {
                    let name = format!("{side}{p}_of{size}");
                    self.rows(place, &name, lanes, part.values.len() * m)
                })
                .collect();
            let places: Vec<Output> = (first.parts.iter().zip(&of_parts))
                .flat_map(|(part, rows)| {
                    let at = |(i, &v): (usize, &usize)| (v, rows, (i * m..(i + 1) * m).collect());
                    part.values.iter().enumerate().map(at).collect::<Vec<_>>()
                })
                .collect();
            self.run_map(&mut block, &there, m, &places, &mut |block, chunk, j| {
                self.load(block, rows, first.chunks[chunk][j])
            });
            operands.push(of_parts);
        }
        let mut body = vec![Stmt::Block(block)];

        let (mut results, mut bounds) = (Vec::new(), Vec::new());
        for (p, part) in first.parts.iter().enumerate() {
            let moduli: Vec<SmallModulus> = splits.iter().map(|s| s.parts[p].modulus).collect();
            let suffix = format!("{}_{p}of{size}", place.suffix);
            let place = Place { suffix, limited: false, ..place.clone() };
            let bound = part.values.iter().map(|&v| there.bounds[there.same[v]]).max().unwrap_or(0);
            let width = part.values.len() * m;
            let result = self.rows(&place, &format!("c{p}_of{size}"), lanes, width);
            let rows = [&operands[0][p], &operands[1][p], &result];
            let (place, moduli) = (&place, &moduli);
            let all = Convolutions { place, moduli, size: width, rows, bound };
            let (product, bound) = self.convolve(methods[p], all)?;
            body.extend(product);
            for chunk in 0..part.values.len() {
                results.push(result.from(chunk * m, lanes));
                bounds.push(bound);
            }
        }

        let name = format!("back{size}_");
        let maps: Vec<&[ChunkOp]> = splits.iter().map(|s| &s.inverse[..]).collect();
        let limit = if place.limited { self.schedule.products() } else { None };
        let output = (&first.output[..], limit.unwrap_or(WORD));
        let back = self.map(place, &name, &maps, bounds, output)?;
        let mut block = Block::default();
        let chunks = first.output.iter().zip(&first.chunks);
        let places: Vec<Output> = chunks.map(|(&v, chunk)| (v, out, chunk.clone())).collect();
        self.run_map(&mut block, &back, m, &places, &mut |block, chunk, j| {
            self.load(block, &results[chunk], j)
        });
        body.push(Stmt::Block(block));
        let most = first.output.iter().map(|&v| back.bounds[back.same[v]]).max().unwrap_or(0);
        Ok((body, most))
    }

    /// Splits whose parts split again as splits in those parts, where the schedule joins steps; and the parts' methods.
    fn in_few_steps<'m>(
        &self,
        splits: Vec<Split>,
        parts: &'m [Small],
        spared: &dyn Fn(Split) -> Split,
    ) -> (Vec<Split>, Vec<&'m Small>) {
        let inner = |part: &'m Small| match part {
            Small::Split(inner) => Some(inner.parts.iter().collect::<Vec<_>>()),
            _ => None,
        };
        let methods: Option<Vec<Vec<&Small>>> = parts.iter().map(inner).collect();
        let of = |part: &Part| part.method.split(part.modulus).map(spared);
        let whole: Option<Vec<Split>> = splits.iter().map(|s| flattened(s, &of)).collect();
        match methods.zip(whole).filter(|_| self.schedule.fuse() > 0) {
            Some((methods, whole)) => (whole, methods.concat()),
            None => (splits, parts.iter().collect()),
        }
    }

    /// The largest factors of parts, beyond which eight products do not fit a word together, reduced one by one or all
    /// at once.
    fn room(&self, parts: &[&Small]) -> i64 {
        let half = self.q as i64 / 2;
        let root =
            |each: i64, over: i64| ((each.max(1) << 16) as f64 + (over * over) as f64).sqrt();
        if !self.schedule.wide_sums() {
            return root(WORD / 8 - half, 0) as i64;
        }
        if parts.iter().all(|part| matches!(part, Small::Split(_))) {
            return WORD; // whose parts have limits of their own
        }
        // Modulo a trinomial one of the factors grows by two products by constants.
        let trinomial = parts.iter().any(|part| matches!(part, Small::Trinomial));
        let over = if trinomial { half + half / 4 } else { 0 };
        root((WORD - half) / 8, over) as i64 - over
    }

    /// Chooses constants and reductions; `limit` is for the values in `kept`.
    fn map<'m>(
        &mut self,
        place: &Place,
        name: &str,
        all: &[&'m [ChunkOp]],
        inputs: Vec<i64>,
        (kept, limit): (&[usize], i64),
    ) -> Result<Map<'m>, LowerError> {
        let count = inputs.len();
        let mut map = Map {
            ops: all[0],
            inputs: count,
            same: (0..count + all[0].len()).collect(),
            constants: HashMap::new(),
            reduced: vec![false; count + all[0].len()],
            bounds: inputs,
        };
        let mut scaled: Vec<(usize, Vec<u64>, usize)> = Vec::new();
        for (i, &op) in all[0].iter().enumerate() {
            let op = op.on(|v| map.same[v]);
            let bound = match op {
                ChunkOp::Add(a, b) | ChunkOp::Sub(a, b) => {
                    while map.bounds[a] + map.bounds[b] > WORD {
                        let larger = if map.bounds[a] >= map.bounds[b] { a } else { b };
                        let smaller = if larger == a { b } else { a };
                        let pick = if map.reduced[larger] { smaller } else { larger };
                        self.reduce_value(&mut map, pick, place)?;
                    }
                    map.bounds[a] + map.bounds[b]
                }
                ChunkOp::Rotate(a, _) => map.bounds[a],
                ChunkOp::Scale(a, _) => {
                    let of = |ops: &&[ChunkOp]| match ops[i] {
                        ChunkOp::Scale(_, c) => c,
                        _ => 1,
                    };
                    let values: Vec<u64> = all.iter().map(of).collect();
                    let known = scaled.iter().find(|(of, by, _)| (*of, by) == (a, &values));
                    if let Some(&(_, _, first)) = known.filter(|_| self.schedule.wide_sums()) {
                        map.same[count + i] = first;
                        map.bounds.push(map.bounds[first]);
                        continue;
                    }
                    scaled.push((a, values.clone(), count + i));
                    let name = format!("{name}{i}");
                    let bound = map.bounds[a];
                    let (constant, bound) = self.constant(place, &name, values, bound);
                    map.constants.insert(count + i, constant);
                    bound
                }
            };
            map.bounds.push(bound);
        }
        for v in kept.iter().map(|&v| map.same[v]).collect::<Vec<_>>() {
            if map.bounds[v] > limit && !map.reduced[v] {
                self.reduce_value(&mut map, v, place)?;
            }
        }
        Ok(map)
    }

    fn reduce_value(&self, map: &mut Map, v: usize, place: &Place) -> Result<(), LowerError> {
        if map.reduced[v] {
            return Err(beyond(format!("{}.base", place.tag), WORD, 2 * map.bounds[v]));
        }
        map.reduced[v] = true;
        map.bounds[v] = self.bounds.reduce(map.bounds[v]).min(map.bounds[v]);
        Ok(())
    }

    /// Runs a map row by row.
    fn run_map(&self, block: &mut Block, map: &Map, m: usize, outputs: &[Output], load: &mut Load) {
        let mut made = Maker { lowering: self, map, m, made: HashMap::new() };
        for j in 0..m {
            for (v, rows, at) in outputs {
                let (mut value, negative) = made.value(block, *v, j, load);
                if negative {
                    value = block.negated(value);
                }
                self.store(block, rows, at[j], value);
            }
        }
    }

    /// a·b mod x^k + ax^(k/2) + b, one for each lane, by products and then the remainder.
    pub(super) fn trinomial_product(&mut self, all: Convolutions) -> Made {
        let Convolutions { place, moduli, size, rows: [a, b, out], bound } = all;
        let stage = format!("{}.base", place.tag);
        let (q, half, upper) = (self.q, size / 2, 2 * size - 1);
        let each = self.lane_product(&stage, bound, bound)?;
        let together = self.together(size, each);
        let procedure = self.product(size, together);
        let whole = self.rows(place, &format!("whole{size}"), self.lanes, upper);
        let arguments = [&whole, a, b].map(|rows| (rows.buffer, rows.at.clone()));
        let call = Stmt::Call { procedure, arguments: arguments.into() };

        let mut block = Block::default();
        let mut rows = Vec::new();
        for i in 0..upper {
            let terms = (i + 1).min(upper - i);
            let bound = self.lane_sum(&stage, terms, together, each)?;
            rows.push((self.load(&mut block, &whole, i), bound));
        }
        let [middle, low] = negated(moduli, q);
        for i in (size..upper).rev() {
            for (name, values, to) in [("middle", &middle, i - half), ("low", &low, i - size)] {
                let (name, place) = (format!("{name}{size}_"), (place, &*stage));
                let (top, at) = (rows[i], Some(rows[to]));
                rows[to] = self.plus_times(&mut block, place, (&name, values), top, at)?;
            }
        }
        let mut most = 0;
        for (i, &(value, bound)) in rows[..size].iter().enumerate() {
            self.store(&mut block, out, i, value);
            most = most.max(bound);
        }
        Ok((vec![call, Stmt::Block(block)], most))
    }
}

/// Makes the values of a map as they are asked for, each once.
struct Maker<'a, 'b> {
    lowering: &'a Lowering<'b>,
    map: &'a Map<'a>,
    m: usize,
    /// By value and row: the word and whether it is the negative.
    made: HashMap<(usize, usize), (Value, bool)>,
}

impl Maker<'_, '_> {
    fn value(&mut self, block: &mut Block, v: usize, j: usize, load: &mut Load) -> (Value, bool) {
        let v = self.map.same[v];
        if let Some(&known) = self.made.get(&(v, j)) {
            return known;
        }
        let made = match v.checked_sub(self.map.inputs).map(|i| self.map.ops[i]) {
            None => (load(block, v, j), false),
            Some(ChunkOp::Add(a, b)) => self.sum(block, (a, false), (b, false), j, load),
            Some(ChunkOp::Sub(a, b)) => self.sum(block, (a, false), (b, true), j, load),
            Some(ChunkOp::Rotate(a, k)) => {
                let (from, minus) = rotated(j, k, self.m);
                let (value, negative) = self.value(block, a, from, load);
                (value, negative != minus)
            }
            Some(ChunkOp::Scale(a, _)) => {
                let (value, negative) = self.value(block, a, j, load);
                let constant = self.map.constants.get(&v).cloned().unwrap_or(Constant::One);
                let (value, minus) = self.lowering.times_constant(block, value, constant);
                (value, negative != minus)
            }
        };
        let made = match self.map.reduced[v] {
            true => {
                let method = self.lowering.schedule.reduce();
                (block.reduced(made.0, method), made.1)
            }
            false => made,
        };
        self.made.insert((v, j), made);
        made
    }

    fn sum(
        &mut self,
        block: &mut Block,
        (a, minus_a): (usize, bool),
        (b, minus_b): (usize, bool),
        j: usize,
        load: &mut Load,
    ) -> (Value, bool) {
        let (x, negative_x) = self.value(block, a, j, load);
        let (y, negative_y) = self.value(block, b, j, load);
        match (negative_x != minus_a, negative_y != minus_b) {
            (false, false) => (block.add(x, y), false),
            (false, true) => (block.sub(x, y), false),
            (true, false) => (block.sub(y, x), false),
            (true, true) => (block.add(x, y), true),
        }
    }
}
