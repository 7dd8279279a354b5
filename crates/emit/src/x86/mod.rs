//! C with x86 intrinsics, for registers of 128, 256 and 512 bits.

mod select;
mod words;

use crate::Preamble;
use crate::source::{
    IF_GCC, Machine, Place, UNDOING, Unfit, check, each_block, each_op, factor, file,
};
use ringforge_program::ir::*;
use ringforge_targets::Target;
use select::Selection;
use std::fmt::Write;

pub(crate) use select::Width;

/// An instruction set of x86.
pub(crate) struct Set {
    pub target: &'static Target,
    /// What it is, for the opening comment.
    pub what: &'static str,
    pub width: Width,
    /// The argument of the target attribute.
    pub attribute: &'static str,
    /// Whether compilers are kept from reordering sums of products, because they run out of
    /// registers.
    pub orders: bool,
    /// Whether an instruction repeats a word from memory over a register. The file then makes gcc use it.
    pub repeats: bool,
}

/// The C source of a program; its exported functions are `NAME_<procedure>_<target>`.
///
/// # Errors
/// The program is one for other registers, or has an operation that no instruction does.
pub(crate) fn x86(program: &Program, set: &Set, preamble: &Preamble) -> Result<String, Unfit> {
    check(program, set.target, lacking)?;
    let machine = Machine {
        suffix: set.target.name,
        what: set.what,
        head: match set.width {
            Width::Sse => |machine| head(machine, Width::Sse),
            Width::Avx => |machine| head(machine, Width::Avx),
            Width::Avx512 => |machine| head(machine, Width::Avx512),
        },
        attribute: set.attribute,
        keeps: set.orders && keeps(program),
        repeats: set.repeats,
        in_order: 0,
        block: match set.width {
            Width::Sse => |out, place, ops, depth| block(out, Width::Sse, place, ops, depth),
            Width::Avx => |out, place, ops, depth| block(out, Width::Avx, place, ops, depth),
            Width::Avx512 => |out, place, ops, depth| block(out, Width::Avx512, place, ops, depth),
        },
    };
    Ok(file(program, &machine, preamble))
}

/// Whether a program has fused dot products, which need a processor feature of their own.
pub(crate) fn has_fused_dots(program: &Program) -> bool {
    let mut found = false;
    for procedure in &program.procedures {
        each_op(&procedure.body, &mut |op| found |= matches!(op, Op::PairDotAdd { .. }));
    }
    found
}

/// Whether some block adds products to sums.
fn keeps(program: &Program) -> bool {
    let mut found = false;
    for procedure in &program.procedures {
        each_block(&procedure.body, &mut |block| {
            found |= block.ops.iter().any(|op| accumulates(block, op));
        });
    }
    found
}

/// Whether a product is added to a sum.
fn accumulates(block: &Block, op: &Op) -> bool {
    let product = |v: Value| matches!(block.ops[v.0 as usize], Op::MulLo(..));
    matches!(*op, Op::Add(a, b) if product(b) && !product(a))
}

/// Keeps sums of products in their order, and loads where they are. Compilers make trees of sums
/// and load words once for all rows, for which there are too few registers.
const KEEP: &str = "/* Sums of products in this order, and no words kept for later: there are too few registers. */
#define KEEP(sum) __asm__(\"\" : \"+x\"(sum))
#define FENCE __asm__ volatile(\"\" ::: \"memory\")
";

/// The same where there are twice as many registers: gcc has enough of them, and its own order is faster.
const KEEP_OF_MANY: &str = "/* Sums of products in this order: clang would keep words for later, and run out of registers. */
#if defined(__clang__)
#define KEEP(sum) __asm__(\"\" : \"+v\"(sum))
#define FENCE __asm__ volatile(\"\" ::: \"memory\")
#else
#define KEEP(sum) (void)0
#define FENCE (void)0
#endif
";

/// Keeps compilers from merging loads of parts.
const APART: &str =
    "/* Parts are loaded one by one. */\n#define KEEP(parts) __asm__(\"\" : \"+v\"(parts))\n";

/// What a file asks of gcc: to run none of the passes in `UNDOING`, and not to look into words. If
/// one instruction loads a repeated word, the file uses it; gcc would use a general register and
/// two shuffles. `tune` keeps gcc from writing a load that it counts as cheap once for each use.
/// Other compilers are asked nothing.
fn gcc(machine: &Machine, width: Width) -> String {
    let passes = UNDOING.map(|pass| format!("\"no-tree-{pass}\"")).join(", ");
    let (attribute, kind) = (machine.attribute, width.kind());
    // Registers 16 to 31 have a letter of their own.
    let any = if many_registers(attribute) { 'v' } else { 'x' };
    let (hidden, none, tune) = match machine.repeats {
        true => (
            format!(
                "REPEAT(v, two, word) {kind} v; __asm__(\"vpbroadcastd %1, %0\" : \"={any}\"(v) : \"m\"(two))"
            ),
            format!("REPEAT(v, two, word) const {kind} v = word"),
            ",tune=skylake",
        ),
        false => (
            format!("OPAQUE(word) __asm__(\"\" : \"+{any}\"(word))"),
            "OPAQUE(word) (void)0".to_owned(),
            "",
        ),
    };
    format!(
        "/* gcc takes intrinsics apart, and products by words that it knows. */\n\
         {IF_GCC}\n#pragma GCC optimize({passes})\n\
         #define {hidden}\n#define TARGET __attribute__((target(\"{attribute}{tune}\")))\n\
         #else\n#define {none}\n#define TARGET __attribute__((target(\"{attribute}\")))\n#endif\n"
    )
}

