//! Contracts for each element of arrays, and what becomes of functions in C.

use super::{compile, told};
use ringforge_prove::map::{MapContract, prove};
use ringforge_prove::{Options, Quiet, Report, Verdict};
use std::time::Duration;

/// A contract with these arguments, `name: keys`.
pub fn contract(symbol: &str, arguments: &[&str]) -> MapContract {
    let text = text(symbol, arguments);
    MapContract::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Its text.
pub fn text(symbol: &str, arguments: &[&str]) -> String {
    let mut text =
        format!("contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\ncomputes = \"map\"\n");
    for argument in arguments {
        let (name, keys) = argument.split_once(": ").expect("a name");
        let keys: Vec<String> = keys.split("; ").map(|key| format!("{key}\n")).collect();
        text += &format!("[[argument]]\nname = \"{name}\"\n{}", keys.concat());
    }
    text
}

/// The verdict on what a compiler makes.
pub fn run(source: &str, flags: &[&str], contract: &MapContract) -> Report {
    let source = format!("#include <stdint.h>\n#include <stddef.h>\n{source}");
    let options = Options { search: Duration::from_secs(1), ..Options::default() };
    prove(&compile(&source, flags), contract, &options, &mut Quiet)
}

/// Checks what becomes of it at each level of optimization.
pub fn both(source: &str, contract: &MapContract, check: &dyn Fn(&Report)) {
    for flags in [&["-O2"][..], &["-O3"], &["-O3", "-mavx2"]] {
        check(&run(source, flags, contract));
    }
}

/// The contract is fulfilled.
#[track_caller]
pub fn proved(source: &str, contract: &MapContract) {
    both(source, contract, &|r| assert!(r.is_proved(), "{}\n{source}", told(r)));
}

/// The contract is broken, and the witness shows it.
#[track_caller]
pub fn refuted(source: &str, contract: &MapContract) {
    both(source, contract, &|r| {
        assert_eq!(r.verdict, Verdict::Refuted, "{}", told(r));
        let w = r.witness.as_ref().unwrap_or_else(|| panic!("a witness: {}", told(r)));
        assert!(!r.reasons.iter().any(|r| r.text.contains("decided")), "{}", told(r));
        assert_ne!(w.found[w.element], w.expected[w.element]);
        let arguments = contract.inputs();
        let memory = arguments.iter().map(|&i| &contract.arguments[i]);
        let inputs: Vec<Vec<i64>> =
            memory.clone().zip(&w.inputs).map(|(a, v)| a.fields(&v.1)).collect();
        for (a, fields) in memory.zip(&inputs) {
            let (lo, hi) = a.memory.range;
            assert!(fields.len() == a.length && fields.iter().all(|x| (lo..=hi).contains(x)));
        }
    });
}
