//! `ringforge bench RING --plans …`: compares the plans of a ring in one table: what each does,
//! whether it is proved, and how long it takes. It also draws operations against cycles.

mod table;

use std::time::Duration;

use ringforge_plan::Plan;
use ringforge_targets::nearest;
use ringforge_toolchain::timing::{Candidate, Settings, Timing};
use ringforge_toolchain::{Compiler, Host, Scratch, replace_file};

use crate::args::Bench;
use crate::bench;
use crate::explain::simulation;
use crate::package::Tool;
use crate::peers::{self, Built};
use crate::preset::{self, Wanted, listed_plan, wanted};
use crate::target::{self, Target};
use crate::trial::{Builder, Tried, timed, unproved};
use crate::ui::{Failure, Ui};

use ringforge_interpret::draw::Undrawn;
use table::{Line, PeerLine, Plans, picture, print, saved, simulated};

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
        let undrawn = |e: Undrawn| Failure::failed(e.to_string());
        let pictures = [("plans.svg", picture(&table).map_err(undrawn)?)];
        let simulated = simulated(&table).map_err(undrawn)?.map(|p| ("simulated.svg", p));
        for (name, content) in files.into_iter().chain(pictures).chain(simulated) {
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
    for line in &table.plans {
        for note in &line.notes {
            ui.say(format!("{}, {}: differs from the plan: {note}", line.plan, line.target));
        }
    }
    ui.say(format!(
        "{} ({}); core cycles of one product, calibrated; {} fresh copies of {} samples, interleaved",
        table.processor, table.model, table.copies, table.samples
    ));
    for line in simulated_on(&table) {
        ui.say(line);
    }
    Ok(0)
}

/// The plans that are named, or all. All are those that come with ringforge for the ring and its
/// operands, or if there are none, those that `forge` would try.
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
    Ok(preset::all(wanted, target::fastest(&args.target)?)?
        .into_iter()
        .take(8)
        .map(|candidate| candidate.plan)
        .collect())
}

fn measured(ui: &Ui, args: &Bench, wanted: &Wanted) -> Result<Plans, Failure> {
    let plans = chosen(args, wanted)?;
    let compilers = bench::compilers(&args.cc)?;
    // One compiler for one table: clang where it is.
    let compiler: &Compiler = &compilers[compilers.len() - 1];
    let host = Host::detect();
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let builder = Builder { ui, compiler, opt: "-O3", ring: &wanted.ring, scratch };
    let targets: Vec<&'static Target> =
        target::choose(&args.target)?.into_iter().filter(|t| t.runs_on(&host)).collect();
    let mut lines = Vec::new();
    let mut candidates = Vec::new();
    let limit = Duration::from_secs(args.patience.into());
    for plan in &plans {
        for target in &targets {
            let (line, tried) = one(&builder, target, plan, limit, &host.model)?;
            if let Some(tried) = tried {
                candidates.push(builder.candidate(lines.len().to_string(), &tried)?);
            }
            lines.push(line);
        }
    }
    let mut peers = Vec::new();
    if args.peers && peers::exist(&wanted.ring) {
        peers = peers::built(ui, &wanted.ring, &args.bench_dir, compiler)?;
        let named = |(i, peer): (usize, &Built)| {
            let name = format!("peer {i}");
            Candidate { name, ..peer.candidate.clone() }
        };
        candidates.extend(peers.iter().enumerate().map(named));
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

/// For each target with simulated plans a line that says on which processor.
fn simulated_on(table: &Plans) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in table.plans.iter().filter(|line| line.simulated.is_some()) {
        let Ok(target) = target::find(&line.target) else { continue };
        let Some((processor, known)) = nearest(target.machine.simulated, &table.model) else {
            continue;
        };
        let how = if known { "" } else { ", the nearest described processor" };
        let said = format!("{}: simulated on {}{how}", target.name, processor.name);
        if !lines.contains(&said) {
            lines.push(said);
        }
    }
    lines
}

fn tenth(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

fn peer_line(peer: &Built, timing: Timing) -> PeerLine {
    PeerLine {
        name: peer.candidate.name.clone(),
        operands: peer.operands.clone(),
        compiled: peer.compiled.clone(),
        min: tenth(timing.min),
        median: tenth(timing.median),
        noisy: timing.noisy,
    }
}

/// Makes and proves one plan for one target, and simulates it on the processor that is nearest to `model`.
fn one(
    builder: &Builder,
    target: &'static Target,
    plan: &Plan,
    limit: Duration,
    model: &str,
) -> Result<(Line, Option<Tried>), Failure> {
    let [a, b] = plan.operands;
    let mut line = Line {
        plan: plan.name.clone(),
        cite: plan.cite.clone(),
        operands: format!("{a} × {b}"),
        target: target.name.into(),
        compiled: format!("{} {}", bench::short(builder.compiler), builder.opt),
        schedule: None,
        moduli: plan.moduli(),
        transform: plan.root.shape(),
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
        notes: Vec::new(),
        min: None,
        median: None,
        simulated: None,
        noisy: false,
        of_peer: None,
    };
    let mut best = None;
    for (i, schedule) in Builder::schedules(target, plan)?.into_iter().enumerate() {
        let made = builder.program(target, &schedule, plan.clone());
        let (code, made) = match made.and_then(|made| Ok((Builder::code(&made)?, made))) {
            Ok(both) => both,
            Err(e) if i == 0 => {
                let why = e.message.split_once("`: ").map(|(_, why)| why.to_owned());
                line.reason = why.unwrap_or(e.message);
                return Ok((line, None));
            }
            Err(_) => break,
        };
        let counts = made.entry(None)?.costs.total;
        line.simulated = match nearest(target.machine.simulated, model) {
            Some((processor, _)) => Some(simulation(&made, made.entry(None)?, processor)?.cycles),
            None => None,
        };
        line.notes.clone_from(&made.notes);
        let tried = builder.compile(
            (made, schedule),
            &format!("{}-{}-{i}", plan.name, target.name),
            code,
        )?;
        let (verdict, reason, seconds, proof) = match builder.prove(&tried, limit) {
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
