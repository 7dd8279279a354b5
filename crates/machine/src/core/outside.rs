//! Functions of other objects: the three of the C library that compilers call by themselves, in their
//! checked form too, and those that the call declares. And arithmetic that stops the program on overflow.

use super::memory::{Fault, RegionKind};
use super::{Fallible, InstructionSet, Machine, Value};
use crate::byte::Byte;
use crate::call::{Extent, ExternalFunction};
use crate::error::{LiftError, Timing, Violation};
use crate::fold::{gather, scatter, signed};
use crate::graph::NodeId;

/// Longest copy or buffer of an outside function.
const MOST_BYTES: u64 = 1 << 28;

/// What a function of the C library does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Copies; the buffers do not overlap.
    Copy,
    /// Copies; they may.
    Move,
    /// Fills with the low byte of an argument.
    Fill {
        /// Its position.
        with: usize,
    },
    /// Fills with zero.
    Clear,
}

/// A function of the C library that compilers call by themselves. Its target is argument 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Routine {
    pub effect: Effect,
    /// Position of the length in bytes.
    pub length: usize,
    /// Position of the target's size, for functions that stop the program if the length is above
    /// it.
    pub bound: Option<usize>,
    /// What its pointers must be multiples of.
    pub align: u64,
    /// Whether it returns its target.
    pub returns: bool,
}

impl Routine {
    /// The three of the C standard, and what `_FORTIFY_SOURCE` makes of them: one argument more.
    pub fn of_c(name: &str) -> Option<Routine> {
        let (effect, bound) = match name {
            "memcpy" => (Effect::Copy, None),
            "memmove" => (Effect::Move, None),
            "memset" => (Effect::Fill { with: 1 }, None),
            "__memcpy_chk" => (Effect::Copy, Some(3)),
            "__memmove_chk" => (Effect::Move, Some(3)),
            "__memset_chk" => (Effect::Fill { with: 1 }, Some(3)),
            _ => return None,
        };
        Some(Routine { effect, length: 2, bound, align: 1, returns: true })
    }
}

/// Arithmetic of libgcc that stops the program if the result does not fit.
#[derive(Clone, Copy)]
struct Checked {
    /// Bits of the operands and of the result.
    bits: u8,
    of: Arithmetic,
}

#[derive(Clone, Copy)]
enum Arithmetic {
    Sum,
    Difference,
    Product,
    Negation,
}

impl Checked {
    /// The function of that name, if each operand fits in one register of `word` bytes.
    fn of(name: &str, word: usize) -> Option<Checked> {
        let (bits, of) = match name {
            "__addvsi3" => (32, Arithmetic::Sum),
            "__subvsi3" => (32, Arithmetic::Difference),
            "__mulvsi3" => (32, Arithmetic::Product),
            "__negvsi2" => (32, Arithmetic::Negation),
            "__addvdi3" => (64, Arithmetic::Sum),
            "__subvdi3" => (64, Arithmetic::Difference),
            "__mulvdi3" => (64, Arithmetic::Product),
            "__negvdi2" => (64, Arithmetic::Negation),
            _ => return None,
        };
        (usize::from(bits) <= 8 * word).then_some(Checked { bits, of })
    }
}

