//! A program run: words are machine words and wrap as on machines.
//!
//! Modular operations run by their methods' definitions, word operations by the machine's, so a
//! program and its expansion must agree word for word.

use crate::walk::*;
use ringforge_program::ir::{ProcedureId, Program, Role};
use ringforge_program::method::*;

/// The domain of machine words.
pub struct Words {
    q: u64,
}

impl Domain for Words {
    type Word = i16;
    type Wide = i32;

    fn constant(&mut self, word: i16) -> i16 {
        word
    }

    fn binary(&mut self, op: Binary, a: &i16, b: &i16) -> Result<i16, Refusal> {
        let (a, b) = (*a, *b);
        let product = i32::from(a) * i32::from(b);
        Ok(match op {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::MulLo => a.wrapping_mul(b),
            Binary::MulHi => (product >> 16) as i16,
            Binary::MulHrs => ((product + (1 << 14)) >> 15) as i16,
            Binary::Greater => -i16::from(a > b),
            Binary::MinU => (a as u16).min(b as u16) as i16,
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
        })
    }

    fn shift(&mut self, op: Shift, a: &i16) -> Result<i16, Refusal> {
        Ok(match op {
            Shift::Left(k) => a << k,
            Shift::Arithmetic(k) => a >> k,
            Shift::Logical(k) => ((*a as u16) >> k) as i16,
        })
    }

    fn mul_mod(&mut self, a: &i16, c: u64, method: MulMethod) -> Result<i16, Refusal> {
        Ok(method.apply(*a, c, self.q) as i16)
    }

    fn reduce(&mut self, a: &i16, method: ReduceMethod) -> Result<i16, Refusal> {
        Ok(method.apply(*a, self.q) as i16)
    }

    fn narrow(&mut self, x: &i32, method: NarrowMethod) -> Result<i16, Refusal> {
        Ok(method.apply(*x, self.q) as i16)
    }

    fn mul_words(&mut self, a: &i16, b: &i16, method: ProductMethod) -> Result<i16, Refusal> {
        Ok(method.apply(*a, *b, self.q) as i16)
    }

    fn freeze(&mut self, a: &i16, method: FreezeMethod) -> Result<i16, Refusal> {
        Ok(method.apply(*a, self.q) as i16)
    }

    fn pair_dot(&mut self, a: [&i16; 2], b: [&i16; 2]) -> Result<i32, Refusal> {
        let product = |i: usize| i32::from(*a[i]) * i32::from(*b[i]);
        Ok(product(0).wrapping_add(product(1)))
    }

    fn wide_binary(&mut self, op: WideBinary, a: &i32, b: &i32) -> Result<i32, Refusal> {
        Ok(match op {
            WideBinary::Add => a.wrapping_add(*b),
            WideBinary::Sub => a.wrapping_sub(*b),
            WideBinary::MulLo => a.wrapping_mul(*b),
        })
    }

    fn wide_shift(&mut self, op: Shift, a: &i32) -> Result<i32, Refusal> {
        Ok(match op {
            Shift::Left(k) => a << k,
            Shift::Arithmetic(k) => a >> k,
            Shift::Logical(k) => ((*a as u32) >> k) as i32,
        })
    }

    fn join(&mut self, low: &i16, high: &i16) -> Result<i32, Refusal> {
        Ok(i32::from(*high) << 16 | i32::from(*low as u16))
    }

    fn split(&mut self, x: &i32) -> Result<(i16, i16), Refusal> {
        Ok((*x as i16, (*x >> 16) as i16))
    }
}

/// What a call of the exported procedure leaves in its output, for inputs in the order of the
/// parameters. A program without an exported procedure is a fault, and so is an input whose
/// length is not the parameter's.
pub fn run(program: &Program, inputs: &[&[i16]]) -> Result<Vec<i16>, Fault> {
    execute(program, inputs, None)
}

/// As [`run`], but the output lies in the same array as input number `alias`.
pub fn run_in_place(program: &Program, inputs: &[&[i16]], alias: usize) -> Result<Vec<i16>, Fault> {
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

fn execute(program: &Program, inputs: &[&[i16]], alias: Option<usize>) -> Result<Vec<i16>, Fault> {
    let id = exported(program)?;
    let procedure = &program.procedures[id.0 as usize];
    let refuse = |reason: String| Fault {
        place: Box::new(Place { procedure: procedure.name.clone(), ..Place::default() }),
        reason,
    };
    let mut machine = Machine::new(program, Words { q: program.q });
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
    let words: Option<Vec<i16>> = words.copied().collect();
    words.ok_or_else(|| refuse("a word of the output is never written".into()))
}
