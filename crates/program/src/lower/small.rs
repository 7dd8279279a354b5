//! How small products are computed: what the plan says, weight by weight, and what becomes of it.

use super::{LowerError, Lowering, unsupported};
use ringforge_plan::{BaseRef, ChunkOp, Inside, SmallModulus, WeightedConvolution, resolved};

/// The method of one small product, all choices by weight made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Small {
    /// Schoolbook dot products.
    Toeplitz,
    /// Three Toeplitz products of half the size.
    Karatsuba(Box<Small>),
    /// Products and the remainder by x^k + ax^(k/2) + b.
    Trinomial,
    /// Smaller products between linear maps.
    Split(Box<SplitSmall>),
}

/// A small product in parts: what products in several lanes have in common.
#[derive(Clone, Debug)]
pub(crate) struct SplitSmall {
    /// The plan's node, which knows the constants for each modulus.
    pub node: BaseRef,
    /// The maps, all constants 0.
    shape: [Vec<ChunkOp>; 2],
    name: &'static str,
    /// The parts' methods and sizes.
    pub parts: Vec<Small>,
    sizes: Vec<usize>,
}

impl PartialEq for SplitSmall {
    fn eq(&self, other: &SplitSmall) -> bool {
        (&self.shape, self.name, &self.parts) == (&other.shape, other.name, &other.parts)
    }
}

impl Eq for SplitSmall {}

/// A map with all its constants 0.
fn shape(ops: &[ChunkOp]) -> Vec<ChunkOp> {
    let without = |&op: &ChunkOp| match op {
        ChunkOp::Scale(a, _) => ChunkOp::Scale(a, 0),
        other => other,
    };
    ops.iter().map(without).collect()
}

impl Small {
    /// The plan's method modulo this; Toeplitz products have no modulus.
    pub fn of(base: &BaseRef, modulus: Option<SmallModulus>) -> Result<Small, LowerError> {
        let base = match modulus {
            Some(SmallModulus::Binomial(weight)) => resolved(base, weight),
            _ => base,
        };
        match base.inside() {
            Inside::Dots => return Ok(Small::Toeplitz),
            Inside::Karatsuba(half) => {
                return Ok(Small::Karatsuba(Box::new(Small::of(half, None)?)));
            }
            Inside::Trinomial => return Ok(Small::Trinomial),
            Inside::Split | Inside::ToomCook(_) | Inside::ByWeight(_) | Inside::Convolutions(_) => {
            }
        }
        if let Some(split) = modulus.and_then(|modulus| base.split(modulus)) {
            let m = split.chunks[0].len();
            let parts = split.parts.iter().map(|part| Small::of(&part.method, Some(part.modulus)));
            return Ok(Small::Split(Box::new(SplitSmall {
                node: base.clone(),
                shape: [shape(&split.forward), shape(&split.inverse)],
                name: split.name,
                parts: parts.collect::<Result<_, _>>()?,
                sizes: split.parts.iter().map(|part| part.values.len() * m).collect(),
            })));
        }
        let methods = "(toeplitz), (karatsuba …), (two-ntt …), (bruun …), (nussbaumer …), \
                       (trinomial) or (if-square-root …)";
        Err(unsupported(base.to_form(), "this small product has no lowering by lanes", methods))
    }

    /// This method where direct Toeplitz products of even size, from `least` on, take one level of
    /// Karatsuba; 0 means never.
    pub fn halved_from(self, least: usize, size: usize) -> Small {
        match self {
            Small::Toeplitz if least > 0 && size >= least && size.is_multiple_of(2) => {
                Small::Karatsuba(Box::new(Small::Toeplitz))
            }
            Small::Toeplitz => Small::Toeplitz,
            Small::Trinomial => Small::Trinomial,
            Small::Karatsuba(of) => Small::Karatsuba(Box::new(of.halved_from(least, size / 2))),
            Small::Split(of) => {
                let SplitSmall { node, shape, name, parts, sizes } = *of;
                let pairs = parts.into_iter().zip(&sizes);
                let parts = pairs.map(|(part, &size)| part.halved_from(least, size)).collect();
                Small::Split(Box::new(SplitSmall { node, shape, name, parts, sizes }))
            }
        }
    }

    /// For titles of stages, such as `Karatsuba and Toeplitz`.
    pub fn title(&self) -> String {
        match self {
            Small::Toeplitz => "Toeplitz".into(),
            Small::Trinomial => "products mod trinomials".into(),
            Small::Karatsuba(of) => format!("Karatsuba and {}", of.title()),
            Small::Split(of) => {
                let mut titles: Vec<String> = of.parts.iter().map(Small::title).collect();
                titles.dedup();
                match titles.as_slice() {
                    [one] => format!("{} and {one}", of.name),
                    _ => format!("{}, {}", of.name, titles.join(" and ")),
                }
            }
        }
    }
}

/// Whether all products are schoolbook dot products.
pub(super) fn is_direct(convolution: &WeightedConvolution) -> bool {
    let direct = |w: &u64| matches!(convolution.method_for(*w).inside(), Inside::Dots);
    convolution.weights.iter().all(direct)
}

impl Lowering<'_> {
    /// The method for every slot, as the schedule has it by lanes.
    pub fn smalls(&mut self, convolution: &WeightedConvolution) -> Result<Vec<Small>, LowerError> {
        let planned = |&w: &u64| Small::of(&convolution.base, Some(SmallModulus::Binomial(w)));
        let planned = convolution.weights.iter().map(planned).collect::<Result<Vec<_>, _>>()?;
        let halved = |least: usize| -> Vec<Small> {
            planned.iter().map(|s| s.clone().halved_from(least, convolution.size)).collect()
        };
        if halved(1) == planned {
            return Ok(planned); // no value of the key would change it
        }
        let least = self.schedule.karatsuba_from() as usize;
        let taken = halved(least);
        if taken != planned {
            self.note(format!(
                "small products: where the plan has Toeplitz products of size {least} or more, the \
                 schedule takes one level of Karatsuba first"
            ));
        }
        Ok(taken)
    }

    /// Adds a note, once.
    fn note(&mut self, note: String) {
        if !self.written.notes.contains(&note) {
            self.written.notes.push(note);
        }
    }
}
