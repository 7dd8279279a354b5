//! The library's multipliers. They are forged for its rings and wrapped: external names get its
//! prefix, static names get their own, so all of them fit into one source.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::args::Subject;
use crate::make;
use crate::preset;
use crate::target::{self, Target};
use crate::ui::Failure;

/// One source of lib/generated.
pub struct Multiplier {
    /// Its name: `sntrup761_c`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its external functions with their contracts, without the prefix.
    pub functions: Vec<(String, String)>,
}

/// A line of lib/generated/multipliers.txt.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    name: &'a str,
    ring: &'a str,
    /// `PLAN` for portable C and AVX2, and `TARGET:PLAN` for one target.
    plans: Vec<&'a str>,
}

/// The targets that a plan without a target's name is for.
const GENERAL: [&str; 2] = ["c", "avx2"];

impl<'a> Line<'a> {
    /// All lines of the table.
    pub fn all(table: &'a str) -> Vec<Line<'a>> {
        let words = |line: &'a str| line.split_whitespace().collect::<Vec<_>>();
        table
            .lines()
            .filter_map(|line| match words(line)[..] {
                [name, ring, ref plans @ ..] if !name.starts_with('#') && !plans.is_empty() => {
                    Some(Line { name, ring, plans: plans.to_vec() })
                }
                _ => None,
            })
            .collect()
    }

    /// The plan for a target, where the library has one for it.
    pub fn plan(&self, target: &str) -> Option<&'a str> {
        let own = self.plans.iter().filter_map(|plan| plan.split_once(':'));
        let mut own = own.filter(|&(of, _)| of == target).map(|(_, plan)| plan);
        let any = |plan: &&&str| GENERAL.contains(&target) && !plan.contains(':');
        own.next().or_else(|| self.plans.iter().find(any).copied())
    }

    /// The targets that some of these lines have plans for.
    pub fn targets(lines: &[Line<'a>]) -> Vec<&'a str> {
        let mut all = GENERAL.to_vec();
        for (of, _) in lines.iter().flat_map(|line| &line.plans).filter_map(|p| p.split_once(':')) {
            if !all.contains(&of) {
                all.push(of);
            }
        }
        all
    }

    /// Whether the KEM of this name alone multiplies by it.
    pub fn is_of(&self, kem: &str) -> bool {
        self.name == kem
    }

    /// The macro that says whether the library needs it. Only Streamlined NTRU Prime multiplies big
    /// by big, for batches of keys.
    pub fn condition(&self) -> String {
        match self.name.strip_suffix("_big") {
            Some(ring) => format!("RINGFORGE_ENABLE_{}", ring.to_uppercase()),
            None => format!("RF_NEED_{}", self.name.to_uppercase()),
        }
    }
}

/// The macro that says whether code for a target can be compiled; portable C always can.
fn can_compile(target: &str) -> Option<String> {
    (target != "c").then(|| format!("RF_HAVE_{}_CODE", target.to_uppercase()))
}

/// Makes multipliers for the targets that are wanted.
///
/// # Errors
/// A line of the table names no ring or plan, or the program is faulty: faults of ringforge.
pub fn make_all<'a>(lines: &'a [Line], targets: &[&'a str]) -> Result<Vec<Multiplier>, Failure> {
    let of =
        |line| move |target: &&'a str| Line::plan(line, target).map(|plan| (line, *target, plan));
    let jobs: Vec<(&Line, &str, &str)> =
        lines.iter().flat_map(|line| targets.iter().filter_map(of(line))).collect();
    let make = |(line, target, plan)| make_one(line, target::find(target)?, plan);
    jobs.into_par_iter().map(make).collect()
}

fn make_one(line: &Line, target: &'static Target, plan: &str) -> Result<Multiplier, Failure> {
    let Line { name, ring, .. } = *line;
    let subject = Subject { ring: ring.into(), plan: Some(plan.into()), lhs: None, rhs: None };
    let job = preset::resolve(&subject, target)?;
    let schedule = make::schedule(None, target, &job.plan.name)?;
    let made = make::make(&job, target, &schedule, name)?;
    // What makes the same code with everything else that `forge` does.
    let target_name = target.name;
    let command =
        format!("ringforge forge {ring} --plan={plan} --target={target_name} --name={name}");
    let text = make::source(&made, &command)?;
    let layout = made.program.transform.as_ref();
    let functions: Vec<(String, String)> = made
        .entries
        .iter()
        .map(|e| (e.signature.symbol.clone(), e.contract(name, &job.plan.ring, layout)))
        .collect();
    let symbols: Vec<&str> = functions.iter().map(|f| f.0.as_str()).collect();
    let name = format!("{name}_{}", target.name);
    let guard = match can_compile(target.name) {
        None => line.condition(),
        Some(code) => format!("{} && {code}", line.condition()),
    };
    let text = wrap(&text, &name, &guard, &symbols);
    Ok(Multiplier { name, text, functions })
}

/// The names that a source of the forge gives to static things and types, and to macros.
fn own_names(text: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut statics, mut macros) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("#define ") {
            macros.insert(rest.split(|c| !word(c)).next().unwrap_or(""));
        } else if let Some(rest) = line.strip_prefix("static ") {
            let head = rest.split(['[', '(', '=', ';']).next().unwrap_or("").trim_end();
            statics.extend(head.rsplit(|c| !word(c)).next());
        } else if let Some(rest) = line.strip_prefix("typedef ") {
            let head = rest.split(" __attribute__").next().unwrap_or("").trim_end_matches(';');
            statics.extend(head.rsplit(|c| !word(c)).next());
        }
    }
    statics.remove("");
    (statics, macros)
}

