//! The library's polynomial functions of ML-KEM that handle each coefficient by itself, compiled for each architecture:
//! the table of docs/results/mlkem-functions.md is what the prover says of them.

mod common;

use common::told;
use ringforge_prove::map::{MapContract, prove};
use ringforge_prove::{Options, Quiet, Report};
use ringforge_testing::{aarch64, compilers, cortex_m4, has};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PAGE: &str = "../../docs/results/mlkem-functions.md";

/// Beside the library's sources: its comparison is a function of a header.
const COMPARE: &str = "#include \"src/common/common.h\"
uint32_t compare(const uint8_t *a, const uint8_t *b, size_t n) { return rf_differ(a, b, n); }
";

/// A function: its name on the page, its symbol, and the rest of its contract.
fn functions() -> Vec<(String, String, String)> {
    let ring = "length = 256";
    let word = "element = \"i16\"";
    let any = "range = [-32768, 32767]";
    let argument = |name: &str, role: &str, keys: &str| {
        format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\n{}\n",
            keys.replace("; ", "\n")
        )
    };
    let map = |arguments: &[String]| format!("computes = \"map\"\n{}", arguments.concat());
    let mut all = vec![
        (
            "freeze: a mod 3329, any a".to_string(),
            "mlkem_freeze".to_string(),
            map(&[argument(
                "a",
                "inout",
                &format!("{word}; {ring}; {any}; exit = [0, 3328]; formula = \"a mod 3329\""),
            )]),
        ),
        (
            "center: a cmod 3329".into(),
            "mlkem_center".into(),
            map(&[argument(
                "a",
                "inout",
                &format!(
                    "{word}; {ring}; range = [0, 3328]; exit = [-1664, 1664]; formula = \"a cmod 3329\""
                ),
            )]),
        ),
        (
            "add: a + b".into(),
            "mlkem_add".into(),
            map(&[
                argument(
                    "a",
                    "inout",
                    &format!(
                        "{word}; {ring}; range = [-16384, 16383]; exit = [-32768, 32766]; formula = \"a + b\""
                    ),
                ),
                argument("b", "input", &format!("{word}; {ring}; range = [-16384, 16383]")),
            ]),
        ),
        (
            "encode: ByteEncode of 12 bits".into(),
            "mlkem_encode".into(),
            map(&[
                argument(
                    "out",
                    "output",
                    &format!(
                        "element = \"u8\"; bits = 12; {ring}; range = [0, 3328]; formula = \"a\""
                    ),
                ),
                argument("a", "input", &format!("{word}; {ring}; range = [0, 3328]")),
            ]),
        ),
        (
            "decode: ByteDecode of 12 bits".into(),
            "mlkem_decode".into(),
            map(&[
                argument(
                    "a",
                    "output",
                    &format!("{word}; {ring}; range = [0, 4095]; formula = \"in\""),
                ),
                argument(
                    "in",
                    "input",
                    &format!("element = \"u8\"; bits = 12; {ring}; range = [0, 4095]"),
                ),
            ]),
        ),
    ];
    for d in [1, 4, 5, 10, 11] {
        let fields = format!("element = \"u8\"; bits = {d}; {ring}; range = [0, {}]", (1 << d) - 1);
        let number = argument("d", "number", &format!("value = {d}"));
        let formula = format!("formula = \"round((a mod 3329) * 2^{d} / 3329) mod 2^{d}\"");
        all.push((
            format!("compress, d = {d}: ByteEncode of Compress, any a"),
            "mlkem_compress".into(),
            map(&[
                argument("out", "output", &format!("{fields}; {formula}")),
                argument("a", "input", &format!("{word}; {ring}; {any}")),
                number.clone(),
            ]),
        ));
        all.push((
            format!("decompress, d = {d}: Decompress of ByteDecode"),
            "mlkem_decompress".into(),
            map(&[
                argument(
                    "a",
                    "output",
                    &format!(
                        "{word}; {ring}; range = [0, 3328]; formula = \"round(in * 3329 / 2^{d})\""
                    ),
                ),
                argument("in", "input", &fields),
                number,
            ]),
        ));
    }
    let bytes = "element = \"u8\"; length = 1088; range = [0, 255]";
    all.push(("comparison of 1088 bytes".into(), "compare".into(), format!(
        "computes = \"equal\"\nreturns = {{ element = \"u32\", equal = 0, different = 4294967295 }}\n{}{}{}",
        argument("a", "input", bytes), argument("b", "input", bytes), argument("n", "number", "value = 1088"))));
    all
}

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
        .args(["-O2", "-w", "-c", "-I"])
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
fn page() -> (Vec<String>, Vec<(String, Vec<String>)>) {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE))
        .unwrap_or_default();
    let row = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|c| c.trim().to_string()).collect()
    };
    let mut rows = text.lines().filter(|l| l.starts_with('|')).map(row);
    let head = rows.next().unwrap_or_default().into_iter().skip(1).collect();
    let rows = rows.skip(1).map(|mut cells| (cells.remove(0), cells)).collect();
    (head, rows)
}

/// `RINGFORGE_BLESS=1` prints the table in place of a comparison.
#[test]
fn the_table_of_mlkem_functions_is_what_is_proved() {
    let lib: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib");
    let dir = tempfile::tempdir().expect("a directory");
    let compare = dir.path().join("compare.c");
    std::fs::write(&compare, COMPARE).expect("a source");
    let (head, rows) = page();
    let bless = std::env::var_os("RINGFORGE_BLESS").is_some();
    let (ways, functions) = (ways(), functions());
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); functions.len()];
    let mut proved = 0;
    for (way, compiler, flags, abi) in &ways {
        let poly = compile(compiler, flags, &lib.join("src/mlkem/poly.c"), dir.path());
        let other = compile(compiler, flags, &compare, dir.path());
        for ((name, end, rest), cells) in functions.iter().zip(&mut cells) {
            let object = if end == "compare" { &other } else { &poly };
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
    assert!(proved > 10, "{proved} are proved");
}
