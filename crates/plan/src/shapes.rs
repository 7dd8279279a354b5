//! Shapes of products: block widths, transform lengths and monomial factors that fit a degree, in
//! the order of a rough count, before any modulus is chosen. Blocks are as wide as some registers of
//! the target.

use crate::primes::Width;
use crate::sexpr::Form;
use crate::smooth::Smooth;
use ringforge_ring::zq;
use ringforge_targets::Target;
use std::collections::HashMap;

/// Bits of the words that block widths are chosen for.
const SHORT: u8 = 16;

/// A product that is cut like this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `blocks` blocks of `width` coefficients, and a monomial factor x^`low`. The product is
    /// unreduced, with space for `room` coefficients; if `room` is 0, it is mod
    /// x^(width·blocks) − 1 itself.
    Blocks {
        /// k.
        width: usize,
        /// N.
        blocks: usize,
        /// M.
        low: usize,
        /// Coefficients of the unreduced product.
        room: usize,
    },
    /// x^`degree` + 1 in `levels` halves; unreduced where `lifted`.
    Halves {
        /// n.
        degree: usize,
        /// How often.
        levels: u32,
        /// Whether the product is unreduced.
        lifted: bool,
    },
}

impl Shape {
    /// The order of the root of unity that is needed.
    pub fn order(&self) -> u64 {
        match *self {
            Shape::Blocks { blocks, .. } => blocks as u64,
            Shape::Halves { levels, .. } => 2 << levels,
        }
    }

    /// Whether there is that root modulo q.
    pub fn allowed(&self, q: u64) -> bool {
        match self {
            Shape::Blocks { blocks, .. } => Smooth::new(q).has(*blocks),
            Shape::Halves { .. } => zq::is_prime(q) && (q - 1).is_multiple_of(self.order()),
        }
    }

    /// Whether it is worth building modulo primes of this width: blocks as wide as a register or
    /// not much wider.
    pub fn fits(&self, width: Width, target: &Target) -> bool {
        match self {
            Shape::Blocks { width: k, low, .. } => {
                *k == target.registers.lanes(SHORT) && (width == Width::Short || *low == 0)
            }
            Shape::Halves { .. } => true,
        }
    }

    /// The tree around the unreduced or cyclic product.
    pub fn outer(&self, inner: Form) -> Form {
        let room = match *self {
            Shape::Blocks { room: 0, .. } | Shape::Halves { lifted: false, .. } => return inner,
            Shape::Blocks { width, blocks, low: 0, .. } => width * blocks,
            Shape::Blocks { width, blocks, low, room } => room.max(width * blocks + low),
            Shape::Halves { degree, .. } => degree,
        };
        Form::list("lift", [Form::word(room), inner])
    }

    /// A rough count of slots, to order shapes by.
    fn rough(&self, target: &Target) -> f64 {
        let lanes = target.registers.lanes(SHORT);
        match *self {
            Shape::Blocks { width, blocks, low, .. } => {
                let per_block = width as f64 / lanes as f64;
                let radices: f64 = zq::factor(blocks as u64)
                    .iter()
                    .map(|&(p, e)| f64::from(e) * if p == 2 { 2.5 } else { 1.0 + 1.7 * p as f64 })
                    .sum();
                let spill = (longer_factor(blocks) as f64 / target.count as f64).log2().max(0.0);
                let transforms = 2.5 * (radices + 3.0 * spill + 4.0);
                let small = 2.0 * width as f64 + 14.0;
                let low = low as f64;
                blocks as f64 * per_block * (transforms + small) + low * low / 10.0 + 4.0 * low
            }
            Shape::Halves { degree, levels, .. } => {
                let registers = degree as f64 / lanes as f64;
                registers * (3.0 * (3.0 * f64::from(levels) + 12.0) + 30.0)
            }
        }
    }
}

impl std::fmt::Display for Shape {
    /// `90 blocks of 16`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Blocks { width, blocks, low: 0, .. } => write!(f, "{blocks} blocks of {width}"),
            Shape::Blocks { width, blocks, low, .. } => {
                write!(f, "{blocks} blocks of {width} and x^{low}")
            }
            Shape::Halves { degree, levels, .. } => write!(f, "x^{degree} + 1 in {levels} halves"),
        }
    }
}

/// The larger one of two factors of a length, as even as can be.
fn longer_factor(n: usize) -> usize {
    let splits = (1..=n).filter(|&p| n.is_multiple_of(p));
    splits.map(|p| p.max(n / p)).min().unwrap_or(n)
}

