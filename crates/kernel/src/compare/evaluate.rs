//! Sums on a tile.

use super::forms::{Forms, Part};
use super::tiles::{AREA, Group};

/// No number.
const NONE: u32 = u32::MAX;
/// No place.
const NOWHERE: usize = usize::MAX;

/// Sums without what is zero on a tile because rows are, renumbered.
pub(super) struct Live {
    parts: Vec<(Part, u32)>,
    sums: Vec<LiveSum>,
    /// By form, the number of its sum; [`None`] of what is zero.
    pub forms: Vec<Option<u32>>,
}

struct LiveSum {
    /// The end of its parts.
    end: usize,
    /// It is divided by 2^bits.
    bits: u8,
    /// The number of the value.
    value: u32,
    /// The last sum that it is a part of; [`NONE`] of a form, which is kept.
    last: u32,
}

impl Live {
    /// The sums of `forms` that are not zero on a left group, or on any other at which the same rows are zero.
    pub fn new(forms: &Forms, left: &Group) -> Live {
        let sums = forms.sums.iter().map(|sum| (&sum.parts[..], (sum.bits, sum.value)));
        let first = forms.first as u32;
        let all = (first..forms.sums.len() as u32).map(Some);
        Live::of(sums, all, |x, _| left.rows[x as usize].is_some())
    }

    /// Those of them that are not zero on a right group either.
    pub fn at(&self, right: &Group) -> Live {
        let mut from = 0;
        let sums = self.sums.iter().map(|sum| {
            let parts = &self.parts[std::mem::replace(&mut from, sum.end)..sum.end];
            (parts, (sum.bits, sum.value))
        });
        Live::of(sums, self.forms.iter().copied(), |_, y| right.rows[y as usize].is_some())
    }

    /// Of sums, each with its parts, its bits and its value's number, those that are not zero where only such products
    /// of rows are `live`; `forms` are the forms' numbers among them.
    fn of<'a>(
        sums: impl ExactSizeIterator<Item = (&'a [(Part, u32)], (u8, u32))>,
        forms: impl Iterator<Item = Option<u32>>,
        live: impl Fn(u32, u32) -> bool,
    ) -> Live {
        let mut number = vec![NONE; sums.len()];
        let mut this = Live { parts: Vec::new(), sums: Vec::new(), forms: Vec::new() };
        for (s, (parts, (bits, value))) in sums.enumerate() {
            let (start, own) = (this.parts.len(), this.sums.len() as u32);
            for &(part, c) in parts {
                let part = match part {
                    Part::Sum(x) if number[x as usize] != NONE => Part::Sum(number[x as usize]),
                    Part::Product(x, y) if live(x, y) => part,
                    _ => continue,
                };
                if let Part::Sum(x) = part {
                    this.sums[x as usize].last = own;
                }
                this.parts.push((part, c));
            }
            if this.parts.len() > start {
                number[s] = own;
                this.sums.push(LiveSum { end: this.parts.len(), bits, value, last: own });
            }
        }
        for form in forms {
            let own = form.map(|form| number[form as usize]).filter(|own| *own != NONE);
            // Forms are kept.
            own.into_iter().for_each(|own| this.sums[own as usize].last = NONE);
            this.forms.push(own);
        }
        this
    }
}

/// Sums of products modulo m in 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic {
    m: u64,
    /// floor(2^64 / m).
    inverse: u64,
    /// Products of two residues that fit beside a residue.
    room: u64,
}

impl Arithmetic {
    pub fn new(m: u32) -> Arithmetic {
        let m = u64::from(m);
        let inverse = ((1u128 << 64) / u128::from(m)) as u64;
        Arithmetic { m, inverse, room: (u64::MAX - m) / ((m - 1) * (m - 1)) }
    }

    /// The residue in `[0, m)`.
    #[inline(always)]
    pub fn reduced(self, x: u64) -> u32 {
        const LOW: u64 = u32::MAX as u64;
        // x·inverse / 2^64 by products of halves, of which processors make many at once. Without the least of them
        // and with two of them rounded down it is short by less than three, and floor(2^64 / m) makes it short by
        // less than one: what is left is less than 4m, and nothing wraps.
        let (x0, x1) = (x & LOW, x >> 32);
        let (i0, i1) = (self.inverse & LOW, self.inverse >> 32);
        let middle = (x1.wrapping_mul(i0) >> 32).wrapping_add(x0.wrapping_mul(i1) >> 32);
        let quotient = x1.wrapping_mul(i1).wrapping_add(middle);
        let r = x.wrapping_sub(quotient.wrapping_mul(self.m));
        let less = |r: u64, m: u64| if r >= m { r.wrapping_sub(m) } else { r };
        less(less(r, self.m << 1), self.m) as u32
    }

    /// Products of two residues that fit beside a residue.
    #[inline(always)]
    pub fn room(self) -> u64 {
        self.room
    }

    /// `a + c·v`, which fits as often as there is room.
    #[inline(always)]
    pub fn add(a: u64, c: u64, v: u32) -> u64 {
        a.wrapping_add(c.wrapping_mul(v.into()))
    }
}

/// The sums' matrices on a tile.
#[derive(Default)]
pub(super) struct Matrices {
    /// Row by row, one after the other.
    values: Vec<u32>,
    /// By sum, where its matrix starts; [`NOWHERE`] where it is zero, or not kept.
    starts: Vec<usize>,
    /// Places that are not used any more.
    free: Vec<usize>,
    acc: Vec<u64>,
}

impl Matrices {
    /// The matrix of a sum, if it is not zero.
    #[inline(always)]
    pub fn get(&self, sum: u32, area: usize) -> Option<&[u32]> {
        let start = self.starts[sum as usize];
        (start != NOWHERE).then(|| &self.values[start..][..area])
    }

