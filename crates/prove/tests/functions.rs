//! The library's polynomial functions that handle each coefficient by itself, compiled for each architecture: the tables
//! of docs/results/mlkem-functions.md and sntrup761-functions.md are what the prover says of them.

mod common;
#[path = "functions/mlkem.rs"]
mod mlkem;
#[path = "functions/sntrup.rs"]
mod sntrup;

use common::told;
use ringforge_prove::map::{MapContract, prove};
use ringforge_prove::{Options, Quiet, Report};
use ringforge_testing::{aarch64, compilers, cortex_m4, has};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A function: its name on the page, its symbol, and the rest of its contract.
type Function = (String, String, String);

/// An argument of a contract; keys lie between semicolons.
fn argument(name: &str, role: &str, keys: &str) -> String {
    let keys = keys.replace(
        "; ", "
",
    );
    format!(
        "[[argument]]
name = \"{name}\"
role = \"{role}\"
{keys}
"
    )
}

/// What follows a contract's head.
fn map(arguments: &[String]) -> String {
    format!(
        "computes = \"map\"
{}",
        arguments.concat()
    )
}

/// Beside the library's sources: its comparison is a function of a header.
const COMPARE: &str = "#include \"src/common/common.h\"
uint32_t compare(const uint8_t *a, const uint8_t *b, size_t n) { return rf_differ(a, b, n); }
";

/// A way of compiling: its name on the page, compiler, flags and convention.
fn ways() -> Vec<(String, &'static str, Vec<&'static str>, &'static str)> {
    let mut ways = Vec::new();
    for compiler in compilers() {
        let name = if compiler.contains("clang") { "clang" } else { "gcc" };
        ways.push((
            format!("x86-64, {name}"),
            compiler,
            vec!["-DRINGFORGE_TARGET=1"],
            "sysv-x86-64",
        ));
        ways.push((format!("AVX2, {name}"), compiler, vec!["-DRINGFORGE_TARGET=2"], "sysv-x86-64"));
    }
    for (compiler, flags) in aarch64() {
        let name = if compiler.contains("clang") { "clang" } else { "gcc" };
        ways.push((format!("AArch64, {name}"), compiler, flags.to_vec(), "aapcs64"));
    }
    if has(&["arm-none-eabi-gcc"]) {
        for (compiler, flags) in cortex_m4().into_iter().filter(|c| !c.0.contains("clang")) {
            ways.push(("Cortex-M4, gcc".into(), compiler, flags.to_vec(), "aapcs"));
        }
    }
    ways
}

fn compile(compiler: &str, flags: &[&str], source: &Path, dir: &Path) -> Vec<u8> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib");
    let object = dir.join("x.o");
    let mut command = Command::new(compiler);
    command
        .args(flags)
        .args(["-O2", "-w", "-c", "-DRINGFORGE_ENABLE_SNTRUP761=1", "-I"])
        .arg(&lib)
        .arg("-I")
        .arg(lib.join("include"));
    let done = command.arg(source).arg("-o").arg(&object).output().expect("a compiler");
    assert!(done.status.success(), "{compiler}: {}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(object).expect("an object")
}

/// The function's whole symbol, which has the library's prefix.
fn symbol(object: &[u8], end: &str) -> Option<String> {
    let object = ringforge_machine::Object::parse(object).expect("an object");
    object.functions().map(|f| f.name.clone()).find(|n| n.ends_with(end))
}

fn verdict(object: &[u8], contract: &str) -> Report {
    let contract = MapContract::parse(contract).unwrap_or_else(|e| panic!("{e}\n{contract}"));
    let options = Options { search: Duration::from_millis(500), ..Options::default() };
    prove(object, &contract, &options, &mut Quiet)
}

/// The rows of the page's table: a function's name and its cells by column.
fn page(name: &str) -> (Vec<String>, Vec<(String, Vec<String>)>) {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results").join(name),
    )
    .unwrap_or_default();
    let row = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|c| c.trim().to_string()).collect()
    };
    let mut rows = text.lines().filter(|l| l.starts_with('|')).map(row);
    let head = rows.next().unwrap_or_default().into_iter().skip(1).collect();
    let rows = rows.skip(1).map(|mut cells| (cells.remove(0), cells)).collect();
    (head, rows)
}

/// Compares a page's table with what is proved of functions, each in the object of the source that its symbol has.
/// `RINGFORGE_BLESS=1` prints the table instead.
fn is_proved(name: &str, functions: &[Function], source: impl Fn(&str) -> PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let (head, rows) = page(name);
    let bless = std::env::var_os("RINGFORGE_BLESS").is_some();
    let ways = ways();
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); functions.len()];
    let mut proved = 0;
    for (way, compiler, flags, abi) in &ways {
        let mut objects: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        for ((name, end, rest), cells) in functions.iter().zip(&mut cells) {
            let source = source(end);
            let object = objects
                .entry(source.clone())
                .or_insert_with(|| compile(compiler, flags, &source, dir.path()));
            let symbol = symbol(object, end).unwrap_or_else(|| panic!("no {end}"));
            let text = format!("contract = 1\nsymbol = \"{symbol}\"\nabi = \"{abi}\"\n{rest}");
            let r = verdict(object, &text);
            proved += usize::from(r.is_proved());
            let cell = r.verdict.to_string();
            if bless {
                eprintln!("{way}: {name}: {}", told(&r));
                cells.push(cell);
                continue;
            }
            let column =
                head.iter().position(|h| h == way).unwrap_or_else(|| panic!("no column {way}"));
            let row = rows.iter().find(|r| r.0 == *name).unwrap_or_else(|| panic!("no row {name}"));
            assert_eq!(row.1[column], cell, "{way}: {name}: {}", told(&r));
        }
    }
    if bless {
        let names: Vec<&str> = ways.iter().map(|w| w.0.as_str()).collect();
        println!("| function | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
        for ((name, ..), cells) in functions.iter().zip(&cells) {
            println!("| {name} | {} |", cells.join(" | "));
        }
    }
    assert!(proved >= functions.len(), "{proved} are proved");
}

#[test]
fn the_table_of_mlkem_functions_is_what_is_proved() {
    let dir = tempfile::tempdir().expect("a directory");
    let compare = dir.path().join("compare.c");
    std::fs::write(&compare, COMPARE).expect("a source");
    let poly = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib/src/mlkem/poly.c");
    let source = |symbol: &str| if symbol == "compare" { compare.clone() } else { poly.clone() };
    is_proved("mlkem-functions.md", &mlkem::functions(), source);
}

#[test]
fn the_table_of_sntrup_functions_is_what_is_proved() {
    let dir = tempfile::tempdir().expect("a directory");
    let prime = dir.path().join("prime.c");
    std::fs::write(&prime, sntrup::SOURCE).expect("a source");
    let sort = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib/src/common/sort.c");
    let source = |symbol: &str| if symbol == "sort_u32" { sort.clone() } else { prime.clone() };
    is_proved("sntrup761-functions.md", &sntrup::functions(), source);
}
