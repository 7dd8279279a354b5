//! The domain of forms: what each operation of the modular level does to residues.

use super::{Id, Recorder};
use crate::walk::*;
use ringforge_plan::Unit;
use ringforge_program::ir::UnsignedWord;
use ringforge_program::method::*;
use ringforge_ring::zq;

fn not_linear<T>(what: &str) -> Result<T, Refusal> {
    Err(format!("{what} has no meaning mod q by itself; formula reads the modular level"))
}

/// What a method multiplies by.
fn residue(scale: Result<Unit, EvenModulus>) -> Result<u64, Refusal> {
    scale.map(Unit::value).map_err(|e| e.to_string())
}

impl Domain for Recorder {
    type Word = Id;
    type Wide = Id;

    fn constant(&mut self, word: i64) -> Id {
        self.number(word)
    }

    fn binary(&mut self, op: Binary, a: &Id, b: &Id) -> Result<Id, Refusal> {
        match op {
            Binary::Add => self.sum(*a, *b, false),
            Binary::Sub => self.sum(*a, *b, true),
            Binary::MulLo => self.product(*a, *b),
            // A mask of a lane: all bits, or none.
            Binary::And => match (self.constant_of(*a), self.constant_of(*b)) {
                (Some(0), _) | (_, Some(0)) => Ok(0),
                (Some(m), _) if m == self.q - 1 => Ok(*b),
                (_, Some(m)) if m == self.q - 1 => Ok(*a),
                _ => not_linear("And"),
            },
            _ => not_linear(&format!("{op:?}")),
        }
    }

    fn shift(&mut self, op: Shift, a: &Id) -> Result<Id, Refusal> {
        match op {
            Shift::Left(k) => Ok(self.scale(*a, zq::pow(2, u64::from(k), self.q))),
            _ => not_linear("a shift right"),
        }
    }

    fn mul_mod(&mut self, a: &Id, c: u64, _method: MulMethod) -> Result<Id, Refusal> {
        Ok(self.scale(*a, c))
    }

    fn reduce(&mut self, a: &Id, _method: ReduceMethod) -> Result<Id, Refusal> {
        Ok(*a)
    }

    fn narrow(&mut self, x: &Id, method: NarrowMethod) -> Result<Id, Refusal> {
        let scale = residue(method.scale(self.words))?;
        Ok(self.scale(*x, scale))
    }

    fn mul_words(&mut self, a: &Id, b: &Id, method: ProductMethod) -> Result<Id, Refusal> {
        let product = self.product(*a, *b)?;
        let scale = residue(method.scale(self.words))?;
        Ok(self.scale(product, scale))
    }

    fn freeze(&mut self, a: &Id, method: FreezeMethod) -> Result<Id, Refusal> {
        let scale = residue(method.scale(self.words))?;
        Ok(self.scale(*a, scale))
    }

    fn unsigned(&mut self, op: UnsignedWord, a: &Id, b: &Id) -> Result<Id, Refusal> {
        match op {
            UnsignedWord::Add => self.sum(*a, *b, false),
            UnsignedWord::Sub(offset) => {
                let offset = self.number(offset.into());
                let sum = self.sum(*a, offset, false)?;
                self.sum(sum, *b, true)
            }
            UnsignedWord::Mul(c) => Ok(self.scale(*a, c)),
            UnsignedWord::MulWords => {
                let product = self.product(*a, *b)?;
                let scale = residue(inverse_of_r(self.words))?;
                Ok(self.scale(product, scale))
            }
            UnsignedWord::Reduce(_) => Ok(*a),
        }
    }

    fn pair_dot(&mut self, a: [&Id; 2], b: [&Id; 2]) -> Result<Id, Refusal> {
        let (x, y) = (self.product(*a[0], *b[0])?, self.product(*a[1], *b[1])?);
        self.sum(x, y, false)
    }

    fn wide_binary(&mut self, op: WideBinary, a: &Id, b: &Id) -> Result<Id, Refusal> {
        match op {
            WideBinary::Add => self.sum(*a, *b, false),
            WideBinary::Sub => self.sum(*a, *b, true),
            WideBinary::MulLo => self.product(*a, *b),
        }
    }

    fn wide_shift(&mut self, op: Shift, a: &Id) -> Result<Id, Refusal> {
        self.shift(op, a)
    }

    fn join(&mut self, low: &Id, high: &Id) -> Result<Id, Refusal> {
        if (*low, *high) == (0, 0) { Ok(0) } else { not_linear("a word read as half an element") }
    }

    fn modulus(&mut self, modulus: Modulus) -> Result<(), Refusal> {
        if modulus.q != self.q {
            return Err(format!(
                "computes modulo {}, and forms are over residues modulo {} alone",
                modulus.q, self.q
            ));
        }
        self.words = modulus;
        Ok(())
    }

    fn kept(&mut self, word: &Id, _bits: u8) -> Result<Id, Refusal> {
        Ok(*word)
    }

    fn split(&mut self, x: &Id) -> Result<(Id, Id), Refusal> {
        if *x == 0 { Ok((0, 0)) } else { not_linear("half an element read as a word") }
    }
}
