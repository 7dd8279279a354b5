//! Coverage of a proof over the disassembly: a bar of the share of each rule, and the code line by
//! line.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use crate::coverage::{By, Coverage, Instruction};

/// The section of one implementation.
pub fn section(coverage: &Coverage) -> Markup {
    let all = coverage.count().max(1) as f64;
    let shares = coverage.shares();
    let percent = |count: usize| 100.0 * count as f64 / all;
    html! {
        h3 { "Coverage of the proof" }
        div.share {
            @for &(by, count, _) in &shares { @if count > 0 {
                span class=(class(by)) style=(format!("width:{:.2}%", percent(count)))
                    title=(format!("{}: {}", by.name(), plural(count))) {}
            } }
        }
        div.scroll { table.numbers {
            thead { tr { th { "rule of the kernel" } th { "instructions" } th { "share" } th { "nodes" } } }
            tbody {
                @for &(by, count, nodes) in &shares { tr {
                    td { span class=(format!("swatch {}", class(by))) {} " " (by.name()) }
                    td { (count) }
                    td { (format!("{:.1} %", percent(count))) }
                    td { @if !matches!(by, By::Unneeded | By::Nothing) { (nodes) } }
                } }
            }
        } }
        p.note {
            "Which rule of " code { "docs/kernel.md" } " proved what an instruction computes, in the call “" (coverage.call)
            "”. An instruction counts under the first of its rules in this order, each node under its own. A value that was \
            computed before is no new node, so that its instruction stands under " (By::Nothing.name()) "."
        }
        @for (name, code) in &coverage.functions {
            details.code {
                summary { "The code of " code { (name) } ", " (plural(code.len())) "; point at one for its rules and ranges" }
                pre { (PreEscaped(listing(code))) }
            }
        }
    }
}

fn plural(count: usize) -> String {
    format!("{count} instruction{}", if count == 1 { "" } else { "s" })
}

/// The style of what carries an instruction: [`COLOURS`] by place, the same again for more rules.
fn class(by: By) -> String {
    match by {
        By::Rule(place) => format!("r{}", place % COLOURS.len()),
        By::Linear => "rl".into(),
        By::Unneeded => "ru".into(),
        By::Nothing => "rm".into(),
    }
}

/// The code line by line. It is written without templates, since tens of thousands of elements are
/// many bytes.
fn listing(code: &[Instruction]) -> String {
    let mut out = String::new();
    for line in code {
        let text = escaped(&line.text);
        let title = title(line);
        // Writing to a string does not fail.
        let _ = match title.is_empty() {
            true => writeln!(out, "<i class={}>{:6x} {text}</i>", class(line.by), line.address),
            false => writeln!(
                out,
                "<i class={} title=\"{title}\">{:6x} {text}</i>",
                class(line.by),
                line.address
            ),
        };
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What is shown about an instruction that the reader points at.
fn title(line: &Instruction) -> String {
    let one = |(by, count): (&By, &usize)| match count {
        1 => by.name().to_owned(),
        _ => format!("{} ×{count}", by.name()),
    };
    let mut title = line.nodes.iter().map(one).collect::<Vec<_>>().join(", ");
    if let Some((lo, hi, known)) = line.interval {
        let _ = write!(title, "; [{lo}, {hi}]");
        if known < line.values {
            let _ = write!(title, " of {known} in {}", line.values);
        }
    }
    title
}

/// Colours of rules, light and dark.
const COLOURS: [(&str, &str); 10] = [
    ("#0a7ea4", "#5cc8e8"),
    ("#2458a6", "#7fb0ff"),
    ("#7b3fa0", "#cf9cf0"),
    ("#8a6d00", "#d9c05a"),
    ("#a8570a", "#ffb46b"),
    ("#b03060", "#ff9ab8"),
    ("#6b5b4b", "#c8b6a2"),
    ("#00756b", "#5fd4c8"),
    ("#1b7f4b", "#74d6a0"),
    ("#5b7a0a", "#b4d65c"),
];

/// The colours by rule, for both themes.
pub fn style() -> String {
    let mut out = String::from("\n");
    for (i, (light, dark)) in COLOURS.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            ".r{i} {{ --rule: {light}; }} @media (prefers-color-scheme: dark) {{ .r{i} {{ --rule: {dark}; }} }}"
        );
    }
    out + STYLE
}

const STYLE: &str = "\
:root { --rl: #5b6778; --ru: #c9a400; --rm: #c3cad4; }
@media (prefers-color-scheme: dark) { :root { --rl: #9aa6b5; --ru: #e6c84a; --rm: #4a5462; } }
.rl { --rule: var(--rl); } .ru { --rule: var(--ru); } .rm { --rule: var(--rm); }
.share { display: flex; height: 1.1rem; margin: .4rem 0 .8rem; border-radius: 4px; overflow: hidden; }
.share span, .swatch { background: var(--rule); }
.swatch { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px; }
.code pre { max-height: 40rem; overflow: auto; }
.code i { font-style: normal; border-left: 4px solid var(--rule); padding-left: .5rem; } .code i:hover { background: var(--line); }
i.rm { color: var(--faint); }
";