/// Whether there are 32 registers, whatever their width.
fn many_registers(attribute: &str) -> bool {
    attribute.starts_with("avx512")
}

/// What stands before the tables of x86.
fn head(machine: &Machine, width: Width) -> String {
    let mut out =
        String::from("#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    out.push_str(&gcc(machine, width));
    if machine.keeps {
        out.push_str(if many_registers(machine.attribute) { KEEP_OF_MANY } else { KEEP });
    }
    if width == Width::Avx512 {
        out.push_str(APART);
    }
    out
}

/// What to do instead of an operation that no x86 vector instruction does.
pub(crate) fn lacking(op: &Op, bits: u8) -> Option<&'static str> {
    let products = "`multiply` may be montgomery-low or montgomery-wide, `reduce` rounded-shift, \
                    `freeze` minimum";
    match (op, bits) {
        (Op::MulHiU(..), 32) => Some("signed words: a schedule without `unsigned`"),
        (Op::MulHi(..) | Op::MulHrs(..), 32) => Some(products),
        (Op::MulEven(..), 16) => Some("`multiply` may be montgomery"),
        (Op::PairDot(..) | Op::PairDotAdd { .. }, 32) => Some("products of words, or MulEven"),
        (Op::SarWide(..) | Op::MulLoWide(..), 32) => Some("`narrow` may be montgomery"),
        _ => None,
    }
}

/// The operations of a block as declarations and stores.
fn block(out: &mut String, width: Width, place: &Place, block: &Block, depth: usize) {
    let (indent, kind) = ("    ".repeat(depth), width.kind());
    let select = Selection { width, place, block };
    let kept = |op: &Op| place.keeps && accumulates(block, op);
    if block.ops.iter().any(kept) {
        let _ = writeln!(out, "{indent}FENCE;");
    }
    for (i, op) in block.ops.iter().enumerate() {
        out.push_str(&indent);
        let value = || select.expression(op, 0);
        let _ = match (select.statement(op), op) {
            (Some(text), _) => writeln!(out, "{text}"),
            (None, Op::LoadParts { buffer, at }) if width == Width::Avx512 => {
                writeln!(out, "{}", select.four_loaded(i, *buffer, at))
            }
            (None, Op::LoadParts { .. }) if place.keeps => {
                writeln!(out, "{}", joined(place, i, op))
            }
            (None, _) if kept(op) => writeln!(out, "{kind} v{i} = {}; KEEP(v{i});", value()),
            (None, Op::Splat(word)) if *word != 0 && place.repeats => {
                writeln!(out, "{}", repeat(place, width, i, *word, &value()))
            }
            (None, _) if !select.uniform(op) => {
                let pieces = (0..select.pieces()).map(|piece| {
                    format!(
                        "{} = {}",
                        select.name(Value(i as u32), piece),
                        select.expression(op, piece)
                    )
                });
                writeln!(out, "const {kind} {};", pieces.collect::<Vec<_>>().join(", "))
            }
            (None, _) if !place.repeats && factor(block, i) => {
                writeln!(out, "{kind} v{i} = {}; OPAQUE(v{i});", value())
            }
            (None, _) => writeln!(out, "const {kind} v{i} = {};", value()),
        };
    }
}

/// Value i, a [`Op::LoadParts`] of two parts, as a blend with a load that repeats a part. Both have
/// spare pipes, whereas insertions share those of the shuffles. Compilers would make it an
/// insertion.
fn joined(place: &Place, i: usize, op: &Op) -> String {
    let Op::LoadParts { buffer, at } = op else { return String::new() };
    let full = 128 / usize::from(place.bits);
    let [low, high] = [0, 1].map(|k| words::part(place, *buffer, &at[k], full));
    format!(
        "__m256i v{i} = _mm256_broadcastsi128_si256({high}); KEEP(v{i}); \
         v{i} = _mm256_blend_epi32(_mm256_castsi128_si256({low}), v{i}, 0xf0);"
    )
}

/// Value i, a word in all places.
fn repeat(place: &Place, width: Width, i: usize, word: i32, value: &str) -> String {
    match place.repeat(word) {
        Some(from) => format!("REPEAT(v{i}, {from}, {value});"),
        None => format!("const {} v{i} = {value};", width.kind()),
    }
}