    fn clear(&mut self, sums: usize) {
        self.values.clear();
        self.free.clear();
        self.starts.clear();
        self.starts.resize(sums, NOWHERE);
    }

    /// Keeps the matrix of a sum, and gives back the places of its parts that are not read again.
    #[inline(always)]
    fn keep(&mut self, live: &Live, own: usize, parts: &[(Part, u32)], matrix: Option<&[u32]>) {
        for &(part, _) in parts {
            if let Part::Sum(x) = part
                && live.sums[x as usize].last as usize == own
                && self.starts[x as usize] != NOWHERE
            {
                self.free.push(std::mem::replace(&mut self.starts[x as usize], NOWHERE));
            }
        }
        let Some(matrix) = matrix else { return };
        let start = self.free.pop().unwrap_or_else(|| {
            let start = self.values.len();
            self.values.resize(start + matrix.len(), 0);
            start
        });
        self.starts[own] = start;
        self.values[start..][..matrix.len()].copy_from_slice(matrix);
    }
}

/// Evaluates all sums on a tile, modulo m.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn modular(
    live: &Live,
    arithmetic: Arithmetic,
    left: &Group,
    right: &Group,
    out: &mut Matrices,
) {
    let width = right.elements.len();
    let area = left.elements.len() * width;
    out.clear(live.sums.len());
    let mut acc = std::mem::take(&mut out.acc);
    acc.clear();
    acc.resize(area, 0);
    let mut from = 0;
    for (own, sum) in live.sums.iter().enumerate() {
        let parts = &live.parts[from..sum.end];
        from = sum.end;
        let (mut room, mut any) = (arithmetic.room, false);
        for &(part, c) in parts {
            if room == 0 {
                acc.iter_mut().for_each(|a| *a = arithmetic.reduced(*a).into());
                room = arithmetic.room;
            }
            let c = u64::from(c);
            match part {
                Part::Sum(x) => {
                    let Some(values) = out.get(x, area) else { continue };
                    acc.iter_mut().zip(values).for_each(|(a, &v)| *a = Arithmetic::add(*a, c, v));
                }
                Part::Product(x, y) => {
                    let (x, y) = (&left.rows[x as usize], &right.rows[y as usize]);
                    let (Some(column), Some(row)) = (x, y) else { continue };
                    for (&x, acc) in column.iter().zip(acc.chunks_exact_mut(width)) {
                        let x = u64::from(arithmetic.reduced(u64::from(x) * c));
                        acc.iter_mut().zip(row).for_each(|(a, &v)| *a = Arithmetic::add(*a, x, v));
                    }
                }
            }
            (room, any) = (room - 1, true);
        }
        let mut matrix = [0u32; AREA];
        if any {
            let reduced = acc.iter_mut().map(|a| arithmetic.reduced(std::mem::take(a)));
            matrix.iter_mut().zip(reduced).for_each(|(v, a)| *v = a);
        }
        out.keep(live, own, parts, any.then_some(&matrix[..area]));
    }
    out.acc = acc;
}

/// Evaluates all sums on a tile in words that wrap, and divides.
///
/// # Errors
/// The number of a value that is a quotient of what is no multiple, and the power.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn wrapping(
    live: &Live,
    left: &Group,
    right: &Group,
    out: &mut Matrices,
) -> Result<(), (u32, u8)> {
    let width = right.elements.len();
    let area = left.elements.len() * width;
    out.clear(live.sums.len());
    let mut from = 0;
    for (own, sum) in live.sums.iter().enumerate() {
        let parts = &live.parts[from..sum.end];
        from = sum.end;
        let (mut acc, mut any) = ([0u32; AREA], false);
        let acc = &mut acc[..area];
        for &(part, c) in parts {
            match part {
                Part::Sum(x) => {
                    let Some(values) = out.get(x, area) else { continue };
                    acc.iter_mut()
                        .zip(values)
                        .for_each(|(a, &v)| *a = a.wrapping_add(c.wrapping_mul(v)));
                }
                Part::Product(x, y) => {
                    let (x, y) = (&left.rows[x as usize], &right.rows[y as usize]);
                    let (Some(column), Some(row)) = (x, y) else { continue };
                    for (&x, acc) in column.iter().zip(acc.chunks_exact_mut(width)) {
                        let x = x.wrapping_mul(c);
                        acc.iter_mut()
                            .zip(row)
                            .for_each(|(a, &v)| *a = a.wrapping_add(x.wrapping_mul(v)));
                    }
                }
            }
            any = true;
        }
        if sum.bits > 0 {
            let all = acc.iter().fold(0, |all, v| all | v);
            if all & ((1 << sum.bits) - 1) != 0 {
                return Err((sum.value, sum.bits));
            }
            acc.iter_mut().for_each(|v| *v >>= sum.bits);
        }
        out.keep(live, own, parts, any.then_some(&acc[..area]));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_remainders() {
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        for m in [2u32, 3, 5, 257, 4591, 7681, 40000, 65521, 8380417, (1 << 31) - 1, 1 << 31] {
            let arithmetic = Arithmetic::new(m);
            let wide = u64::from(m);
            let top = u64::MAX / wide * wide;
            for near in [0, wide, wide * wide, top, 1 << 32, 1 << 63] {
                for x in (0..4).flat_map(|d| [near.wrapping_add(d), near.wrapping_sub(d)]) {
                    assert_eq!(u64::from(arithmetic.reduced(x)), x % wide, "{x} modulo {m}");
                }
            }
            for shift in (0..2000).map(|i| i % 64) {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let x = x >> shift;
                assert_eq!(u64::from(arithmetic.reduced(x)), x % wide, "{x} modulo {m}");
            }
        }
    }
}