impl<I: InstructionSet> Machine<'_, I> {
    /// `memcpy`, `memmove` and `memset`, checked or not, have their C meaning. Declared functions
    /// have the meaning of their declaration. Any other function is refused. The call makes
    /// undefined whatever the calling convention lets it change, and the stack below it too. `call`
    /// is false for a jump with which the function ends.
    pub fn outside(&mut self, name: &str, call: bool) -> Fallible<()> {
        let declared = self.functions.iter().find(|f| f.symbol == name).cloned();
        let routine = I::routine(name);
        if name == "__stack_chk_fail" {
            return Err(self.unsupported(
                "`__stack_chk_fail` is reached, which stops the program: the stack protector's canary is not \
                 compared, or is not what it was",
            ));
        }
        let checked = Checked::of(name, I::WORD).filter(|_| self.passes_checks);
        if declared.is_none() && routine.is_none() && checked.is_none() {
            return Err(self.unsupported(format!(
                "`{name}` is defined by another object and is not known; link it in (ld -r)"
            )));
        }
        // Aligned before a call leaves its return address.
        let convention = self.convention;
        let slot = if call { 0 } else { convention.return_slot };
        let top = self.stack_pointer()? + slot;
        match self.regions[usize::from(self.stack)].aligned(top, convention.stack_align) {
            Some(true) => {}
            _ => return Err(self.unsupported("a call with a misaligned stack pointer")),
        }
        if call {
            self.touch(top - convention.return_slot, convention.return_slot.unsigned_abs())?;
        }
        self.lend(top)?;
        let result = match (declared, routine, checked) {
            (Some(function), ..) => {
                let result = self.declared(&function)?;
                self.leaves(top - convention.return_slot, function.stack)?;
                result
            }
            (None, Some(routine), _) => self.copied(name, routine)?,
            (None, None, Some(function)) => self.checked(name, function)?,
            (None, None, None) => return Err(self.unsupported("a function that is not known")),
        };
        self.lend(top)?;
        self.cpu.after_call(convention);
        self.cpu.word(convention.result).copy_from_slice(&result[..I::WORD]);
        self.forget_stack(top - slot);
        Ok(())
    }

    /// What the caller of another object's function leaves above `top` is that function's to write.
    fn lend(&mut self, top: i64) -> Fallible<()> {
        let (home, stack) = (self.convention.home, self.stack);
        let done = if top < self.convention.return_slot && top + home > 0 {
            Err(Fault("the called function may write over the return address".into()))
        } else {
            let bytes = vec![Byte::Undefined; home as usize];
            self.regions[usize::from(stack)].store(top, &bytes)
        };
        done.map_err(|fault| self.fault(fault, stack, top, home as u64))
    }

    /// The register of argument `i`. Those that lie on the stack are refused.
    fn passed(&mut self, i: usize) -> Fallible<Value> {
        let Some(&register) = self.convention.arguments.get(i) else {
            let count = self.convention.arguments.len();
            return Err(self.unsupported(format!(
                "argument {i} of a declared function lies on the stack: {count} are in registers"
            )));
        };
        Ok(gather(self.g, self.cpu.word(register)))
    }

    /// A function of the C library; what it returns.
    fn copied(&mut self, name: &str, routine: Routine) -> Fallible<[Byte; 8]> {
        let length = self.passed(routine.length)?;
        let length = self.concrete(length, Timing::Address, "a length")?;
        if length > MOST_BYTES {
            return Err(self.unsupported(format!("{name} of {length} bytes")));
        }
        if let Some(bound) = routine.bound {
            let size = self.passed(bound)?;
            let size = self.concrete(size, Timing::Branch, "the size of a copy's target")?;
            if length > size {
                return Err(self.unsupported(format!(
                    "`{name}` stops the program: {length} bytes for an object of {size}"
                )));
            }
        }
        self.charge(length)?;
        let mut result = [Byte::Undefined; 8];
        if routine.returns {
            result[..I::WORD].copy_from_slice(self.cpu.word(self.convention.arguments[0]));
        }
        let (target, source) = (self.passed(0)?, self.passed(1)?);
        if length > 0 {
            let to = self.dereference(target, length)?;
            self.require_alignment(to, length, routine.align)?;
            let fill = match routine.effect {
                Effect::Fill { with } => self.cpu.word(self.convention.arguments[with])[0],
                _ => Byte::Const(0),
            };
            let mut bytes = vec![fill; length as usize];
            if matches!(routine.effect, Effect::Copy | Effect::Move) {
                let from = self.dereference(source, length)?;
                self.require_alignment(from, length, routine.align)?;
                let apart = from.0 != to.0 || from.1.abs_diff(to.1) >= length || from.1 == to.1;
                if routine.effect == Effect::Copy && !apart {
                    return Err(LiftError::from(Violation::Memory {
                        at: self.place(),
                        region: self.regions[usize::from(to.0)].name.clone(),
                        offset: to.1,
                        size: length,
                        why: format!("{name} between overlapping buffers"),
                    })
                    .into());
                }
                self.load(from, &mut bytes)?;
            }
            self.store(to, &bytes)?;
        }
        let says = match routine.bound {
            None => "does what the C standard says",
            Some(_) => {
                "does what the C standard says of the function that it checks the length for"
            }
        };
        self.assume(format!(
            "the linked `{name}` {says}, in time that depends on the length alone"
        ));
        Ok(result)
    }

    /// The result of checked arithmetic, assuming that it returns.
    fn checked(&mut self, name: &str, function: Checked) -> Fallible<[Byte; 8]> {
        let bytes = usize::from(function.bits) / 8;
        let mut operand = |i: usize| match gather(
            self.g,
            &self.cpu.word(self.convention.arguments[i])[..bytes],
        ) {
            Some(node) => Ok(node),
            None => Err(self.undefined(format!("argument {i} of `{name}`"))),
        };
        let x = operand(0)?;
        let y = if let Arithmetic::Negation = function.of { x } else { operand(1)? };
        let number = |m: &Self, node| Some(i128::from(signed(m.g.value(node)?, function.bits)));
        let exact = number(self, x).zip(number(self, y)).map(|(x, y)| match function.of {
            Arithmetic::Sum => x + y,
            Arithmetic::Difference => x - y,
            Arithmetic::Product => x * y,
            Arithmetic::Negation => -x,
        });
        if exact.is_some_and(|value| value >> (function.bits - 1) != value >> 127) {
            return Err(
                self.unsupported(format!("`{name}` stops the program: its result overflows"))
            );
        }
        let node = match function.of {
            Arithmetic::Sum => self.g.add(x, y),
            Arithmetic::Difference => self.g.sub(x, y),
            Arithmetic::Product => self.g.mul(x, y),
            Arithmetic::Negation => self.g.neg(x),
        };
        let mut result = [Byte::Undefined; 8];
        scatter(self.g, node, &mut result[..bytes]);
        self.meets_check();
        self.assume(format!(
            "the linked `{name}` runs in constant time, as that of gcc 12 does and compiler-rt's does not; its result never \
             overflows, which would stop the program"
        ));
        Ok(result)
    }

    /// A function may have left anything in `bytes` bytes of stack below `top`.
    fn leaves(&mut self, top: i64, bytes: u64) -> Fallible<()> {
        if bytes > MOST_BYTES {
            return Err(self.unsupported(format!("{bytes} bytes of stack")));
        }
        let low = top - bytes as i64;
        self.deepest = self.deepest.min(low);
        self.dead.store(low, &vec![Byte::Undefined; bytes as usize]);
        Ok(())
    }

    /// An input that differs from all others: inputs are numbered by the terms made so far.
    fn fresh(&mut self, width: u8) -> NodeId {
        let index = self.g.len() as u32;
        self.g.input(width, u16::MAX, index)
    }

    /// A declared function: its buffers are checked, and what it writes and returns is an input.
    fn declared(&mut self, function: &ExternalFunction) -> Fallible<[Byte; 8]> {
        let mut spans = Vec::new();
        let mut known = function.known.clone();
        for (buffers, writes) in [(&function.reads, false), (&function.writes, true)] {
            for (i, &(pointer, extent)) in buffers.iter().enumerate() {
                let length = match extent {
                    Extent::Bytes(n) => n,
                    Extent::Argument(i) => {
                        let length = self.passed(i)?;
                        self.concrete(length, Timing::Address, "a length")?
                    }
                };
                if length > MOST_BYTES {
                    return Err(self.unsupported(format!("a buffer of {length} bytes")));
                }
                // Those of writes that are known, beyond their end too: then the declaration is refused.
                let given = known.iter_mut().filter(|k| writes && k.0 == i);
                let given: Vec<_> = given.map(|k| (k.1, std::mem::take(&mut k.2))).collect();
                if given.iter().any(|(at, bytes)| (*at + bytes.len()) as u64 > length) {
                    return Err(self.unsupported(format!(
                        "known bytes past what `{}` writes",
                        function.symbol
                    )));
                }
                if length > 0 {
                    let pointer = self.passed(pointer)?;
                    spans.push((
                        self.dereference(pointer, length)?,
                        length as usize,
                        writes,
                        given,
                    ));
                }
            }
        }
        if let Some(at) = self.unreached.iter().position(|f| *f == function.symbol) {
            self.stood_in.push(self.unreached.remove(at));
        }
        for (at, length, writes, given) in spans {
            self.charge(length as u64)?;
            self.dead.began = true;
            let mut bytes = vec![Byte::Undefined; length];
            if writes {
                for byte in &mut bytes {
                    *byte = Byte::Node(self.fresh(8), 0);
                }
                for (from, known) in given {
                    let to = &mut bytes[from..from + known.len()];
                    to.iter_mut().zip(known).for_each(|(b, k)| *b = Byte::Const(k));
                }
                self.store(at, &bytes)?;
            } else {
                self.load(at, &mut bytes)?;
                let stack = self.regions[usize::from(at.0)].kind == RegionKind::Stack;
                if bytes.iter().any(Byte::is_undefined) {
                    let of = if stack { "automatic variables" } else { "a buffer" };
                    return Err(self.undefined(format!("what `{}` reads of {of}", function.symbol)));
                }
            }
        }
        self.assume(format!(
            "{} `{}` reads and writes what the contract says and no more, and takes time that \
             depends on lengths alone",
            if function.stands_in {
                "the object's own, which was not executed here,"
            } else {
                "the linked"
            },
            function.symbol
        ));
        self.dead.began = true;
        let mut result = [Byte::Undefined; 8];
        let bits = 8 * I::WORD as u8;
        let node = match function.returns {
            Some(value) => self.g.constant(bits, value),
            None => self.fresh(bits),
        };
        crate::fold::scatter(self.g, node, &mut result[..I::WORD]);
        Ok(result)
    }
}
