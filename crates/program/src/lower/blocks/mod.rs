//! Products through transforms of blocks of any width, in words of 16 or of 32 bits.
//!
//! Every block has whole registers of its own. Words behind its last coefficient are carried along
//! and never read as coefficients. So a block of 5 in registers of 8 wastes three words, and any
//! width, any transform and any modulus are handled alike. Products of blocks are sums of broadcast
//! words of one operand times windows over the other, (w·b, b). The windows are loads at any word,
//! so no shuffle is needed.
//!
//! Dot products of pairs sum products of 16-bit words in 32 bits. Products of 32-bit words are
//! summed in 64 bits, even and odd words apart. Portable C multiplies word by word.

mod packed;
mod packed_products;
mod parts;
mod products;
mod stages;

pub(crate) use packed::Packed;
pub(crate) use parts::Parts;

use super::small::is_direct;
use super::steps::Rows;
use super::{LowerError, Lowering, unsupported, within};
use crate::bounds::most;
use crate::build::Builder;
use crate::ir::*;
use crate::method::Modulus;
use crate::schedule::BaseProducts;
use ringforge_plan::{MonomialCrt, ProductRef, Stages};
use ringforge_targets::ALIGNMENT;

/// Both operands, of so many words each: whole registers of words of the procedure's size, zeros behind their coefficients.
type Operands = ([BufferId; 2], usize);

/// How words are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// Dot products of pairs of 16-bit words.
    Pairs,
    /// Even and odd words of 32 bits to 64.
    Even,
    /// Word by word.
    Single,
}

impl Style {
    fn of(base: BaseProducts, bits: u8) -> Style {
        match (base, bits) {
            (BaseProducts::Lanes, _) => Style::Single,
            (_, 16) => Style::Pairs,
            _ => Style::Even,
        }
    }
}

impl Lowering<'_> {
    pub(super) fn modulus(&self) -> Modulus {
        self.bounds.modulus()
    }

    pub(super) fn style(&self) -> Style {
        Style::of(self.schedule.base(), self.modulus().bits)
    }

    /// Registers' worth of words.
    pub(super) fn padded(&self, k: usize) -> usize {
        k.next_multiple_of(self.lanes)
    }

    /// Fills the procedure (out, a, b) with a product of callers' words of `memory` bits, zeros behind
    /// it up to `words`; returns its bound.
    pub(crate) fn blocks(
        &mut self,
        node: &ProductRef,
        ranges: [(i64, i64); 2],
        words: usize,
        memory: u8,
    ) -> Result<i64, LowerError> {
        let out = self.builder.buffer("out", Role::Scratch, words, ALIGNMENT);
        let room = needed(node, self.lanes);
        let operands = self.operands(ranges, memory, room, false);
        let bound = self.node(node, (operands, room), (out, words), "main")?;
        let wanted = node.domain().wanted;
        self.zeros(out, wanted, words);
        self.written.border("product", bound);
        Ok(bound)
    }

    /// The callers' operands, of words of `memory` bits, brought into `room` words each, reduced where they are large. Where
    /// they are read as they lie if they can be (`direct`), those that fill the room stay where they are.
    fn operands(
        &mut self,
        ranges: [(i64, i64); 2],
        memory: u8,
        room: usize,
        direct: bool,
    ) -> [BufferId; 2] {
        let n = self.n;
        let callers = self.builder.operands((n, memory), ranges);
        let direct = direct && n == room && memory == self.modulus().bits;
        let reduced = self.reduced_first(ranges);
        [("a", 0), ("b", 1)].map(|(name, i)| {
            if direct && !reduced[i] {
                return callers[i];
            }
            let change = (false, reduced[i]);
            let to = self.brought_in((name, "zeros behind"), callers[i], room, change);
            self.zeros(to, self.padded(n), room);
            to
        })
    }

    /// Which operands are reduced first, as words beyond the modulus would be again and again. Sets the largest word that the
    /// transforms get.
    pub(super) fn reduced_first(&mut self, ranges: [(i64, i64); 2]) -> [bool; 2] {
        let reduced = ranges.map(|range| 4 * most(range) > 3 * self.q as i64);
        let bound = |i: usize| match reduced[i] {
            true => most(self.schedule.reduce().range(ranges[i], self.modulus())),
            false => most(ranges[i]),
        };
        self.operand = bound(0).max(bound(1));
        reduced
    }

    /// A node's product with scale 1, into the first words of `out`; it may write any of the `words`
    /// behind its own.
    fn node(
        &mut self,
        node: &ProductRef,
        operands: Operands,
        (out, words): (BufferId, usize),
        tag: &str,
    ) -> Result<i64, LowerError> {
        if let Stages::Joined(crt) = node.stages() {
            return self.monomial(crt, operands, (out, words), tag);
        }
        // Whatever a truncated product is made of, it is short.
        let domain = node.domain();
        let truncated = matches!(domain.binomial(), Some((_, 0)));
        let found = match node.stages() {
            Stages::Remainder(_) if !truncated => None,
            _ => Parts::of(node, self.lanes),
        };
        let parts = match found {
            Some(parts) => parts,
            None if truncated => {
                let note = format!(
                    "{tag}: {} is computed by its definition, mod x^{}",
                    node.to_form(),
                    domain.wanted
                );
                self.written.notes.push(note);
                let direct = Parts::direct(domain);
                direct.ok_or_else(|| unsupported(node.to_form(), "no product", "(schoolbook)"))?
            }
            None => {
                let would =
                    "(substitute …), (ntt …), (schoolbook) or (monomial-crt …) below each prime";
                return Err(unsupported(node.to_form(), "no transform of blocks", would));
            }
        };
        direct_products(node)?;
        let parts = parts.by_steps(self.schedule.fuse() as usize);
        let bound = self.parts(&parts, operands, (out, words), tag)?;
        if parts.wanted < domain.wanted {
            self.zeros(out, parts.wanted, words);
        }
        Ok(bound)
    }

    fn parts(
        &mut self,
        parts: &Parts,
        operands: Operands,
        (out, words): (BufferId, usize),
        tag: &str,
    ) -> Result<i64, LowerError> {
        self.written
            .notes
            .extend(parts.note.clone().filter(|note| !self.written.notes.contains(note)));
        // A short operand ends where its coefficients do, not with its array.
        let cut =
            parts.operand < self.n && !parts.operand.is_multiple_of(parts.k) && parts.cells() > 1;
        let operands = match cut {
            true => self.cut(operands, parts.operand),
            false => operands,
        };
        let (ta, tb, bounds) = self.transforms(parts, operands, tag)?;
        let most = bounds.iter().copied().max().unwrap_or(0);
        let (products, bound) = self.cell_products(parts, [ta, tb], most, tag)?;
        let factor = parts.scale.times(self.product_scale()?).inverse();
        self.inverse_blocks(parts, factor, products, bound, (out, words), tag)
    }

    /// Both parts, joined [Chiu25 eq. 3.1].
    fn monomial(
        &mut self,
        crt: &MonomialCrt,
        operands: Operands,
        (out, _): (BufferId, usize),
        tag: &str,
    ) -> Result<i64, LowerError> {
        let lanes = self.lanes;
        let (n, m) = (crt.main_degree, crt.low_degree);
        let [main_words, low_words] =
            [(&crt.main, n), (&crt.low, m)].map(|(node, size)| room(node, lanes).max(size) + lanes);
        let main = self.builder.fresh("main", main_words);
        let low = self.builder.fresh("low", low_words);
        let mut bound = self.node(&crt.main, operands, (main, main_words), tag)?;
        self.zeros(main, n, main_words);
        let below = self.node(&crt.low, operands, (low, low_words), "low")?;
        self.zeros(low, m, low_words);
        let mut reduce = false;
        if bound + below > self.bounds.word() {
            reduce = true;
            bound = self.bounds.reduce(bound);
        }
        within(tag, self.bounds.word(), bound + below)?;
        let method = self.schedule.reduce();
        let mut body = Vec::new();
        // In ascending order: what is too much is written over.
        let mut copy =
            |builder: &mut Builder, to: usize, from: (BufferId, usize), minus, count: usize| {
                body.push(builder.runs(count.div_ceil(lanes), |block, at| {
                    let mut a = block.load(from.0, at(from.1, lanes));
                    if let Some(minus) = minus {
                        if reduce {
                            a = block.reduced(a, method);
                        }
                        let b = block.load(minus, at(0, lanes));
                        a = block.sub(a, b);
                    }
                    block.store(out, at(to, lanes), a);
                }));
            };
        let wanted = crt.domain.wanted;
        copy(&mut self.builder, 0, (low, 0), None, m);
        copy(&mut self.builder, m, (main, m), None, n.min(wanted).saturating_sub(m).max(1));
        if wanted > n {
            copy(&mut self.builder, n, (main, 0), Some(low), wanted - n);
        }
        self.builder.stage(&format!("{tag}: both parts joined"), "[Chiu25 eq. 3.1]", body);
        Ok((bound + below).max(below))
    }
}

