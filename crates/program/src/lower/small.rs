//! How small products are computed: what the plan says, weight by weight, and what becomes of it.

use super::{LowerError, Lowering, unsupported};
use ringforge_plan::{Base, IfSquareRoot, Karatsuba, Substitute, Toeplitz, TwoNtt};
use ringforge_ring::zq;

/// The method of one small product, all choices by weight made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Small {
    /// Dot products, by definition.
    Toeplitz,
    /// Three Toeplitz products of half the size.
    Karatsuba(Box<Small>),
    /// Convolutions of half the size, for a square root of the weight and for its negative.
    TwoNtt(Box<[Small; 2]>),
}

impl Small {
    /// The plan's method for `weight`; Toeplitz products have none.
    pub fn of(base: &dyn Base, weight: Option<u64>) -> Result<Small, LowerError> {
        if base.as_method::<Toeplitz>().is_some() {
            return Ok(Small::Toeplitz);
        }
        if let Some(node) = base.as_method::<Karatsuba>() {
            return Ok(Small::Karatsuba(Box::new(Small::of(node.inner.as_ref(), None)?)));
        }
        if let (Some(node), Some(weight)) = (base.as_method::<IfSquareRoot>(), weight) {
            return Small::of(node.method_for(weight).as_ref(), Some(weight));
        }
        if let (Some(node), Some(weight)) = (base.as_method::<TwoNtt>(), weight) {
            let root = node.square_root(weight);
            let half = |w| Small::of(node.inner.as_ref(), Some(w));
            return Ok(Small::TwoNtt(Box::new([half(root)?, half(zq::sub(0, root, base.q()))?])));
        }
        let methods = "(toeplitz), (karatsuba …), (two-ntt …) or (if-square-root …)";
        Err(unsupported(base.to_form(), "this small product has no lowering by lanes", methods))
    }

    /// This method where direct Toeplitz products of even size, from `least` on, take one level of
    /// Karatsuba; 0 means never.
    pub fn halved_from(self, least: usize, size: usize) -> Small {
        let inner = |small: Small| small.halved_from(least, size / 2);
        match self {
            Small::Toeplitz if least > 0 && size >= least && size.is_multiple_of(2) => {
                Small::Karatsuba(Box::new(Small::Toeplitz))
            }
            Small::Toeplitz => Small::Toeplitz,
            Small::Karatsuba(of) => Small::Karatsuba(Box::new(inner(*of))),
            Small::TwoNtt(of) => Small::TwoNtt(Box::new(of.map(inner))),
        }
    }

    /// For titles of stages, such as `Karatsuba and Toeplitz`.
    pub fn title(&self) -> String {
        match self {
            Small::Toeplitz => "Toeplitz".into(),
            Small::Karatsuba(of) => format!("Karatsuba and {}", of.title()),
            Small::TwoNtt(of) if of[0] == of[1] => format!("2-NTT and {}", of[0].title()),
            Small::TwoNtt(of) => format!("2-NTT, {} and {}", of[0].title(), of[1].title()),
        }
    }
}

impl Lowering<'_> {
    /// The method for every slot of a part, as the schedule has it by lanes.
    pub fn smalls(&mut self, part: &Substitute) -> Result<Vec<Small>, LowerError> {
        let (convolution, least) = (&part.convolution, self.schedule.karatsuba_from as usize);
        let planned = |&w: &u64| Small::of(convolution.method_for(w), Some(w));
        let planned = convolution.weights.iter().map(planned).collect::<Result<Vec<_>, _>>()?;
        let halved = |s: &Small| s.clone().halved_from(least, convolution.size);
        let taken: Vec<Small> = planned.iter().map(halved).collect();
        if taken != planned {
            self.note(format!(
                "small products: where the plan has Toeplitz products of size {least} or more, the \
                 schedule takes one level of Karatsuba first"
            ));
        }
        Ok(taken)
    }

    /// Notes where dot products stand for a plan's other method.
    pub fn note_direct(&mut self, part: &Substitute) {
        let convolution = &part.convolution;
        let direct = |w: &u64| convolution.method_for(*w).as_method::<Toeplitz>().is_some();
        if !convolution.weights.iter().all(direct) {
            let form = convolution.base.to_form();
            self.note(format!(
                "small products: the schedule computes them directly as Toeplitz dot products; the \
                 plan's {form} is not lowered"
            ));
        }
    }

    /// Adds a note, once.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
