//! The outcome of a proof, for people and machines.

use ringforge_kernel::replay::Replayed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Said of a branch on the overflow flag, which is no violation where it cannot be taken.
pub(crate) const OVERFLOW_CHECK: &str =
    "it checks for overflow, and it is not decided whether that can happen for inputs in range";

/// Said of a failure in a case that may be impossible.
pub const DOUBTFUL_WAY: &str =
    "the failure lies on a way that may be impossible, since it depends on where the arrays lie";

/// The three verdicts. Unknown is never rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every claim of the contract holds for all inputs in range.
    Proved,
    /// The contract is broken; the reasons say how, and usually a witness shows it.
    Refuted,
    /// Something is not modelled, or not decided.
    Unknown,
}

/// What a reason is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// A branch, address or variable-time instruction depends on an input.
    ConstantTime,
    /// An access outside the buffers or without permission.
    Memory,
    /// A value was used that nobody defined.
    Undefined,
    /// Calling convention.
    Abi,
    /// Something that depends on inputs is left on the stack or in registers.
    Residue,
    /// A sum does not fit its word, or an output its range.
    Range,
    /// The outputs are not what the contract asks for.
    Function,
    /// Not modelled: instruction, object or operation.
    Unmodelled,
    /// Stopped by a limit or by the caller.
    Stopped,
}

/// Why the verdict is not `proved`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What it is about.
    pub kind: ReasonKind,
    /// A sentence.
    pub text: String,
    /// Address of the instruction (section offset in relocatable objects).
    pub address: Option<u64>,
    /// The instruction as text.
    pub instruction: Option<String>,
    /// Interval found, where the reason is one.
    pub interval: Option<(String, String)>,
    /// Interval allowed.
    pub allowed: Option<(String, String)>,
    /// The call: `disjoint`, or `c = a`.
    pub call: String,
}

/// Concrete inputs that break the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// The call it is for: `disjoint`, or `c = a`.
    pub call: String,
    /// Values of what is read in the order of the prototype, by name.
    pub inputs: Vec<(String, Vec<i64>)>,
    /// What the object's semantics compute.
    pub found: Vec<i64>,
    /// What the contract asks for, in the range that it allows.
    pub expected: Vec<i64>,
    /// First output element that is wrong.
    pub element: usize,
    /// The range that it lies outside of, if that alone is wrong: it is congruent to what it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<(i64, i64)>,
    /// Whether running the object showed it; the prover itself runs nothing.
    pub confirmed: bool,
}

/// Ranges found for a stretch of the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Addresses of the first and last instruction that introduced a variable here.
    pub addresses: (u64, u64),
    /// Variables introduced.
    pub variables: usize,
    /// Least value of any of them.
    pub min: i64,
    /// Greatest value of any of them.
    pub max: i64,
    /// Whether they depend on both operands (after the base products).
    pub after_products: bool,
}

/// Ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranges {
    /// Range that holds for every output element.
    pub output: Option<(i64, i64)>,
    /// Range by output element.
    pub outputs: Vec<(i64, i64)>,
    /// In order of execution.
    pub stages: Vec<Stage>,
    /// The widest values that fit 16 bits: address, instruction and interval.
    pub widest: Vec<(u64, String, i64, i64)>,
    /// Widest sum of products: address, instruction and interval.
    pub widest_products: Option<(u64, String, String, String)>,
}

/// Counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Instructions executed symbolically, by call.
    pub instructions: u64,
    /// Bytes of code executed.
    pub code_bytes: u64,
    /// Bytes of stack.
    pub stack_bytes: u64,
    /// Nodes of the expression graph.
    pub nodes: usize,
    /// Nodes that the outputs depend on.
    pub visited: usize,
    /// Variables: inputs and values that something not linear uses.
    pub variables: usize,
    /// Distinct functions of one variable.
    pub functions: usize,
    /// Enumerations: distinct pairs of function and interval.
    pub enumerated: usize,
    /// Points enumerated, times operations.
    pub enumeration_work: u64,
    /// Products of an element of one operand with one of another.
    pub products: usize,
    /// Sums of products whose high half is used.
    pub wide_sums: usize,
    /// Terms of all linear equations modulo q.
    pub linear_terms: usize,
    /// Coefficients compared with what the contract asks for.
    pub equations: u64,
    /// Calls proved: disjoint and in-place, times alignment cases.
    pub cases: usize,
    /// Cases whose outputs were the very same terms as another's.
    pub identical_cases: usize,
    /// Executed instructions by class.
    pub by_class: BTreeMap<String, u64>,
}

