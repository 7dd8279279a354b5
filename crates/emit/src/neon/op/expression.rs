//! One operation as one intrinsic, or a few.

use super::super::reuse::Source;
use super::super::select::Form;
use super::super::words::{blended, cast, constant, literal, permuted, signed, unsigned};
use super::Writer;
use ringforge_program::ir::*;

impl Writer<'_> {
    /// One half of a value.
    pub(super) fn expression(&self, i: usize, op: &Op, half: usize) -> String {
        let bits = self.place.bits;
        let wide = 2 * bits;
        let full = 128 / usize::from(bits);
        let words = |v: &Value| self.words(*v, half);
        let elements = |v: &Value| self.get(*v, half, wide);
        let two = |name: &str, a: &Value, b: &Value| {
            format!("{name}q_s{bits}({}, {})", words(a), words(b))
        };
        let two_wide = |name: &str, a: &Value, b: &Value| {
            format!("{name}q_s{wide}({}, {})", elements(a), elements(b))
        };
        match self.chosen.forms[i] {
            Form::Fused { sum, a, b, minus } => {
                let name = if minus { "vmls" } else { "vmla" };
                return self.times(name, &format!("{}, ", words(&sum)), [a, b], half);
            }
            Form::Transposed { a, b, odd } => {
                return two(if odd { "vtrn2" } else { "vtrn1" }, &a, &b);
            }
            Form::Rounded { a, down } => return format!("vrshrq_n_s{bits}({}, {down})", words(&a)),
            Form::Between { a, b, from } => {
                return format!("vextq_s{bits}({}, {}, {from})", words(&a), words(&b));
            }
            Form::Unzipped { sums, odd } => {
                let h = ["l", "h"][half];
                let [low, high] = [0, 1].map(|k| cast(format!("v{}{h}{k}", sums.0), wide, bits));
                let name = if odd { "vuzp2" } else { "vuzp1" };
                return format!("{name}q_s{bits}({low}, {high})");
            }
            Form::Own | Form::Products { .. } | Form::ByLane { .. } | Form::Narrowed { .. } => {}
        }
        if let Some(&(register, pair)) = self.loads.pairs.get(&i) {
            let pairs = format!("vreinterpretq_s32_s16(r{register})");
            return format!("vreinterpretq_s16_s32(vdupq_laneq_s32({pairs}, {pair}))");
        }
        match self.loads.halves.get(&(i, half)) {
            Some(Source::Whole(r)) => return format!("r{r}"),
            Some(Source::Between(r, s, k)) => return format!("vextq_s{bits}(r{r}, r{s}, {k})"),
            None => {}
        }
        match op {
            Op::Load { buffer, at } => self.part(*buffer, &at.plus(full * half), full),
            Op::LoadPartial { buffer, at, count } => {
                let count = (*count as usize).saturating_sub(full * half);
                self.part(*buffer, &at.plus(full * half), count)
            }
            Op::LoadParts { buffer, at } => self.part(*buffer, &at[half], full),
            Op::BroadcastPair { buffer, at } => {
                let from = self.at(*buffer, at);
                match (bits, self.place.kept(*buffer)) {
                    (16, _) => {
                        format!("vreinterpretq_s16_s32(vdupq_n_s32(*(const pair *)({from})))")
                    }
                    (_, 32) => format!("vcombine_s32(vld1_s32({from}), vld1_s32({from}))"),
                    _ => format!(
                        "vmovl_s16(vreinterpret_s16_s32(vdup_n_s32(*(const pair *)({from}))))"
                    ),
                }
            }
            Op::Broadcast { buffer, at } => {
                let from = self.at(*buffer, at);
                match self.place.kept(*buffer) == bits {
                    true => format!("vld1q_dup_s{bits}({from})"),
                    false => format!("vdupq_n_s{bits}(*({from}))"),
                }
            }
            Op::Splat(word) => format!("vdupq_n_s{bits}({})", literal(*word)),
            Op::Lanes(all) => constant(&all[full * half..full * half + full], bits),
            Op::Add(a, b) => two("vadd", a, b),
            Op::Sub(a, b) => two("vsub", a, b),
            Op::MulLo(a, b) => self.times("vmul", "", [*a, *b], half),
            Op::MulHi(a, b) => {
                let [low, high] = self.full(*a, *b, half).map(|p| cast(p, wide, bits));
                format!("vuzp2q_s{bits}({low}, {high})")
            }
            Op::MulHrs(a, b) if self.moderate(*a) || self.moderate(*b) => {
                self.times("vqrdmulh", "", [*a, *b], half)
            }
            Op::MulHrs(a, b) => {
                // The instruction saturates where both are least, and this wraps.
                let [low, high] = self.full(*a, *b, half);
                let k = bits - 1;
                format!("vrshrn_high_n_s{wide}(vrshrn_n_s{wide}({low}, {k}), {high}, {k})")
            }
            Op::Shl(a, k) => format!("vshlq_n_s{bits}({}, {k})", words(a)),
            Op::Sar(a, 0) | Op::Shr(a, 0) => words(a),
            Op::Sar(a, k) => format!("vshrq_n_s{bits}({}, {k})", words(a)),
            Op::Shr(a, k) => {
                signed(&format!("vshrq_n_u{bits}({}, {k})", unsigned(&words(a), bits)), bits)
            }
            Op::Greater(a, b) => signed(&two("vcgt", a, b), bits),
            Op::MinU(a, b) => {
                let [a, b] = [a, b].map(|v| unsigned(&words(v), bits));
                signed(&format!("vminq_u{bits}({a}, {b})"), bits)
            }
            Op::Min(a, b) => two("vmin", a, b),
            Op::Max(a, b) => two("vmax", a, b),
            Op::And(a, b) => two("vand", a, b),
            Op::Or(a, b) => two("vorr", a, b),
            Op::Xor(a, b) => two("veor", a, b),
            Op::PairDotAdd { acc, a, b } => {
                let [low, high] = self.full(*a, *b, half);
                format!("vaddq_s{wide}({}, vpaddq_s{wide}({low}, {high}))", elements(acc))
            }
            Op::MulEven(a, b) => {
                format!("vmull_s{bits}({}, {})", self.even(*a, half), self.even(*b, half))
            }
            Op::AddWide(a, b) => two_wide("vadd", a, b),
            Op::SubWide(a, b) => two_wide("vsub", a, b),
            Op::MulLoWide(a, b) => two_wide("vmul", a, b),
            Op::ShlWide(a, k) => format!("vshlq_n_s{wide}({}, {k})", elements(a)),
            Op::SarWide(a, 0) | Op::ShrWide(a, 0) => elements(a),
            Op::SarWide(a, k) => format!("vshrq_n_s{wide}({}, {k})", elements(a)),
            Op::ShrWide(a, k) => {
                signed(&format!("vshrq_n_u{wide}({}, {k})", unsigned(&elements(a), wide)), wide)
            }
            Op::Blend { a, b, mask } => {
                // Eight bits for eight words of 16 bits, or for the words of 32 bits of both halves.
                let mask = if bits == 16 { *mask } else { mask >> (4 * half) & 15 };
                blended(&words(a), &words(b), mask, bits)
            }
            Op::SwapPairs(a) => format!("vrev{wide}q_s{bits}({})", words(a)),
            Op::OddToEven(a) => format!("vtrn2q_s{bits}({0}, {0})", words(a)),
            Op::PermuteParts { a, pattern } => permuted(&words(a), pattern, bits),
            Op::Parts { a, b, pick } => {
                let from = usize::from(pick[half]);
                self.words(if from < 2 { *a } else { *b }, from % 2)
            }
            Op::Interleave { a, b, unit, half: part } => {
                let name = if *part == Half::High { "vzip2" } else { "vzip1" };
                let [a, b] = [a, b].map(|v| self.get(*v, half, *unit));
                cast(format!("{name}q_s{unit}({a}, {b})"), *unit, bits)
            }
            Op::Deinterleave { a, b, unit, half: parity } => {
                let name = if *parity == Parity::Odd { "vuzp2" } else { "vuzp1" };
                let [a, b] = [a, b].map(|v| self.get(*v, half, *unit));
                cast(format!("{name}q_s{unit}({a}, {b})"), *unit, bits)
            }
            Op::PairDot(..)
            | Op::MulMod { .. }
            | Op::Reduce { .. }
            | Op::Narrow { .. }
            | Op::MulWords { .. }
            | Op::MulHiU(..)
            | Op::Unsigned(_)
            | Op::Freeze { .. }
            | Op::Store { .. }
            | Op::StorePartial { .. }
            | Op::StoreStrided { .. }
            | Op::AddSum { .. }
            | Op::StoreParts { .. } => unreachable!("expanded, products, or a statement"),
        }
    }
}
