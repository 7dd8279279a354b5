//! A program run: words are machine words and wrap as on machines.
//!
//! Modular operations run by their methods' definitions, word operations by the machine's, so a
//! program and its expansion must agree word for word.

use crate::walk::*;
use ringforge_program::ir::{ProcedureId, Program, Role, UnsignedWord};
use ringforge_program::method::*;

/// The domain of machine words: signed, of the program's size.
pub struct Words {
    modulus: Modulus,
}

impl Words {
    /// The signed wide element that is congruent to `x`.
    fn wide(&self, x: i64) -> i64 {
        let spare = 64 - 2 * self.modulus.bits;
        x << spare >> spare
    }

    /// `x` as an unsigned number of so many bits.
    fn unsigned(x: i64, bits: u8) -> u64 {
        x as u64 & (u64::MAX >> (64 - bits))
    }
}

impl Domain for Words {
    type Word = i64;
    type Wide = i64;

    fn constant(&mut self, word: i64) -> i64 {
        self.modulus.word(word)
    }

    fn binary(&mut self, op: Binary, a: &i64, b: &i64) -> Result<i64, Refusal> {
        let (a, b, bits) = (*a, *b, self.modulus.bits);
        let unsigned = |x| Words::unsigned(x, bits);
        Ok(self.modulus.word(match op {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::MulLo => a.wrapping_mul(b),
            Binary::MulHi => (a * b) >> bits,
            Binary::MulHiU => ((unsigned(a) * unsigned(b)) >> bits) as i64,
            Binary::MulHrs => (a * b + (1 << (bits - 2))) >> (bits - 1),
            Binary::Greater => -i64::from(a > b),
            Binary::MinU => {
                if unsigned(a) < unsigned(b) {
                    a
                } else {
                    b
                }
            }
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
        }))
    }

    fn shift(&mut self, op: Shift, a: &i64) -> Result<i64, Refusal> {
        Ok(self.modulus.word(match op {
            Shift::Left(k) => a << k,
            Shift::Arithmetic(k) => a >> k,
            Shift::Logical(k) => (Words::unsigned(*a, self.modulus.bits) >> k) as i64,
        }))
    }

    fn mul_mod(&mut self, a: &i64, c: u64, method: MulMethod) -> Result<i64, Refusal> {
        Ok(method.apply(*a, c, self.modulus))
    }

    fn reduce(&mut self, a: &i64, method: ReduceMethod) -> Result<i64, Refusal> {
        Ok(method.apply(*a, self.modulus))
    }

    fn narrow(&mut self, x: &i64, method: NarrowMethod) -> Result<i64, Refusal> {
        Ok(method.apply(*x, self.modulus))
    }

    fn mul_words(&mut self, a: &i64, b: &i64, method: ProductMethod) -> Result<i64, Refusal> {
        Ok(method.apply(*a, *b, self.modulus))
    }

    fn freeze(&mut self, a: &i64, method: FreezeMethod) -> Result<i64, Refusal> {
        Ok(method.apply(*a, self.modulus))
    }

    fn unsigned(&mut self, op: UnsignedWord, a: &i64, b: &i64) -> Result<i64, Refusal> {
        let [a, b] = [a, b].map(|x| Words::unsigned(*x, self.modulus.bits) as i64);
        Ok(self.modulus.word(op.apply(a, b, self.modulus)))
    }

    fn pair_dot(&mut self, a: [&i64; 2], b: [&i64; 2]) -> Result<i64, Refusal> {
        Ok(self.wide((a[0] * b[0]).wrapping_add(a[1] * b[1])))
    }

    fn wide_binary(&mut self, op: WideBinary, a: &i64, b: &i64) -> Result<i64, Refusal> {
        Ok(self.wide(match op {
            WideBinary::Add => a.wrapping_add(*b),
            WideBinary::Sub => a.wrapping_sub(*b),
            WideBinary::MulLo => a.wrapping_mul(*b),
        }))
    }

