//! What a certificate holds: only what a walk over the graph cannot know.
//!
//! Definitions of functions and atoms (true by themselves), claims about atoms, equations, and for each
//! node that is not plainly linear the rules that its word comes from.

use crate::atom::Atom;
use crate::claim::{Witness, Zero};
use crate::form::{AtomId, Form, Word};
use crate::fun::Fun;

/// One line of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The next function.
    Fun(Fun),
    /// The next atom.
    Atom(Atom),
    /// An atom lies in `[lo, hi]`.
    Bound {
        /// The atom: a name, which lies where its form does, or any other.
        atom: AtomId,
        /// Least value.
        lo: i128,
        /// Greatest value.
        hi: i128,
        /// How its form is to be looked at.
        by: Witness,
    },
    /// A name is linear modulo m.
    Residue {
        /// The name.
        atom: AtomId,
        /// The modulus.
        m: u32,
        /// How its form is to be looked at.
        by: Witness,
    },
    /// Rule *congruent forms*: what an atom is modulo m, in another spelling.
    Modulo {
        /// The atom.
        atom: AtomId,
        /// The modulus.
        m: u32,
        /// Earlier atoms.
        form: Form,
        /// Equations by which the two are congruent.
        zeros: Vec<(Zero, i128)>,
    },
    /// Rule *Chinese remainder theorem*: names are forms with integer coefficients.
    Chinese {
        /// Pairwise coprime numbers. The names are known modulo each.
        moduli: Vec<u32>,
        /// Forms are affine in these atoms,
        left: Vec<AtomId>,
        /// and in these.
        right: Vec<AtomId>,
        /// The names.
        names: Vec<AtomId>,
    },
    /// Rule *floor quotients* for an atom that is a quotient.
    Divide {
        /// The quotient.
        floor: AtomId,
        /// The remainder.
        rest: Form,
    },
    /// Rule *no wrap*.
    Near {
        /// What is zero.
        form: Form,
        /// A multiple of 2^bits.
        bits: u8,
        /// How it is to be looked at.
        by: Witness,
    },
    /// What a node of the graph is.
    Node {
        /// Its number.
        node: u32,
        /// The rules of its steps.
        rules: Vec<Rule>,
        /// The word in another spelling.
        claim: Option<Word>,
    },
    /// An output element as an integer.
    Output {
        /// Its number.
        index: u32,
        /// The rules of its extension to 64 bits.
        rules: Vec<Rule>,
        /// The integer.
        form: Form,
        /// How it is to be looked at.
        by: Witness,
    },
}

/// How a step that is not linear is taken. Where a word is given, it is another spelling of the step's
/// argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The operation as a function of one atom.
    Function {
        /// The atom.
        base: AtomId,
        /// The arguments over it.
        args: Vec<Word>,
    },
    /// The product of two words, multiplied out.
    Product {
        /// The first factor.
        a: Word,
        /// The second factor.
        b: Word,
    },
    /// A word that is an integer in range stays that integer when it is extended.
    Extend {
        /// The integer.
        form: Form,
        /// How it is to be looked at.
        by: Witness,
    },
    /// Bits from `lo` on are those of `floor(form / 2^lo)`.
    Quotient {
        /// An integer congruent to the word.
        form: Form,
        /// Whether what is left is a function of this atom.
        base: Option<AtomId>,
        /// Equations by which the word is congruent to the integer.
        zeros: Vec<(Zero, i128)>,
        /// How the integer is to be looked at, where it must not wrap.
        by: Witness,
    },
    /// Parts side by side are the low bits of the node that the upper part was taken from.
    Whole,
    /// A word all of whose bits are the sign of a word: `-[x < 0]`, which is
    /// `floor(form / 2^w) - floor((form + 2^(w-1)) / 2^w)` for a word of w bits that is congruent to `form`.
    Negative {
        /// The integer.
        form: Form,
        /// Whether it is a function of this atom.
        base: Option<AtomId>,
        /// The lowest bit of the word in what the sign was taken from; by the rule that follows, if that is
        /// not 0.
        upper: u8,
    },
    /// A word as an integer. In [-1, 0] all its bits are the same, and the other word is under it as a mask. Below
    /// the least power of two in the other word the two have no bit in common.
    Sign {
        /// Which argument (0 or 1).
        of: u8,
        /// The integer.
        form: Form,
        /// How it is to be looked at.
        by: Witness,
    },
    /// The node is its own value, congruent to what was found.
    Value {
        /// The atom of the node's value.
        atom: AtomId,
    },
}

impl Line {
    /// Its forms and words.
    pub(crate) fn parts(&self) -> (Vec<&Form>, Vec<&Word>) {
        let (rules, form, word): (&[Rule], Option<&Form>, Option<&Word>) = match self {
            Line::Atom(Atom::Name(form) | Atom::Floor { form, .. }) => (&[], Some(form), None),
            Line::Atom(Atom::Low(word)) => (&[], None, Some(word)),
            Line::Fun(_) | Line::Atom(_) | Line::Bound { .. } => Default::default(),
            Line::Residue { .. } | Line::Chinese { .. } => Default::default(),
            Line::Modulo { form, .. } | Line::Divide { rest: form, .. } => (&[], Some(form), None),
            Line::Near { form, .. } => (&[], Some(form), None),
            Line::Node { rules, claim, .. } => (rules, None, claim.as_ref()),
            Line::Output { rules, form, .. } => (rules, Some(form), None),
        };
        let (mut forms, mut words) = (Vec::from_iter(form), Vec::from_iter(word));
        for rule in rules {
            match rule {
                Rule::Function { args, .. } => words.extend(args),
                Rule::Product { a, b } => words.extend([a, b]),
                Rule::Extend { form, .. }
                | Rule::Quotient { form, .. }
                | Rule::Negative { form, .. }
                | Rule::Sign { form, .. } => forms.push(form),
                Rule::Whole | Rule::Value { .. } => {}
            }
        }
        (forms, words)
    }
}
