//! One level of a Toeplitz product on either layout: what goes down (diagonals and vectors) and
//! what comes up (products).
//!
//! A run of r levels of Karatsuba is one map. Its differences of neighbouring windows,
//! X[i] = t[i] − t[i + h], are one array for A_{−1} − A_0 and A_0 − A_1: the window of h more is the
//! other one. So they are made once, and the next level's differences are made of both together.

use super::Q;
use super::linear::{Family, Finish, Map, Place};
use crate::build::Builder;
use crate::ir::{BufferId, Procedure};
use ringforge_plan::{Arith, Network, ToomCook, Val};

/// What goes down.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// Matrices.
    Diagonals,
    /// What they are multiplied with.
    Vectors,
}

impl Side {
    /// Blocks of a product's window.
    fn blocks(self) -> usize {
        if let Side::Diagonals = self { 2 } else { 1 }
    }
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// So many levels of Karatsuba.
    Halves(u32),
    /// One of Toom–Cook.
    Toom(ToomCook),
}

impl Step {
    /// Into how many parts a vector is split.
    pub fn parts(&self) -> usize {
        match self {
            Step::Halves(levels) => 1 << levels,
            Step::Toom(toom) => toom.parts(),
        }
    }

    /// How many products it leaves.
    pub fn products(&self) -> usize {
        match self {
            Step::Halves(levels) => 3usize.pow(*levels),
            Step::Toom(toom) => toom.points(),
        }
    }

    /// What the result is multiplied with.
    pub fn divisor(&self) -> u64 {
        match self {
            Step::Halves(_) => 1,
            Step::Toom(toom) => toom.divisor(),
        }
    }

    /// For titles and citations.
    pub fn title(&self, part: usize) -> (String, &'static str) {
        let (products, size) = (self.products(), part * self.parts());
        match self {
            Step::Halves(_) => (
                format!("Karatsuba: {size} = {products} × {part}"),
                "[Karatsuba63] [Winograd80 §IV]",
            ),
            Step::Toom(_) => {
                (format!("Toom-Cook: {size} = {products} × {part}"), "[Toom63] [Cook66]")
            }
        }
    }
}

/// A run of blocks that windows look into.
#[derive(Clone)]
struct Bundle {
    /// Blocks; those nobody looks at are not made.
    blocks: Vec<Option<Val>>,
    /// Whether it is the input itself.
    source: bool,
}

/// The windows on bundles that Karatsuba's products have as matrices, in the order of the products:
/// by the sum of the halves, by the second half, by the first one.
fn windows(
    net: &mut Network,
    bundles: &mut Vec<Bundle>,
    bundle: usize,
    starts: &[usize],
    size: usize,
) -> Vec<Vec<(usize, usize)>> {
    if size == 1 {
        return starts.iter().map(|&start| vec![(bundle, start)]).collect();
    }
    let half = size / 2;
    let from = bundles[bundle].blocks.clone();
    let mut differences = vec![None; from.len()];
    for &start in starts {
        for i in start..start + 3 * half {
            if let (None, Some(x), Some(y)) = (differences[i], from[i], from[i + half]) {
                differences[i] = Some(net.sub(x, y));
            }
        }
    }
    let middle: Vec<usize> = starts.iter().map(|start| start + half).collect();
    let both: Vec<usize> = starts.iter().flat_map(|&start| [start, start + half]).collect();
    let middle = windows(net, bundles, bundle, &middle, half);
    bundles.push(Bundle { blocks: differences, source: false });
    let last = bundles.len() - 1;
    let sides = windows(net, bundles, last, &both, half);
    let join = |(middle, sides): (Vec<_>, &[Vec<_>])| [middle, sides.concat()].concat();
    middle.into_iter().zip(sides.chunks(2)).map(join).collect()
}

/// The vectors of Karatsuba's products.
fn vectors(net: &mut Network, parts: &[Val]) -> Vec<Val> {
    if parts.len() == 1 {
        return parts.to_vec();
    }
    let (first, second) = parts.split_at(parts.len() / 2);
    let sums: Vec<Val> = first.iter().zip(second).map(|(&x, &y)| net.add(x, y)).collect();
    [vectors(net, &sums), vectors(net, second), vectors(net, first)].concat()
}

/// The result's parts from Karatsuba's products.
fn joined(net: &mut Network, products: &[Val]) -> Vec<Val> {
    if products.len() == 1 {
        return products.to_vec();
    }
    let third = products.len() / 3;
    let thirds: Vec<Vec<Val>> = products.chunks(third).map(|p| joined(net, p)).collect();
    let each = |net: &mut Network, k: usize, f: fn(&mut Network, Val, Val) -> Val| -> Vec<Val> {
        thirds[0].iter().zip(&thirds[k]).map(|(&x, &y)| f(net, x, y)).collect()
    };
    let first = each(net, 1, |net, x, y| net.add(x, y));
    let second = each(net, 2, |net, x, y| net.sub(x, y));
    [first, second].concat()
}

/// Where the arrays of a side's steps are. They lie one after another in one buffer, whose rows can
/// then be loaded in pairs, or each in a buffer of its own, which suits portable C.
#[derive(Clone, Debug)]
pub struct Arena {
    name: &'static str,
    /// Words of a register.
    pub lanes: usize,
    shared: Option<(BufferId, usize)>,
}

impl Arena {
    /// No words yet.
    pub fn new(
        builder: &mut Builder,
        name: &'static str,
        (portable, lanes): (bool, usize),
    ) -> Arena {
        let shared = (!portable).then(|| (builder.local(name, 0), 0));
        Arena { name, lanes, shared }
    }

