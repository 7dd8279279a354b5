//! `--as PROJECT`: a KEM as one source that takes the place of a source of another project.
//!
//! What is known of such a place is its interface: the files in places/ have the project's includes,
//! switches, types and names, and the library stands between their parts. Everything else in the
//! source is static.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ringforge_toolchain::Compiler;

use crate::library::FILES;
use crate::library::evidence::{Compiled, Programs, Runs, WARNINGS};
use crate::library::multiplier::Multiplier;
use crate::library::sources::{Selection, Sources};
use crate::ui::{self, Failure};

/// A KEM in another project.
pub struct Place {
    /// The project.
    pub project: &'static str,
    /// The KEM.
    pub kem: &'static str,
    /// The first source is compiled and proved. Others say the same for other versions.
    pub sources: &'static [Source],
    /// Whether the project hashes, unless the form is the small one.
    hashes: bool,
}

/// A source that takes a place.
pub struct Source {
    /// Its name, here and there.
    pub name: &'static str,
    /// What stands around the library.
    around: &'static str,
    /// If the project includes it, what does so in tests.
    pub included_by: Option<&'static str>,
}

macro_rules! source {
    ($name:literal, $around:literal) => {
        source!($name, $around, None)
    };
    ($name:literal, $around:literal, $included_by:expr) => {
        Source {
            name: $name,
            around: include_str!(concat!("places/", $around)),
            included_by: $included_by,
        }
    };
}

/// All of them.
pub const PLACES: [Place; 4] = [
    Place {
        project: "openssh",
        kem: "sntrup761",
        sources: &[source!("sntrup761.c", "openssh_sntrup761.c")],
        hashes: true,
    },
    Place {
        project: "openssh",
        kem: "mlkem768",
        sources: &[
            source!("mlkem768.c", "openssh_mlkem768.c"),
            source!("libcrux_mlkem768_sha3.h", "openssh_mlkem768.h", Some("kex.c")),
        ],
        hashes: false,
    },
    Place {
        project: "dropbear",
        kem: "sntrup761",
        sources: &[source!("sntrup761.c", "dropbear_sntrup761.c")],
        hashes: false,
    },
    Place {
        project: "dropbear",
        kem: "mlkem768",
        sources: &[source!("mlkem768.c", "dropbear_mlkem768.c")],
        hashes: false,
    },
];

/// What a source has and its place may not call.
const PLACED: &str = "\
/* Functions of which a place calls some. */
#if defined(__GNUC__)
#define RF_PLACED __attribute__((unused)) static
#else
#define RF_PLACED static
#endif
";

/// What the small form asks of gcc, whatever the project's level. With vectors it is larger, and
/// compares addresses of buffers.
const SMALL: &str = "\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize(\"Os\")
#endif

";

/// The place of these KEMs in a project.
///
/// # Errors
/// There is no such project, or it has no place for exactly these.
pub fn find(project: &str, kems: &[String]) -> Result<&'static Place, Failure> {
    let mut projects: Vec<&str> = PLACES.iter().map(|place| place.project).collect();
    projects.dedup();
    if !projects.contains(&project) {
        let message = ui::unknown("project", project, &projects);
        return Err(Failure::input(format!("--as: {message}")));
    }
    let of_project = || PLACES.iter().filter(|place| place.project == project);
    of_project().find(|place| kems == [place.kem]).ok_or_else(|| {
        let has: Vec<&str> = of_project().map(|place| place.kem).collect();
        Failure::input(format!(
            "--as {project} is for one KEM, {}, not for {}; for other KEMs, use --prefix and --amalgamated",
            has.join(" or "),
            kems.join(", ")
        ))
    })
}

