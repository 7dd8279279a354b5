//! `ringforge explain`: what a plan does, stage by stage.

mod settled;

use comfy_table::{CellAlignment, Table, presets::UTF8_BORDERS_ONLY};
use ringforge_interpret::count::{Costs, Counts};
use ringforge_interpret::range::{Interval, Ranges};
use ringforge_interpret::simulate::{Simulated, simulate};
use ringforge_targets::Processor;

use crate::args::{Explain, View};
use crate::entry::Entry;
use crate::make::{self, Made};
use crate::preset::resolve;
use crate::target::{self, Target};
use crate::ui::{self, Failure, Ui};
use crate::{picture, placement, views};

/// Runs the command.
///
/// # Errors
/// Bad input.
pub fn run(ui: &Ui, args: &Explain) -> Result<u8, Failure> {
    if let Some(path) = &args.placement {
        return placement::explain(ui, args, path);
    }
    let target = target::find(&args.target)?;
    let mut job = resolve(&args.subject, target)?;
    let schedule = make::schedule(args.schedule.as_deref(), target, &job.plan.name)?;
    if args.subject.plan.is_none()
        && let Some(plan) = placement::plan(&schedule, &job.plan.ring)?
    {
        job.plan = plan;
    }
    // The tree alone needs no program, and plans without one can be looked at.
    let tree_only = matches!(args.view, View::Tree | View::Svg | View::ButterfliesSvg) && !ui.json;
    let made = match tree_only {
        true => None,
        false => {
            let made = make::make(&job, target, &schedule, &job.name);
            if made.is_err() {
                settled::say_refused(ui, (&job.plan, target), &schedule);
            }
            Some(made?)
        }
    };
    let entry = match &made {
        Some(made) => Some((made, made.entry(args.entry.as_deref())?)),
        None => None,
    };
    let tree = job.plan.tree();
    let processor = processor(target, args.processor.as_deref())?;
    let simulated = match (entry, processor) {
        (Some((made, entry)), Some(processor))
            if ui.json || matches!(args.view, View::All | View::Counts) =>
        {
            Some((processor.name, simulation(made, entry, processor)?))
        }
        _ => None,
    };
    ui.json(&serde_json::json!({
        "ring": job.plan.ring.to_string(),
        "plan": job.plan.to_string(),
        "tree": tree,
        "notes": entry.map(|(m, _)| &m.notes),
        "sites": entry.map(|(m, _)| &m.sites),
        "target": target.name,
        "schedule": made.as_ref().map(|made| &made.schedule),
        "entry": entry.map(|(_, e)| &e.procedure),
        "ranges": entry.map(|(_, e)| &e.ranges),
        "counts": entry.map(|(_, e)| &e.costs),
        "simulated": simulated.as_ref().map(|(processor, simulated)| {
            serde_json::json!({ "processor": processor, "cycles": simulated.cycles, "instructions": simulated.instructions })
        }),
    }))?;
    let all = args.view == View::All;
    if let (Some(made), View::All | View::Schedule) = (&made, args.view) {
        settled::say(ui, made);
    }
    if args.view == View::Schedule {
        settled::say_all(ui, (&job.plan, target), &schedule)?;
    }
    if all || args.view == View::Tree {
        ui.say(tree.to_text());
    }
    if let (Some((made, _)), View::All | View::Ranges | View::Counts) = (entry, args.view) {
        for note in &made.notes {
            ui.say(format!("\nTarget {}, {note}.", made.target.name));
        }
    }
    match (entry, args.view) {
        (_, View::Svg) => ui.say(picture::tree(&job.plan)),
        (_, View::ButterfliesSvg) => match picture::butterflies(&job.plan) {
            Some(picture) => ui.say(picture),
            None => {
                return Err(Failure::input(format!(
                    "plan {} has no transform that is small enough to be drawn; --as svg draws its tree",
                    job.plan.name
                )));
            }
        },
        (Some((made, entry)), View::RangesSvg) => ui.say(picture::ranges(made, entry)),
        (Some((made, entry)), View::CountsSvg) => ui.say(picture::counts(made, entry)),
        (Some((made, entry)), View::PortsSvg) => match processor {
            Some(processor) => ui.say(picture::ports(made, entry, processor)?),
            None => return Err(not_simulated(made.target)),
        },
        (Some((_, entry)), View::Ranges) => say_ranges(ui, entry),
        (Some((_, entry)), View::Counts) => {
            say_counts(ui, entry);
            say_simulated(ui, simulated.as_ref());
        }
        (Some((made, entry)), View::Run) => views::sample(ui, made, entry, &job.plan.ring)?,
        (Some((made, entry)), View::Formula) => views::formulas(ui, made, entry, &job.plan.ring)?,
        (Some((made, _)), View::C) => ui.say(make::source(made, "ringforge explain --as c")?),
        (Some((_, entry)), View::Ocaml) => match ringforge_interpret::ocaml::text(&entry.program) {
            Some(text) => ui.say(text),
            None => return Err(Failure::failed("the program exports no procedure")),
        },
        (Some((_, entry)), View::All) => {
            say_ranges(ui, entry);
            say_counts(ui, entry);
            say_simulated(ui, simulated.as_ref());
        }
        _ => {}
    }
    Ok(0)
}

