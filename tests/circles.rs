//! Files that need each other in a circle can only be read together. The aim is no circle of more than [`AIM`] files in
//! any crate. [`LARGER`] lists those that still are larger. None of them may grow, and none may stay listed once it
//! shrinks. `--nocapture` prints the files of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most files of a circle.
const AIM: usize = 6;

/// Circles above the aim today, by crate: their numbers of files.
const LARGER: &[(&str, &[usize])] = &[
    ("cli", &[36]),
    ("emit", &[10]),
    ("interpret", &[8]),
    ("machine", &[24]),
    ("plan", &[26]),
    ("program", &[34, 7]),
    ("prove", &[10]),
];

/// A path in the source, from the crate's root: the names between its colons.
type Names = Vec<String>;

/// The modules of a crate, without tests and comments: each by its path, `lower::general`.
type Sources = BTreeMap<String, String>;

fn sources(dir: &Path, module: &[String], all: &mut Sources) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut inner = module.to_vec();
        if path.is_dir() {
            inner.push(stem);
            if inner.last().is_some_and(|name| name != "tests") {
                sources(&path, &inner, all);
            }
        } else if path.extension().is_some_and(|e| e == "rs") && !stem.ends_with("tests") {
            if stem != "mod" && stem != "lib" {
                inner.push(stem);
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            all.insert(inner.join("::"), lines.collect::<Vec<_>>().join("\n"));
        }
    }
}

