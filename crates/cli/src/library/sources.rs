//! The sources of a package: the part of the library that some KEMs need, under a prefix of the
//! user's, as files and as one.

use std::collections::{BTreeMap, BTreeSet};

use crate::library::conditions::{Known, decide, definitions, without_macros};
use crate::library::drop_in::{Place, trim};
use crate::library::multiplier::{Line, Multiplier, make_all};
use crate::library::{FILES, file, kems};
use crate::ui::Failure;

/// What goes into a package.
pub struct Selection {
    /// KEMs by name.
    pub kems: Vec<String>,
    /// What every external symbol starts with.
    pub prefix: String,
    /// The value of the configuration's TARGET: 0 chooses at run time, 1 is portable C, 2 needs AVX2.
    pub target: u8,
    /// Only key generation, encapsulation and decapsulation, with the hooks of the project that
    /// takes the source.
    pub place: Option<&'static Place>,
    /// Little code and stack instead of little time.
    pub small: bool,
}

/// The texts of a package.
pub struct Sources {
    /// The public header and the configuration, by name.
    pub headers: [(String, String); 2],
    /// Files of `src/`, by name.
    pub files: BTreeMap<String, String>,
    /// Files of `test/`, by name.
    pub tests: BTreeMap<String, String>,
    /// The multipliers, under the library's own prefix.
    pub multipliers: Vec<Multiplier>,
}

/// Code for machines that packages are not made for, and what compilers define there.
const ELSEWHERE: &[(&str, &[&str])] = &[("RF_HAVE_NEON_CODE", &["__ARM_NEON"])];

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The file that a line includes by quotes.
fn included(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("#include \"")?.strip_suffix('"')
}

/// Whether anything is left that is compiled, or that other files may include for its macros.
fn says_something(name: &str, text: &str) -> bool {
    let mut comment = false;
    for line in text.lines().map(str::trim) {
        let starts = line.starts_with("/*");
        let said = comment || starts || line.is_empty();
        comment = (comment || starts) && !line.contains("*/");
        let macros = line.starts_with("#define") || line.starts_with("#undef");
        let headers = line.starts_with("#include") && !line.ends_with(".inc\"");
        let idle = headers || line.starts_with("typedef int rf_no_");
        if !(said || idle || macros && name.ends_with(".c")) {
            return true;
        }
    }
    false
}

impl Selection {
    fn known(&self) -> Known {
        let mut known = definitions(file("src/common/common.h"), "RF_NEED_");
        for kem in kems() {
            let chosen = if self.kems.contains(&kem) { "1" } else { "0" };
            known.insert(format!("RINGFORGE_ENABLE_{}", kem.to_uppercase()), Some(chosen.into()));
        }
        let mut say = |name: &str, value: Option<&str>| {
            known.insert(name.to_owned(), value.map(str::to_owned));
        };
        // Packages are for x86-64 and portable: what only the library's own tree has is left out.
        for (code, compiler) in ELSEWHERE {
            say(code, Some("0"));
            compiler.iter().for_each(|name| say(name, None));
        }
        if self.target == 1 {
            say("RINGFORGE_TARGET", Some("1"));
            say("RF_HAVE_AVX2_CODE", Some("0"));
            say("RF_HAVE_AVX512_CODE", Some("0"));
            say("RF_HAVE_FOUR", Some("0"));
        }
        if let Some(place) = self.place {
            say("RINGFORGE_TARGET", Some(&self.target.to_string()));
            say("RINGFORGE_SMALL", Some(if self.small { "1" } else { "0" }));
            say("RINGFORGE_HASH", Some(place.hash(self.small)));
            say("RINGFORGE_RANDOM", Some("2"));
            say("RF_NEED_MORE", Some("0"));
            say("RF_HAVE_AVX512_CODE", Some("0"));
            say("RINGFORGE_TESTING", None);
            say("RINGFORGE_CT_TEST", None);
            say("RINGFORGE_CHECK_PAIRS", Some("0"));
            say("__has_include", None); // the place where it goes has a C library
            say("RF_NO_STRING_H", None);
        }
        known
    }

