//! One modular operation as word operations.

use super::{Column, Constants, Tables};
use crate::ir::*;
use crate::method::*;
use crate::unsigned::Kind;
use std::collections::HashMap;

/// A block of word operations in the making.
pub(super) struct Writer {
    pub block: Block,
    modulus: Modulus,
    constants: HashMap<Op, Value>,
    /// What a [`ProductMethod`] prepared of a value.
    prepared: HashMap<(Value, &'static str), Value>,
}

impl Writer {
    /// Nothing written yet.
    pub fn new(modulus: Modulus) -> Writer {
        let (constants, prepared) = (HashMap::new(), HashMap::new());
        Writer { block: Block::default(), modulus, constants, prepared }
    }

    pub fn op(&mut self, op: Op) -> Value {
        if !matches!(op, Op::Splat(_) | Op::Lanes(_)) {
            return self.block.push(op);
        }
        if let Some(&v) = self.constants.get(&op) {
            return v;
        }
        let v = self.block.push(op.clone());
        self.constants.insert(op, v);
        v
    }

    fn splat(&mut self, word: i64) -> Value {
        self.op(Op::Splat(self.modulus.word(word) as i32))
    }

    fn q(&mut self) -> Value {
        self.splat(self.modulus.signed())
    }

    fn prepare(
        &mut self,
        v: Value,
        what: &'static str,
        make: impl FnOnce(&mut Writer) -> Value,
    ) -> Value {
        if let Some(&made) = self.prepared.get(&(v, what)) {
            return made;
        }
        let made = make(self);
        self.prepared.insert((v, what), made);
        made
    }

    /// A constant of a modular product.
    fn factor(
        &mut self,
        factor: &Factor,
        method: Constants,
        column: Column,
        tables: &mut Tables,
    ) -> Value {
        let word = |c: u64, modulus| {
            let (first, second) = method.of(c, modulus);
            if matches!(column, Column::First | Column::FirstOdd) { first } else { second }
        };
        match factor {
            Factor::Splat(c) => self.op(Op::Splat(word(*c, self.modulus))),
            Factor::Lanes(all) => {
                let mut words: Vec<i32> = all.iter().map(|&c| word(c, self.modulus)).collect();
                if matches!(column, Column::FirstOdd | Column::SecondOdd) {
                    words.rotate_left(1);
                }
                self.op(Op::Lanes(words))
            }
            Factor::Table { buffer, at } => {
                let buffer = tables.column(*buffer, method, false, column);
                self.op(Op::Load { buffer, at: at.clone() })
            }
            // Words of 16 bits stand twice, so that a pair of them is broadcast by the load alone.
            Factor::Repeated { buffer, at } if self.modulus.bits == 16 => {
                let buffer = tables.column(*buffer, method, true, column);
                let at = at.times(tables.copies as i64);
                self.op(match tables.pairs {
                    true => Op::BroadcastPair { buffer, at },
                    false => Op::Load { buffer, at },
                })
            }
            Factor::Repeated { buffer, at } => {
                let column = match column {
                    Column::FirstOdd => Column::First,
                    Column::SecondOdd => Column::Second,
                    other => other,
                };
                let buffer = tables.column(*buffer, method, false, column);
                self.op(Op::Broadcast { buffer, at: at.clone() })
            }
        }
    }

    /// A product by a constant.
    pub fn mul_mod(
        &mut self,
        a: Value,
        factor: &Factor,
        method: MulMethod,
        tables: &mut Tables,
    ) -> Value {
        let constants = Constants::Signed(method);
        let first = self.factor(factor, constants, Column::First, tables);
        let second = self.factor(factor, constants, Column::Second, tables);
        if matches!(method, MulMethod::Montgomery | MulMethod::Barrett | MulMethod::Plantard) {
            return self.product(a, first, second, method);
        }
        let same = matches!(factor, Factor::Splat(_) | Factor::Repeated { .. });
        let first_odd =
            if same { first } else { self.factor(factor, constants, Column::FirstOdd, tables) };
        let odd = self.odd(a);
        let even_product = self.op(Op::MulEven(a, first));
        let odd_product = self.op(Op::MulEven(odd, first_odd));
        let (even_t, odd_t) = if method == MulMethod::MontgomeryLow {
            let t = self.op(Op::MulLo(a, second));
            (t, self.op(Op::OddToEven(t)))
        } else {
            let second_odd = if same {
                second
            } else {
                self.factor(factor, constants, Column::SecondOdd, tables)
            };
            (self.op(Op::MulEven(a, second)), self.op(Op::MulEven(odd, second_odd)))
        };
        self.high_of_differences([even_product, odd_product], [even_t, odd_t])
    }

