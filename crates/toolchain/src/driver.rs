//! The C drivers around a compiled function: what the function takes, and the generated text
//! that stands before the drivers' common part.

use std::fmt::Write;

/// The common part of the driver that calls.
pub(crate) const CALL: &str = include_str!("driver/call.c");
/// The common part of the driver that times.
pub(crate) const TIMING: &str = include_str!("driver/timing.c");

/// What stands in for a system where there is none.
const BARE: &str = include_str!("driver/bare.c");

/// Hints that no processor has, around a call: [`crate::count`] looks for them.
const MARK: &str = "#ifdef __aarch64__
#define MARK(n) __asm__ volatile(\"hint #\" #n ::: \"memory\")
#elif defined __arm__
#define MARK(n) __asm__ volatile(\".inst.w 0xf3af8000 + \" #n ::: \"memory\")
#else
#define MARK(n) (void)0
#endif
";

/// Type of an array's elements: two's complement, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// 8, 16, 32 or 64.
    pub bits: u8,
    /// Whether values are signed.
    pub signed: bool,
}

impl Element {
    /// Signed 16-bit elements.
    pub const I16: Element = Element { bits: 16, signed: true };

    /// Parses `i8`, `u8`, … `u64`.
    pub fn parse(text: &str) -> Option<Element> {
        let (signed, bits) = match text.split_at_checked(1)? {
            ("i", bits) => (true, bits),
            ("u", bits) => (false, bits),
            _ => return None,
        };
        let bits = bits.parse().ok().filter(|b| [8, 16, 32, 64].contains(b))?;
        Some(Element { bits, signed })
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        usize::from(self.bits / 8)
    }

    /// Appends `values`, wrapped to the element's width, to `out`.
    pub fn encode(self, values: &[i64], out: &mut Vec<u8>) {
        // Nearly everything is 16 bits wide; a constant width makes this many times faster.
        if self.bits == 16 {
            out.extend(values.iter().flat_map(|&value| (value as i16).to_le_bytes()));
            return;
        }
        for value in values {
            out.extend_from_slice(&value.to_le_bytes()[..self.bytes()]);
        }
    }

    /// Reads all elements of `bytes`. 64-bit unsigned values above `i64::MAX` wrap.
    pub fn decode(self, bytes: &[u8]) -> Vec<i64> {
        let shift = 64 - u32::from(self.bits);
        bytes
            .chunks_exact(self.bytes())
            .map(|chunk| {
                let mut word = [0u8; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                let word = u64::from_le_bytes(word) << shift;
                if self.signed { (word as i64) >> shift } else { (word >> shift) as i64 }
            })
            .collect()
    }
}

/// Whether the function reads or writes an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read only.
    Input,
    /// Written; nothing is promised about its content before.
    Output,
    /// Read and written: both in the record of inputs and in the answer.
    InOut,
}

impl Role {
    /// Whether its content at entry matters.
    pub fn reads(self) -> bool {
        self != Role::Output
    }

    /// Whether its content at exit matters.
    pub fn writes(self) -> bool {
        self != Role::Input
    }
}

/// One pointer argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name, for messages.
    pub name: String,
    /// Read or written.
    pub role: Role,
    /// Type of its elements.
    pub element: Element,
    /// Number of elements.
    pub length: usize,
    /// Alignment in bytes, a power of two.
    pub align: usize,
    /// Smallest and largest value of an element.
    pub range: (i64, i64),
}

impl Argument {
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.length * self.element.bytes()
    }
}

/// A C function of pointers that returns nothing.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its symbol, a C identifier.
    pub symbol: String,
    /// Its arguments in order.
    pub arguments: Vec<Argument>,
}

