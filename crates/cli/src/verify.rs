//! Running a compiled product against the oracle: random pairs, worst cases.
//!
//! This is not a proof and claims none. It catches what a proof of the machine code cannot: a wrong
//! idea of how the processor behaves, or of what the contract says.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_prove::contract::Contract;
use ringforge_toolchain::{CallError, Callee, Compiler, Guard, Signature};
use serde::Serialize;

use crate::proof::signature_of;

/// Inputs and the result by the oracle.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the function reads, in the order of its arguments.
    pub inputs: Vec<Vec<i64>>,
    /// What it should write, as centered residues.
    pub c: Vec<i64>,
}

/// Outcome of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// Results compared with the oracle, all right.
    pub products: usize,
    /// How many of them were worst cases.
    pub worst_cases: usize,
    /// Calls of each kind: separate buffers, and every aliasing that the contract allows.
    pub calls: Vec<String>,
}

/// A result that is not the oracle's.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The driver cannot call such a function.
    #[error("{0}")]
    NotRun(String),
    /// Wrong result.
    #[error(
        "the result of case {case} ({kind}) is wrong at element {index}: {got}, not {want} (mod q, in the promised range)"
    )]
    Wrong {
        /// Number of the case in its batch.
        case: usize,
        /// Buffers separate or shared.
        kind: String,
        /// The first wrong coefficient.
        index: usize,
        /// What came out.
        got: i64,
        /// The oracle's.
        want: i64,
    },
    /// The call did not end well.
    #[error("{kind}: {error}")]
    Call {
        /// Buffers separate or shared.
        kind: String,
        /// What happened.
        error: CallError,
    },
}

/// What a function should compute, from its contract alone.
pub struct Oracle {
    contract: Contract,
}

/// The most cases in a batch.
const BATCH: usize = 4096;

/// Some cases.
pub struct Batch {
    /// The cases.
    pub cases: Vec<Case>,
    /// How many of them are worst cases.
    pub worst: usize,
}

impl Oracle {
    /// The oracle of a contract.
    pub fn new(contract: Contract) -> Oracle {
        Oracle { contract }
    }

    /// Intervals of what the function reads.
    fn ranges(&self) -> Vec<(i64, i64)> {
        let read = self.contract.arguments.iter().filter(|a| a.role.reads());
        read.map(|a| a.range).collect()
    }

    /// Inputs at which omitted reductions would show: extreme coefficients in many sign patterns,
    /// single monomials, ternary operands.
    pub fn worst_inputs(&self) -> Vec<Vec<Vec<i64>>> {
        let (n, ranges) = (self.contract.outputs(), self.ranges());
        let lengths = self.contract.lengths();
        let patterns = patterns(n);
        let fill = |range: (i64, i64), pattern: &[i8], length: usize| -> Vec<i64> {
            let value = |&s: &i8| match s {
                -1 => range.0,
                0 => 0i64.clamp(range.0, range.1),
                _ => range.1,
            };
            pattern.iter().cycle().map(value).take(length).collect()
        };
        let all = |chosen: &[&Vec<i8>]| -> Vec<Vec<i64>> {
            let chosen = chosen.iter().cycle().zip(&lengths);
            ranges.iter().zip(chosen).map(|(&r, (p, &length))| fill(r, p, length)).collect()
        };
        let Patterns { extremes, signs, monomials } = &patterns;
        let mut cases = Vec::new();
        for a in extremes {
            let reversed: Vec<i8> = a.iter().rev().map(|x| -x).collect();
            cases.push(all(&[a]));
            cases.push(all(&[a, &extremes[0]]));
            cases.push(all(&[&extremes[2], a]));
            cases.push(all(&[&signs[0], a]));
            cases.push(all(&[a, &reversed]));
        }
        for pair in signs.chunks_exact(2) {
            cases.push(all(&[&pair[0], &pair[1]]));
        }
        for a in monomials {
            for b in monomials {
                cases.push(all(&[a, b]));
            }
            cases.push(all(&[a, &extremes[2]]));
        }
        let mut rng = StdRng::seed_from_u64(3);
        for _ in 0..50 {
            let ternary: Vec<i64> = (0..n).map(|_| rng.random_range(-1..=1)).collect();
            let clamp = |(r, &length): (&(i64, i64), &usize)| {
                ternary.iter().cycle().map(|x| (*x).clamp(r.0, r.1)).take(length).collect()
            };
            cases.push(ranges.iter().zip(&lengths).map(clamp).collect());
        }
        let mut seen = HashSet::new();
        cases.retain(|case: &Vec<Vec<i64>>| seen.insert(case.clone()));
        cases
    }

