//! Flattens a small product in parts whose parts are split into parts again. There is one map there
//! and one back, so nothing in between is stored or loaded.

use ringforge_plan::{ChunkOp, Part, Split};

/// The values of a map in pieces: `of(v, t)` is piece t of value v.
struct Pieces {
    inputs: usize,
    /// Pieces of a value.
    each: usize,
    /// Where the pieces of each input are.
    places: Vec<usize>,
    /// Where those of the first operation are.
    first: usize,
}

impl Pieces {
    fn of(&self, v: usize, t: usize) -> usize {
        match v.checked_sub(self.inputs) {
            None => self.places[v * self.each + t],
            Some(op) => self.first + op * self.each + t,
        }
    }

    /// Appends operations on whole values as such on pieces; nothing where one moves words across pieces.
    fn append(&self, ops: &[ChunkOp], all: &mut Vec<ChunkOp>) -> Option<()> {
        for &op in ops {
            if matches!(op, ChunkOp::Rotate(..)) && self.each > 1 {
                return None;
            }
            all.extend((0..self.each).map(|t| op.on(|v| self.of(v, t))));
        }
        Some(())
    }
}

/// The split in the parts of its parts, which split as `of` says, where all of them do in neighbouring chunks of one
/// size.
pub(super) fn flattened(split: &Split, of: &dyn Fn(&Part) -> Option<Split>) -> Option<Split> {
    let inner: Option<Vec<Split>> = split.parts.iter().map(of).collect();
    let inner = inner?;
    let (m, small) = (split.chunks[0].len(), inner.first()?.chunks.first()?.len());
    let next = |(s, part): (&Split, &Part)| {
        let words: Vec<usize> = (0..part.values.len() * m).collect();
        s.chunks.iter().map(Vec::as_slice).eq(words.chunks(small))
    };
    if !m.is_multiple_of(small) || !inner.iter().zip(&split.parts).all(next) {
        return None;
    }
    let each = m / small;
    let chunks: Vec<Vec<usize>> =
        split.chunks.iter().flat_map(|chunk| chunk.chunks(small).map(<[usize]>::to_vec)).collect();

    let outer = Pieces {
        inputs: split.chunks.len(),
        each,
        places: (0..chunks.len()).collect(),
        first: chunks.len(),
    };
    let (mut forward, mut parts) = (Vec::new(), Vec::new());
    outer.append(&split.forward, &mut forward)?;
    for (s, part) in inner.iter().zip(&split.parts) {
        let places = part.values.iter().flat_map(|&v| (0..each).map(move |t| (v, t)));
        let pieces = Pieces {
            inputs: s.chunks.len(),
            each: 1,
            places: places.map(|(v, t)| outer.of(v, t)).collect(),
            first: chunks.len() + forward.len(),
        };
        pieces.append(&s.forward, &mut forward)?;
        parts.extend(s.parts.iter().map(|part| Part {
            values: part.values.iter().map(|&v| pieces.of(v, 0)).collect(),
            ..part.clone()
        }));
    }

    let results: usize = parts.iter().map(|part: &Part| part.values.len()).sum();
    let (mut inverse, mut joined, mut start) = (Vec::new(), Vec::new(), 0);
    for s in &inner {
        let count: usize = s.parts.iter().map(|part| part.values.len()).sum();
        let pieces = Pieces {
            inputs: count,
            each: 1,
            places: (start..start + count).collect(),
            first: results + inverse.len(),
        };
        pieces.append(&s.inverse, &mut inverse)?;
        joined.extend(s.output.iter().map(|&v| pieces.of(v, 0)));
        start += count;
    }
    let outer = Pieces {
        inputs: joined.len() / each,
        each,
        places: joined,
        first: results + inverse.len(),
    };
    outer.append(&split.inverse, &mut inverse)?;
    let output = split.output.iter().flat_map(|&v| (0..each).map(move |t| (v, t)));
    let output = output.map(|(v, t)| outer.of(v, t)).collect();
    Some(Split { name: split.name, chunks, forward, parts, inverse, output })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_plan::{Plan, SmallModulus, Stages};

    fn splits(part: &Part) -> Option<Split> {
        part.method.split(part.modulus)
    }

    /// Bruun's method twice over is one product in four parts; its result is the same.
    #[test]
    fn two_levels_are_one() {
        let plan = Plan::find("sntrup761-good-schoenhage-bruun").expect("a plan");
        let Stages::Remainder(lift) = plan.root.stages() else { panic!("no lift") };
        let Stages::Overlapping(main) = lift.inner.stages() else { panic!("no rotations") };
        let q = plan.ring.q();
        let split = main.convolution.base.split(SmallModulus::Binomial(q - 1)).expect("splits");
        let flat = flattened(&split, &splits).expect("splits twice");
        assert_eq!((flat.parts.len(), flat.chunks.len()), (4, 8));
        assert!(flattened(&flat, &splits).is_none(), "trinomials do not split");
        for seed in 1..20u64 {
            let words = |by: u64| (0..32).map(|i| (i * i * by + seed * i + by) % q).collect();
            let [a, b]: [Vec<u64>; 2] = [words(77 * seed), words(1234 + seed)];
            assert_eq!(flat.multiply(&a, &b, q), split.multiply(&a, &b, q));
        }
    }

    /// Words that a rotation moves across pieces are none.
    #[test]
    fn rotations_of_whole_chunks_stay() {
        let plan = Plan::find("sntrup761-good-schoenhage-bruun").expect("a plan");
        let Stages::Remainder(lift) = plan.root.stages() else { panic!("no lift") };
        let Stages::Overlapping(main) = lift.inner.stages() else { panic!("no rotations") };
        let q = plan.ring.q();
        let mut split = main.convolution.base.split(SmallModulus::Binomial(q - 1)).expect("splits");
        split.forward.push(ChunkOp::Rotate(0, 1));
        assert!(flattened(&split, &splits).is_none());
    }
}