impl Signature {
    fn read(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|a| a.role.reads())
    }

    fn written(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|a| a.role.writes())
    }

    /// Bytes of one record of inputs.
    pub fn input_bytes(&self) -> usize {
        self.read().map(Argument::bytes).sum()
    }

    /// Bytes of one answer.
    pub fn output_bytes(&self) -> usize {
        self.written().map(Argument::bytes).sum()
    }

    /// One record: the inputs in the order of the arguments. Missing values are an error of
    /// the caller and make a short record, which the driver refuses.
    pub fn record(&self, inputs: &[&[i64]]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.input_bytes());
        for (argument, values) in self.read().zip(inputs) {
            argument.element.encode(values, &mut bytes);
        }
        bytes
    }

    /// One answer taken apart into the outputs in the order of the arguments.
    pub fn outputs(&self, answer: &[u8]) -> Vec<Vec<i64>> {
        let mut rest = answer;
        self.written()
            .map(|argument| {
                let (mine, later) = rest.split_at(argument.bytes().min(rest.len()));
                rest = later;
                argument.element.decode(mine)
            })
            .collect()
    }

    fn declaration(&self) -> String {
        let parameters = vec!["void *"; self.arguments.len()].join(", ");
        format!("extern void {}({parameters});\n", self.symbol)
    }

    fn call(&self, array: &str) -> String {
        let arguments: Vec<String> =
            (0..self.arguments.len()).map(|i| format!("{array}[{i}]")).collect();
        format!("{}({});", self.symbol, arguments.join(", "))
    }

    /// Source of a driver that calls; `alias` lists pairs (output, input) that share memory.
    pub(crate) fn call_driver(&self, alias: &[(usize, usize)]) -> String {
        let mut text = String::from("#define _GNU_SOURCE\n#include <stddef.h>\n") + BARE + MARK;
        let _ = writeln!(text, "#define ARGS {}", self.arguments.len());
        text += &self.declaration();
        text += "static const struct { size_t bytes, align; int input, output, shares; } args[ARGS] = {\n";
        for (i, argument) in self.arguments.iter().enumerate() {
            let (input, output) =
                (u8::from(argument.role.reads()), u8::from(argument.role.writes()));
            let shares = alias.iter().find(|(o, _)| *o == i).map_or(-1, |(_, j)| *j as i64);
            let _ = writeln!(
                text,
                "    {{{}, {}, {input}, {output}, {shares}}},",
                argument.bytes(),
                argument.align.max(1)
            );
        }
        let _ = writeln!(
            text,
            "}};\nstatic void call_function(unsigned char **p) {{ MARK(48); {} MARK(49); }}",
            self.call("p")
        );
        text + CALL
    }

    /// Source of a driver that times calls on fixed pseudo-random inputs. `pad` bytes of code
    /// stand before the driver's, so that copies differ in where the function falls.
    pub(crate) fn timing_driver(&self, pad: usize) -> String {
        let mut text = format!("__asm__(\".text\\n\\t.skip {pad}, 0x90\");\n{TIMING}\n");
        text += &self.declaration();
        for (i, argument) in self.arguments.iter().enumerate() {
            let _ = writeln!(
                text,
                "static unsigned char buffer{i}[{}] __attribute__((aligned({})));",
                argument.bytes().max(1),
                argument.align.max(1)
            );
        }
        let names: Vec<String> = (0..self.arguments.len()).map(|i| format!("buffer{i}")).collect();
        let _ = writeln!(text, "static void *buffers[] = {{{}}};", names.join(", "));
        text += "static uint64_t state = 0x9e3779b97f4a7c15u;\n\
                 static int64_t draw(int64_t low, int64_t high) {\n\
                 \x20   state = state * 6364136223846793005u + 1442695040888963407u;\n\
                 \x20   return low + (int64_t)((state >> 24) % ((uint64_t)(high - low) + 1));\n}\n\
                 void candidate_setup(void) {\n    size_t i, k;\n    int64_t v;\n";
        for (i, argument) in self.arguments.iter().enumerate() {
            let bytes = argument.element.bytes();
            let (low, high) = argument.range;
            let _ = writeln!(
                text,
                "    for (i = 0; i < {}; i++) {{ v = draw({low}, {high}); for (k = 0; k < {bytes}; k++) buffer{i}[i * {bytes} + k] = (unsigned char)((uint64_t)v >> 8 * k); }}",
                argument.length
            );
        }
        let _ = writeln!(
            text,
            "}}\nvoid candidate(void) {{ {} }}\nint main(void) {{ return timing_main(); }}",
            self.call("buffers")
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_survive_the_round_trip() {
        let i16 = Element::parse("i16").unwrap();
        let mut bytes = vec![];
        i16.encode(&[-2295, 2295, -1], &mut bytes);
        assert_eq!(i16.decode(&bytes), [-2295, 2295, -1]);
        assert_eq!(Element::parse("u16").unwrap().decode(&bytes)[2], 0xffff);
        for bad in ["", "i", "i12", "f32", "é16"] {
            assert_eq!(Element::parse(bad), None, "{bad}");
        }
    }
}