    /// The odd words of `a` in the places of the even ones. No shift, since shifts share the
    /// multiplier's pipes where it was measured (Zen 5), and moves within parts do not.
    fn odd(&mut self, a: Value) -> Value {
        self.prepare(a, "odd", |w| w.op(Op::OddToEven(a)))
    }

    /// The high words of `product - t·q` for even and odd elements, whose low words are zero.
    fn high_of_differences(&mut self, product: [Value; 2], t: [Value; 2]) -> Value {
        let q = self.q();
        let [even, odd] = [0, 1].map(|i| {
            let m = self.op(Op::MulEven(t[i], q));
            // The low words are equal, so nothing is borrowed.
            self.op(Op::Sub(product[i], m))
        });
        let down = self.op(Op::OddToEven(even));
        self.op(Op::Blend { a: down, b: odd, mask: 0xaa })
    }

    /// An operation on unsigned words.
    pub fn unsigned(&mut self, op: Unsigned, tables: &mut Tables) -> Value {
        match op {
            Unsigned::Add(a, b) => self.op(Op::Add(a, b)),
            Unsigned::Sub { a, offset, b } => {
                let offset = self.words(offset.into_iter().map(i64::from));
                let sum = self.op(Op::Add(a, offset));
                self.op(Op::Sub(sum, b))
            }
            Unsigned::Mul { a, factor } => {
                let b = self.factor(&factor, Constants::Unsigned, Column::First, tables);
                let b2 = self.factor(&factor, Constants::Unsigned, Column::Second, tables);
                let t = self.op(Op::MulLo(a, b2));
                self.canonical(a, b, t)
            }
            Unsigned::MulWords { a, b } => {
                let inverse = self.splat(inverse_word(self.modulus));
                let low = self.op(Op::MulLo(a, b));
                let t = self.op(Op::MulLo(low, inverse));
                self.canonical(a, b, t)
            }
            Unsigned::Reduce { a, kinds } => {
                let (q, v) = (self.modulus.signed(), unsigned_barrett(self.modulus));
                let of =
                    |kind, word| kinds.iter().map(move |k| if *k == Some(kind) { word } else { 0 });
                let mut a = a;
                if kinds.contains(&Some(Kind::Barrett)) {
                    let v = self.words(of(Kind::Barrett, v));
                    let (t, q) = (self.op(Op::MulHiU(a, v)), self.q());
                    let m = self.op(Op::MulLo(t, q));
                    a = self.op(Op::Sub(a, m));
                }
                if kinds.contains(&Some(Kind::Csub)) {
                    let q = self.words(of(Kind::Csub, q));
                    let less = self.op(Op::Sub(a, q));
                    a = self.op(Op::MinU(a, less));
                }
                a
            }
        }
    }

    /// The residue in [0, q) of a·b/2^w, with t = a·b/q mod 2^w and b below q.
    fn canonical(&mut self, a: Value, b: Value, t: Value) -> Value {
        let q = self.q();
        let high = self.op(Op::MulHiU(a, b));
        let m = self.op(Op::MulHiU(t, q));
        let d = self.op(Op::Sub(high, m));
        let up = self.op(Op::Add(d, q));
        // Of a negative difference the sum is the smaller one, read without sign.
        self.op(Op::MinU(d, up))
    }

    /// A constant register, one word for all or one for each.
    fn words(&mut self, all: impl Iterator<Item = i64>) -> Value {
        let all: Vec<i32> = all.map(|word| self.modulus.word(word) as i32).collect();
        match all.iter().all(|word| *word == all[0]) {
            true => self.op(Op::Splat(all[0])),
            false => self.op(Op::Lanes(all)),
        }
    }

    /// The upper word of a times the word of 32 bits whose halves these are.
    fn upper_word(&mut self, a: Value, low: Value, high: Value) -> Value {
        let lower = self.op(Op::MulLo(a, high));
        let upper = self.op(Op::MulHi(a, low));
        self.op(Op::Add(lower, upper))
    }

    fn product(&mut self, a: Value, b: Value, b2: Value, method: MulMethod) -> Value {
        let modulus = self.q();
        match method {
            MulMethod::Barrett => {
                let t = self.op(Op::MulHrs(a, b2));
                let lo = self.op(Op::MulLo(a, b));
                let m = self.op(Op::MulLo(t, modulus));
                self.op(Op::Sub(lo, m))
            }
            MulMethod::Plantard => {
                let (t, two) = (self.upper_word(a, b, b2), self.splat(2));
                let t = self.op(Op::Add(t, two));
                self.op(Op::MulHi(t, modulus))
            }
            _ => {
                let t = self.op(Op::MulLo(a, b2));
                let hi = self.op(Op::MulHi(a, b));
                let m = self.op(Op::MulHi(t, modulus));
                self.op(Op::Sub(hi, m))
            }
        }
    }

