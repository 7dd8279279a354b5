//! Running a compiled product against the oracle: random pairs, worst cases.
//!
//! This is no proof and claims none. It catches what a proof of the machine code cannot: a
//! wrong idea of how the processor behaves, or of what the contract says.

use std::path::Path;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_ring::Ring;
use ringforge_toolchain::{CallError, Callee, Compiler, Guard, Signature};
use serde::Serialize;

/// Operands and their product by the oracle.
#[derive(Clone, Debug)]
pub struct Case {
    /// First operand, centered.
    pub a: Vec<i64>,
    /// Second operand, centered.
    pub b: Vec<i64>,
    /// Their product in the ring, centered.
    pub c: Vec<i64>,
}

/// Outcome of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// Products compared with the oracle, all equal.
    pub products: usize,
    /// How many of them were worst cases.
    pub worst_cases: usize,
    /// Calls of each kind: separate buffers, and every aliasing that the contract allows.
    pub calls: Vec<String>,
}

/// A product that is not the oracle's.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Wrong result.
    #[error(
        "the product of case {case} ({kind}) is wrong at coefficient {index}: {got}, not {want}"
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

/// Operands at which reductions left out would show: extreme coefficients in many sign
/// patterns, single monomials, ternary operands.
pub fn worst_operands(ring: &Ring) -> Vec<(Vec<i64>, Vec<i64>)> {
    let n = ring.degree();
    let h = (ring.q() / 2) as i64;
    let signs = |sign: &dyn Fn(usize) -> bool| -> Vec<i64> {
        (0..n).map(|i| if sign(i) { -h } else { h }).collect()
    };
    let mut extremes = vec![signs(&|_| false), signs(&|_| true)];
    // Blocks of equal sign: a coefficient's place in a lane, a register, a transform's row.
    for block in [1, 2, 3, 5, 8, 9, 10, 16, 32, 48, 80, 90, 144, 160, 256, 380] {
        extremes.push(signs(&|i| i / block % 2 == 1));
    }
    // Residue classes: every sum of a transform of that length aligned in one output.
    for period in [2, 3, 5, 9, 10, 16] {
        for class in 0..period {
            extremes.push(signs(&|i| i % period == class));
        }
    }
    let mut rng = StdRng::seed_from_u64(2);
    let mut random_signs =
        || -> Vec<i64> { (0..n).map(|_| if rng.random() { -h } else { h }).collect() };
    let partner = random_signs();
    let mut pairs = Vec::new();
    for a in &extremes {
        pairs.push((a.clone(), a.clone()));
        pairs.push((a.clone(), extremes[0].clone()));
        pairs.push((extremes[2].clone(), a.clone()));
        pairs.push((partner.clone(), a.clone()));
        pairs.push((a.clone(), a.iter().rev().map(|x| -x).collect()));
    }
    for _ in 0..100 {
        pairs.push((random_signs(), random_signs()));
    }
    let monomial = |i: usize, v: i64| {
        let mut p = vec![0; n];
        p[i] = v;
        p
    };
    let places = [0, 1, 15, 16, 47, 79, 80, 81, 159, 160, 380, 679, 680, 759, 760, n - 2, n - 1];
    for &i in places.iter().filter(|i| **i < n) {
        for &j in places.iter().filter(|j| **j < n) {
            pairs.push((monomial(i, h), monomial(j, -h)));
        }
        pairs.push((monomial(i, 1), extremes[2].clone()));
    }
    let mut rng = StdRng::seed_from_u64(3);
    for _ in 0..50 {
        let ternary: Vec<i64> = (0..n).map(|_| rng.random_range(-1..=1)).collect();
        pairs.push((extremes[2].clone(), ternary.clone()));
        pairs.push((ternary.iter().map(|x| -x).collect(), ternary));
    }
    pairs
}

/// The worst cases and `random` random pairs of big operands, with the oracle's products, in
/// batches that fit the memory; [`Batch::worst`] says how many are worst cases.
pub fn batches(ring: &Ring, random: usize) -> impl Iterator<Item = Batch> + '_ {
    let mut operands = worst_operands(ring);
    let mut worst = operands.len();
    let mut left = random;
    let mut rng = StdRng::seed_from_u64(1);
    std::iter::from_fn(move || {
        let room = BATCH - operands.len().min(BATCH);
        operands.extend(random_operands(ring, room.min(left), &mut rng));
        left -= room.min(left);
        if operands.is_empty() {
            return None;
        }
        let cases = multiply(ring, std::mem::take(&mut operands));
        Some(Batch { cases, worst: std::mem::take(&mut worst) })
    })
}

const BATCH: usize = 4096;

/// Some cases.
pub struct Batch {
    /// The cases.
    pub cases: Vec<Case>,
    /// How many of them are worst cases.
    pub worst: usize,
}

/// A small mixture: every so many of the worst cases, and a few random pairs.
pub fn some_cases(ring: &Ring, worst: usize, random: usize) -> Vec<Case> {
    let all = worst_operands(ring);
    let step = all.len().div_ceil(worst.max(1)).max(1);
    let mut operands: Vec<_> = all.into_iter().step_by(step).collect();
    operands.extend(random_operands(ring, random, &mut StdRng::seed_from_u64(1)));
    multiply(ring, operands)
}

fn random_operands(ring: &Ring, count: usize, rng: &mut StdRng) -> Vec<(Vec<i64>, Vec<i64>)> {
    let h = (ring.q() / 2) as i64;
    let low = if ring.q().is_multiple_of(2) { 1 - h } else { -h };
    let mut draw =
        || -> Vec<i64> { (0..ring.degree()).map(|_| rng.random_range(low..=h)).collect() };
    (0..count).map(|_| (draw(), draw())).collect()
}

