//! Size as an objective besides cycles: bytes of code and constants, and the fastest of what fits.

use std::cmp::Ordering;
use std::str::FromStr;

use object::{Object, ObjectSection, SectionFlags, elf::SHF_ALLOC};
use ringforge_plan::{Candidate, Plan};
use ringforge_toolchain::Scratch;

use crate::choose::Chooser;
use crate::modelled::Modelled;
use crate::preset;
use crate::target::Target;
use crate::trial::{Builder, Tried};
use crate::ui::Failure;

/// Bytes of code and constants that an object may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let (digits, unit) = match text.strip_suffix(['K', 'k']) {
            Some(digits) => (digits, 1024),
            None => (text, 1),
        };
        let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
        bytes.filter(|&bytes| bytes > 0).map(Size).ok_or_else(|| {
            "a size is a number of bytes such as 20480, or 20K for 1024 of each".into()
        })
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 % 1024 {
            0 => write!(f, "{}K", self.0 / 1024),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// Bytes of an object that are in memory when it runs: code and constants, but not what is zero at
/// first.
///
/// # Errors
/// It is not an object file.
pub fn loaded(bytes: &[u8]) -> Result<u64, Failure> {
    let file = object::File::parse(bytes)
        .map_err(|e| Failure::failed(format!("the object cannot be read again: {e}")))?;
    let kept = file.sections().filter(|section| {
        let allocated = match section.flags() {
            SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & SHF_ALLOC.0 != 0,
            _ => false,
        };
        allocated && section.file_range().is_some()
    });
    Ok(kept.map(|section| section.size()).sum())
}

/// The most bytes that entry points take in addition to what was tried.
const ENTRIES: u64 = 64;

/// One that was made.
struct Made {
    plan: Plan,
    level: &'static str,
    bytes: u64,
    /// Model cycles, where they can be counted.
    cycles: Option<f64>,
}

/// The plan and the level of optimisation that are fastest within a size: by model cycles if these
/// are counted, otherwise in the order of the plans' costs.
///
/// # Errors
/// None is small enough: what the smallest takes.
pub fn choose(
    chooser: &Chooser,
    target: &'static Target,
    size: Size,
) -> Result<(Plan, &'static str), Failure> {
    let mut plans: Vec<Plan> = match &chooser.wanted.plan {
        Some(plan) => vec![plan.clone()],
        None => {
            let all = preset::all(chooser.wanted, target)?;
            all.into_iter().map(|Candidate { plan, .. }| plan).collect()
        }
    };
    plans.truncate(usize::from(chooser.args.tries));
    let mut all = Vec::new();
    let bar = chooser.ui.bar("sizes", (plans.len() * target.machine.levels.len()) as u64);
    let mut refused = None;
    for plan in plans {
        for level in target.machine.levels {
            bar.set_message(format!("{} {level}", plan.name));
            match try_one(chooser, target, &plan, level) {
                Ok(one) => all.push(one),
                Err(why) => refused = Some(why),
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    for one in &all {
        let cycles = one.cycles.map_or(String::new(), |c| format!(", {c:.0} model cycles"));
        let (plan, level, bytes) = (&one.plan.name, one.level, one.bytes);
        chooser.ui.say(format!("{plan} by {level}: {bytes} bytes of code and constants{cycles}"));
    }
    let Some(least) = all.iter().map(|one| one.bytes).min() else {
        return Err(refused.unwrap_or_else(|| Failure::input("no plan applies")));
    };
    let faster = |a: &Made, b: &Made| match (a.cycles, b.cycles) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => Ordering::Equal,
    };
    let best = all.into_iter().filter(|one| one.bytes <= size.0).min_by(faster);
    best.map(|one| (one.plan, one.level)).ok_or_else(|| {
        // Entry points come to it.
        let enough = Size((least + ENTRIES).next_multiple_of(1024));
        Failure::input(format!(
            "nothing that was tried for target `{}` fits in {size}: the smallest has {least} bytes of code and \
             constants; --size {enough}, or --try N for more plans",
            target.name
        ))
    })
}

fn try_one(
    chooser: &Chooser,
    target: &'static Target,
    plan: &Plan,
    level: &'static str,
) -> Result<Made, Failure> {
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let Chooser { ui, compiler, wanted, .. } = *chooser;
    let builder = Builder { ui, compiler, opt: level, ring: &wanted.ring, scratch };
    let path = chooser.args.make.schedule.as_deref();
    let schedule = crate::make::schedule(path, target, &plan.name)?;
    let made = builder.program(target, &schedule, plan.clone())?;
    let code = Builder::code(&made)?;
    let Tried { made, object, .. } = builder.compile((made, schedule), "sized", code)?;
    let bytes =
        std::fs::read(&object).map_err(|e| Failure::failed(format!("the object is gone: {e}")))?;
    let signature = &made.entry(None)?.signature;
    let modelled = Modelled::of(compiler, &[&object], signature)?;
    Ok(Made {
        plan: plan.clone(),
        level,
        bytes: loaded(&bytes)?,
        cycles: modelled.map(|modelled| modelled.model_cycles),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_units_of_1024() {
        assert_eq!("20K".parse(), Ok(Size(20_480)));
        assert_eq!("20480".parse::<Size>().map(|size| size.to_string()), Ok("20K".into()));
        assert_eq!("1000".parse::<Size>().map(|size| size.to_string()), Ok("1000".into()));
        for wrong in ["", "K", "0", "-1", "20M", "1.5K", "99999999999999999999K"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }
}