    fn random_inputs(&self, rng: &mut StdRng) -> Vec<Vec<i64>> {
        let draw = |((low, high), n): ((i64, i64), usize)| -> Vec<i64> {
            (0..n).map(|_| rng.random_range(low..=high)).collect()
        };
        self.ranges().into_iter().zip(self.contract.lengths()).map(draw).collect()
    }

    /// The worst cases and `random` random ones with the oracle's results, in batches that fit
    /// the memory; [`Batch::worst`] says how many are worst cases.
    pub fn batches(&self, random: usize) -> impl Iterator<Item = Batch> + '_ {
        let mut inputs = self.worst_inputs();
        let mut worst = inputs.len();
        let mut left = random;
        let mut rng = StdRng::seed_from_u64(1);
        std::iter::from_fn(move || {
            let room = BATCH - inputs.len().min(BATCH);
            inputs.extend((0..room.min(left)).map(|_| self.random_inputs(&mut rng)));
            left -= room.min(left);
            if inputs.is_empty() {
                return None;
            }
            let cases = self.solve(std::mem::take(&mut inputs));
            Some(Batch { cases, worst: std::mem::take(&mut worst) })
        })
    }

    /// A small mixture: worst cases at regular steps, and a few random ones.
    pub fn some_cases(&self, worst: usize, random: usize) -> Vec<Case> {
        let all = self.worst_inputs();
        let step = all.len().div_ceil(worst.max(1)).max(1);
        let mut inputs: Vec<_> = all.into_iter().step_by(step).collect();
        let mut rng = StdRng::seed_from_u64(1);
        inputs.extend((0..random).map(|_| self.random_inputs(&mut rng)));
        self.solve(inputs)
    }

    /// The oracle's results, computed on all cores.
    fn solve(&self, inputs: Vec<Vec<Vec<i64>>>) -> Vec<Case> {
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
        let share = inputs.len().div_ceil(workers).max(1);
        let results = |chunk: &[Vec<Vec<i64>>]| -> Vec<Vec<i64>> {
            let oracle = ringforge_prove::Oracle::new(&self.contract);
            chunk.iter().map(|inputs| oracle.expected(inputs)).collect()
        };
        let results: Vec<Vec<i64>> = std::thread::scope(|scope| {
            let workers: Vec<_> =
                inputs.chunks(share).map(|chunk| scope.spawn(|| results(chunk))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        });
        inputs.into_iter().zip(results).map(|(inputs, c)| Case { inputs, c }).collect()
    }

    /// The first element that is not congruent to the oracle's, or leaves the promised range.
    pub fn first_wrong(&self, got: &[i64], want: &[i64]) -> Option<usize> {
        let q = self.contract.ring.q() as i64;
        let (low, high) = self.contract.arguments[self.contract.output()].exit;
        (0..want.len()).find(|&k| match got.get(k) {
            Some(&x) => x < low || x > high || (x - want[k]) % q != 0,
            None => true,
        })
    }

    /// Whether only the oracle's own representatives lie in the promised range.
    fn canonical(&self) -> bool {
        let q = self.contract.ring.q() as i64;
        let centered = (-(q / 2), (q - 1) / 2);
        self.contract.arguments[self.contract.output()].exit == centered
    }
}

/// Patterns of -1 (least), 0 and 1 (greatest).
struct Patterns {
    /// Blocks and residue classes of equal sign; the first is all greatest, the third alternates.
    extremes: Vec<Vec<i8>>,
    /// Random signs, an even number.
    signs: Vec<Vec<i8>>,
    /// One element, the others zero.
    monomials: Vec<Vec<i8>>,
}

