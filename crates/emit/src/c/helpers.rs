//! The word operations in C, each defined once and only where used.

use ringforge_program::ir::{Op, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Name, parameters and value of every helper, in the order of their definition. A `W` is a word's
/// bits, `U` those of its unsigned sums, `D` twice as many. `H` and `R` are the half and the shift
/// of a rounded product.
const ALL: [(&str, &str, &str); 14] = [
    ("word", "uintU_t x", "(intW_t)(uintW_t)x"),
    ("add", "intW_t a, intW_t b", "word((uintU_t)a + (uintU_t)b)"),
    ("sub", "intW_t a, intW_t b", "word((uintU_t)a - (uintU_t)b)"),
    ("mullo", "intW_t a, intW_t b", "word((uintU_t)a * (uintU_t)b)"),
    ("mulhi", "intW_t a, intW_t b", "(intW_t)(((intD_t)a * (intD_t)b) >> W)"),
    ("mulhiu", "intW_t a, intW_t b", "(intW_t)(((uintD_t)(uintW_t)a * (uintW_t)b) >> W)"),
    ("mulhrs", "intW_t a, intW_t b", "(intW_t)(((intD_t)a * (intD_t)b + H) >> R)"),
    ("shl", "intW_t a, int k", "word((uintU_t)a << k)"),
    ("sar", "intW_t a, int k", "(intW_t)(a >> k)"),
    ("shr", "intW_t a, int k", "(intW_t)((uintW_t)a >> k)"),
    ("greater", "intW_t a, intW_t b", "(intW_t)-(a > b)"),
    ("minu", "intW_t a, intW_t b", "(uintW_t)a < (uintW_t)b ? a : b"),
    ("min", "intW_t a, intW_t b", "a < b ? a : b"),
    ("max", "intW_t a, intW_t b", "a > b ? a : b"),
];

const NOTE: &str = "
/*
 * Words of W bits that wrap. C99 leaves two things to the implementation, which gcc, clang and
 * MSVC define alike: a conversion to intW_t keeps the low W bits, and a right shift of a
 * negative number copies its sign. Nothing here is undefined: sums and products are unsigned or
 * fit D bits.
 */";

/// Whether a name is one that the generated code gives: a helper's, or a letter and a number.
pub fn taken(name: &str) -> bool {
    let numbered = name.split_at_checked(1).is_some_and(|(letter, number)| {
        // Tables of factors always have a number: f alone is a program's own.
        let letters = if number.is_empty() { "vwkpils" } else { "vwkpilsf" };
        letters.contains(letter) && number.bytes().all(|b| b.is_ascii_digit())
    });
    let plain = ["16", "32", "64"].iter().fold(name, |name, bits| name.trim_end_matches(bits));
    numbered || ALL.iter().any(|(helper, ..)| *helper == plain)
}

/// The helpers that a file uses.
pub struct Helpers {
    /// By bits of their words.
    used: BTreeMap<u8, BTreeSet<&'static str>>,
    /// Bits of the words whose helpers have names without a number.
    plain: u8,
    bits: u8,
}

impl Helpers {
    /// None yet, for words of the program's bits.
    pub fn new(program: &Program) -> Helpers {
        let bits = program.word_bits;
        Helpers { used: BTreeMap::from([(bits, BTreeSet::new())]), plain: bits, bits }
    }

    /// From here on for words of `bits` bits.
    pub fn words(&mut self, bits: u8) {
        self.bits = bits;
    }

    /// The name of a helper for words of `bits` bits.
    fn name(&self, name: &str, bits: u8) -> String {
        if bits == self.plain { name.to_string() } else { format!("{name}{bits}") }
    }

    /// The text of a helper for words of `bits` bits.
    fn fill(&self, text: &str, bits: u8) -> String {
        let (half, shift) = (1u64 << (bits - 2), (bits - 1).to_string());
        let text = text.replace("intW_t", &format!("int{bits}_t"));
        let text = text.replace("intU_t", &format!("int{}_t", bits.max(32)));
        let text = text.replace("intD_t", &format!("int{}_t", 2 * bits));
        let text = text.replace("word(", &format!("{}(", self.name("word", bits)));
        let text = text.replace(">> W", &format!(">> {bits}"));
        text.replace("+ H", &format!("+ {half:#x}")).replace(">> R", &format!(">> {shift}"))
    }

    fn need(&mut self, name: &'static str) -> String {
        self.used.entry(self.bits).or_default().insert(name);
        self.name(name, self.bits)
    }

    /// The value of an operation on words whose operands are `a` and `b`; `None` where it is not
    /// lane-wise on words.
    pub fn expression(&mut self, op: &Op, operands: &[String]) -> Option<String> {
        let name = match op {
            Op::Add(..) => "add",
            Op::Sub(..) => "sub",
            Op::MulLo(..) => "mullo",
            Op::MulHi(..) => "mulhi",
            Op::MulHiU(..) => "mulhiu",
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
        let [a, b] =
            [&operands[0], &operands[1]].map(|v| self.fill(&format!("(uintU_t){v}"), self.bits));
        format!("{}({a} {sign} {b})", self.need("word"))
    }

    /// The definitions.
    pub fn render(&self) -> String {
        let wraps = ["add", "sub", "mullo", "shl"];
        let mut text = String::new();
        for (&bits, used) in &self.used {
            let mut used = used.clone();
            if wraps.iter().any(|name| used.contains(name)) {
                used.insert("word");
            }
            let number = |n: u8| format!(" {n} bits");
            let note = self.fill(NOTE, bits);
            text += &note.replace(" W bits", &number(bits)).replace(" D bits", &number(2 * bits));
            for (name, parameters, value) in ALL.iter().filter(|(name, ..)| used.contains(name)) {
                let name = self.name(name, bits);
                let value = self.fill(value, bits);
                let parameters = self.fill(parameters, bits);
                text += &format!(
                    "\nstatic inline int{bits}_t {name}({parameters})\n{{\n    return {value};\n}}\n"
                );
            }
        }
        text
    }
}