    pub fn reduce(&mut self, a: Value, method: ReduceMethod, tables: &mut Tables) -> Value {
        let m = self.modulus;
        let t = match method {
            ReduceMethod::Montgomery => {
                return self.mul_mod(a, &Factor::Splat(1), MulMethod::Montgomery, tables);
            }
            ReduceMethod::Plantard => {
                return self.mul_mod(a, &Factor::Splat(1), MulMethod::Plantard, tables);
            }
            ReduceMethod::MontgomeryWide => {
                return self.mul_mod(a, &Factor::Splat(1), MulMethod::MontgomeryWide, tables);
            }
            ReduceMethod::Barrett => {
                let (_, v) = mul_constants(MulMethod::Barrett, 1, m);
                let v = self.op(Op::Splat(v));
                self.op(Op::MulHrs(a, v))
            }
            ReduceMethod::Crude => {
                let zero = self.splat(0);
                let high = self.op(Op::Sar(a, m.q.ilog2() as u8));
                let negative = self.op(Op::Greater(zero, a));
                self.op(Op::Sub(high, negative))
            }
            ReduceMethod::BarrettHigh => {
                let (v, s) = high_constants(m);
                let (v, half) = (self.splat(v), self.splat(1 << (s - 1)));
                let high = self.op(Op::MulHi(a, v));
                let sum = self.op(Op::Add(high, half));
                self.op(Op::Sar(sum, s))
            }
            ReduceMethod::BarrettWide => {
                let (v, s) = high_constants(m);
                let (v, half) = (self.splat(v), self.splat(1 << (s - 1)));
                let odd = self.odd(a);
                let [even, odd] = [a, odd].map(|x| self.op(Op::MulEven(x, v)));
                let down = self.op(Op::OddToEven(even));
                let high = self.op(Op::Blend { a: down, b: odd, mask: 0xaa });
                let sum = self.op(Op::Add(high, half));
                self.op(Op::Sar(sum, s))
            }
            ReduceMethod::BarrettLow { shift, scale } => {
                let v = self.splat(low_constant(m, shift, scale));
                let half = self.splat(1 << (scale - 1));
                let high = if shift == 0 { a } else { self.op(Op::Sar(a, shift)) };
                let product = self.op(Op::MulLo(high, v));
                let sum = self.op(Op::Add(product, half));
                self.op(Op::Sar(sum, scale))
            }
            ReduceMethod::BarrettExact { scale } => {
                let (v, half) = exact_constants(m, scale);
                let [v, half] = [v, half].map(|word| self.splat(word));
                let product = self.op(Op::MulLo(a, v));
                let sum = self.op(Op::Add(product, half));
                self.op(Op::Sar(sum, scale))
            }
            ReduceMethod::Floor | ReduceMethod::Ceiling => {
                let (v, k) = floor_constants(m);
                let v = self.splat(if method == ReduceMethod::Floor { v } else { -v });
                let high = self.op(Op::MulHi(a, v));
                self.op(Op::Sar(high, k))
            }
            ReduceMethod::Folded => {
                // Without the shape that the method needs, `apply` leaves the word as it is too.
                let Some((k, j)) = folded_shifts(m.q) else { return a };
                let mask = self.splat((1 << k) - 1);
                let t = self.op(Op::Sar(a, k));
                let u = self.op(Op::And(a, mask));
                let low = self.op(Op::Sub(u, t));
                let up = self.op(Op::Shl(t, j));
                return self.op(Op::Add(low, up));
            }
            ReduceMethod::RoundedShift => {
                let k = rounding_shift(m.q);
                let half = self.splat(1 << (k - 1));
                let sum = self.op(Op::Add(a, half));
                self.op(Op::Sar(sum, k))
            }
            ReduceMethod::BarrettShifts => {
                let shifts = Shifts::of(m);
                let scaled = match shifts.second {
                    None => a,
                    Some((by, minus)) => {
                        let part = self.op(Op::Sar(a, by));
                        self.op(if minus { Op::Sub(a, part) } else { Op::Add(a, part) })
                    }
                };
                let half = self.splat(shifts.half());
                let sum = self.op(Op::Add(scaled, half));
                self.op(Op::Sar(sum, shifts.down))
            }
        };
        let modulus = self.q();
        let product = self.op(Op::MulLo(t, modulus));
        self.op(if method == ReduceMethod::Ceiling {
            Op::Add(a, product)
        } else {
            Op::Sub(a, product)
        })
    }

    /// The low words of even and odd elements as one register of words.
    fn low_words(&mut self, even: Value, odd: Value) -> Value {
        let up = self.op(Op::ShlWide(odd, self.modulus.bits));
        self.op(Op::Blend { a: even, b: up, mask: 0xaa })
    }

