//! `ringforge bench RING --plans …`: the plans of a ring in one table, what each does, whether it is
//! proved, and how long it takes; and a picture of operations against cycles.

use std::path::Path;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN, presets::UTF8_BORDERS_ONLY};
use ringforge_interpret::draw;
use ringforge_plan::{
    ChangeModulus, Lift, MonomialCrt, Ntt, Plan, Product, Substitute, ToeplitzMatrix,
};
use ringforge_toolchain::timing::{Candidate, Settings, Timing};
use ringforge_toolchain::{Compiler, Host, Scratch, replace_file};
use serde::{Deserialize, Serialize};

use crate::args::Bench;
use crate::bench;
use crate::choose;
use crate::lab::{Lab, Tried, timed, unproved};
use crate::package::Tool;
use crate::preset::{Wanted, listed_plan, wanted};
use crate::target::{self, TARGETS, Target};
use crate::ui::{Failure, Ui};

/// What a plan is and what came of it, on one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    plan: String,
    cite: Option<String>,
    /// What the plan is right for.
    operands: String,
    target: String,
    compiled: String,
    /// What its schedule has otherwise than the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    /// The moduli that it computes with.
    moduli: Vec<u64>,
    /// Lengths of transforms and sizes of what is multiplied, such as `90 × 16 + x^81`.
    transform: String,
    /// Products of coefficients in base products, all moduli together.
    base_products: u64,
    /// On registers, as are the next three.
    multiplications: u64,
    additions: u64,
    reductions: u64,
    shuffles: u64,
    /// All operations on registers, loads and stores included.
    operations: u64,
    code_bytes: u64,
    stack_bytes: u64,
    /// `proved`, `refuted`, `unknown`, or `no program`.
    verdict: String,
    /// Seconds of the proof.
    seconds: f64,
    /// Why it is not proved or not measured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
    min: Option<f64>,
    median: Option<f64>,
    #[serde(default)]
    noisy: bool,
    /// The median divided by the best peer's.
    of_peer: Option<f64>,
}

/// A product of others, measured beside them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PeerLine {
    name: String,
    operands: String,
    compiled: String,
    min: f64,
    median: f64,
    noisy: bool,
}

/// The whole table.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Plans {
    ring: String,
    /// What the caller promises of the operands.
    operands: String,
    /// The version of ringforge.
    tool: String,
    processor: String,
    model: String,
    copies: usize,
    samples: usize,
    plans: Vec<Line>,
    peers: Vec<PeerLine>,
}

/// Runs the command.
///
/// # Errors
/// Bad input, or nothing could be measured. A plan that is not proved is a result.
pub fn run(ui: &Ui, args: &Bench) -> Result<u8, Failure> {
    let wanted = wanted(&args.subject)?;
    let table = match &args.saved {
        Some(file) => saved(file, &wanted)?,
        None => measured(ui, args, &wanted)?,
    };
    let text = print(&table, true).to_string();
    if let Some(dir) = &args.out {
        let json = serde_json::to_string_pretty(&table)
            .map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
        let files = [("plans.json", json + "\n"), ("plans.md", text.clone() + "\n")];
        let picture = [("plans.svg", picture(&table))];
        for (name, content) in files.into_iter().chain(picture) {
            let write = replace_file(&dir.join(name), content);
            write.map_err(|e| Failure::input(e.to_string()))?;
        }
    }
    ui.json(&table)?;
    let shown = if args.markdown { text } else { print(&table, false).to_string() };
    ui.say(format!("{}, {}", table.ring, table.operands));
    ui.say(shown);
    for line in table.plans.iter().filter(|line| !line.reason.is_empty()) {
        ui.say(format!("{}, {}: {}", line.plan, line.target, line.reason));
    }
    ui.say(format!(
        "{} ({}); core cycles of one product, calibrated; {} fresh copies of {} samples, interleaved",
        table.processor, table.model, table.copies, table.samples
    ));
    Ok(0)
}

