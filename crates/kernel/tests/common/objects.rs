//! Objects that compilers made, with the certificates that the search wrote for them: several primes, words that
//! wrap modulo 2^k, AArch64, and a table that the caller gives. `objects/README.md` says how they were made.

use super::Bench;
use ringforge_contract::{CallCase, CallLimits, Contract, Executed, cases};
use ringforge_kernel::certificate::Line;
use ringforge_kernel::check;
use ringforge_kernel::compare::{Mismatch, Stats};
use ringforge_kernel::replay::{Operand, Target, Walked};
use ringforge_machine::Object;
use ringforge_machine::graph::Graph;

/// An object's call on disjoint arrays, and its certificate.
pub struct Compiled {
    pub name: &'static str,
    pub contract: Contract,
    /// The contract of another ring or transform: what it asks for the object does not compute.
    pub other: Contract,
    pub call: CallCase,
    pub bench: Bench,
    pub lines: Vec<Line>,
}

impl Compiled {
    /// Whether the outputs of an accepted walk are what a contract asks for.
    pub fn compared(&self, contract: &Contract, walked: &Walked) -> Result<Stats, Mismatch> {
        check::compared(contract, &self.call, walked, &|_| true)
    }
}

/// All objects.
pub fn compiled() -> Vec<Compiled> {
    macro_rules! files {
        ($path:literal) => {
            (
                &include_bytes!(concat!("../objects/", $path, ".o"))[..],
                include_str!(concat!("../objects/", $path, ".toml")),
                include_str!(concat!("../objects/", $path, ".txt")),
            )
        };
    }
    let several = (
        &include_bytes!("../several_primes/small.o")[..],
        include_str!("../several_primes/contract.toml"),
        include_str!("../several_primes/certificate.txt"),
    );
    vec![
        made("several primes", several, "x^2 - x - 1", "x^2 - x - 2"),
        made("powers of two", files!("twos"), "x^3 + 1", "x^3 - 1"),
        made("AArch64", files!("aarch64"), "x^2 + 1", "x^2 - 1"),
        made("table", files!("table"), "[1729, 1600]", "[1600, 1729]"),
    ]
}

fn made(name: &'static str, files: (&[u8], &str, &str), from: &str, to: &str) -> Compiled {
    let (object, text, certificate) = files;
    let contract = Contract::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let other = Contract::parse(&text.replace(from, to)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let object = Object::parse(object).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (mut graph, limits) = (Graph::new(), CallLimits { max_steps: 1 << 20 });
    let mut executed = Executed::default();
    let calls = cases(&contract, &object, &mut graph, limits, &mut executed, &mut |_| true);
    let call = calls.unwrap_or_else(|e| panic!("{name}: {e}")).swap_remove(0);
    let lines = ringforge_certificate::parse(certificate).unwrap_or_else(|e| panic!("{name}: {e}"));
    let lines =
        lines.into_iter().find(|c| c.0 == call.name).expect("the case of disjoint arrays").1;
    let inputs = call.ranges(&contract).into_iter().zip(contract.inputs());
    let operands = inputs.map(|((lo, hi), i)| {
        let bits = contract.arguments[i].element.bits();
        Operand { lo, hi, bits }
    });
    let output = &contract.arguments[contract.output()];
    let bench = Bench {
        graph,
        operands: operands.collect(),
        outputs: call.outputs.clone(),
        target: Target {
            bits: output.element.bits(),
            signed: output.element.signed(),
            lo: output.exit.0,
            hi: output.exit.1,
        },
        q: contract.ring.q() as u32,
        length: contract.ring.degree(),
    };
    Compiled { name, contract, other, call, bench, lines }
}
