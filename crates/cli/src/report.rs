//! `report.html`: one file for people to read, without references to other files.

mod covered;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use ringforge_toolchain::timing::Timing;

use crate::choose::Choice;
use crate::coverage::Coverage;
use crate::package::{Forged, Package, PlanText};
use crate::proof;

/// What is shown about one implementation besides what the package says about it.
pub struct Pictures {
    /// Ranges by stage, as SVG.
    pub ranges: String,
    /// Costs by stage, as SVG.
    pub counts: String,
    /// What proved which instruction, where it is proved.
    pub coverage: Option<Coverage>,
}

/// The page; pictures are in the order of the package's targets.
pub fn render(package: &Package, pictures: &[Pictures]) -> String {
    let title = format!("{}: {} in {}", package.name, package.verdict, package.ring);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(covered::style())) }
            }
            body {
                header {
                    p.tool { "ringforge " (package.tool.version) }
                    h1 { (package.name) }
                    p.ring { (package.ring) }
                    p { (badge(&package.verdict)) " " (claim(package)) }
                }
                main {
                    (overview(package))
                    @let plans = std::iter::once(&package.plan).chain(&package.other_plans);
                    @for text in plans { (plan(package, text)) }
                    @for choice in &package.choices { (trials(choice)) }
                    @for (forged, shown) in package.targets.iter().zip(pictures) { (target(forged, shown)) }
                    (cycles(package))
                    (limits(package))
                }
            }
        }
    };
    page.into_string()
}

fn badge(verdict: &str) -> Markup {
    html! { strong class=(format!("badge {verdict}")) { (verdict) } }
}

fn claim(package: &Package) -> Markup {
    let claim = match package.verdict.as_str() {
        "proved" => {
            "for all inputs in the contract's ranges: the machine code computes what is \
             stated, stays inside its buffers, runs in constant time, keeps the calling convention, \
             and its outputs lie in the stated ranges."
        }
        "refuted" => "The machine code does not fulfil the contract: see the reasons below.",
        _ => "Something could not be decided: see the reasons below.",
    };
    html! { (claim) }
}

fn overview(package: &Package) -> Markup {
    html! {
        section {
            h2 { "The object" }
            table.facts {
                tr { th { "file" } td { code { (package.object.name) } ", " (package.object.bytes) " bytes" } }
                tr { th { "SHA-256" } td { code.hash { (package.object.sha256) } } }
                @if let Some(text) = &package.equivalence { tr { th { "equivalence" } td { (text) } } }
                tr { th { "made by" } td { code { (package.command) } } }
                tr { th { "made on" } td { (package.host.processor) " (" (package.host.model) "), "
                    (package.host.cores) " cores, " (package.host.system) } }
                tr { th { "took" } td { (format!("{:.1} s", package.seconds)) } }
            }
        }
    }
}

fn plan(package: &Package, plan: &PlanText) -> Markup {
    html! {
        section {
            h2 { "The plan" @if !package.other_plans.is_empty() { " of target " (plan.targets.join(", ")) } }
            p { "Plan " code { (plan.name) }
                @if let Some(cite) = &plan.cite { " after [" (cite) "]" } "." }
            figure { (PreEscaped(without_prologue(&plan.picture))) }
            @for note in &plan.notes { p { (note) "." } }
            details { summary { "The plan's text" } pre { (plan.text) } }
        }
    }
}

fn trials(choice: &Choice) -> Markup {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.0}"));
    html! {
        section {
            h2 { "Why this plan: target " (choice.target) }
            div.scroll { table.numbers {
                thead { tr { th { "plan" } th { "modelled cost" } th { "cycles" } th { "outcome" } } }
                tbody {
                    @for trial in &choice.trials { tr.total[trial.taken] {
                        td { (trial.plan) }
                        td { (number(trial.cost)) }
                        td { (number(trial.cycles.or(trial.model_cycles))) }
                        td { (trial.outcome) }
                    } }
                }
            } }
            p.note { "Plans " (choice.compared_by.text()) "." }
            @if let Some(path) = &choice.remembered { p.note { "As " code { (path) } " remembers." } }
        }
    }
}

fn target(forged: &Forged, shown: &Pictures) -> Markup {
    html! {
        section {
            h2 { "Target " (forged.target) ": " code { (forged.symbol) } " " (badge(&forged.proof.verdict())) }
            p { (forged.computes) "; contract " code { (forged.contract) } }
            (proof_table(forged))
            @if let Some(coverage) = &shown.coverage { (covered::section(coverage)) }
            h3 { "Ranges by stage" }
            figure { (PreEscaped(without_prologue(&shown.ranges))) }
            h3 { "Operations by stage" }
            figure { (PreEscaped(without_prologue(&shown.counts))) }
            (count_table(forged))
            details { summary { "The schedule" } pre { (forged.schedule) } }
            p { "Compiled by " (forged.compiler.version) ":" br; code { (forged.compile_command) } }
        }
    }
}

fn proof_table(forged: &Forged) -> Markup {
    html! {
        table.facts {
            @for reason in &proof::explanation(&forged.proof) { tr { th { "reason" } td { (reason) } } }
            @for (name, value) in &proof::facts(&forged.proof) { tr { th { (name) } td { (value) } } }
            tr { th { "interpreted" } td { (forged.interpreted) " runs of the program agree with the oracle" } }
            @if let Some(run) = &forged.executed {
                tr { th { "executed" } td { (run.products) " calls of the object, " (run.worst_cases)
                    " of them worst cases, agree with the oracle (" (run.calls.join("; ")) ")" } }
            }
        }
    }
}

