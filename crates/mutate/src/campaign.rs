//! A whole run: from a program or an object to the summary.

use crate::harness::{Emitted, Harness, Settings, Trial};
use crate::judge::Judge;
use crate::mutant::{Class, Mutant, Mutants};
use crate::native::{Native, Product};
use crate::object::Layout;
use crate::summary::Summary;
use crate::{code_mutants, program_mutants, source_mutants, table_mutants, terms};
use ringforge_toolchain::{Compiler, Scratch};

/// What is mutated.
pub struct Subject<'a> {
    /// What it computes.
    pub product: Product,
    /// The original's object.
    pub object: Vec<u8>,
    /// The source that the object was compiled from, if mutants of the source are wanted.
    pub source: Option<String>,
    /// The program that the source was emitted from, with the emitter, if its mutants are
    /// wanted.
    pub program: Option<Emitted<'a>>,
    /// The compiler of the source.
    pub compiler: &'a Compiler,
    /// Its flags.
    pub flags: Vec<String>,
}

/// The number of mutants of each kind.
#[derive(Clone, Debug)]
pub struct Choice {
    /// About how many; `None` for all.
    pub count: Option<usize>,
    /// Seed of the sample and of all random inputs.
    pub seed: u64,
    /// These classes alone (all if empty).
    pub classes: Vec<Class>,
    /// Those alone whose sentence contains one of these (all if empty).
    pub only: Vec<String>,
}

impl Choice {
    fn wants(&self, mutant: &Mutant) -> bool {
        (self.classes.is_empty() || self.classes.contains(&mutant.class))
            && (self.only.is_empty() || self.only.iter().any(|part| mutant.what.contains(part)))
    }
}

/// The mutants of a subject, all of them.
///
/// # Errors
/// The object cannot be taken apart.
pub fn all_mutants(subject: &Subject<'_>) -> Result<Mutants, String> {
    let layout = Layout::parse(&subject.object).map_err(|e| e.to_string())?;
    let mut all = code_mutants(&subject.object, &layout);
    all.extend(table_mutants(&subject.object, &layout));
    if let Some((program, _)) = subject.program {
        all.extend(program_mutants(program));
    }
    if let Some(source) = &subject.source {
        let Product { symbol, ring, .. } = &subject.product;
        all.extend(source_mutants(source, symbol, ring.degree(), layout.isa));
    }
    Ok(all)
}

/// The chosen ones: every dropped reduction (unless the sample is small), the others drawn
/// evenly over the classes.
pub fn choose<'m>(all: &'m Mutants, choice: &Choice) -> Vec<&'m Mutant> {
    let wanted = |m: &&Mutant| choice.wants(m);
    let Some(count) = choice.count else {
        return all.made.iter().filter(wanted).collect();
    };
    let sampled = all.sample(count, choice.seed, &|m| wanted(&m));
    let drawn: std::collections::HashSet<*const Mutant> =
        sampled.into_iter().map(|m| m as *const Mutant).collect();
    let every = count >= 300;
    all.made
        .iter()
        .filter(wanted)
        .filter(|m| {
            (every && m.class == Class::ReductionDropped) || drawn.contains(&(*m as *const Mutant))
        })
        .collect()
}

/// Makes, chooses, judges and counts. `progress` receives how many of how many are done, and the last result.
///
/// # Errors
/// The object cannot be taken apart, or does not compute the product.
pub fn run(
    subject: &Subject<'_>,
    judge: &dyn Judge,
    choice: &Choice,
    settings: Settings,
    progress: &(dyn Fn(usize, usize, &Trial) + Sync),
) -> Result<Summary, String> {
    let all = all_mutants(subject)?;
    let chosen = choose(&all, choice);
    let dir = Scratch::new().map_err(|e| e.to_string())?;
    let path = dir.path().join("original.o");
    std::fs::write(&path, &subject.object).map_err(|e| e.to_string())?;
    let native = Native::new(subject.compiler, &subject.product, &path)?;
    let original = terms::Terms::of(&subject.object, &subject.product);
    let same_terms = |_: &[u8], mutant: &[u8]| original.as_ref().is_some_and(|t| t.same(mutant));
    let harness = Harness {
        object: &subject.object,
        compiler: subject.compiler,
        flags: &subject.flags,
        program: subject.program,
        judge,
        native: &native,
        same_terms: &same_terms,
        settings,
    };
    let total = chosen.len();
    let trials = harness.run(&chosen, &|done, trial| progress(done, total, trial));
    let whole = choice.classes.is_empty() && choice.only.is_empty();
    let not_generated = if whole { all.not_generated } else { Default::default() };
    Ok(Summary::new(trials, &not_generated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Change;

    #[test]
    fn mutants_are_chosen_by_class_and_description() {
        let mutant =
            |class, what: &str| Mutant { class, what: what.into(), change: Change::Object(vec![]) };
        let made = vec![
            mutant(Class::Logic, "f+0x4: `and` becomes `orr`"),
            mutant(Class::Logic, "f+0x8: `and` becomes `orr`"),
            mutant(Class::Rounding, "f+0x4: `sshr` becomes `srshr`"),
        ];
        let all = Mutants { made, ..Mutants::default() };
        let chosen = |count, classes: &[Class], only: &[&str]| {
            let only = only.iter().map(|part| part.to_string()).collect();
            let choice = Choice { count, seed: 1, classes: classes.to_vec(), only };
            choose(&all, &choice).len()
        };
        assert_eq!(chosen(None, &[], &[]), 3);
        assert_eq!(chosen(None, &[], &["f+0x4:"]), 2);
        assert_eq!(chosen(None, &[], &["f+0x8:", "`srshr`"]), 2);
        assert_eq!(chosen(None, &[Class::Rounding], &["f+0x8:"]), 0);
        assert_eq!(chosen(Some(9), &[Class::Logic], &["f+0x4:"]), 1);
    }
}
