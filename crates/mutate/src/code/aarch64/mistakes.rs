//! Instructions that are taken for others with the same operands.

use super::decode;
use crate::mutant::Class;
use fARM64::{Code, Instruction};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// Class, the name of the right instruction, the name of the wrong one..
static PAIRS: &[(Class, &str, &str)] = &[
    (Class::AddSubtract, "add", "sub"),
    (Class::AddSubtract, "mla", "mls"),
    (Class::AddSubtract, "smlal", "smlsl"),
    (Class::AddSubtract, "smlal2", "smlsl2"),
    (Class::AddSubtract, "umlal", "umlsl"),
    (Class::AddSubtract, "madd", "msub"),
    (Class::AddSubtract, "smaddl", "smsubl"),
    (Class::AddSubtract, "shadd", "shsub"),
    (Class::AddSubtract, "saddl", "ssubl"),
    (Class::AddSubtract, "saddw", "ssubw"),
    (Class::MultiplyKind, "mul", "mla"),
    (Class::MultiplyKind, "mul", "mls"),
    (Class::MultiplyKind, "mul", "sqdmulh"),
    (Class::MultiplyKind, "mul", "sqrdmulh"),
    (Class::MultiplyKind, "smull", "umull"),
    (Class::MultiplyKind, "smull2", "umull2"),
    (Class::MultiplyKind, "smull", "smlal"),
    (Class::MultiplyKind, "smull2", "smlal2"),
    (Class::MultiplyKind, "smull", "sqdmull"),
    (Class::MultiplyKind, "smull2", "sqdmull2"),
    (Class::MultiplyKind, "smlal", "umlal"),
    (Class::MultiplyKind, "smlal2", "umlal2"),
    (Class::MultiplyKind, "smlal", "sqdmlal"),
    (Class::MultiplyKind, "smlal2", "sqdmlal2"),
    (Class::MultiplyKind, "smulh", "umulh"),
    (Class::Rounding, "sqdmulh", "sqrdmulh"),
    (Class::Rounding, "sshr", "srshr"),
    (Class::Rounding, "ushr", "urshr"),
    (Class::Rounding, "ssra", "srsra"),
    (Class::Rounding, "usra", "ursra"),
    (Class::Rounding, "shrn", "rshrn"),
    (Class::Rounding, "shrn2", "rshrn2"),
    (Class::Rounding, "shadd", "srhadd"),
    (Class::Rounding, "sshl", "srshl"),
    (Class::Signedness, "sshr", "ushr"),
    (Class::Signedness, "srshr", "urshr"),
    (Class::Signedness, "ssra", "usra"),
    (Class::Signedness, "shadd", "uhadd"),
    (Class::Signedness, "shsub", "uhsub"),
    (Class::Signedness, "sshll", "ushll"),
    (Class::Signedness, "sxtl", "uxtl"),
    (Class::Signedness, "saddl", "uaddl"),
    (Class::Signedness, "xtn", "sqxtn"),
    (Class::Signedness, "xtn", "uqxtn"),
    (Class::Signedness, "sqxtn", "sqxtun"),
    (Class::Signedness, "add", "sqadd"),
    (Class::Signedness, "add", "uqadd"),
    (Class::Signedness, "sub", "sqsub"),
    (Class::Signedness, "sub", "uqsub"),
    (Class::Signedness, "smov", "umov"),
    (Class::Signedness, "asr", "lsr"),
    (Class::Signedness, "sbfx", "ubfx"),
    (Class::Signedness, "ldrsh", "ldrh"),
    (Class::Signedness, "ldrsb", "ldrb"),
    (Class::Comparison, "cmgt", "cmge"),
    (Class::Comparison, "cmgt", "cmhi"),
    (Class::Comparison, "cmge", "cmhs"),
    (Class::Comparison, "cmgt", "cmeq"),
    (Class::Comparison, "smin", "umin"),
    (Class::Comparison, "smax", "umax"),
    (Class::Comparison, "smin", "smax"),
    (Class::Comparison, "umin", "umax"),
    (Class::Logic, "and", "orr"),
    (Class::Logic, "and", "bic"),
    (Class::Logic, "orr", "eor"),
    (Class::Logic, "orr", "orn"),
    (Class::Logic, "bsl", "bit"),
    (Class::Logic, "bsl", "bif"),
    (Class::Logic, "bit", "bif"),
    (Class::Shuffle, "zip1", "zip2"),
    (Class::Shuffle, "uzp1", "uzp2"),
    (Class::Shuffle, "trn1", "trn2"),
    (Class::Shuffle, "zip1", "trn1"),
    (Class::Shuffle, "zip1", "uzp1"),
    (Class::Shuffle, "zip2", "uzp2"),
    (Class::Shuffle, "trn1", "uzp1"),
    (Class::Shuffle, "trn2", "uzp2"),
    (Class::Shuffle, "rev64", "rev32"),
    (Class::Shuffle, "tbl", "tbx"),
    (Class::Shuffle, "addp", "add"),
    (Class::Condition, "cbz", "cbnz"),
    (Class::Condition, "tbz", "tbnz"),
    (Class::Condition, "csel", "csinc"),
    (Class::Condition, "csel", "csinv"),
    (Class::Condition, "csinv", "csneg"),
];

