//! Lines of assembly, until they are written.

use std::fmt;

/// What stands behind the registers of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    None,
    /// A number.
    Number(i64),
    /// The last operand is shifted so.
    High,
    /// A word that lies behind the code.
    Word(u32),
    /// A place: so many bytes behind a pointer, which moves by so many bytes then.
    Place(&'static str, i64, i64),
}

/// An instruction with up to four registers, those that are not there empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Line {
    name: &'static str,
    registers: [&'static str; 4],
    pub tail: Tail,
}

impl Line {
    pub fn of<const N: usize>(
        name: &'static str,
        registers: [&'static str; N],
        tail: Tail,
    ) -> Line {
        let mut all = [""; 4];
        all[..N].copy_from_slice(&registers);
        Line { name, registers: all, tail }
    }

    pub fn load(to: &'static str, (pointer, at): (&'static str, i64)) -> Line {
        Line::of("ldr", [to], Tail::Place(pointer, at, 0))
    }

    pub fn store(from: &'static str, (pointer, at): (&'static str, i64)) -> Line {
        Line::of("str", [from], Tail::Place(pointer, at, 0))
    }

    pub fn is_load(&self) -> bool {
        self.name == "ldr"
    }

    pub fn is_store(&self) -> bool {
        self.name == "str"
    }

    /// Whether it reads or writes a register, but for an address.
    pub fn names(&self, register: &str) -> bool {
        self.registers.contains(&register)
    }

    /// What a load or store names first.
    pub fn first(&self) -> &'static str {
        self.registers[0]
    }

    /// The place of a load or store, where it is known.
    pub fn place(&self) -> Option<(&'static str, i64)> {
        match self.tail {
            Tail::Place(pointer, at, _) => Some((pointer, at)),
            _ => None,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        for (i, register) in self.registers.iter().filter(|r| !r.is_empty()).enumerate() {
            write!(f, "{} {register}", if i == 0 { "" } else { "," })?;
        }
        match self.tail {
            Tail::None => Ok(()),
            Tail::Number(number) => write!(f, ", #{number}"),
            Tail::High => write!(f, ", asr #16"),
            Tail::Word(word) => write!(f, ", ={word:#x}"),
            Tail::Place(pointer, 0, 0) => write!(f, ", [{pointer}]"),
            Tail::Place(pointer, 0, by) => write!(f, ", [{pointer}], #{by}"),
            Tail::Place(pointer, at, _) => write!(f, ", [{pointer}, #{at}]"),
        }
    }
}