    fn wide_shift(&mut self, op: Shift, a: &i64) -> Result<i64, Refusal> {
        Ok(self.wide(match op {
            Shift::Left(k) => a << k,
            Shift::Arithmetic(k) => a >> k,
            Shift::Logical(k) => (Words::unsigned(*a, 2 * self.modulus.bits) >> k) as i64,
        }))
    }

    fn join(&mut self, low: &i64, high: &i64) -> Result<i64, Refusal> {
        let bits = self.modulus.bits;
        Ok(high << bits | Words::unsigned(*low, bits) as i64)
    }

    fn split(&mut self, x: &i64) -> Result<(i64, i64), Refusal> {
        Ok((self.modulus.word(*x), x >> self.modulus.bits))
    }

    fn modulus(&mut self, modulus: Modulus) -> Result<(), Refusal> {
        self.modulus = modulus;
        Ok(())
    }

    fn kept(&mut self, word: &i64, bits: u8) -> Result<i64, Refusal> {
        Ok(Modulus { bits, ..self.modulus }.word(*word))
    }
}

/// What a call of the exported procedure leaves in its output, for inputs in the order of the
/// parameters, an [`Role::InOut`] parameter being one of them. A program without an exported
/// procedure is a fault, and so is an input whose length is not the parameter's or which has a
/// number that no word holds.
pub fn run(program: &Program, inputs: &[&[i64]]) -> Result<Vec<i64>, Fault> {
    execute(program, inputs, None)
}

/// As [`run`], but the output lies in the same array as input number `alias`.
pub fn run_in_place(program: &Program, inputs: &[&[i64]], alias: usize) -> Result<Vec<i64>, Fault> {
    execute(program, inputs, Some(alias))
}

/// The exported procedure of a program.
pub(crate) fn exported(program: &Program) -> Result<ProcedureId, Fault> {
    let found = program.procedures.iter().rposition(|p| p.exported);
    found.map(|i| ProcedureId(i as u32)).ok_or_else(|| Fault {
        place: Box::default(),
        reason: format!("{} exports no procedure", program.name),
    })
}

fn execute(program: &Program, inputs: &[&[i64]], alias: Option<usize>) -> Result<Vec<i64>, Fault> {
    let id = exported(program)?;
    let procedure = &program.procedures[id.0 as usize];
    let refuse = |reason: String| Fault {
        place: Box::new(Place { procedure: procedure.name.clone(), ..Place::default() }),
        reason,
    };
    let mut machine = Machine::new(program, Words { modulus: program.modulus() });
    let mut given = inputs.iter();
    let (mut arguments, mut read, mut output) = (Vec::new(), Vec::new(), None);
    for buffer in procedure.buffers.iter().filter(|b| b.role.is_parameter()) {
        let words = match buffer.role {
            Role::Output => vec![None; buffer.words],
            _ => {
                let words = given.next().filter(|words| words.len() == buffer.words);
                let words = words.ok_or_else(|| {
                    refuse(format!("{} needs {} words", buffer.name, buffer.words))
                })?;
                let modulus = Modulus { bits: buffer.bits, ..procedure.modulus() };
                if let Some(w) = words.iter().find(|&&w| modulus.word(w) != w) {
                    return Err(refuse(format!("{} is given {w}, which is no word", buffer.name)));
                }
                words.iter().map(|&w| Some(w)).collect()
            }
        };
        let array = machine.array(words);
        if matches!(buffer.role, Role::Output | Role::InOut) {
            output = Some(arguments.len());
        }
        if buffer.role != Role::Output {
            read.push(array);
        }
        arguments.push((array, 0));
    }
    let Some(output) = output else { return Err(refuse("there is no output".into())) };
    if let Some(alias) = alias {
        let array = read.get(alias).copied();
        arguments[output].0 = array.ok_or_else(|| refuse(format!("there is no input {alias}")))?;
    }
    machine.call(id, &arguments)?;
    let words = machine.words(arguments[output].0).iter();
    let words: Option<Vec<i64>> = words.copied().collect();
    words.ok_or_else(|| refuse("a word of the output is never written".into()))
}
