//! The prover on golden files: `tests/prove/{pass,fail,broken,unknown}`.
//!
//! Each file is C or assembly with a header comment: what it shows, `flags:` for gcc, the
//! `contract:` (a file of `tests/prove/contracts`), `with:` lines that change one of its keys
//! (`argument.a.length = 5` for an argument's), and after `expect:` the verdict and its reasons.
//! `RINGFORGE_BLESS=1 cargo test -p ringforge-mutate --test filetests` rewrites what stands
//! there. Addresses are masked, since they move with the compiler's version.

use ringforge_prove::{Contract, Options, Quiet, Verdict, prove};
use ringforge_toolchain::Compiler;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/prove")
}

struct Header {
    flags: Vec<String>,
    contract: String,
    /// Lines `with:` in order.
    with: Vec<String>,
    expect: Vec<String>,
    /// Lines of the file before and behind the expectation.
    before: Vec<String>,
    after: Vec<String>,
    /// What each header line starts with.
    lead: &'static str,
}

fn header(text: &str) -> Header {
    let lead = if text.starts_with("/*") { " *" } else { "#" };
    let mut h = Header {
        flags: vec![],
        contract: String::new(),
        with: vec![],
        expect: vec![],
        before: vec![],
        after: vec![],
        lead,
    };
    let mut lines = text.lines();
    for line in lines.by_ref() {
        h.before.push(line.to_owned());
        let content = line.strip_prefix(lead).unwrap_or(line).trim();
        if let Some(flags) = content.strip_prefix("flags: ") {
            h.flags = flags.split_whitespace().map(Into::into).collect();
        } else if let Some(name) = content.strip_prefix("contract: ") {
            h.contract = name.into();
        } else if let Some(change) = content.strip_prefix("with: ") {
            h.with.push(change.into());
        } else if content == "expect:" {
            break;
        }
    }
    for line in lines {
        let in_header = h.after.is_empty() && line.starts_with(lead) && line.trim() != "*/";
        if in_header {
            h.expect.push(line.strip_prefix(lead).unwrap_or(line).trim().to_owned());
        } else {
            h.after.push(line.to_owned());
        }
    }
    h
}

/// The contract's text with the `with:` lines worked in.
fn contract(h: &Header) -> String {
    let path = root().join("contracts").join(&h.contract);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    for change in &h.with {
        let key = change.split('=').next().unwrap_or("").trim();
        let (from, key, line) = match key.strip_prefix("argument.") {
            Some(path) => {
                let (name, key) = path.split_once('.').expect("argument.NAME.KEY");
                let start = lines.iter().position(|l| *l == format!("name = \"{name}\""));
                (start.expect("no such argument"), key, change.splitn(3, '.').nth(2).unwrap())
            }
            None => (0, key, change.as_str()),
        };
        let is_key = |l: &String| l.split('=').next().unwrap_or("").trim() == key;
        match lines[from..].iter().position(is_key) {
            Some(i) => lines[from + i] = line.into(),
            None => lines.insert(2, line.into()),
        }
    }
    lines.join("\n") + "\n"
}

