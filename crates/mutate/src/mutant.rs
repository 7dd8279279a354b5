//! What a mutant is: a class, a sentence, and the bytes to change or the source to compile.

use crate::program::Edit;
use serde::Serialize;
use std::fmt;

/// The kind of a change; samples are drawn evenly over these and counts are reported by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    // ----- constants of the object ---------------------------------------------------------
    /// A 16-bit word of a constant table, one more or one less.
    TableOffByOne,
    /// A 16-bit word of a constant table negated.
    TableSign,
    /// One bit of a constant table flipped.
    TableBit,
    /// Two neighbouring, different words of a constant table swapped.
    TableSwap,
    /// A constant moved into a register, one more or with a bit flipped.
    ImmediateConstant,
    // ----- instructions of the object ------------------------------------------------------
    /// A shift count, one more or one less.
    ShiftCount,
    /// The index of an element in a vector operand, another one.
    ElementIndex,
    /// The immediate or the kind of a shuffle, blend, permute, insertion or extraction.
    Shuffle,
    /// The sources of a subtraction, unpack, blend or comparison exchanged.
    OperandOrder,
    /// An addition made a subtraction or the reverse.
    AddSubtract,
    /// One kind of multiplication made another.
    MultiplyKind,
    /// A factor of a multiplication taken from another register.
    MultiplyOperand,
    /// A source register of anything else replaced by its neighbour.
    Register,
    /// A memory operand moved by one element or one vector.
    Displacement,
    /// The bound of a loop moved by one step.
    LoopBound,
    /// A store replaced by no operation.
    StoreDropped,
    /// A vector subtraction replaced by a plain move: the end of a reduction left out.
    SubtractionDropped,
    /// Minimum and maximum, or kinds of comparison, exchanged.
    Comparison,
    /// A move that needs alignment made one that does not, or the reverse.
    Alignment,
    /// The condition of a jump inverted.
    Condition,
    /// The same operation on elements of another width.
    ElementWidth,
    /// An operation on the low half of the vector alone, or on its high half.
    VectorLength,
    /// One logical operation made another.
    Logic,
    /// Sign for zero extension, arithmetic for logical shift, signed for unsigned saturation.
    Signedness,
    /// Rounding where there was none, or none where there was.
    Rounding,
    /// A register of the caller not restored.
    Restore,
    // ----- the program before it is emitted -------------------------------------------------
    /// A reduction left out.
    ReductionDropped,
    /// A modular product without its final correction.
    ProductUncorrected,
    /// A product of two variables without its Montgomery correction (the high half alone).
    NarrowUncorrected,
    /// The final freezing left out.
    FreezeDropped,
    /// A twiddle or another factor changed.
    FactorChanged,
    /// Two neighbouring factors of a table exchanged.
    FactorsSwapped,
    /// A loop one iteration short.
    LoopShort,
    /// A memory operation of the program one word off.
    OffsetWrong,
    // ----- the emitted source ----------------------------------------------------------------
    /// A branch on a coefficient.
    BranchOnCoefficient,
    /// A table look-up at a coefficient.
    LookupOnCoefficient,
    /// One element past an input read, its value used.
    ReadPastEnd,
    /// One element before or after the output written.
    WriteOutside,
    /// A variable used before it is set.
    Uninitialised,
    /// An input written.
    InputWritten,
    /// A register of the caller overwritten.
    CalleeSaved,
    /// A division whose time depends on a coefficient.
    VariableTime,
    /// Writable memory that takes part in the result.
    WritableState,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variant's name in words: `TableOffByOne` is `table off by one`.
        let mut text = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_uppercase() && !text.is_empty() {
                text.push(' ');
            }
            text.push(c.to_ascii_lowercase());
        }
        f.pad(&text)
    }
}

/// Bytes that replace those at a file offset of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Offset in the object file.
    pub at: usize,
    /// What stands there afterwards.
    pub bytes: Vec<u8>,
}

/// How a mutant's object comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The object, patched in place.
    Object(Vec<Patch>),
    /// An edit of the program, to be emitted and compiled like the original.
    Program(Edit),
    /// A source text to compile with the flags of the original.
    Source(String),
}

/// One wrong (or harmless) variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its kind.
    pub class: Class,
    /// What was changed, for people: place, before, after.
    pub what: String,
    /// How to make it.
    pub change: Change,
}

impl Mutant {
    /// The patched object; `None` for a mutant that has to be compiled.
    ///
    /// # Panics
    /// If it was made for a longer object.
    pub fn patched(&self, object: &[u8]) -> Option<Vec<u8>> {
        let Change::Object(patches) = &self.change else {
            return None;
        };
        let mut object = object.to_vec();
        for patch in patches {
            object[patch.at..patch.at + patch.bytes.len()].copy_from_slice(&patch.bytes);
        }
        Some(object)
    }
}

/// Mutants, and by class how many more were meant and could not be made (another length, no
/// such encoding).
#[derive(Clone, Debug, Default)]
pub struct Mutants {
    /// Those that exist, in a fixed order.
    pub made: Vec<Mutant>,
    /// Those that do not.
    pub not_generated: std::collections::BTreeMap<Class, usize>,
}

impl Mutants {
    /// Adds the mutants of `other` behind these.
    pub fn extend(&mut self, other: Mutants) {
        self.made.extend(other.made);
        for (class, n) in other.not_generated {
            *self.not_generated.entry(class).or_default() += n;
        }
    }

    /// A sample of `count`, drawn evenly over the classes: from each class in turn one mutant
    /// that `seed` chooses, until there are enough. The same seed draws the same sample.
    /// Only mutants that `wanted` accepts are drawn.
    pub fn sample(
        &self,
        count: usize,
        seed: u64,
        wanted: &dyn Fn(&Mutant) -> bool,
    ) -> Vec<&Mutant> {
        use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
        let mut rng = StdRng::seed_from_u64(seed);
        let mut classes: std::collections::BTreeMap<Class, Vec<&Mutant>> = Default::default();
        for mutant in self.made.iter().filter(|m| wanted(m)) {
            classes.entry(mutant.class).or_default().push(mutant);
        }
        for class in classes.values_mut() {
            class.shuffle(&mut rng);
        }
        let mut sample = Vec::new();
        while sample.len() < count && classes.values().any(|class| !class.is_empty()) {
            for class in classes.values_mut() {
                sample.extend(class.pop());
            }
        }
        sample.truncate(count);
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(class: Class, what: &str) -> Mutant {
        Mutant { class, what: what.into(), change: Change::Object(vec![]) }
    }

    #[test]
    fn samples_are_even_over_classes_and_repeatable() {
        let mut all = Mutants::default();
        for i in 0..100 {
            all.made.push(mutant(Class::TableBit, &i.to_string()));
        }
        all.made.push(mutant(Class::ShiftCount, "s"));
        all.made.push(mutant(Class::Logic, "l"));
        let sample = all.sample(10, 7, &|_| true);
        assert_eq!(sample.len(), 10);
        assert_eq!(sample.iter().filter(|m| m.class == Class::TableBit).count(), 8);
        assert_eq!(sample, all.sample(10, 7, &|_| true));
        assert_ne!(sample, all.sample(10, 8, &|_| true));
        assert_eq!(all.sample(1000, 1, &|_| true).len(), 102);
    }

    #[test]
    fn classes_read_as_words() {
        assert_eq!(Class::TableOffByOne.to_string(), "table off by one");
        assert_eq!(format!("{:<6}|", Class::Logic), "logic |");
    }
}