fn patterns(n: usize) -> Patterns {
    let signs = |negative: &dyn Fn(usize) -> bool| -> Vec<i8> {
        (0..n).map(|i| if negative(i) { -1 } else { 1 }).collect()
    };
    let mut extremes = vec![signs(&|_| false), signs(&|_| true)];
    // Blocks of equal sign: a coefficient's place in a lane, a register, a transform's row.
    for block in [1, 2, 3, 4, 5, 8, 9, 10, 16, 32, 48, 64, 80, 90, 128, 144, 160, 256, 380, 512] {
        if block < n {
            extremes.push(signs(&|i| i / block % 2 == 1));
        }
    }
    // Residue classes: every sum of a transform of that length aligned in one output.
    for period in [2, 3, 5, 9, 10, 16] {
        for class in 0..period {
            extremes.push(signs(&|i| i % period == class));
        }
    }
    let mut rng = StdRng::seed_from_u64(2);
    let random = (0..200).map(|_| (0..n).map(|_| if rng.random() { -1 } else { 1 }).collect());
    let places = [0, 1, 15, 16, 47, 79, 80, 81, 159, 160, 380, 679, 680, n / 2, n - 2, n - 1];
    let mut places: Vec<usize> = places.into_iter().filter(|i| *i < n).collect();
    places.sort_unstable();
    places.dedup();
    let monomial = |(k, &i): (usize, &usize)| {
        let mut p = vec![0; n];
        p[i] = if k % 2 == 0 { 1 } else { -1 };
        p
    };
    Patterns {
        extremes,
        signs: random.collect(),
        monomials: places.iter().enumerate().map(monomial).collect(),
    }
}

/// An object's function, called with separate buffers and in every aliasing that is allowed.
pub struct Runs {
    oracle: Oracle,
    kinds: Vec<(String, Callee, Guard)>,
    done: Checked,
}

impl Runs {
    /// Links the contract's function with a driver for each kind of call.
    ///
    /// # Errors
    /// It does not link.
    pub fn build(
        compiler: &Compiler,
        object: &Path,
        contract: &Contract,
    ) -> Result<Runs, CheckError> {
        let signature = signature_of(contract).map_err(CheckError::NotRun)?;
        let alias = &contract.alias;
        let mut kinds = Vec::new();
        let separate = std::iter::once(None);
        for (i, pair) in separate.chain(alias.iter().map(Some)).enumerate() {
            let name = kind_name(&signature, pair);
            let callee = Callee::build(
                compiler,
                &[object],
                &signature,
                pair.map_or(&[], std::slice::from_ref),
            )
            .map_err(|error| CheckError::Call { kind: name.clone(), error })?;
            // Accesses outside crash on one side and leave traces on the other: take turns.
            kinds.push((name, callee, if i % 2 == 0 { Guard::Behind } else { Guard::Before }));
        }
        let calls = kinds.iter().map(|(name, ..)| name.clone()).collect();
        let done = Checked { products: 0, worst_cases: 0, calls };
        Ok(Runs { oracle: Oracle::new(contract.clone()), kinds, done })
    }

    /// The oracle that it is compared with.
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// Runs on the worst cases and `random` random ones. `progress` gets the number of cases of
    /// each batch.
    ///
    /// # Errors
    /// As [`Runs::add`].
    pub fn all(&mut self, random: usize, progress: &dyn Fn(usize)) -> Result<(), CheckError> {
        let oracle = Oracle::new(self.oracle.contract.clone());
        for batch in oracle.batches(random) {
            self.add(&batch)?;
            progress(batch.cases.len());
        }
        Ok(())
    }

