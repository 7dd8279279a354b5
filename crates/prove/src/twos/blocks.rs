//! Stretches of columns: the loops that a proof spends its time in.

use super::word::FormId;

/// Entries that are evaluated together.
pub(super) const BLOCK: usize = 128;

pub(super) type Block = [u16; BLOCK];

pub(super) const ZERO: Block = [0; BLOCK];

/// Where a summand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// Nowhere: it is zero.
    Nowhere,
    /// In a slot.
    Slot(u32),
    /// In a vector of a's.
    Row(u32),
    /// The constant 1.
    Constant,
}

/// `slot := (c·x + d·y)/2^bits`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub slot: u32,
    pub x: At,
    pub c: u16,
    pub y: At,
    pub d: u16,
    pub bits: u8,
    pub form: FormId,
}

/// Steps of one column for one block.
pub(super) struct Job<'a> {
    pub steps: &'a [Step],
    /// Vectors, `blocks` blocks each.
    pub rows: &'a [Block],
    pub blocks: usize,
    /// Number of the block.
    pub block: usize,
    /// Where in this block the constant stands.
    pub one: Option<usize>,
}

impl Job<'_> {
    #[inline(always)]
    fn add(&self, out: &mut Block, at: At, c: u16, slots: &[Block]) {
        let x = match at {
            At::Nowhere => return,
            At::Constant => {
                if let Some(i) = self.one {
                    out[i] = out[i].wrapping_add(c);
                }
                return;
            }
            At::Slot(x) => &slots[x as usize],
            At::Row(x) => &self.rows[x as usize * self.blocks + self.block],
        };
        for (o, v) in out.iter_mut().zip(x) {
            *o = o.wrapping_add(c.wrapping_mul(*v));
        }
    }
}

/// Takes all steps.
///
/// # Errors
/// The quotient that leaves a remainder.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn run(job: &Job, slots: &mut [Block]) -> Result<(), FormId> {
    for step in job.steps {
        let mut out = ZERO;
        job.add(&mut out, step.x, step.c, slots);
        job.add(&mut out, step.y, step.d, slots);
        if step.bits > 0 {
            let low = (1u16 << step.bits) - 1;
            let left = out.iter().fold(0, |all, v| all | v & low);
            out.iter_mut().for_each(|v| *v >>= step.bits);
            if left != 0 {
                return Err(step.form);
            }
        }
        slots[step.slot as usize] = out;
    }
    Ok(())
}

/// `c·x`.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn scaled(job: &Job, x: At, c: u16, slots: &[Block]) -> Block {
    let mut out = ZERO;
    job.add(&mut out, x, c, slots);
    out
}

/// The first place where x and y differ modulo a power of two.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn differs(x: &Block, y: &Block, mask: u16) -> Option<usize> {
    let all = x.iter().zip(y).fold(0, |all, (x, y)| all | (x ^ y) & mask);
    if all == 0 { None } else { x.iter().zip(y).position(|(x, y)| (x ^ y) & mask != 0) }
}
