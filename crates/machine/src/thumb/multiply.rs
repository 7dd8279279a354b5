//! Products, which take fixed time on the supported processors, and divisions, which do not.

use super::Machine;
use super::decode::Instruction;
use super::operation::{Long, Op};
use crate::core::arith::{product, product_unsigned};
use crate::core::{Fallible, Value};
use crate::error::Timing;
use crate::fold::signed;
use crate::graph::NodeId;

impl Machine<'_> {
    pub(super) fn multiply(&mut self, ins: &Instruction) -> Fallible<bool> {
        match ins.op {
            Op::Mul | Op::Mla | Op::Mls => {
                let (n, m) = (self.value(ins.n)?, self.value(ins.m)?);
                let p = self.both(n, m, |s, n, m| s.g.mul(n, m));
                let r = match ins.op {
                    Op::Mul => p,
                    _ => {
                        let a = self.value(ins.a)?;
                        let minus = ins.op == Op::Mls;
                        self.both(a, p, |s, a, p| if minus { s.g.sub(a, p) } else { s.g.add(a, p) })
                    }
                };
                if self.sets(ins) {
                    self.set_logical(r, None);
                }
                self.put(ins.d, r)?;
            }
            Op::Long(kind) => self.long(ins, kind)?,
            Op::Halves { adds } => {
                let (n, m) = (self.half(ins.n, ins.x), self.half(ins.m, ins.y));
                let p = self.both(n, m, |s, n, m| product(s.g, n, m, 32));
                self.sum(ins, p, adds)?;
            }
            Op::WordHalf { adds } => {
                let (n, m) = (self.value(ins.n)?, self.half(ins.m, ins.y));
                let p = self.both(n, m, |s, n, m| {
                    let whole = product(s.g, n, m, 64);
                    s.g.slice(whole, 16, 32)
                });
                self.sum(ins, p, adds)?;
            }
            Op::Dual { minus, adds } => {
                let p = self.dual(ins, minus, 32)?;
                self.sum(ins, p, adds)?;
            }
            Op::Upper { adds, minus } => {
                let (n, m) = (self.value(ins.n)?, self.value(ins.m)?);
                let mut r = self.both(n, m, |s, n, m| product(s.g, n, m, 64));
                if adds {
                    let a = self.value(ins.a)?;
                    r = self.both(a, r, |s, a, p| {
                        let a = s.g.zext(a, 64);
                        let a = s.g.shl(a, 32);
                        if minus { s.g.sub(a, p) } else { s.g.add(a, p) }
                    });
                }
                let r = r.map(|mut r| {
                    if ins.x {
                        let half = self.g.constant(64, 1 << 31);
                        r = self.g.add(r, half);
                    }
                    self.g.slice(r, 32, 32)
                });
                self.put(ins.d, r)?;
            }
            Op::LongHalves => {
                let (n, m) = (self.half(ins.n, ins.x), self.half(ins.m, ins.y));
                let p = self.both(n, m, |s, n, m| product(s.g, n, m, 64));
                self.accumulate(ins, p)?;
            }
            Op::LongDual { minus } => {
                let p = self.dual(ins, minus, 64)?;
                self.accumulate(ins, p)?;
            }
            Op::Divide { signed } => {
                self.divide(ins, signed)?;
                return Ok(true);
            }
            _ => return Ok(false),
        }
        self.assume(
            "multiplications take fixed time, as on Cortex-M4 and Cortex-M7 (on Cortex-M3 long ones do not)"
                .into(),
        );
        Ok(true)
    }

    /// A product, or its sum with register a modulo 2^32. The flag Q may change, but nothing reads
    /// it.
    fn sum(&mut self, ins: &Instruction, p: Value, adds: bool) -> Fallible<()> {
        let r = if adds {
            let a = self.value(ins.a)?;
            self.both(a, p, |s, a, p| s.g.add(a, p))
        } else {
            p
        };
        self.put(ins.d, r)
    }

    /// Both products of halves, added or subtracted at a width; x exchanges the halves of m.
    fn dual(&mut self, ins: &Instruction, minus: bool, width: u8) -> Fallible<Value> {
        let mut products = [None; 2];
        for (i, p) in products.iter_mut().enumerate() {
            let top = i == 1;
            let (n, m) = (self.half(ins.n, top), self.half(ins.m, top != ins.x));
            *p = self.both(n, m, |s, n, m| product(s.g, n, m, width));
        }
        let [low, high] = products;
        Ok(self.both(low, high, |s, a, b| if minus { s.g.sub(a, b) } else { s.g.add(a, b) }))
    }

    /// The two destinations as one value.
    fn pair(&mut self, ins: &Instruction) -> Fallible<Value> {
        let (low, high) = (self.value(ins.a)?, self.value(ins.d)?);
        Ok(self.both(low, high, |s, low, high| s.g.concat(&[low, high])))
    }

    /// Writes both destinations.
    fn put_pair(&mut self, ins: &Instruction, r: Value) -> Fallible<()> {
        let part = |s: &mut Self, lo: u8| r.map(|r| s.g.slice(r, lo, 32));
        let (low, high) = (part(self, 0), part(self, 32));
        self.put(ins.a, low)?;
        self.put(ins.d, high)
    }

    fn accumulate(&mut self, ins: &Instruction, p: Value) -> Fallible<()> {
        let with = self.pair(ins)?;
        let r = self.both(with, p, |s, a, p| s.g.add(a, p));
        self.put_pair(ins, r)
    }

    fn long(&mut self, ins: &Instruction, kind: Long) -> Fallible<()> {
        let (n, m) = (self.value(ins.n)?, self.value(ins.m)?);
        let is_signed = matches!(kind, Long::Signed | Long::SignedAdd);
        let p = self.both(n, m, |s, n, m| {
            if is_signed { product(s.g, n, m, 64) } else { product_unsigned(s.g, n, m, 64) }
        });
        match kind {
            Long::Signed | Long::Unsigned => self.put_pair(ins, p),
            Long::SignedAdd | Long::UnsignedAdd => self.accumulate(ins, p),
            Long::UnsignedTwice => {
                let mut r = p;
                for with in [ins.a, ins.d] {
                    let with = self.value(with)?;
                    r = self.both(r, with, |s, r, with: NodeId| {
                        let with = s.g.zext(with, 64);
                        s.g.add(r, with)
                    });
                }
                self.put_pair(ins, r)
            }
        }
    }

    /// The time of a division depends on its operands, so both must be constants. Division by 0
    /// gives 0, unless the system makes that a fault.
    fn divide(&mut self, ins: &Instruction, is_signed: bool) -> Fallible<()> {
        let what = "an operand of a division";
        let (n, m) = (self.value(ins.n)?, self.value(ins.m)?);
        let n = self.concrete(n, Timing::VariableTime, what)?;
        let m = self.concrete(m, Timing::VariableTime, what)?;
        if m == 0 {
            return Err(self.unsupported("a division by zero, which may be a fault"));
        }
        let r = if is_signed { (signed(n, 32) / signed(m, 32)) as u64 } else { n / m };
        let r = self.g.constant(32, r);
        self.put(ins.d, Some(r))
    }
}