/// What an earlier run wrote of this ring and these operands.
fn saved(file: &Path, wanted: &Wanted) -> Result<Plans, Failure> {
    let name = file.display();
    let refuse = |why: String| Failure::input(format!("{name}: {why}"));
    let text = crate::preset::read(&name.to_string())?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| refuse(format!("this is no JSON: {e}")))?;
    let all = match value {
        serde_json::Value::Array(all) => all,
        one => vec![one],
    };
    let tables = all.into_iter().map(serde_json::from_value::<Plans>);
    let tables = tables.collect::<Result<Vec<_>, _>>();
    let tables = tables.map_err(|e| refuse(format!("not what `bench --plans` writes: {e}")))?;
    let (ring, [a, b]) = (wanted.ring.to_string(), wanted.operands);
    let operands = format!("{a} × {b}");
    let found = tables.iter().find(|t| t.ring == ring && t.operands == operands).cloned();
    found.ok_or_else(|| {
        let there: Vec<String> =
            tables.iter().map(|t| format!("{}, {}", t.ring, t.operands)).collect();
        refuse(format!("nothing of {ring}, {operands}; there are {}", there.join("; ")))
    })
}

/// The plans that are named, or all: those that come with ringforge for the ring and its operands, or
/// where there are none those that `forge` would try.
fn chosen(args: &Bench, wanted: &Wanted) -> Result<Vec<Plan>, Failure> {
    if args.plans.iter().any(|name| name != "all") {
        return args.plans.iter().map(|name| listed_plan(name, wanted)).collect();
    }
    let presets: Vec<Plan> = Plan::names()
        .filter_map(|name| Plan::find(name).ok())
        .filter(|plan| plan.ring == wanted.ring && plan.covers(wanted.operands))
        .collect();
    if !presets.is_empty() {
        return Ok(presets);
    }
    Ok(choose::all(wanted)?.into_iter().take(8).map(|candidate| candidate.plan).collect())
}

fn measured(ui: &Ui, args: &Bench, wanted: &Wanted) -> Result<Plans, Failure> {
    let plans = chosen(args, wanted)?;
    let compilers = bench::compilers(&args.cc)?;
    // One compiler for one table: clang where it is.
    let compiler: &Compiler = &compilers[compilers.len() - 1];
    let host = Host::detect();
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let lab = Lab { ui, compiler, opt: "-O3", ring: &wanted.ring, scratch };
    let targets: Vec<&'static Target> =
        target::choose(&args.target)?.into_iter().filter(|t| t.runs_on(&host)).collect();
    let mut lines = Vec::new();
    let mut candidates = Vec::new();
    let limit = Duration::from_secs(args.patience.into());
    for plan in &plans {
        for target in &targets {
            let (line, tried) = one(&lab, target, plan, limit)?;
            if let Some(tried) = tried {
                candidates.push(lab.candidate(lines.len().to_string(), &tried)?);
            }
            lines.push(line);
        }
    }
    let mut peers = Vec::new();
    if args.peers {
        for peer in bench::peer_rows(ui, &wanted.ring, &args.bench_dir, compiler)? {
            candidates.push(Candidate { name: format!("peer {}", peers.len()), ..peer.0 });
            peers.push((peer.1, peer.2, peer.3));
        }
    }
    let settings = Settings { copies: args.copies, samples: args.samples, ..Settings::default() };
    let mut measured = Vec::new();
    for (name, result) in timed(ui, compiler, candidates, &settings)? {
        let number = |text: &str| text.parse::<usize>().ok();
        match (name.strip_prefix("peer ").and_then(number), number(&name), result) {
            (Some(i), _, Ok(timing)) => measured.push(peer_line(&peers[i], timing)),
            (None, Some(i), Ok(timing)) => {
                let line = &mut lines[i];
                (line.min, line.median) = (Some(tenth(timing.min)), Some(tenth(timing.median)));
                line.noisy = timing.noisy;
            }
            (None, Some(i), Err(why)) => lines[i].reason = format!("not measured: {why}"),
            _ => {}
        }
    }
    let best = measured.iter().map(|peer| peer.median).fold(f64::INFINITY, f64::min);
    for line in &mut lines {
        let ratio = line.median.filter(|_| best.is_finite()).map(|median| median / best);
        line.of_peer = ratio.map(|ratio| (ratio * 1000.0).round() / 1000.0);
    }
    let [a, b] = wanted.operands;
    Ok(Plans {
        ring: wanted.ring.to_string(),
        operands: format!("{a} × {b}"),
        tool: Tool::THIS.version.into(),
        processor: host.processor,
        model: host.model,
        copies: args.copies,
        samples: args.samples,
        plans: lines,
        peers: measured,
    })
}