/// The certificate, and what the kernel replayed of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// SHA-256 of its text, hexadecimal.
    pub sha256: String,
    /// Its text, where that was asked for ([`crate::Options::certificate`]).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the kernel replayed and accepted.
    pub replayed: Replayed,
}

/// Everything about one proof.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// The function's symbol.
    pub symbol: String,
    /// The ring.
    pub ring: String,
    /// SHA-256 of the object, hexadecimal.
    pub object_sha256: String,
    /// Bytes of the object.
    pub object_bytes: usize,
    /// What was proved, or was to be.
    pub claims: Vec<String>,
    /// What it rests on besides the contract's ranges.
    pub assumptions: Vec<String>,
    /// Why not proved.
    pub reasons: Vec<Reason>,
    /// Inputs that show it. If the verdict is `unknown`, only running the object can tell whether a call with them runs
    /// as the case in which they fail.
    pub witness: Option<Witness>,
    /// What is no reason, but worth a look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Ranges.
    pub ranges: Ranges,
    /// Counts.
    pub counts: Counts,
    /// Seconds by phase.
    pub times: BTreeMap<String, f64>,
    /// Certificate; its lines are left out of `proof.json` unless asked for.
    pub certificate: Certificate,
    /// SHA-256 of objects of the same contract proved with this one, hence equivalent to it.
    pub equivalent: Vec<String>,
}

impl Report {
    /// Adds a reason.
    pub(crate) fn reason(&mut self, kind: ReasonKind, call: &str, text: String) -> &mut Reason {
        self.reasons.push(Reason {
            kind,
            text,
            address: None,
            instruction: None,
            interval: None,
            allowed: None,
            call: call.to_string(),
        });
        let last = self.reasons.len() - 1;
        &mut self.reasons[last]
    }

    /// Counts the cases, and keeps one of those that are alike. It is certain if one of them is.
    pub(crate) fn distinct<C>(
        &mut self,
        all: Vec<C>,
        alike: impl Fn(&C, &C) -> bool,
        certain: impl Fn(&mut C) -> &mut bool,
    ) -> Vec<C> {
        self.counts.cases = all.len();
        let mut kept: Vec<C> = Vec::new();
        for mut case in all {
            match kept.iter_mut().find(|k| alike(k, &case)) {
                Some(like) => {
                    self.counts.identical_cases += 1;
                    *certain(like) |= *certain(&mut case);
                }
                None => kept.push(case),
            }
        }
        kept
    }

    /// After a case that is not proved: whether others are tried, since it only shows a failure that may be impossible. What
    /// the first such case said is set aside in `first`.
    pub(crate) fn goes_on(&mut self, first: &mut Option<(Vec<Reason>, Witness)>) -> bool {
        match (self.verdict, self.witness.take()) {
            (Verdict::Unknown, Some(witness)) => {
                let reasons = std::mem::take(&mut self.reasons);
                first.get_or_insert((reasons, witness));
                true
            }
            (_, witness) => {
                self.witness = witness;
                false
            }
        }
    }

    /// Says what was set aside, if nothing was refuted.
    pub(crate) fn says(&mut self, first: Option<(Vec<Reason>, Witness)>) {
        if let (Verdict::Unknown, Some((reasons, witness))) = (self.verdict, first) {
            (self.reasons, self.witness) = (reasons, Some(witness));
        }
    }

    /// Keeps inputs that show a failure. They refute the contract if a call with them surely runs as the evaluated case.
    pub(crate) fn shown(&mut self, witness: Witness, certain: bool) {
        if certain {
            self.verdict = Verdict::Refuted;
        } else {
            self.reason(ReasonKind::Unmodelled, &witness.call, DOUBTFUL_WAY.into());
        }
        self.witness = Some(witness);
    }

    /// Whether the verdict is `proved`.
    pub fn is_proved(&self) -> bool {
        self.verdict == Verdict::Proved
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Verdict::Proved => "proved",
            Verdict::Refuted => "refuted",
            Verdict::Unknown => "unknown",
        })
    }
}