/// What an instruction with this name may be mistaken for.
static MISTAKES: LazyLock<HashMap<&str, Vec<(Class, &str)>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<(Class, &str)>> = HashMap::new();
    for &(class, a, b) in PAIRS {
        all.entry(a).or_default().push((class, b));
        all.entry(b).or_default().push((class, a));
    }
    all
});

/// By the form of the right instruction and the name of the wrong one: the bits in which they differ.
type Masks = HashMap<(Code, &'static str), Option<u32>>;

/// Those that were looked for.
static MASKS: LazyLock<Mutex<Masks>> = LazyLock::new(Mutex::default);

/// Bits in which two forms differ at most.
const BITS: usize = 4;

/// The words that are the mistaken instructions.
pub fn of(word: u32, old: &Instruction) -> Vec<(Class, u32)> {
    let Some(wrong) = MISTAKES.get(old.mnemonic().name()) else { return Vec::new() };
    let mut masks = MASKS.lock().unwrap_or_else(|e| e.into_inner());
    wrong
        .iter()
        .filter_map(|&(class, name)| {
            let mask = masks.entry((old.code(), name)).or_insert_with(|| nearest(word, old, name));
            let new = word ^ (*mask)?;
            is_mistaken(new, old, name).then_some((class, new))
        })
        .collect()
}

/// Whether a word is the instruction of that name, with the operands of another.
fn is_mistaken(word: u32, old: &Instruction, name: &str) -> bool {
    decode(word, old.ip()).is_some_and(|new| {
        new.mnemonic().name() == name
            && new.op_count() == old.op_count()
            && (0..new.op_count()).all(|k| new.op(k) == old.op(k))
    })
}

/// The bits whose change makes the instruction the one of that name with the same operands; the fewest.
fn nearest(word: u32, old: &Instruction, name: &str) -> Option<u32> {
    fn search(rest: usize, from: u32, mask: u32, found: &dyn Fn(u32) -> bool) -> Option<u32> {
        if rest == 0 {
            return found(mask).then_some(mask);
        }
        (from..32).find_map(|bit| search(rest - 1, bit + 1, mask | 1 << bit, found))
    }
    // The five lowest bits name the destination, everywhere.
    (1..=BITS).find_map(|n| search(n, 5, 0, &|mask| is_mistaken(word ^ mask, old, name)))
}

/// Whether the decoder knows an instruction of that name.
#[cfg(test)]
pub fn is_known(name: &str) -> bool {
    fARM64::Mnemonic::values().any(|m| m.name() == name)
}

/// All names of the table.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    PAIRS.iter().flat_map(|&(_, a, b)| [a, b])
}