/// Refuses small products other than schoolbook: blocks with registers of their own have no code
/// for them.
fn direct_products(node: &ProductRef) -> Result<(), LowerError> {
    let (what, convolution) = match node.stages() {
        Stages::Remainder(lift) => return direct_products(&lift.inner),
        Stages::Blocks(part) => (format!("blocks of {}", part.k), &part.convolution),
        Stages::Levels(levels) => ("blocks of halves".to_string(), levels.products()),
        _ => return Ok(()),
    };
    if is_direct(convolution) {
        return Ok(());
    }
    let why = format!("{what} do not fill one register each, so their products are schoolbook");
    let would_work = "`(toeplitz)` here, or blocks of one register, in words of 16 bits";
    Err(unsupported(convolution.base.to_form(), why, would_work))
}

/// Words of an operand's array that a node reads, at least those of its coefficients.
fn needed(node: &ProductRef, lanes: usize) -> usize {
    match node.stages() {
        Stages::Joined(crt) => return needed(&crt.main, lanes).max(needed(&crt.low, lanes)),
        Stages::Remainder(lift) => return needed(&lift.inner, lanes),
        _ => {}
    }
    let parts = Parts::of(node, lanes).or_else(|| Parts::direct(node.domain()));
    let own = node.domain().operand.next_multiple_of(lanes);
    parts.map_or(own, |parts| own.max(parts.words(parts.operand, lanes)))
}

/// Words that a node's product writes.
pub(crate) fn room(node: &ProductRef, lanes: usize) -> usize {
    if let Stages::Joined(crt) = node.stages() {
        return crt.main_degree + crt.low_degree + 2 * lanes;
    }
    let parts = Parts::of(node, lanes).or_else(|| Parts::direct(node.domain()));
    let own = node.domain().wanted + lanes;
    parts.map_or(own, |parts| own.max(parts.words(parts.wanted, lanes)))
}
