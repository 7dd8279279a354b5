//! Where a processor's ports are busy: a row for each stage, a bar for each port, as the simulation has it.

use super::{Anchor, SIDE, Sheet, grouped, typeset, width};
use crate::simulate::StageUse;
use ringforge_targets::Processor;

const ROW: f64 = 25.0;
const TOP: f64 = 96.0;
/// One port's column, and the bar of a port that is always busy.
const COLUMN: f64 = 62.0;
const BAR: f64 = 46.0;
/// From this share on a port is what a stage waits for.
const BUSY: f64 = 0.85;

/// A port: its name, how often a stage used it, and how often it could be used in a cycle.
struct Port {
    name: String,
    used: Box<dyn Fn(&StageUse) -> u64>,
    each: u32,
}

fn ports(processor: &Processor, units: usize) -> Vec<Port> {
    let unit = |u: usize| Port {
        name: format!("unit {u}"),
        used: Box::new(move |s: &StageUse| s.units.get(u).copied().unwrap_or(0)),
        each: 1,
    };
    let mut ports: Vec<Port> = (0..units).map(unit).collect();
    ports.push(Port { name: "loads".into(), used: Box::new(|s| s.loads), each: processor.loads });
    ports.push(Port {
        name: "stores".into(),
        used: Box::new(|s| s.stores),
        each: processor.stores,
    });
    ports.push(Port {
        name: "entry".into(),
        used: Box::new(|s| s.instructions),
        each: processor.dispatch,
    });
    ports
}

/// The stages of a program on a processor; `caption` is the sentence above them.
pub fn ports_by_stage(stages: &[StageUse], processor: &Processor, caption: &str) -> String {
    // The procedures of both operands count as one row.
    let mut rows: Vec<(String, StageUse)> = Vec::new();
    for stage in stages {
        let title = stage.path.last().cloned().unwrap_or_else(|| "outside all stages".into());
        match rows.iter_mut().find(|(known, _)| *known == title && stage.path.len() > 1) {
            Some((_, sum)) => add(sum, stage),
            None => rows.push((title, stage.clone())),
        }
    }
    let mut total = StageUse::default();
    rows.iter().for_each(|(_, stage)| add(&mut total, stage));
    let ports = ports(processor, total.units.len());
    rows.push(("in all".into(), total));
    let labels = rows.iter().map(|(t, _)| width(&typeset(t), 12.0)).fold(180.0, f64::max);
    let left = SIDE + labels.min(430.0) + 70.0;
    let full = left + COLUMN * ports.len() as f64 + SIDE;
    let bottom = TOP + ROW * rows.len() as f64;
    let mut sheet = Sheet::new();
    sheet.title(caption);
    let said =
        "Bars: how much of its cycles a stage keeps each port busy; a full column is all of them.";
    sheet.text(SIDE, 52.0, "small note", Anchor::Start, said);
    sheet.text(left - 16.0, TOP - 12.0, "small note", Anchor::End, "cycles");
    for (k, port) in ports.iter().enumerate() {
        let x = left + COLUMN * k as f64;
        sheet.text(x, TOP - 12.0, "small note", Anchor::Start, &port.name);
    }
    for (i, (title, stage)) in rows.iter().enumerate() {
        let y = TOP + ROW * i as f64 + ROW / 2.0;
        let class = if i + 1 == rows.len() { "head" } else { "" };
        sheet.text(SIDE, y + 4.0, class, Anchor::Start, &typeset(title));
        sheet.text(left - 16.0, y + 4.0, "number note", Anchor::End, &grouped(stage.cycles));
        for (k, port) in ports.iter().enumerate() {
            let x = left + COLUMN * k as f64;
            let room = stage.cycles * u64::from(port.each);
            let share = ((port.used)(stage) as f64 / room.max(1) as f64).min(1.0);
            let colour = if share >= BUSY { "c2" } else { "c0" };
            sheet.rect(x, y - 6.5, BAR, 13.0, "faint-fill", 2.0);
            sheet.rect(x, y - 6.5, BAR * share, 13.0, colour, 2.0);
        }
    }
    let note = format!("In the other colour: at least {:.0} % of the time.", 100.0 * BUSY);
    sheet.text(SIDE, bottom + 22.0, "small note", Anchor::Start, &note);
    let said = width(&typeset(caption), 17.0).max(width(said, 11.0)) + 2.0 * SIDE;
    sheet.finish(full.max(said), bottom + 38.0, caption)
}

fn add(sum: &mut StageUse, stage: &StageUse) {
    sum.units.resize(sum.units.len().max(stage.units.len()), 0);
    sum.units.iter_mut().zip(&stage.units).for_each(|(s, x)| *s += x);
    sum.cycles += stage.cycles;
    sum.instructions += stage.instructions;
    sum.loads += stage.loads;
    sum.stores += stage.stores;
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_targets::ZEN4;

    #[test]
    fn busy_ports_are_told_from_others() {
        let stage = |title: &str, unit: u64| StageUse {
            path: vec!["whole".into(), title.into()],
            cycles: 100,
            instructions: 200,
            units: vec![unit, 10],
            loads: 0,
            stores: 0,
        };
        let svg = ports_by_stage(&[stage("one", 90), stage("two", 20)], &ZEN4, "c");
        let bars = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
        // Two stages and their sum, five ports; one unit of one stage is busy nine tenths of the time.
        assert_eq!((bars("c2"), bars("c0"), bars("faint-fill")), (1, 14, 15));
        assert!(svg.contains(">200<"), "the sum of the cycles");
    }
}