impl Place {
    /// The configuration's HASH: 0 where hashing is in the source, 2 where the project has it.
    pub fn hash(&self, small: bool) -> &'static str {
        if self.hashes && !small { "2" } else { "0" }
    }

    /// The macros of the public header that the sources use, in its stead.
    fn preamble(&self, sources: &Sources, hooks: &str) -> String {
        let sizes = format!("RINGFORGE_{}_", self.kem.to_uppercase());
        let macros = ["RINGFORGE_CONCAT", "RINGFORGE_NS", "RINGFORGE_ERR_", &sizes];
        let mut text = "/* Names of this file's own; errors; sizes in bytes. */\n\
                        #define RINGFORGE_PREFIX ringforge_\n"
            .to_owned();
        for line in sources.headers[0].1.lines() {
            let name = line.strip_prefix("#define ").unwrap_or("");
            if macros.iter().any(|start| name.starts_with(start)) {
                text += &format!("{line}\n");
            }
        }
        format!("{text}\n{PLACED}\n{hooks}")
    }

    /// The text of one of its sources.
    pub fn text(&self, source: &Source, sources: &Sources, version: &str, command: &str) -> String {
        let mut parts = source.around.split("/* @hooks */\n");
        let (before, rest) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let (hooks, functions) = rest.split_once("/* @functions */\n").unwrap_or((rest, ""));
        // Its first two lines are the licence, which all have, and what it is for.
        let mut lines = before.splitn(3, '\n').skip(1);
        let (what, start) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
        let what = what.trim_start_matches("/* ").trim_end_matches(" */").replace(". ", ".\n * ");
        let head = format!(
            "{}: {what}\n *\n * Generated by {version}; do not edit. Made with\n *   {command}",
            source.name
        );
        let all = sources.amalgamated(&head);
        let (comment, body) = all.split_once("*/\n").unwrap_or(("", &all));
        let preamble = self.preamble(sources, hooks);
        let mut body = body.replacen("#include \"ringforge_kem.h\"\n", &preamble, 1);
        for made in &sources.multipliers {
            for (symbol, _) in &made.functions {
                // What a proof is about stays a function of its own; the declaration has no body.
                let (name, alone) =
                    (format!("\nvoid {symbol}("), format!("\nRF_ALONE void {symbol}("));
                if let Some(at) = body.rfind(&name) {
                    body.replace_range(at..at + name.len(), &alone);
                }
            }
        }
        // A second declaration, behind the definition, would be under other optimiser options.
        let symbols = sources.multipliers.iter().flat_map(|made| &made.functions);
        let symbols: Vec<[String; 2]> = symbols
            .map(|(symbol, _)| {
                let (what, _) = symbol.rsplit_once('_').unwrap_or((symbol, ""));
                [format!("void RF_NS({symbol})("), format!("void RF_NS(RF_V({what}))(")]
            })
            .collect();
        let again = |line: &&str| {
            line.ends_with(");") && symbols.iter().flatten().any(|start| line.starts_with(start))
        };
        let types = ["int ", "void ", "size_t ", "uint32_t ", "RF_ALONE void "];
        let lines = body.lines().filter(|line| !again(line)).map(|line| {
            match line.strip_prefix("static inline ") {
                Some(rest) => format!("RF_PLACED inline {rest}\n"),
                None if types.iter().any(|word| line.starts_with(word)) => {
                    format!("RF_PLACED {line}\n")
                }
                None => format!("{line}\n"),
            }
        });
        let lines: String = lines.collect();
        let few = if sources.multipliers.is_empty() { SMALL } else { "" };
        format!("{comment}*/\n{start}{few}{lines}{functions}")
    }
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The parts of a C text: functions, and what empty lines part outside of braces and conditions.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0);
    for line in text.lines() {
        let count = |c: char| line.matches(c).count() as i64;
        depth += count('{') - count('}');
        depth += i64::from(line.starts_with("#if")) - i64::from(line.starts_with("#endif"));
        part += &format!("{line}\n");
        if (line.is_empty() || line == "}") && depth <= 0 {
            parts.push(std::mem::take(&mut part));
        }
    }
    parts.push(part);
    parts
}