fn say_ranges(ui: &Ui, entry: &Entry) {
    ui.say(format!("\nRanges by stage of {}, proven for the program:", entry.signature.symbol));
    ui.say(range_table(&entry.ranges).to_string());
}

fn not_simulated(target: &Target) -> Failure {
    Failure::input(format!(
        "no processor model simulates target {}; --target avx2 has one",
        target.name
    ))
}

/// The processor on which a target's programs are simulated: the named one, or else the target's
/// first. None for targets without processors.
///
/// # Errors
/// The target has none of that name.
fn processor(target: &Target, name: Option<&str>) -> Result<Option<&'static Processor>, Failure> {
    let all = target.machine.simulated;
    let Some(name) = name else { return Ok(all.first().copied()) };
    let found = all.iter().find(|p| p.key() == name || p.name == name);
    if let Some(processor) = found {
        return Ok(Some(processor));
    }
    if all.is_empty() {
        return Err(not_simulated(target));
    }
    let known: Vec<String> = all.iter().map(|p| p.key()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let what = format!("simulated {} processor", target.name);
    Err(Failure::input(format!("--processor: {}", ui::unknown(&what, name, &known))))
}

/// What an entry point takes by simulation on a processor.
///
/// # Errors
/// The program exports nothing: a fault of ringforge.
pub fn simulation(made: &Made, entry: &Entry, processor: &Processor) -> Result<Simulated, Failure> {
    simulate(&entry.program, made.target.machine, processor)
        .map_err(|e| Failure::failed(format!("cannot simulate {}: {e}", entry.procedure)))
}

fn say_simulated(ui: &Ui, simulated: Option<&(&'static str, Simulated)>) {
    if let Some((processor, Simulated { cycles, instructions })) = simulated {
        ui.say(format!(
            "Simulated on {processor}: {cycles} cycles, {instructions} instructions; effects of the compiler and of other load are not included."
        ));
    }
}

fn say_counts(ui: &Ui, entry: &Entry) {
    ui.say(format!(
        "\nOperations by stage of {}, in registers of {} words:",
        entry.signature.symbol, entry.costs.lanes
    ));
    ui.say(count_table(&entry.costs).to_string());
}

fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |(low, high)| format!("[{low}, {high}]"))
}

fn range_table(ranges: &Ranges) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    table.set_header(["stage", "leaves", "16-bit values", "32-bit values", "of a word", "source"]);
    for (name, range) in &ranges.inputs {
        table.add_row([format!("input {name}"), interval(Some(*range)), String::new()]);
    }
    for stage in &ranges.stages {
        table.add_row([
            title(&stage.path),
            interval(stage.stored),
            interval(stage.words),
            interval(stage.elements),
            format!("{:.0} %", 100.0 * stage.fill),
            stage.cite.clone(),
        ]);
    }
    for (name, range) in &ranges.outputs {
        table.add_row([format!("output {name}"), interval(Some(*range)), String::new()]);
    }
    align_right(&mut table, 1..5);
    table
}

fn count_table(costs: &Costs) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    table.set_header([
        "stage",
        "products",
        "reductions",
        "freezes",
        "multiplies",
        "additions",
        "logic",
        "shuffles",
        "loads",
        "stores",
    ]);
    let row = |name: String, c: &Counts| {
        let numbers = [
            c.modular_products + c.word_products,
            c.reductions + c.narrowings,
            c.freezes,
            c.multiplies,
            c.additions,
            c.logic,
            c.shuffles,
            c.loads,
            c.stores,
        ];
        std::iter::once(name).chain(numbers.map(|n| n.to_string())).collect::<Vec<_>>()
    };
    for stage in &costs.stages {
        table.add_row(row(title(&stage.path), &stage.counts));
    }
    table.add_row(row("total".into(), &costs.total));
    align_right(&mut table, 1..10);
    table
}

fn title(path: &[String]) -> String {
    match path.split_last() {
        None => "(outside stages)".into(),
        Some((last, outer)) => format!("{}{last}", "  ".repeat(outer.len())),
    }
}

fn align_right(table: &mut Table, columns: std::ops::Range<usize>) {
    for index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
