//! Mutants of the golden files that pass: small enough to judge hundreds in seconds, and to run
//! every acquitted one on every pair of operands.

use ringforge_mutate::*;
use ringforge_prove::{Contract, Options};
use ringforge_toolchain::Compiler;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/prove")
}

/// The file's product and its contract.
fn contract(text: &str) -> (Product, Contract) {
    let name = text.lines().find_map(|l| l.strip_prefix("# contract: ")).unwrap();
    let contract = std::fs::read_to_string(root().join("contracts").join(name)).unwrap();
    let contract = Contract::parse(&contract).unwrap();
    let [c, a, b] = &contract.arguments[..] else { panic!("{name}") };
    let product = Product {
        symbol: contract.symbol.clone(),
        ring: contract.ring.clone(),
        element: ringforge_toolchain::Element {
            bits: a.element.bits(),
            signed: a.element.signed(),
        },
        inputs: [a.range, b.range],
        output: c.range,
    };
    (product, contract)
}

#[test]
fn no_mutant_of_a_small_product_is_proved_and_wrong() {
    let compiler = Compiler::find(ringforge_testing::cc()).unwrap();
    let (mut tried, mut refused, mut accepted) = (0, 0, 0);
    // One coefficient: 5,000 random pairs and the corners are nearly all there are.
    for name in ["barrett", "legacy_sse", "montgomery", "freeze_by_minima", "pack_in_range"] {
        let path = root().join("pass").join(format!("{name}.s"));
        let (product, contract) = contract(&std::fs::read_to_string(&path).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("o.o");
        compiler.compile(&path, &[], &to).unwrap();
        let subject = Subject {
            product,
            object: std::fs::read(&to).unwrap(),
            source: None,
            program: None,
            compiler: &compiler,
            flags: vec![],
        };
        let search = Duration::from_secs(1);
        let judge = Prover {
            contract,
            options: Options { search, max_steps: 10_000, ..Options::default() },
            still: Arc::new(|| true),
        };
        let choice = Choice { count: Some(60), seed: 7, classes: vec![], only: vec![] };
        let settings = Settings { random_tests: 0, ..Settings::default() };
        let summary = run(&subject, &judge, &choice, settings, &|_, _, _| ()).unwrap();
        assert!(summary.passed(), "{name}\n{summary}");
        assert_eq!(summary.unconfirmed, 0, "{name}\n{summary}");
        tried += summary.total.tried;
        refused += summary.total.refused();
        accepted += summary.total.accepted;
    }
    assert!(tried > 200 && refused > 100, "{tried} tried, {refused} refused");
    // Such as aligned loads of aligned constants, or lanes that nobody reads.
    assert!(accepted > 10, "{accepted} accepted");
}