/// The shapes for operands of `degree` coefficients; transforms found are kept.
#[derive(Debug)]
pub struct Shapes<'a> {
    degree: usize,
    target: &'a Target,
    found: HashMap<(usize, usize, usize), Option<Form>>,
}

impl Shapes<'_> {
    /// Nothing searched yet.
    pub fn new(degree: usize, target: &Target) -> Shapes<'_> {
        Shapes { degree, target, found: HashMap::new() }
    }

    /// Words of 16 bits in a register.
    fn lanes(&self) -> usize {
        self.target.registers.lanes(SHORT)
    }

    /// Block widths: one register, two or three.
    fn widths(&self) -> [usize; 3] {
        [1, 2, 3].map(|registers| registers * self.lanes())
    }

    /// The cheapest first.
    fn sorted(&self, mut shapes: Vec<Shape>) -> Vec<Shape> {
        shapes.sort_by(|a, b| a.rough(self.target).total_cmp(&b.rough(self.target)));
        shapes
    }

    /// For the unreduced product.
    pub fn lifted(&self) -> Vec<Shape> {
        let room = 2 * self.degree - 1;
        let mut shapes = Vec::new();
        let lanes = self.lanes();
        for width in self.widths() {
            let most = (room.div_ceil(width) * 5).div_ceil(4) + 1;
            for blocks in (1..=most).filter(|&n| is_smooth(n)) {
                // Whole registers, or one coefficient more where that is all.
                let low = match room.saturating_sub(width * blocks) {
                    low if low % lanes == 1 => low,
                    low => low.next_multiple_of(lanes),
                };
                if low <= room / 8 + lanes && low < width * blocks && width * blocks >= self.degree
                {
                    shapes.push(Shape::Blocks { width, blocks, low, room });
                }
            }
        }
        let degree = room.next_power_of_two();
        shapes.extend(halves(degree, true));
        self.sorted(shapes)
    }

    /// For the product mod x^n − 1.
    pub fn cyclic(&self) -> Vec<Shape> {
        let n = self.degree;
        let widths = self.widths().into_iter().filter(|width| n.is_multiple_of(*width));
        let shapes = widths
            .map(|width| Shape::Blocks { width, blocks: n / width, low: 0, room: 0 })
            .filter(|shape| is_smooth(shape.order() as usize));
        self.sorted(shapes.collect())
    }

    /// For the product mod x^n + 1.
    pub fn negacyclic(&self) -> Vec<Shape> {
        self.sorted(halves(self.degree, false).collect())
    }

    /// The product of this shape modulo p, which has the root it needs.
    pub fn inner(&mut self, shape: &Shape, p: u64) -> Option<Form> {
        let toeplitz = Form::list("toeplitz", []);
        match *shape {
            Shape::Blocks { width, blocks, low, room } => {
                let present = self.degree.div_ceil(width).min(blocks);
                let wanted = if room == 0 { blocks } else { room.div_ceil(width).min(blocks) };
                let key = (blocks, present, wanted);
                let search = || {
                    let found = Smooth::new(p).transform(blocks, present, wanted);
                    found.map(|transform| transform.to_form())
                };
                let transform = self.found.entry(key).or_insert_with(search).clone()?;
                let convolution = Form::list("weighted-convolution", [toeplitz]);
                let main = Form::list("substitute", [Form::word("auto"), transform, convolution]);
                if low == 0 {
                    return Some(main);
                }
                let degrees = [Form::word(width * blocks), Form::word(low)];
                let parts =
                    [Form::list("main", [main]), Form::list("low", [Form::list("schoolbook", [])])];
                Some(Form::list("monomial-crt", degrees.into_iter().chain(parts)))
            }
            Shape::Halves { levels, .. } => {
                let direction = |name: &str| Form::list(name, [Form::word("cooley-tukey")]);
                let convolution = Form::list("weighted-convolution", [toeplitz]);
                let parts =
                    [Form::word(levels), direction("forward"), direction("inverse"), convolution];
                Some(Form::list("ntt", parts))
            }
        }
    }
}

/// x^degree + 1 down to factors of degree 2 or 4.
fn halves(degree: usize, lifted: bool) -> impl Iterator<Item = Shape> {
    let most = degree.trailing_zeros();
    let levels = (1..=most).filter(move |&levels| [2, 4].contains(&(degree >> levels)));
    levels.map(move |levels| Shape::Halves { degree, levels, lifted })
}

fn is_smooth(n: usize) -> bool {
    zq::factor(n as u64).iter().all(|&(p, _)| p <= 23)
}