    /// The text under the user's prefix, names of files in it too.
    pub fn rename(&self, text: &str) -> String {
        let own = text.replace("RINGFORGE_", &self.prefix.to_uppercase());
        own.replace("ringforge_", &self.prefix)
    }

    /// Makes all texts, the multipliers by forging them.
    ///
    /// # Errors
    /// A fault of ringforge.
    pub fn sources(&self) -> Result<Sources, Failure> {
        let known = self.known();
        let table = Line::all(file("generated/multipliers.txt"));
        let needed = |line: &Line| {
            !decide(&format!("#if {}\nx\n#endif", line.condition()), &known).trim().is_empty()
        };
        let lines: Vec<Line> = table.into_iter().filter(needed).collect();
        let targets: &[&str] = match self.target {
            1 => &["c"],
            _ if self.place.is_some() => &["avx2", "c"],
            _ => &["avx512", "avx2", "c"],
        };
        // The small form multiplies by loops of its own.
        let lines = if self.small { Vec::new() } else { lines };
        let mut multipliers = make_all(&lines, targets)?;

        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for (path, text) in FILES.iter().filter(|(path, _)| path.starts_with("src/")) {
            texts.insert(base(path).into(), without_macros(&decide(text, &known), "RF_NEED_"));
        }
        texts.retain(|name, text| name.ends_with(".h") || says_something(name, text));
        if self.place.is_some() {
            texts.remove("random_system.c");
            let users = reachable(texts.clone());
            multipliers.iter_mut().for_each(|made| trim(made, users.values()));
        }
        for made in &multipliers {
            texts.insert(format!("{}.c", made.name), decide(&made.text, &known));
        }
        let files = reachable(texts);
        let tests = FILES.iter().filter(|(path, _)| {
            path.strip_prefix("tests/").is_some_and(|name| !name.contains('/'))
        });
        let tests = tests.map(|(path, text)| {
            let text = match base(path) {
                "kats.txt" => self.answers(text),
                _ => decide_c(path, text, &known),
            };
            (
                base(path).to_owned(),
                self.rename(&text.replace("\"ringforge_kem.h\"", "\"../ringforge_kem.h\"")),
            )
        });
        Ok(Sources {
            headers: [
                (self.rename("ringforge_kem.h"), self.rename(&header(&known))),
                (self.rename("ringforge_config.h"), self.rename(&self.configuration())),
            ],
            files: files.iter().map(|(name, text)| (name.clone(), self.rename(text))).collect(),
            tests: tests.collect(),
            multipliers,
        })
    }

    /// The published answers of the chosen KEMs.
    fn answers(&self, text: &str) -> String {
        let ours = |line: &&str| {
            line.starts_with('#')
                || line.split(' ').next().is_some_and(|name| self.kems.iter().any(|k| k == name))
        };
        text.lines().filter(ours).map(|line| format!("{line}\n")).collect()
    }

    /// The configuration without the choice of KEMs, which is made.
    fn configuration(&self) -> String {
        let text = file("include/ringforge_config.h");
        let end = "#endif /* RINGFORGE_CONFIG_H */\n";
        let cut = text.find("/* Which KEMs are compiled").unwrap_or(text.len() - end.len());
        let mut text = text[..cut].to_owned() + end;
        text = text.replace(
            "#define RINGFORGE_TARGET 0",
            &format!("#define RINGFORGE_TARGET {}", self.target),
        );
        if self.target == 1 {
            // There is nothing to choose from.
            let from = text.find("/* Machine code:").unwrap_or(0);
            let to =
                text[from..].find("#endif\n\n").map_or(from, |at| from + at + "#endif\n\n".len());
            text.replace_range(from..to, "");
        }
        text
    }
}