fn wrap(text: &str, name: &str, guard: &str, symbols: &[&str]) -> String {
    let (statics, macros) = own_names(text);
    let mut out = format!("#include \"../src/common/common.h\"\n#if {guard}\n");
    for symbol in symbols {
        out += &format!("#define {symbol} RF_NS({symbol})\n");
    }
    for own in &statics {
        out += &format!("#define {own} rf_{name}_{own}\n");
    }
    // What a file asks of the optimiser is for itself.
    let kept = text.contains("#pragma GCC optimize");
    let pragma = |what: &str| {
        format!(
            "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC {what}_options\n#endif\n"
        )
    };
    if kept {
        out += &pragma("push");
    }
    out += text.trim_end();
    out += "\n";
    if kept {
        out += &pragma("pop");
    }
    for own in statics.iter().chain(&macros).copied().chain(symbols.iter().copied()) {
        out += &format!("#undef {own}\n");
    }
    out + "#endif\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_file_gets_its_own() {
        let text = "#define TARGET x\ntypedef int32_t pair __attribute__((may_alias));\n\
                    static const int16_t k[3] = {1, 2, 3};\nTARGET static inline int16_t add(int16_t a)\n\
                    static int16_t sub(int16_t a)\nvoid r_mul_c(int16_t *c)\n";
        let (statics, macros) = own_names(text);
        assert_eq!(statics.into_iter().collect::<Vec<_>>(), ["k", "pair", "sub"]);
        assert_eq!(macros.into_iter().collect::<Vec<_>>(), ["TARGET"]);
        let wrapped = wrap(text, "r_c", "RF_NEED_R", &["r_mul_c"]);
        assert!(wrapped.contains("#define k rf_r_c_k\n"), "{wrapped}");
        assert!(wrapped.contains("#define r_mul_c RF_NS(r_mul_c)\n"), "{wrapped}");
        assert!(wrapped.ends_with("#undef TARGET\n#undef r_mul_c\n#endif\n"), "{wrapped}");
    }

    #[test]
    fn lines_say_what_they_are_needed_for() {
        let lines = Line::all(
            "# a comment\nsntrup953_big sntrup953 sntrup953-three-prime\nmlkem mlkem mlkem\n",
        );
        let conditions: Vec<String> = lines.iter().map(Line::condition).collect();
        assert_eq!(conditions, ["RINGFORGE_ENABLE_SNTRUP953", "RF_NEED_MLKEM"]);
    }

    #[test]
    fn targets_have_plans_of_their_own() {
        let lines = Line::all("a r all c:other\nb r c:other neon:third\nwithout r\n");
        let targets = ["c", "avx2", "neon", "m4"];
        let plans = |line: &Line| targets.map(|target| line.plan(target).map(str::to_owned));
        let some = |plan: &str| Some(plan.to_owned());
        assert_eq!(lines.len(), 2);
        // A plan without a name is not for targets that few lines have plans for.
        assert_eq!(plans(&lines[0]), [some("other"), some("all"), None, None]);
        assert_eq!(plans(&lines[1]), [some("other"), None, some("third"), None]);
        assert_eq!(Line::targets(&lines), ["c", "avx2", "neon"]);
        assert_eq!(Line::targets(&lines[..1]), GENERAL);
    }

    #[test]
    fn code_for_a_machine_is_compiled_where_it_can_be() {
        let macros = ["c", "avx2", "neon"].map(can_compile);
        assert_eq!(
            macros,
            [None, Some("RF_HAVE_AVX2_CODE".into()), Some("RF_HAVE_NEON_CODE".into())]
        );
    }
}
