//! Lifts one function and prints what was counted.
//!
//! `lift OBJECT SYMBOL out:1522 in16:1522 in16:1522`: one argument per buffer, `out`, `inout16` or
//! `in8`/`in16`/`in32`/`in64` with its bytes, optionally `@` and its alignment; `const:5` passes a
//! number. With the environment variable BLIND control flow and memory alone ([`Graph::blind`]).

use ringforge_machine::graph::Graph;
use ringforge_machine::{ArgSpec, CallSpec, Initial, Object, RegionSpec, lift};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [object, symbol, buffers @ ..] = &args[..] else {
        return Err("usage: lift OBJECT SYMBOL BUFFER...".into());
    };
    let object = Object::parse(&std::fs::read(object)?)?;
    let mut call = CallSpec {
        symbol: symbol.clone(),
        regions: Vec::new(),
        args: Vec::new(),
        data: Vec::new(),
        ranges: Vec::new(),
        given_sections: Vec::new(),
        coincide: Vec::new(),
        functions: Vec::new(),
        released_branches: 0,
        passes_checks: false,
        max_steps: 50_000_000,
    };
    for (i, text) in buffers.iter().enumerate() {
        let (kind, size) = text.split_once(':').ok_or("a buffer is KIND:BYTES")?;
        let (size, align) = size.split_once('@').unwrap_or((size, "2"));
        if kind == "const" {
            call.args.push(ArgSpec::Constant(size.parse()?));
            continue;
        }
        let digits = kind.trim_start_matches(|c: char| !c.is_ascii_digit());
        let initial = if digits.is_empty() {
            Initial::Undefined
        } else {
            Initial::Inputs { operand: i as u16, element_bits: digits.parse()? }
        };
        call.args.push(ArgSpec::Pointer(call.regions.len(), 0));
        call.regions.push(RegionSpec {
            name: format!("argument {i}"),
            bytes: size.parse()?,
            align: align.parse()?,
            read: true,
            write: kind.contains("out"),
            initial,
        });
    }
    let blind = std::env::var_os("BLIND").is_some();
    let mut graph = if blind { Graph::blind() } else { Graph::new() };
    let start = std::time::Instant::now();
    let lifted = lift(&object, &call, &mut graph, &mut |_| true)?;
    let time = start.elapsed();
    println!("{} cases, agree: {}", lifted.cases.len(), lifted.cases_agree());
    for (region, spec) in lifted.cases[0].regions.iter().zip(&call.regions) {
        if spec.write {
            let undefined = (0..spec.bytes as usize / 2)
                .filter(|&i| region.element(&mut graph, i, 16).is_err())
                .count();
            println!("{}: {undefined} of {} words undefined", region.name, spec.bytes / 2);
        }
    }
    println!("{:#?}", lifted.stats.by_class);
    println!(
        "{} instructions, {} bytes of code, {} of stack, {} nodes, {time:?}; assumptions: {:?}",
        lifted.stats.instructions,
        lifted.stats.code_bytes,
        lifted.stats.stack_bytes,
        graph.len(),
        lifted.stats.assumptions
    );
    Ok(())
}
