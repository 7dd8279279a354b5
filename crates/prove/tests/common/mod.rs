//! Shared by the tests from C to verdict.

// Each test uses some.
#![allow(dead_code)]

#[path = "../../../machine/tests/common/damage.rs"]
pub mod damage;

pub mod each;

use ringforge_prove::{Contract, Options, Quiet, Report, Verdict, expected, prove};
use ringforge_testing::cc;
use std::process::Command;
use std::time::Duration;

/// The bits of `i`, of which there are `bits`, backwards.
pub fn reversed(i: usize, bits: u32) -> u64 {
    (i.reverse_bits() >> (usize::BITS - bits)) as u64
}

/// Numbers with commas.
pub fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The object that gcc makes, or clang on a machine without it.
pub fn compile(source: &str, flags: &[&str]) -> Vec<u8> {
    compile_by(cc(), source, flags).expect("it is here")
}

/// The object that a compiler makes, if it is there.
pub fn compile_by(compiler: &str, source: &str, flags: &[&str]) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let (c, o) = (dir.path().join("x.c"), dir.path().join("x.o"));
    std::fs::write(&c, source).unwrap();
    let status = Command::new(compiler).args(flags).arg("-c").arg(&c).arg("-o").arg(&o).status();
    assert!(status.ok()?.success());
    Some(std::fs::read(o).unwrap())
}

/// The verdict on what -O3 makes.
pub fn run(source: &str, contract: &Contract) -> Report {
    let options = Options { search: Duration::from_secs(1), ..Options::default() };
    prove(&compile(source, &["-O3"]), contract, &options, &mut Quiet)
}

/// Verdict and reasons.
pub fn told(r: &Report) -> String {
    format!("{}: {:?}", r.verdict, r.reasons.iter().map(|r| &r.text).collect::<Vec<_>>())
}

/// The witness is wrong for the contract, and says so truthfully.
pub fn check_witness(contract: &Contract, r: &Report) {
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(r));
    let w = r.witness.as_ref().unwrap_or_else(|| panic!("a witness: {}", told(r)));
    let names: Vec<&str> = w.inputs.iter().map(|i| i.0.as_str()).collect();
    let reads: Vec<&str> =
        contract.inputs().iter().map(|&i| contract.arguments[i].name.as_str()).collect();
    assert_eq!(names, reads);
    let inputs: Vec<Vec<i64>> = w.inputs.iter().map(|i| i.1.clone()).collect();
    for (v, &i) in inputs.iter().zip(&contract.inputs()) {
        let (lo, hi) = contract.arguments[i].range;
        assert!(v.len() == contract.arguments[i].length && v.iter().all(|x| (lo..=hi).contains(x)));
    }
    let (q, (lo, hi)) = (contract.ring.q() as i64, contract.arguments[contract.output()].exit);
    // In the range that the contract allows, if that holds all residues.
    for (x, residue) in w.expected.iter().zip(expected(contract, &inputs)) {
        assert!((x - residue) % q == 0 && (hi - lo < q - 1 || (lo..=hi).contains(x)), "{x}");
    }
    let (found, should) = (w.found[w.element], w.expected[w.element]);
    assert!((found - should) % q != 0 || found < lo || found > hi);
}