    /// `words` more words; where they start. Starts are multiples of a register.
    pub fn take(&mut self, builder: &mut Builder, words: usize) -> (BufferId, usize) {
        match &mut self.shared {
            Some((buffer, taken)) => {
                let start = taken.next_multiple_of(self.lanes);
                *taken = start + words;
                (*buffer, start)
            }
            None => (builder.fresh(self.name, words), 0),
        }
    }

    /// Makes the buffer as long as it became.
    pub fn settle(&self, procedure: &mut Procedure) {
        if let Some((buffer, words)) = self.shared {
            procedure.buffers[buffer.0 as usize].words = words.next_multiple_of(self.lanes);
        }
    }
}

/// The blocks of a family as places.
fn blocks(family: &Family, count: usize, length: usize) -> Vec<Place> {
    let at = |k: usize| Place { base: family.place.base + k * length, ..family.place };
    (0..count).map(at).collect()
}

impl Step {
    /// What the products have of a side: windows of as many blocks of `length` words as it says; new blocks are `apart` from
    /// each other. They are made from windows of so many times the blocks that the vector has parts.
    pub fn down(
        &self,
        side: Side,
        family: &Family,
        (length, apart): (usize, usize),
        builder: &mut Builder,
        arena: &mut Arena,
    ) -> (Map, Vec<Family>) {
        let (mut net, count, wide) = (Network::new(Q), family.count, side.blocks());
        let inputs = net.inputs(&vec![true; wide * self.parts()]);
        let places = blocks(family, wide * self.parts(), length);
        let (mut outputs, mut families) = (Vec::new(), Vec::new());
        match (self, side) {
            (Step::Toom(toom), _) => {
                let values = match side {
                    Side::Diagonals => toom.diagonals(&mut net, &inputs).concat(),
                    Side::Vectors => toom.vectors(&mut net, &inputs),
                };
                let stride = values.len() * apart;
                let (buffer, start) = arena.take(builder, stride * count);
                let place = |i: usize| Place { buffer, base: start + i * apart, stride };
                outputs.extend(values.iter().enumerate().map(|(i, &val)| (val, place(i))));
                let place = Place { buffer, base: start, stride: wide * apart };
                families.push(Family { place, count: count * values.len() / wide, apart });
            }
            (Step::Halves(_), Side::Diagonals) => {
                let blocks = inputs.iter().map(|&v| Some(v)).collect();
                let mut bundles = vec![Bundle { blocks, source: true }];
                let windows = windows(&mut net, &mut bundles, 0, &[0], self.parts()).concat();
                // Slots of the blocks that windows look at.
                let mut slots: Vec<(usize, usize)> = Vec::new();
                for &(bundle, start) in &windows {
                    slots.extend([(bundle, start), (bundle, start + 1)]);
                }
                slots.sort_unstable();
                slots.dedup();
                slots.retain(|&(bundle, _)| !bundles[bundle].source);
                let stride = slots.len() * apart;
                let (buffer, start) = arena.take(builder, stride * count);
                for (slot, &(bundle, i)) in slots.iter().enumerate() {
                    let place = Place { buffer, base: start + slot * apart, stride };
                    outputs.extend(bundles[bundle].blocks[i].map(|val| (val, place)));
                }
                for window in windows {
                    let (place, apart) = match slots.binary_search(&window) {
                        Ok(slot) => (Place { buffer, base: start + slot * apart, stride }, apart),
                        Err(_) => (places[window.1], length),
                    };
                    families.push(Family { place, count, apart });
                }
            }
            (Step::Halves(_), Side::Vectors) => {
                let vectors = vectors(&mut net, &inputs);
                let made: Vec<Val> =
                    vectors.iter().copied().filter(|val| !inputs.contains(val)).collect();
                let stride = made.len() * apart;
                let (buffer, start) = arena.take(builder, stride * count);
                let place = |val: Val| match made.iter().position(|&m| m == val) {
                    Some(slot) => Place { buffer, base: start + slot * apart, stride },
                    None => {
                        let part = inputs.iter().position(|&i| i == val).unwrap_or(0);
                        places[part]
                    }
                };
                outputs.extend(made.iter().map(|&val| (val, place(val))));
                let family = |&v: &Val| Family { place: place(v), count, apart: 0 };
                families.extend(vectors.iter().map(family));
            }
        }
        (Map::new(net, places, outputs, (length, count), arena.lanes), families)
    }

    /// The result's blocks from those of the products, one family for each product (Karatsuba) or
    /// all of them in one (Toom–Cook), into `out`.
    pub fn join(
        &self,
        products: &[Family],
        length: usize,
        out: &Family,
        (finish, lanes): (Option<Finish>, usize),
    ) -> Map {
        let mut net = Network::new(Q);
        let inputs = net.inputs(&vec![true; self.products()]);
        let (places, parts) = match self {
            Step::Toom(toom) => {
                let Place { buffer, base, stride } = products[0].place;
                let place =
                    |p| Place { buffer, base: base + p * stride, stride: stride * toom.points() };
                ((0..toom.points()).map(place).collect(), toom.combine(&mut net, &inputs))
            }
            Step::Halves(_) => {
                (products.iter().map(|p| p.place).collect(), joined(&mut net, &inputs))
            }
        };
        let outputs = parts.into_iter().zip(blocks(out, self.parts(), length)).collect();
        let map = Map::new(net, places, outputs, (length, out.count), lanes);
        Map { finish, ..map }
    }
}