fn count_table(forged: &Forged) -> Markup {
    let costs = &forged.counts;
    html! {
        div.scroll { table.numbers {
            thead { tr {
                th { "stage" }
                @for head in ["modular products", "reductions", "narrowings", "freezes", "multiplies",
                    "additions", "logic", "shuffles", "loads", "stores"] { th { (head) } }
            } }
            tbody {
                @for stage in &costs.stages {
                    (count_row(&stage.path.join(" › "), &stage.counts, ""))
                }
                (count_row("total", &costs.total, "total"))
            }
        } }
        p.note { "Registers of " (costs.lanes) " words. The first four columns count modular operations, the \
            others the word operations that they become." }
    }
}

fn count_row(name: &str, counts: &ringforge_interpret::count::Counts, class: &str) -> Markup {
    let name = if name.is_empty() { "(outside stages)" } else { name };
    let numbers = [
        counts.modular_products + counts.word_products,
        counts.reductions,
        counts.narrowings,
        counts.freezes,
        counts.multiplies,
        counts.additions,
        counts.logic,
        counts.shuffles,
        counts.loads,
        counts.stores,
    ];
    html! { tr class=(class) { td { (name) } @for number in numbers { td { (number) } } } }
}

fn cycles(package: &Package) -> Markup {
    let own: Vec<&Timing> = package.targets.iter().filter_map(|t| t.timing.as_ref()).collect();
    let all: Vec<&Timing> = own.into_iter().chain(&package.peers).collect();
    let longest = all.iter().map(|t| t.median.ln_1p()).fold(1.0, f64::max);
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Core cycles of one call" }
                div.scroll { table.numbers {
                    thead { tr { th { "implementation" } th { "min" } th { "median" } th.bar {} } }
                    tbody {
                        @for timing in &all { tr {
                            td { (timing.name) @if timing.noisy { " (noisy)" } }
                            td { (format!("{:.0}", timing.min)) }
                            td { (format!("{:.0}", timing.median)) }
                            td.bar { span style=(format!("width:{:.1}%", 100.0 * timing.median.ln_1p() / longest)) {} }
                        } }
                    }
                } }
                p.note { "Calibrated by a chain of dependent additions beside every sample; several fresh copies; \
                    bars are logarithmic. `ringforge bench --peers` measures other implementations beside these." }
            }
        }
    }
}

fn limits(package: &Package) -> Markup {
    html! {
        section {
            h2 { "What this does not say" }
            ul { @for limit in &package.limits { li { (limit) } } }
        }
    }
}

/// An SVG inside HTML has no XML declaration.
fn without_prologue(svg: &str) -> &str {
    svg.find("<svg").map_or(svg, |start| &svg[start..])
}

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c2430; --faint: #5b6778; --paper: #fff; --line: #d9dfe7; --soft: #f4f6f9; --accent: #2458a6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --faint: #9aa6b5; --paper: #14181e; --line: #323a45; --soft: #1c222a; --accent: #7fb0ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header { border-bottom: 1px solid var(--line); padding-bottom: 1rem; }
.tool { margin: 0; color: var(--faint); font-size: .85rem; }
h1 { margin: .1rem 0 0; font-size: 2.1rem; letter-spacing: -.01em; }
h2 { margin: 2.4rem 0 .6rem; font-size: 1.3rem; }
h3 { margin: 1.6rem 0 .4rem; font-size: 1rem; color: var(--faint); }
.ring { margin: .2rem 0 1rem; font: 1.05rem ui-monospace, monospace; color: var(--faint); }
code, pre { font: .88em/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .8rem 1rem; background: var(--soft); border-radius: 6px; }
.badge { display: inline-block; padding: .1rem .6rem; border-radius: 999px; color: #fff; background: #9a6b00; font-size: .85rem; vertical-align: .1em; }
.badge.proved { background: #1b7f4b; } .badge.refuted { background: #b3261e; }
figure { margin: .5rem 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .3rem .7rem .3rem 0; vertical-align: top; }
.facts th { color: var(--faint); font-weight: 500; white-space: nowrap; padding-right: 1.4rem; }
.scroll { overflow-x: auto; }
.numbers { width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
.numbers th { font-weight: 500; color: var(--faint); border-bottom: 1px solid var(--line); vertical-align: bottom; }
.numbers td { border-bottom: 1px solid var(--line); }
.numbers th:not(:first-child):not(.bar), .numbers td:not(:first-child):not(.bar) { text-align: right; }
.numbers .total td { font-weight: 600; }
td.bar { width: 45%; padding-left: 1rem; } td.bar span { display: block; height: .8rem; margin-top: .3rem; background: var(--accent); border-radius: 3px; }
.note { color: var(--faint); font-size: .85rem; }
summary { cursor: pointer; color: var(--accent); }
@media (max-width: 40rem) {
  body { padding: 1.2rem .8rem 3rem; }
  .facts, .facts tbody, .facts tr, .facts th, .facts td { display: block; overflow-wrap: anywhere; }
  .facts th { padding: .5rem 0 0; } .facts td { padding: 0; }
  figure svg { max-width: none; }
}
";
