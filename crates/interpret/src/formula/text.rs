//! Forms as text.

use super::{Forms, Kind};
use std::fmt::Write;

/// The first `outputs` outputs as formulas over the inputs, with at most `terms` terms each.
/// Coefficients are residues in `[0, q)`.
///
/// What is left out is not computed: a product's n² coefficients take seconds to write out where
/// their comparison with the definition takes none.
///
/// A product's formulas are quadratic [TokudaKameyama23 §5.2]: `c[1] = 1·a[0]·b[1] + …`.
pub fn text(forms: &Forms, outputs: usize, terms: usize) -> String {
    let mut out = String::new();
    let factors = forms.factors();
    let width = factors.products.len();
    let shown = outputs.min(forms.outputs.len());
    for output in 0..shown {
        let mut found: Vec<(String, u64)> = Vec::new();
        for (operand, name) in [(2u8, "c"), (0, "a"), (1, "b")] {
            if !forms.kinds[forms.outputs[output] as usize].contains(Kind::linear(operand)) {
                continue;
            }
            let weights = forms.evaluation(Kind::linear(operand)).covector(output);
            for (id, node) in forms.nodes.iter().enumerate() {
                if let super::Node::Input { operand: o, index } = *node
                    && o == operand
                    && weights[id] != 0
                {
                    found.push((format!("{name}[{index}]"), u64::from(weights[id])));
                }
            }
        }
        let weights = forms.evaluation(Kind::BILINEAR).covector(output);
        let n = forms.inputs.get(1).copied().unwrap_or(0);
        for i in 0..forms.inputs.first().copied().unwrap_or(0) {
            if found.len() > terms {
                break;
            }
            let mut row = vec![0u64; n];
            for (p, &id) in factors.products.iter().enumerate() {
                let x =
                    u64::from(factors.x[i * width + p]) * u64::from(weights[id as usize]) % forms.q;
                if x == 0 {
                    continue;
                }
                for (j, cell) in row.iter_mut().enumerate() {
                    *cell = (*cell + x * u64::from(factors.y[j * width + p])) % forms.q;
                }
            }
            for (j, &c) in row.iter().enumerate().filter(|&(_, &c)| c != 0) {
                found.push((format!("a[{i}]·b[{j}]"), c));
            }
        }
        let first = found.iter().take(terms);
        let mut line: Vec<String> = first.map(|(name, c)| format!("{c}·{name}")).collect();
        if line.is_empty() {
            line.push("0".into());
        }
        if found.len() > terms {
            line.push("…".into());
        }
        let _ = writeln!(out, "c[{output}] = {}", line.join(" + "));
    }
    if shown < forms.outputs.len() {
        let more = forms.outputs.len() - shown;
        let _ = writeln!(out, "… ({more} more outputs), modulo {}", forms.q);
    }
    out
}