/// The oracle's products, computed on all cores.
fn multiply(ring: &Ring, operands: Vec<(Vec<i64>, Vec<i64>)>) -> Vec<Case> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let share = operands.len().div_ceil(workers).max(1);
    let products = |chunk: &[(Vec<i64>, Vec<i64>)]| -> Vec<Vec<i64>> {
        chunk.iter().map(|(a, b)| ring.mul(a, b)).collect()
    };
    let products: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            operands.chunks(share).map(|chunk| scope.spawn(|| products(chunk))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    let pairs = operands.into_iter().zip(products);
    pairs.map(|((a, b), c)| Case { a, b, c }).collect()
}

/// An object's function, called with separate buffers and in every aliasing that is allowed.
pub struct Runs {
    kinds: Vec<(String, Callee, Guard)>,
    done: Checked,
}

impl Runs {
    /// Links the function of `signature` (output first, then the two operands) with a driver for
    /// each kind of call.
    ///
    /// # Errors
    /// It does not link.
    pub fn build(
        compiler: &Compiler,
        object: &Path,
        signature: &Signature,
        alias: &[(usize, usize)],
    ) -> Result<Runs, CheckError> {
        let mut kinds = Vec::new();
        let separate = std::iter::once(None);
        for (i, pair) in separate.chain(alias.iter().map(Some)).enumerate() {
            let name = kind_name(signature, pair);
            let callee = Callee::build(
                compiler,
                &[object],
                signature,
                pair.map_or(&[], std::slice::from_ref),
            )
            .map_err(|error| CheckError::Call { kind: name.clone(), error })?;
            // Accesses outside crash on one side and leave traces on the other: take turns.
            kinds.push((name, callee, if i % 2 == 0 { Guard::Behind } else { Guard::Before }));
        }
        let calls = kinds.iter().map(|(name, ..)| name.clone()).collect();
        Ok(Runs { kinds, done: Checked { products: 0, worst_cases: 0, calls } })
    }

    /// Runs on more cases; calls in place on the first batch only, which has the worst cases.
    ///
    /// # Errors
    /// A wrong product, a crash, a change of an input, a write outside.
    pub fn add(&mut self, batch: &Batch) -> Result<(), CheckError> {
        let first = self.done.products == 0;
        for (name, callee, guard) in self.kinds.iter().take(if first { usize::MAX } else { 1 }) {
            let signature = callee.signature();
            let output = signature.arguments[0].element;
            let mut expected = Vec::with_capacity(signature.output_bytes());
            let mut records = Vec::with_capacity(batch.cases.len() * signature.input_bytes());
            for case in &batch.cases {
                records.extend(signature.record(&[&case.a, &case.b]));
            }
            let limit = Duration::from_secs(30 + batch.cases.len() as u64 / 100);
            let answers = callee
                .call_many(records, *guard, limit)
                .map_err(|error| CheckError::Call { kind: name.clone(), error })?;
            let size = signature.output_bytes();
            for (i, (answer, case)) in answers.chunks_exact(size).zip(&batch.cases).enumerate() {
                expected.clear();
                output.encode(&case.c, &mut expected);
                if answer == expected {
                    continue;
                }
                let c = output.decode(answer);
                let index = (0..case.c.len()).find(|&k| c.get(k) != Some(&case.c[k])).unwrap_or(0);
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
    use ringforge_toolchain::{Argument, Element, Role};

    fn toy() -> (Ring, Signature) {
        let argument = |name: &str, role| Argument {
            name: name.into(),
            role,
            element: Element::I16,
            length: 7,
            align: 2,
            range: (-8, 8),
        };
        let arguments = vec![
            argument("c", Role::Output),
            argument("a", Role::Input),
            argument("b", Role::Input),
        ];
        let ring = Ring::parse("Z17[x]/(x^7 - x - 1)").unwrap();
        (ring, Signature { symbol: "mul".into(), arguments })
    }

    fn run(body: &str, alias: &[(usize, usize)]) -> Result<Checked, CheckError> {
        let (ring, signature) = toy();
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
        let mut runs = Runs::build(&cc, &object, &signature, alias)?;
        for batch in batches(&ring, 5000) {
            runs.add(&batch)?;
        }
        Ok(runs.done().clone())
    }

    #[test]
    fn right_products_pass_also_in_place() {
        let done = run("", &[(0, 1), (0, 2)]).unwrap();
        assert_eq!(done.calls, ["separate buffers", "c in the place of a", "c in the place of b"]);
        assert!(done.products > 5000 && done.worst_cases > 0, "{done:?}");
    }

    #[test]
    fn a_fault_in_one_extreme_case_is_found() {
        let fault = "if (a[0] == 8 && a[6] == 8 && b[0] == 8 && b[6] == -8) t[3] += 1;";
        assert!(matches!(run(fault, &[]), Err(CheckError::Wrong { index: 3, .. })));
        assert!(matches!(run("__builtin_trap();", &[]), Err(CheckError::Call { .. })));
        // Right with separate buffers only.
        let early =
            "c[0] = 0; t[0] += a[0] * 0 + (a[0] == 0 ? 0 : 0); t[1] += (a == c && b[0]) ? 1 : 0;";
        assert!(matches!(run(early, &[(0, 1)]), Err(CheckError::Wrong { .. })));
    }
}