    pub fn narrow(&mut self, even: Value, odd: Value, method: NarrowMethod) -> Value {
        let m = self.modulus;
        match method {
            NarrowMethod::Montgomery if m.bits == 32 => {
                let inverse = self.splat(inverse_word(m));
                let t = [even, odd].map(|x| self.op(Op::MulEven(x, inverse)));
                self.high_of_differences([even, odd], t)
            }
            NarrowMethod::Montgomery => {
                let lo = self.low_words(even, odd);
                let down = self.op(Op::ShrWide(even, m.bits));
                let hi = self.op(Op::Blend { a: down, b: odd, mask: 0xaa });
                let (inverse, modulus) = (self.splat(inverse_word(m)), self.q());
                let t = self.op(Op::MulLo(lo, inverse));
                let m = self.op(Op::MulHi(t, modulus));
                self.op(Op::Sub(hi, m))
            }
            NarrowMethod::Barrett => {
                let (v, s) = barrett_constants(m);
                let (v, modulus) = (self.splat(v), self.q());
                let lo = self.low_words(even, odd);
                let high = [even, odd].map(|x| self.op(Op::SarWide(x, s)));
                let hi = self.low_words(high[0], high[1]);
                let t = self.op(Op::MulHrs(hi, v));
                let m = self.op(Op::MulLo(t, modulus));
                self.op(Op::Sub(lo, m))
            }
            NarrowMethod::Low => self.low_words(even, odd),
        }
    }

    pub fn product_of_words(&mut self, a: Value, b: Value, method: ProductMethod) -> Value {
        let inverse = self.splat(inverse_word(self.modulus));
        match method {
            ProductMethod::Montgomery => {
                let modulus = self.q();
                let prepared = self.prepare(b, "over q", |w| w.op(Op::MulLo(b, inverse)));
                let t = self.op(Op::MulLo(a, prepared));
                let hi = self.op(Op::MulHi(a, b));
                let m = self.op(Op::MulHi(t, modulus));
                self.op(Op::Sub(hi, m))
            }
            ProductMethod::MontgomeryLow => {
                let prepared = self.prepare(b, "over q", |w| w.op(Op::MulLo(b, inverse)));
                let (a_odd, b_odd) = (self.odd(a), self.odd(b));
                let t = self.op(Op::MulLo(a, prepared));
                let t_odd = self.op(Op::OddToEven(t));
                let even = self.op(Op::MulEven(a, b));
                let odd = self.op(Op::MulEven(a_odd, b_odd));
                self.high_of_differences([even, odd], [t, t_odd])
            }
            ProductMethod::MontgomeryWide => {
                let (a_odd, b_odd) = (self.odd(a), self.odd(b));
                let even = self.op(Op::MulEven(a, b));
                let odd = self.op(Op::MulEven(a_odd, b_odd));
                let t = [even, odd].map(|x| self.op(Op::MulEven(x, inverse)));
                self.high_of_differences([even, odd], t)
            }
        }
    }

    pub fn freeze(&mut self, a: Value, method: FreezeMethod) -> Value {
        let (q, inverse) = (self.modulus.signed(), inverse_word(self.modulus));
        let modulus = self.q();
        match method {
            FreezeMethod::Minimum => {
                let h = self.splat(q / 2);
                let x = self.op(Op::Add(a, h));
                let up = self.op(Op::Add(x, modulus));
                let y = self.op(Op::MinU(x, up));
                let down = self.op(Op::Sub(y, modulus));
                let z = self.op(Op::MinU(y, down));
                self.op(Op::Sub(z, h))
            }
            FreezeMethod::Montgomery => {
                let inverse = self.splat(inverse);
                let t = self.op(Op::MulLo(a, inverse));
                let m = self.op(Op::MulHi(t, modulus));
                let sign = self.op(Op::Sar(a, self.modulus.bits - 1));
                self.op(Op::Sub(sign, m))
            }
            FreezeMethod::MontgomeryBiased { k } => {
                let bias = self.splat(k as i64 * q);
                let inverse = self.splat(-inverse);
                let x = self.op(Op::Sub(a, bias));
                let t = self.op(Op::MulLo(x, inverse));
                self.op(Op::MulHi(t, modulus))
            }
            FreezeMethod::Plantard => {
                let (low, high) = mul_constants(MulMethod::Plantard, 1, self.modulus);
                let [low, high] = [low, high].map(|word| self.op(Op::Splat(word)));
                let t = self.upper_word(a, low, high);
                let m = self.op(Op::MulHi(t, modulus));
                let rest = self.op(Op::MulLo(t, modulus));
                // 2^15, added to the product, carries where the low word's first bit is set.
                let carry = self.op(Op::Sar(rest, self.modulus.bits - 1));
                self.op(Op::Sub(m, carry))
            }
        }
    }
}
