//! Pictures say what they should, and are well formed.

mod common;

use common::*;
use ringforge_interpret::simulate::{StageUse, by_stage, simulate};
use ringforge_interpret::{count, draw, range, text};
use ringforge_plan::{Network, Plan};

const PLAN: &str = include_str!("../../../plans/sntrup761.plan");

/// Tags are balanced, attributes quoted, nothing unescaped between.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').expect("an unclosed tag");
        assert!(!rest.contains('&') || rest.contains(';'), "unescaped: {rest}");
        let name = tag.trim_matches('/').split(' ').next().unwrap_or("");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn tree_names_every_method() {
    let plan = Plan::parse(PLAN).unwrap();
    let svg = draw::tree(&plan.tree(), "A <plan> & its tree");
    well_formed(&svg);
    for what in
        ["Good–Thomas 10 × 9", "ℤ₄₅₉₁[x]/(x⁷⁶¹ − x − 1)", "(× 2)", "A &lt;plan&gt; &amp; its"]
    {
        assert!(svg.contains(what), "{what}");
    }
}

#[test]
fn ranges_and_counts_name_every_stage_in_pictures_and_text() {
    let program = program(Mutation::default());
    let ranges = range::ranges(&program).unwrap();
    let costs = count::count(&program).unwrap();
    let pictures = [draw::ranges(&ranges, "ranges"), draw::counts(&costs, "counts")];
    pictures.iter().for_each(|svg| well_formed(svg));
    for text in pictures.iter().chain(&[text::ranges(&ranges), text::counts(&costs)]) {
        for stage in ["prepare", "multiply", "finish"] {
            assert!(text.contains(stage), "{stage} in {text}");
        }
    }
    assert!(pictures[0].contains("−2\u{2009}295"));
}

#[test]
fn butterflies_show_every_input_output_and_operation() {
    let plan = Plan::parse(PLAN).unwrap();
    let svg = draw::butterflies(&plan, "Butterflies").expect("transforms");
    well_formed(&svg);
    let part = plan.root.as_method::<ringforge_plan::Lift>().unwrap().inner.clone();
    let crt = part.as_method::<ringforge_plan::MonomialCrt>().unwrap().main.clone();
    let main = &crt.as_method::<ringforge_plan::Substitute>().unwrap().blocks;
    let mut operations = 0;
    for transform in main.transform.children() {
        let mut net = Network::new(4591);
        let inputs = net.inputs(&vec![true; transform.len()]);
        let outputs = transform.forward(&mut net, &inputs);
        for i in 0..transform.len() {
            assert!(svg.contains(&format!(">f{i}<")) && svg.contains(&format!(">F{i}<")), "{i}");
        }
        operations += net.live(&outputs).len();
    }
    assert_eq!(svg.matches("<circle").count(), operations + 3); // and three in the key
}

#[test]
fn ports_by_stage_add_up_to_the_simulation() {
    let program = program(Mutation::default());
    let target = &ringforge_targets::AVX2;
    let processor = target.simulated[0];
    let (whole, stages) = by_stage(&program, target, processor).unwrap();
    assert_eq!(simulate(&program, target, processor).unwrap(), whole);
    let sum = |part: fn(&StageUse) -> u64| stages.iter().map(part).sum::<u64>();
    assert_eq!(sum(|s| s.instructions), whole.instructions);
    assert!(sum(|s| s.cycles) <= whole.cycles && 0 < sum(|s| s.cycles));
    assert!(stages.iter().all(|s| s.units.iter().all(|&u| u <= s.instructions)));
    let svg = draw::ports_by_stage(&stages, processor, "ports");
    well_formed(&svg);
    for stage in ["prepare", "multiply", "finish"] {
        assert!(svg.contains(stage), "{stage} in {svg}");
    }
}