fn tenth(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

fn peer_line((name, operands, compiled): &(String, String, String), timing: Timing) -> PeerLine {
    PeerLine {
        name: name.clone(),
        operands: operands.clone(),
        compiled: compiled.clone(),
        min: tenth(timing.min),
        median: tenth(timing.median),
        noisy: timing.noisy,
    }
}

/// Makes and proves one plan for one target.
fn one(
    lab: &Lab,
    target: &'static Target,
    plan: &Plan,
    limit: Duration,
) -> Result<(Line, Option<Tried>), Failure> {
    let [a, b] = plan.operands;
    let mut line = Line {
        plan: plan.name.clone(),
        cite: plan.cite.clone(),
        operands: format!("{a} × {b}"),
        target: target.name.into(),
        compiled: format!("{} {}", bench::short(lab.compiler), lab.opt),
        schedule: None,
        moduli: moduli(plan),
        transform: shape(plan.root.as_ref()),
        base_products: plan.root.cost().products,
        multiplications: 0,
        additions: 0,
        reductions: 0,
        shuffles: 0,
        operations: 0,
        code_bytes: 0,
        stack_bytes: 0,
        verdict: "no program".into(),
        seconds: 0.0,
        reason: String::new(),
        min: None,
        median: None,
        noisy: false,
        of_peer: None,
    };
    let mut best = None;
    for (i, schedule) in Lab::schedules(target, plan)?.into_iter().enumerate() {
        let made = lab.program(target, &schedule, plan.clone());
        let (code, made) = match made.and_then(|made| Ok((Lab::code(&made)?, made))) {
            Ok(both) => both,
            Err(e) if i == 0 => {
                let why = e.message.split_once("`: ").map(|(_, why)| why.to_owned());
                line.reason = why.unwrap_or(e.message);
                return Ok((line, None));
            }
            Err(_) => break,
        };
        let counts = made.entry(None)?.costs.total;
        let tried =
            lab.compile((made, schedule), &format!("{}-{}-{i}", plan.name, target.name), code)?;
        let (verdict, reason, seconds, proof) = match lab.prove(&tried, limit) {
            Ok(proof) if proof.report.is_proved() => {
                (proof.verdict(), String::new(), proof.seconds(), proof.report.counts)
            }
            Ok(proof) => (proof.verdict(), unproved(&proof), proof.seconds(), proof.report.counts),
            Err(e) => {
                let place = e.excerpt.map_or(String::new(), |place| format!(": {}", place.label));
                ("unknown".into(), e.message + &place, 0.0, Default::default())
            }
        };
        let proved = verdict == "proved";
        if !proved && i > 0 {
            break;
        }
        line.schedule = (i > 0).then(|| "reduce = \"montgomery\"".to_owned());
        (line.verdict, line.reason, line.seconds) = (verdict, reason, tenth(seconds));
        (line.code_bytes, line.stack_bytes) = (proof.code_bytes, proof.stack_bytes);
        line.multiplications = counts.multiplies;
        line.additions = counts.additions;
        line.reductions = counts.reductions + counts.narrowings + counts.freezes;
        line.shuffles = counts.shuffles;
        line.operations = counts.arithmetic() + counts.loads + counts.stores;
        best = Some(tried);
        if proved {
            break;
        }
    }
    Ok((line, best))
}

/// The moduli that a plan computes with: those that it changes to, or the ring's.
fn moduli(plan: &Plan) -> Vec<u64> {
    fn inside(node: &dyn Product) -> Option<Vec<u64>> {
        if let Some(change) = node.as_method::<ChangeModulus>() {
            return Some(change.moduli.clone());
        }
        if let Some(lift) = node.as_method::<Lift>() {
            return inside(lift.inner.as_ref());
        }
        node.as_method::<MonomialCrt>().and_then(|crt| inside(crt.main.as_ref()))
    }
    inside(plan.root.as_ref()).unwrap_or_else(|| vec![plan.ring.q()])
}

/// Lengths of transforms times sizes of base products, as far as the tree has them.
fn shape(node: &dyn Product) -> String {
    if let Some(lift) = node.as_method::<Lift>() {
        return shape(lift.inner.as_ref());
    }
    if let Some(change) = node.as_method::<ChangeModulus>() {
        let mut all: Vec<String> = change.inner.iter().map(|part| shape(part.as_ref())).collect();
        all.dedup();
        return all.join(", ");
    }
    if let Some(crt) = node.as_method::<MonomialCrt>() {
        return format!("{} + x^{}", shape(crt.main.as_ref()), crt.low_degree);
    }
    if let Some(part) = node.as_method::<Substitute>() {
        return format!("{} × {}", part.blocks(), part.k);
    }
    if let Some(ntt) = node.as_method::<Ntt>() {
        return format!("{} × {}", ntt.len() / ntt.degree(), ntt.degree());
    }
    match node.as_method::<ToeplitzMatrix>() {
        Some(matrix) => format!("Toeplitz matrix of {}", matrix.size),
        None => node.name().to_owned(),
    }
}

fn print(plans: &Plans, markdown: bool) -> Table {
    let mut table = Table::new();
    table.load_preset(if markdown { ASCII_MARKDOWN } else { UTF8_BORDERS_ONLY });
    table.set_header([
        "plan",
        "for",
        "target",
        "moduli",
        "transform",
        "base products",
        "mul",
        "add",
        "reduce",
        "shuffle",
        "code",
        "stack",
        "verdict",
        "min",
        "median",
        "of peer",
    ]);
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.0}"));
    let size = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    for line in &plans.plans {
        let moduli: Vec<String> = line.moduli.iter().map(u64::to_string).collect();
        let noisy = if line.noisy { " (noisy)" } else { "" };
        table.add_row([
            line.plan.clone(),
            line.operands.clone(),
            line.target.clone(),
            moduli.join(", "),
            line.transform.clone(),
            line.base_products.to_string(),
            size(line.multiplications),
            size(line.additions),
            size(line.reductions),
            size(line.shuffles),
            size(line.code_bytes),
            size(line.stack_bytes),
            match line.verdict.as_str() {
                "no program" => line.verdict.clone(),
                verdict => format!("{verdict}, {:.1} s", line.seconds),
            },
            number(line.min),
            number(line.median) + noisy,
            line.of_peer.map_or(String::new(), |ratio| format!("{ratio:.2}")),
        ]);
    }
    for peer in &plans.peers {
        let mut row = vec![peer.name.clone(), peer.operands.clone()];
        row.resize(13, String::new());
        let noisy = if peer.noisy { " (noisy)" } else { "" };
        row.extend([format!("{:.0}", peer.min), format!("{:.0}{noisy}", peer.median)]);
        row.push(String::new());
        table.add_row(row);
    }
    for index in (5..12).chain(13..16) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Operations against cycles.
fn picture(plans: &Plans) -> String {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let series: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| plans.plans.iter().any(|line| line.target == *name))
        .collect();
    let point = |line: &Line| {
        let median = line.median?;
        let proved = if line.verdict == "proved" { "" } else { ", not proved" };
        Some(draw::Point {
            name: format!("{}, {}{proved}: {median:.0}", line.plan, line.target),
            series: series.iter().position(|name| *name == line.target)?,
            x: line.operations as f64,
            y: median,
        })
    };
    let points: Vec<draw::Point> = plans.plans.iter().filter_map(point).collect();
    let caption = format!("Plans for {}, {}", plans.ring, plans.operands);
    draw::scatter(&points, &series, ["operations on registers", "core cycles, median"], &caption)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_say_their_moduli_and_lengths() {
        let say = |name: &str| {
            let plan = Plan::find(name).unwrap();
            (moduli(&plan), shape(plan.root.as_ref()))
        };
        assert_eq!(say("sntrup761"), (vec![4591], "90 × 16 + x^81".into()));
        assert_eq!(say("sntrup761-two-prime"), (vec![2017, 2113], "96 × 16".into()));
        assert_eq!(say("mlkem"), (vec![3329], "128 × 2".into()));
        let (moduli, shape) = say("ntruhps2048677-toom");
        assert_eq!((moduli, shape.as_str()), (vec![2048], "Toeplitz matrix of 704"));
    }
}