/// Hexadecimal numbers replaced: they move with the compiler.
fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(i) = rest.find("0x") {
        out.push_str(&rest[..i]);
        out.push_str("0x_");
        rest = rest[i + 2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out + rest
}

fn verdict(path: &Path, h: &Header) -> (Option<Verdict>, Vec<String>) {
    let contract = match Contract::parse(&contract(h)) {
        Ok(contract) => contract,
        Err(e) => return (None, lines(&format!("contract error: {e}"))),
    };
    let dir = tempfile::tempdir().unwrap();
    let object = dir.path().join("t.o");
    if path.extension().is_some_and(|e| e == "s") {
        // Binutils come with either compiler.
        let done = Command::new("as").arg(path).arg("-o").arg(&object).status().unwrap();
        assert!(done.success() && h.flags.is_empty(), "{}", path.display());
    } else {
        let cc = Compiler::find(ringforge_testing::cc()).unwrap();
        cc.compile(path, &h.flags, &object).unwrap_or_else(|e| panic!("{e}"));
    }
    let bytes = std::fs::read(object).unwrap();
    let options = Options {
        time_limit: Some(Duration::from_secs(60)),
        max_steps: 100_000,
        search: Duration::from_secs(5),
        ..Options::default()
    };
    let report = prove(&bytes, &contract, &options, &mut Quiet);
    let mut text = format!("{}\n", report.verdict);
    if path.extension().is_some_and(|e| e == "c") {
        // Instructions and intervals are the compiler's choice.
        for reason in &report.reasons {
            let _ = writeln!(text, "{} ({})", kind(reason.kind), reason.call);
        }
        return (Some(report.verdict), lines(&text));
    }
    for reason in &report.reasons {
        let _ = writeln!(text, "{} ({}): {}", kind(reason.kind), reason.call, reason.text);
    }
    if let Some(w) = &report.witness {
        let inputs: Vec<String> = w.inputs.iter().map(|(n, v)| format!("{n} = {v:?}")).collect();
        let _ = writeln!(
            text,
            "for {}: element {} is {}, the product's {}",
            inputs.join(", "),
            w.element,
            w.found[w.element],
            w.expected[w.element]
        );
    }
    (Some(report.verdict), lines(&masked(&text)))
}

fn kind(kind: ringforge_prove::ReasonKind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|l| l.trim().to_owned()).collect()
}

fn files(kind: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(root().join(kind)).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

/// Runs a directory; returns how many were proved.
fn run(kind: &str, acceptable: fn(Option<Verdict>) -> bool) -> (usize, usize) {
    let bless = std::env::var_os("RINGFORGE_BLESS").is_some();
    let mut failures = String::new();
    let (mut proved, mut tried) = (0, 0);
    for path in files(kind) {
        let name = format!("{kind}/{}", path.file_name().unwrap().to_string_lossy());
        let text = std::fs::read_to_string(&path).unwrap();
        let h = header(&text);
        let start = std::time::Instant::now();
        let (verdict, got) = verdict(&path, &h);
        tried += 1;
        proved += usize::from(verdict == Some(Verdict::Proved));
        if std::env::var_os("RINGFORGE_VERBOSE").is_some() {
            println!("{name}: {:.2} s\n  {}", start.elapsed().as_secs_f64(), got.join("\n  "));
        }
        if !acceptable(verdict) {
            let _ = writeln!(failures, "{name}: has no place here:\n  {}", got.join("\n  "));
        } else if bless {
            let mut text = h.before.join("\n") + "\n";
            for line in &got {
                let _ = writeln!(text, "{}", format!("{}   {line}", h.lead).trim_end());
            }
            text += &(h.after.join("\n") + "\n");
            std::fs::write(&path, text).unwrap();
        } else if got != h.expect {
            let _ = writeln!(
                failures,
                "{name}:\n expected\n  {}\n found\n  {}",
                h.expect.join("\n  "),
                got.join("\n  ")
            );
        }
    }
    assert!(
        failures.is_empty(),
        "{failures}\nRINGFORGE_BLESS=1 accepts what was found, where it may stand"
    );
    (tried, proved)
}

#[test]
fn pass() {
    let (tried, proved) = run("pass", |v| v == Some(Verdict::Proved));
    assert_eq!(tried, proved);
    assert!(proved > 25, "a prover that proves nothing passes no test: {proved}");
}

/// Right code that the prover leaves open: its limits, written down.
#[test]
fn unknown() {
    run("unknown", |v| v == Some(Verdict::Unknown));
}

#[test]
fn broken() {
    let (tried, proved) = run("broken", |v| v.is_some_and(|v| v != Verdict::Proved));
    assert_eq!(proved, 0);
    assert!(tried > 60, "{tried}");
}

#[test]
fn fail() {
    let (tried, proved) = run("fail", |v| v != Some(Verdict::Proved));
    assert_eq!(proved, 0);
    assert!(tried > 15, "{tried}");
}