    /// Runs on more cases; calls in place on the first batch only, which has the worst cases.
    ///
    /// # Errors
    /// A wrong product, a crash, a change of an input, a write outside.
    pub fn add(&mut self, batch: &Batch) -> Result<(), CheckError> {
        let first = self.done.products == 0;
        let canonical = self.oracle.canonical();
        for (name, callee, guard) in self.kinds.iter().take(if first { usize::MAX } else { 1 }) {
            let signature = callee.signature();
            let output = signature.arguments[0].element;
            let mut expected = Vec::with_capacity(signature.output_bytes());
            let mut records = Vec::with_capacity(batch.cases.len() * signature.input_bytes());
            for case in &batch.cases {
                let inputs: Vec<&[i64]> = case.inputs.iter().map(Vec::as_slice).collect();
                records.extend(signature.record(&inputs));
            }
            let limit = Duration::from_secs(30 + batch.cases.len() as u64 / 100);
            let answers = callee
                .call_many(records, *guard, limit)
                .map_err(|error| CheckError::Call { kind: name.clone(), error })?;
            let size = signature.output_bytes();
            for (i, (answer, case)) in answers.chunks_exact(size).zip(&batch.cases).enumerate() {
                if canonical {
                    expected.clear();
                    output.encode(&case.c, &mut expected);
                    if answer == expected {
                        continue;
                    }
                }
                let c = output.decode(answer);
                let Some(index) = self.oracle.first_wrong(&c, &case.c) else { continue };
                return Err(CheckError::Wrong {
                    case: i,
                    kind: name.clone(),
                    index,
                    got: c.get(index).copied().unwrap_or(0),
                    want: case.c[index],
                });
            }
            self.done.products += batch.cases.len();
            self.done.worst_cases += batch.worst;
        }
        Ok(())
    }

    /// What was compared so far.
    pub fn done(&self) -> &Checked {
        &self.done
    }
}

fn kind_name(signature: &Signature, alias: Option<&(usize, usize)>) -> String {
    match alias {
        None => "separate buffers".into(),
        Some(&(out, input)) => format!(
            "{} in the place of {}",
            signature.arguments[out].name, signature.arguments[input].name
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toy(alias: &str) -> Contract {
        let mut text = format!(
            "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z17[x]/(x^7 - x - 1)\"\n\
             computes = \"product\"\nalias = [{alias}]\n"
        );
        for (name, role) in [("c", "output"), ("a", "input"), ("b", "input")] {
            text += &format!(
                "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = 7\nrange = [-8, 8]\n"
            );
        }
        Contract::parse(&text).unwrap()
    }

    fn run(body: &str, alias: &str) -> Result<Checked, CheckError> {
        let contract = toy(alias);
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("mul.c");
        let text = format!(
            "void mul(short *c, const short *a, const short *b) {{ long t[13] = {{0}}; int i, j;
             for (i = 0; i < 7; i++) for (j = 0; j < 7; j++) t[i+j] += a[i] * b[j];
             for (i = 12; i >= 7; i--) {{ t[i-7] += t[i]; t[i-6] += t[i]; }}
             for (i = 0; i < 7; i++) {{ t[i] %= 17; if (t[i] > 8) t[i] -= 17; if (t[i] < -8) t[i] += 17; }}
             {body} for (i = 0; i < 7; i++) c[i] = t[i]; }}"
        );
        std::fs::write(&source, text).unwrap();
        let cc = Compiler::any().unwrap();
        let object = dir.path().join("mul.o");
        cc.compile(&source, &["-O1".into()], &object).unwrap();
        let mut runs = Runs::build(&cc, &object, &contract)?;
        runs.all(5000, &|_| ())?;
        Ok(runs.done().clone())
    }

    #[test]
    fn right_products_pass_also_in_place() {
        let done = run("", r#"["c", "a"], ["c", "b"]"#).unwrap();
        assert_eq!(done.calls, ["separate buffers", "c in the place of a", "c in the place of b"]);
        assert!(done.products > 5000 && done.worst_cases > 0, "{done:?}");
    }

    #[test]
    fn a_fault_in_one_extreme_case_is_found() {
        let fault = "if (a[0] == 8 && a[6] == 8 && b[0] == 8 && b[6] == -8) t[3] += 1;";
        assert!(matches!(run(fault, ""), Err(CheckError::Wrong { index: 3, .. })));
        assert!(matches!(run("__builtin_trap();", ""), Err(CheckError::Call { .. })));
        // Right with separate buffers only.
        let early =
            "c[0] = 0; t[0] += a[0] * 0 + (a[0] == 0 ? 0 : 0); t[1] += (a == c && b[0]) ? 1 : 0;";
        assert!(matches!(run(early, r#"["c", "a"]"#), Err(CheckError::Wrong { .. })));
    }
}