fn names(path: &str) -> Names {
    path.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The paths of a `use` and the names that they get.
fn imported(before: &[String], tree: &str, found: &mut Vec<(Names, String)>) {
    let tree = tree.trim();
    let Some((start, group)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path = [before, &names(path)].concat();
        path.pop_if(|last| last == "self");
        let last = path.last().cloned().unwrap_or_default();
        found.push((path, if name.is_empty() { last } else { name.trim().to_owned() }));
        return;
    };
    let before = [before, &names(start)].concat();
    let (mut depth, mut from) = (0, 0);
    for (at, letter) in group.char_indices().chain([(group.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !group[from..at].trim().is_empty() {
                    imported(&before, &group[from..at], found);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// What the modules of a crate import: the path from its root, and the name.
struct Crate {
    sources: Sources,
    imports: BTreeMap<String, Vec<(Names, String)>>,
}

impl Crate {
    fn read(dir: &Path) -> Crate {
        let mut sources_of = Sources::new();
        sources(dir, &[], &mut sources_of);
        let mut all = Crate { sources: sources_of, imports: BTreeMap::new() };
        for (module, text) in &all.sources {
            let mut found = Vec::new();
            let word = |&(at, _): &(usize, &str)| !text[..at].ends_with(char::is_alphanumeric);
            for (at, _) in text.match_indices("use ").filter(word) {
                let tree = text[at + "use ".len()..].split(';').next().unwrap_or_default();
                imported(&[], tree, &mut found);
            }
            let own =
                found.into_iter().filter_map(|(p, name)| Some((all.absolute(module, &p)?, name)));
            let own = own.collect();
            all.imports.insert(module.clone(), own);
        }
        all
    }

    /// A path as it is written in a module, from the crate's root; nothing where it leads elsewhere.
    fn absolute(&self, module: &str, path: &[String]) -> Option<Names> {
        let mut here = names(module);
        let first = path.first()?;
        match first.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "super" | "self" => {
                let relative = path.iter().take_while(|n| *n == "super" || *n == "self").count();
                let up = path[..relative].iter().filter(|name| *name == "super").count();
                here.truncate(here.len().checked_sub(up)?);
                Some([&here[..], &path[relative..]].concat())
            }
            _ => {
                let full = [&here[..], path].concat();
                let child = full[..=here.len()].join("::");
                self.sources.contains_key(&child).then_some(full)
            }
        }
    }

    /// The module that defines what a path names: re-exports are followed.
    fn defines(&self, path: &[String], left: usize) -> Option<String> {
        let longest = (0..=path.len()).rev().map(|k| (k, path[..k].join("::")));
        let (k, module) = longest.into_iter().find(|(_, m)| self.sources.contains_key(m))?;
        let name = path.get(k);
        let again = self.imports.get(&module).into_iter().flatten();
        match again.into_iter().find(|(to, own)| Some(own) == name && to != path) {
            Some((to, _)) if left > 0 => self.defines(to, left - 1),
            _ => Some(module),
        }
    }

    /// The modules that a module needs.
    fn needs(&self, module: &str) -> BTreeSet<String> {
        let (text, imports) = (&self.sources[module], &self.imports[module]);
        let mut paths: Vec<Names> = imports.iter().map(|(path, _)| path.clone()).collect();
        let part_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        // What ends in colons begins a group of an import.
        let path = |word: &&str| word.contains("::") && !word.ends_with("::");
        for word in text.split(|c| !part_of_path(c)).filter(path) {
            let path = names(word);
            let by_name = imports.iter().find(|(_, name)| Some(name) == path.first());
            paths.extend(self.absolute(module, &path));
            paths.extend(by_name.map(|(to, _)| [to, &path[1..]].concat()));
        }
        let all = paths.iter().filter_map(|path| self.defines(path, 8));
        all.filter(|other| other != module).collect()
    }

    /// The circles of more than [`AIM`] modules, the largest first.
    fn circles(&self) -> Vec<Vec<String>> {
        let needs: BTreeMap<&String, BTreeSet<String>> =
            self.sources.keys().map(|module| (module, self.needs(module))).collect();
        let reach = |from: &String| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = next.pop() {
                let new = needs[&module].iter().filter(|m| seen.insert((*m).clone()));
                next.extend(new.cloned());
            }
            seen
        };
        let reached: BTreeMap<&String, BTreeSet<String>> =
            needs.keys().map(|module| (*module, reach(module))).collect();
        let circle = |module: &&String| -> Vec<String> {
            let both = |other: &&String| reached[*other].contains(*module);
            reached[*module].iter().filter(both).cloned().collect()
        };
        let all: BTreeSet<Vec<String>> = reached.keys().map(circle).collect();
        let mut large: Vec<Vec<String>> = all.into_iter().filter(|c| c.len() > AIM).collect();
        large.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        large
    }
}

#[test]
fn no_circle_of_files_grows() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("crates") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.join("src").is_dir() {
            continue;
        }
        let circles = Crate::read(&path.join("src")).circles();
        circles
            .iter()
            .for_each(|circle| println!("{name}, {}: {}", circle.len(), circle.join(" ")));
        if !circles.is_empty() {
            found.push((name, circles.iter().map(Vec::len).collect::<Vec<usize>>()));
        }
    }
    found.sort();
    let listed: Vec<(String, Vec<usize>)> =
        LARGER.iter().map(|(name, sizes)| (name.to_string(), sizes.to_vec())).collect();
    assert_eq!(found, listed, "circles of more than {AIM} files; the list may only shrink");
}

/// A circle through a re-export, a parent and a group, and a line of modules that is none.
#[test]
fn circles_are_seen() {
    let dir = std::env::temp_dir().join(format!("circles-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let modules = ["a", "b", "c", "d", "e", "f", "g"];
    let write = |name: &str, text: &str| {
        std::fs::write(dir.join(format!("{name}.rs")), text).expect("a file");
    };
    write("lib", "mod a;\npub use g::G;\n");
    for (i, name) in modules.iter().enumerate() {
        let next = modules[(i + 1) % 7];
        write(
            name,
            &format!("use super::{{{next}::Thing, {next} as other}};\npub struct Thing;\n"),
        );
    }
    let sizes = || Crate::read(&dir).circles().iter().map(Vec::len).collect::<Vec<_>>();
    let round = sizes();
    // The last one needs the first by what the root re-exports, and then not at all.
    write("f", "pub struct Thing(crate::G);\n");
    let by_root = sizes();
    write("g", "// use crate::a::Thing;\n");
    let open = sizes();
    std::fs::remove_dir_all(&dir).expect("gone");
    assert_eq!((round, by_root, open), (vec![7], vec![7], vec![]));
}