/// Leaves out the functions of a multiplier that no other source mentions, and their tables.
pub fn trim<'a>(made: &mut Multiplier, others: impl Iterator<Item = &'a String> + Clone) {
    let (ring, target) = made.name.rsplit_once('_').unwrap_or((&made.name, ""));
    let start = format!("{ring}_");
    let is_needed = |symbol: &str| {
        let what = symbol.trim_start_matches(&start).trim_end_matches(target);
        let calls = [symbol.to_owned(), format!("{ring}_{})", what.trim_end_matches('_'))];
        others.clone().any(|text| calls.iter().any(|call| text.contains(call.as_str())))
    };
    let gone: Vec<String> =
        made.functions.iter().map(|f| f.0.clone()).filter(|symbol| !is_needed(symbol)).collect();
    if gone.is_empty() {
        return;
    }
    made.functions.retain(|(symbol, _)| !gone.contains(symbol));
    let (head, body) = made.text.split_at(made.text.find("/*").unwrap_or(0));
    let mut parts = parts(body);
    parts.retain(|part| !gone.iter().any(|symbol| part.contains(&format!("void {symbol}("))));
    // Static things that nothing mentions any more, until there are no others.
    loop {
        let all: String = parts.concat();
        let mentions = all.lines().filter(|line| !line.starts_with("#undef ")).flat_map(words);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        mentions.for_each(|word| *counts.entry(word).or_default() += 1);
        let unused = |part: &String| {
            let line = part.lines().find_map(|line| line.strip_prefix("static "));
            let head = line.and_then(|line| line.split(['[', '(', '=', ';']).next());
            head.and_then(|head| words(head).last()).is_some_and(|name| counts[name] == 1)
        };
        let before = parts.len();
        let kept: Vec<String> = parts.iter().filter(|part| !unused(part)).cloned().collect();
        parts = kept;
        if parts.len() == before {
            break;
        }
    }
    let mut body = parts.concat();
    while body.contains("\n\n\n") {
        body = body.replace("\n\n\n", "\n\n");
    }
    made.text = format!("{head}{body}");
}

/// Writes a project's stand-in and the library's tests, as they are in lib/, to `to`. Returns the
/// compiler options that find it.
///
/// # Errors
/// The files cannot be written.
pub fn stand_in(place: &Place, to: &Path) -> Result<Vec<String>, Failure> {
    let wanted = |path: &str| {
        ["include/", "src/common/", "tests/"].iter().any(|start| path.starts_with(start))
    };
    for (path, text) in FILES.iter().filter(|(path, _)| wanted(path)) {
        let target = to.join(path);
        let dir = target.parent().unwrap_or(to);
        std::fs::create_dir_all(dir)
            .and_then(|()| std::fs::write(&target, text))
            .map_err(|e| Failure::failed(format!("cannot create a directory for tests: {e}")))?;
    }
    Ok(vec![format!("-I{}", to.join("tests").join(place.project).display())])
}

/// Runs the known-answer tests with the object of each source; the stand-in plays the project's
/// part. Sources that the project includes lie in `out`. Returns what the first one's tests say.
///
/// # Errors
/// An answer is wrong, or a test does not compile or run.
pub fn run(
    (selection, place): (&Selection, &Place),
    sources: &Sources,
    compiled: &[Compiled],
    compiler: &Compiler,
    (scratch, out): (&Path, &Path),
) -> Result<Runs, Failure> {
    let tests = scratch.join("tests");
    let own = tests.join(place.project);
    let program = |name: &str, object: &Path| -> Result<PathBuf, Failure> {
        let to = scratch.join(name);
        let mut args: Vec<OsString> = ["-O1", "-std=c99", "-pthread", "-DRINGFORGE_ENABLE_ALL=0"]
            .map(OsString::from)
            .to_vec();
        args.push(format!("-DRINGFORGE_ENABLE_{}=1", place.kem.to_uppercase()).into());
        args.extend(WARNINGS.iter().map(OsString::from));
        for dir in [&scratch.join("include"), &tests, &own, out] {
            args.push(format!("-I{}", dir.display()).into());
        }
        args.extend([name, "nist_rng", "sha256"].map(|n| tests.join(n).with_extension("c").into()));
        args.push(own.join(place.project).with_extension("c").into());
        args.extend(
            ["hash_builtin_sha2", "cpu"]
                .map(|n| scratch.join("src/common").join(n).with_extension("c").into()),
        );
        args.extend([object.into(), "-o".into(), to.clone().into()]);
        compiler.run(&args).map_err(|e| Failure::failed(e.to_string()))?;
        Ok(to)
    };
    let mut runs = None;
    for source in place.sources {
        let object = match source.included_by {
            Some(name) => own.join(name),
            None => compiled.first().map(|c| c.object.clone()).unwrap_or_default(),
        };
        let programs =
            Programs { kat: program("kat", &object)?, stack: program("stack", &object)? };
        let said = programs.run(selection, sources)?;
        runs.get_or_insert(said);
    }
    Ok(runs.unwrap_or_default())
}
