//! Proves objects against a contract and prints what was found:
//! `cargo run --release -p ringforge-prove --example prove_file -- CONTRACT OBJECT…`.

use ringforge_prove::{Contract, Options, Progress, prove};

struct Print;

impl Progress for Print {
    fn update(&self, _: &str, _: f64) -> bool {
        true
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [contract, objects @ ..] = &args[..] else {
        return Err("CONTRACT OBJECT…".into());
    };
    let contract = Contract::parse(&std::fs::read_to_string(contract)?)?;
    for path in objects {
        let report = prove(&std::fs::read(path)?, &contract, &Options::default(), &mut Print);
        println!("{path}: {}", report.verdict);
        for r in report.reasons.iter().take(5) {
            println!("  [{}] {:?}: {}", r.call, r.kind, r.text);
        }
        if let Some(w) = &report.witness {
            println!(
                "  witness ({}): element {}: found {}, expected {}",
                w.call, w.element, w.found[w.element], w.expected[w.element]
            );
        }
        println!("  output {:?}; {:?}", report.ranges.output, report.ranges.widest);
        for s in &report.ranges.stages {
            println!(
                "    {:#x}..{:#x} {} variables [{}, {}]{}",
                s.addresses.0,
                s.addresses.1,
                s.variables,
                s.min,
                s.max,
                if s.after_products { " after products" } else { "" }
            );
        }
        println!("  {:?}", report.counts);
        println!("  {:?}", report.times);
    }
    Ok(())
}
