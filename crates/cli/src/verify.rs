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
        /// Number of the case.
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

/// The worst cases and `random` random pairs of big operands, with the oracle's products, and
/// how many are worst cases. `progress` is called with the number of products done.
pub fn cases(ring: &Ring, random: usize, progress: &(dyn Fn(u64) + Sync)) -> (Vec<Case>, usize) {
    let mut operands = worst_operands(ring);
    let worst = operands.len();
    operands.extend(random_operands(ring, random));
    (multiply(ring, operands, progress), worst)
}

/// A small mixture: every so many of the worst cases, and a few random pairs.
pub fn some_cases(ring: &Ring, worst: usize, random: usize) -> Vec<Case> {
    let all = worst_operands(ring);
    let step = all.len().div_ceil(worst.max(1)).max(1);
    let mut operands: Vec<_> = all.into_iter().step_by(step).collect();
    operands.extend(random_operands(ring, random));
    multiply(ring, operands, &|_| ())
}

fn random_operands(ring: &Ring, count: usize) -> Vec<(Vec<i64>, Vec<i64>)> {
    let h = (ring.q() / 2) as i64;
    let low = if ring.q() % 2 == 0 { 1 - h } else { -h };
    let mut rng = StdRng::seed_from_u64(1);
    let mut draw =
        || -> Vec<i64> { (0..ring.degree()).map(|_| rng.random_range(low..=h)).collect() };
    (0..count).map(|_| (draw(), draw())).collect()
}

/// The oracle's products, computed on all cores.
fn multiply(
    ring: &Ring,
    operands: Vec<(Vec<i64>, Vec<i64>)>,
    progress: &(dyn Fn(u64) + Sync),
) -> Vec<Case> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let share = operands.len().div_ceil(workers).max(1);
    let products = |chunk: &[(Vec<i64>, Vec<i64>)]| -> Vec<Vec<i64>> {
        let mut done = Vec::with_capacity(chunk.len());
        for (a, b) in chunk {
            done.push(ring.mul(a, b));
            progress(1);
        }
        done
    };
    let products: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            operands.chunks(share).map(|chunk| scope.spawn(|| products(chunk))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    let pairs = operands.into_iter().zip(products);
    pairs.map(|((a, b), c)| Case { a, b, c }).collect()
}

/// Runs the function of `signature` (output first, then the two operands) on all cases, with
/// separate buffers and with every aliasing of `alias`.
///
/// # Errors
/// A wrong product, a crash, a change of an input, a write outside.
pub fn check(
    compiler: &Compiler,
    object: &Path,
    signature: &Signature,
    alias: &[(usize, usize)],
    cases: &[Case],
    worst: usize,
) -> Result<Checked, CheckError> {
    let mut kinds: Vec<Vec<(usize, usize)>> = vec![vec![]];
    kinds.extend(alias.iter().map(|&pair| vec![pair]));
    let mut done = Checked { products: 0, worst_cases: 0, calls: vec![] };
    for kind in kinds {
        let name = kind_name(signature, &kind);
        let failed = |error| CheckError::Call { kind: name.clone(), error };
        let callee = Callee::build(compiler, &[object], signature, &kind).map_err(failed)?;
        let guard = if done.calls.len() % 2 == 0 { Guard::Behind } else { Guard::Before };
        let mut records = Vec::with_capacity(cases.len() * signature.input_bytes());
        for case in cases {
            records.extend(signature.record(&[&case.a, &case.b]));
        }
        let limit = Duration::from_secs(20 + cases.len() as u64 / 100);
        let answers = callee.call_many(records, guard, limit).map_err(failed)?;
        let size = signature.output_bytes();
        for (i, (answer, case)) in answers.chunks_exact(size).zip(cases).enumerate() {
            let c = signature.outputs(answer).swap_remove(0);
            if let Some(index) = (0..case.c.len()).find(|&k| c.get(k) != Some(&case.c[k])) {
                let (got, want) = (c.get(index).copied().unwrap_or(0), case.c[index]);
                return Err(CheckError::Wrong { case: i, kind: name, index, got, want });
            }
            done.products += 1;
        }
        done.worst_cases += worst.min(cases.len());
        done.calls.push(name);
    }
    Ok(done)
}

fn kind_name(signature: &Signature, alias: &[(usize, usize)]) -> String {
    match alias.first() {
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
        let (cases, worst) = cases(&ring, 50, &|_| ());
        check(&cc, &object, &signature, alias, &cases, worst)
    }

    #[test]
    fn right_products_pass_also_in_place() {
        let done = run("", &[(0, 1), (0, 2)]).unwrap();
        assert_eq!(done.calls, ["separate buffers", "c in the place of a", "c in the place of b"]);
        assert!(done.products > 3 * 50 && done.worst_cases > 0, "{done:?}");
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
