//! Mutants of the object's constants: tables of 16-bit words.

use crate::mutant::{Change, Class, Mutant, Mutants, Patch};
use crate::object::Layout;

/// Every word of every constant section: one more, one less, negated, one bit flipped (a
/// different one for each word), swapped with its neighbour.
pub fn table_mutants(object: &[u8], layout: &Layout) -> Mutants {
    let mut all = Mutants::default();
    for section in &layout.constants {
        let word = |i: usize| {
            let at = section.file + 2 * i;
            i16::from_le_bytes([object[at], object[at + 1]])
        };
        let words = section.length / 2;
        for i in 0..words {
            let old = word(i);
            let mut add = |class, new: i16, what: String| {
                if new != old {
                    all.made.push(Mutant {
                        class,
                        what: format!(
                            "{}+{:#x}: word {old} becomes {new}{what}",
                            section.name,
                            2 * i
                        ),
                        change: Change::Object(vec![Patch {
                            at: section.file + 2 * i,
                            bytes: new.to_le_bytes().to_vec(),
                        }]),
                    });
                }
            };
            add(Class::TableOffByOne, old.wrapping_add(1), String::new());
            add(Class::TableOffByOne, old.wrapping_sub(1), String::new());
            add(Class::TableSign, old.wrapping_neg(), String::new());
            let bit = (i * 7 + 3) % 16;
            add(Class::TableBit, old ^ (1i16 << bit), format!(" (bit {bit})"));
            if i + 1 < words && word(i + 1) != old {
                let next = word(i + 1);
                let bytes = [next.to_le_bytes(), old.to_le_bytes()].concat();
                all.made.push(Mutant {
                    class: Class::TableSwap,
                    what: format!(
                        "{}+{:#x}: words {old} and {next} exchanged",
                        section.name,
                        2 * i
                    ),
                    change: Change::Object(vec![Patch { at: section.file + 2 * i, bytes }]),
                });
            }
        }
    }
    all
}
