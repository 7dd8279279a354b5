//! The word operations in C, each defined once and only where used.

use ringforge_program::ir::Op;
use std::collections::BTreeSet;

/// Name, parameters and value of every helper, in the order of their definition.
const ALL: [(&str, &str, &str); 13] = [
    ("word", "uint32_t x", "(int16_t)(uint16_t)x"),
    ("add", "int16_t a, int16_t b", "word((uint32_t)a + (uint32_t)b)"),
    ("sub", "int16_t a, int16_t b", "word((uint32_t)a - (uint32_t)b)"),
    ("mullo", "int16_t a, int16_t b", "word((uint32_t)a * (uint32_t)b)"),
    ("mulhi", "int16_t a, int16_t b", "(int16_t)(((int32_t)a * (int32_t)b) >> 16)"),
    ("mulhrs", "int16_t a, int16_t b", "(int16_t)(((int32_t)a * (int32_t)b + 0x4000) >> 15)"),
    ("shl", "int16_t a, int k", "word((uint32_t)a << k)"),
    ("sar", "int16_t a, int k", "(int16_t)(a >> k)"),
    ("shr", "int16_t a, int k", "(int16_t)((uint16_t)a >> k)"),
    ("greater", "int16_t a, int16_t b", "(int16_t)-(a > b)"),
    ("minu", "int16_t a, int16_t b", "(uint16_t)a < (uint16_t)b ? a : b"),
    ("min", "int16_t a, int16_t b", "a < b ? a : b"),
    ("max", "int16_t a, int16_t b", "a > b ? a : b"),
];

const NOTE: &str = "
/*
 * Words of 16 bits that wrap. C99 leaves two things to the implementation, which gcc, clang and
 * MSVC define alike: a conversion to int16_t keeps the low 16 bits, and a right shift of a
 * negative number copies its sign. Nothing here is undefined: sums and products are unsigned or
 * fit 32 bits.
 */";

/// Whether a name is one that the generated code gives: a helper's, or a letter and a number.
pub fn taken(name: &str) -> bool {
    let numbered = name.split_at_checked(1).is_some_and(|(letter, number)| {
        "vwkpil".contains(letter) && number.bytes().all(|b| b.is_ascii_digit())
    });
    numbered || ALL.iter().any(|(helper, ..)| *helper == name)
}

/// The helpers that a file uses.
#[derive(Default)]
pub struct Helpers {
    used: BTreeSet<&'static str>,
}

impl Helpers {
    fn need(&mut self, name: &'static str) -> &'static str {
        self.used.insert(name);
        name
    }

    /// The value of an operation on words whose operands are `a` and `b`; `None` where it is not
    /// lane-wise on words.
    pub fn expression(&mut self, op: &Op, operands: &[String]) -> Option<String> {
        let name = match op {
            Op::Add(..) => "add",
            Op::Sub(..) => "sub",
            Op::MulLo(..) => "mullo",
            Op::MulHi(..) => "mulhi",
            Op::MulHrs(..) => "mulhrs",
            Op::Greater(..) => "greater",
            Op::MinU(..) => "minu",
            Op::Min(..) => "min",
            Op::Max(..) => "max",
            Op::Shl(_, k) => return Some(self.shift("shl", operands, *k)),
            Op::Sar(_, k) => return Some(self.shift("sar", operands, *k)),
            Op::Shr(_, k) => return Some(self.shift("shr", operands, *k)),
            Op::And(..) => return Some(self.logic("&", operands)),
            Op::Or(..) => return Some(self.logic("|", operands)),
            Op::Xor(..) => return Some(self.logic("^", operands)),
            _ => return None,
        };
        Some(format!("{}({})", self.need(name), operands.join(", ")))
    }

    fn shift(&mut self, name: &'static str, operands: &[String], by: u8) -> String {
        format!("{}({}, {by})", self.need(name), operands[0])
    }

    fn logic(&mut self, sign: &str, operands: &[String]) -> String {
        format!("{}((uint32_t){} {sign} (uint32_t){})", self.need("word"), operands[0], operands[1])
    }

    /// The definitions.
    pub fn render(&self) -> String {
        let wraps = ["add", "sub", "mullo", "shl"];
        let mut used = self.used.clone();
        if wraps.iter().any(|name| used.contains(name)) {
            used.insert("word");
        }
        let mut text = NOTE.to_string();
        for (name, parameters, value) in ALL.iter().filter(|(name, ..)| used.contains(name)) {
            text += &format!(
                "\nstatic inline int16_t {name}({parameters})\n{{\n    return {value};\n}}\n"
            );
        }
        text
    }
}