fn decide_c(path: &str, text: &str, known: &Known) -> String {
    if path.ends_with(".c") || path.ends_with(".h") { decide(text, known) } else { text.to_owned() }
}

/// The public header with the functions of the chosen KEMs.
fn header(known: &Known) -> String {
    let mut text = decide(file("include/ringforge_kem.h"), known);
    for family in ["RINGFORGE_DECLARE_MLKEM", "RINGFORGE_DECLARE_PRIME"] {
        if text.matches(&format!("{family}(")).count() == 1 {
            text = without_macros(&text, family);
        }
    }
    text
}

/// The `.c` files and what they include. Includes of files that are gone are removed, and paths are
/// flat.
fn reachable(texts: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut wanted: Vec<&str> =
        texts.keys().map(String::as_str).filter(|n| n.ends_with(".c")).collect();
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        let Some(text) = texts.get(name).filter(|_| !files.contains_key(name)) else { continue };
        let mut out = String::new();
        for line in text.lines() {
            match included(line).map(base) {
                Some("ringforge_kem.h") => out += "#include \"../ringforge_kem.h\"\n",
                Some(other) if texts.contains_key(other) => {
                    out += &format!("#include \"{other}\"\n");
                    wanted.extend(texts.get_key_value(other).map(|(name, _)| name.as_str()));
                }
                Some(_) => {}
                None => out += &format!("{line}\n"),
            }
        }
        files.insert(name.to_owned(), out);
    }
    files
}

impl Sources {
    /// All of `src/` as one source, next to the two headers.
    pub fn amalgamated(&self, head: &str) -> String {
        let license = ringforge_emit::LICENSE;
        let mut out = format!("/*\n * SPDX-License-Identifier: {license}\n *\n * {head}\n */\n");
        let mut headers = BTreeSet::new();
        // It asks the system's headers for more than C99, so it comes first.
        let first = "random_system.c";
        let others = self.files.keys().map(String::as_str).filter(|name| *name != first);
        for name in std::iter::once(first).chain(others).filter(|name| name.ends_with(".c")) {
            let mut macros = Vec::new();
            self.inline(name, &mut headers, &mut macros, &mut out);
            // A file's own macros end with it.
            macros.sort();
            macros.dedup();
            macros.retain(|name| name != "_GNU_SOURCE");
            macros.iter().for_each(|name| out += &format!("#undef {name}\n"));
        }
        out
    }

    fn inline(
        &self,
        name: &str,
        headers: &mut BTreeSet<String>,
        macros: &mut Vec<String>,
        out: &mut String,
    ) {
        let Some(text) = self.files.get(name) else { return };
        let header = name.ends_with(".h");
        if header && !headers.insert(name.to_owned()) {
            return;
        }
        for line in text.lines() {
            match included(line) {
                Some(public) if public.starts_with("../") => {
                    *out += &format!("#include \"{}\"\n", base(public))
                }
                Some(other) => self.inline(other, headers, macros, out),
                None if line.starts_with("/* SPDX-License-Identifier: ") => {} // all have the same
                None => *out += &format!("{line}\n"),
            }
            if let Some(rest) = line.strip_prefix("#define ").filter(|_| !header) {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                macros.push(rest[..end.unwrap_or(rest.len())].to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_code_say_nothing() {
        for (name, text, says) in [
            (
                "a.c",
                "/* what\n * it is */\n#include \"x.h\"\n#define A 1\ntypedef int rf_no_a; /* none */\n",
                false,
            ),
            ("a.c", "#include \"x.h\"\nint a;\n", true),
            ("end.inc", "/* ends */\n#undef A\n", true),
            ("a.inc", "/* a */\n\n#include <immintrin.h>\n", false),
            ("a.c", "#define P 761\n#include \"a.inc\"\n", true),
        ] {
            assert_eq!(says_something(name, text), says, "{text}");
        }
    }
}
