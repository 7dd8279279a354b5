//! The JSON schemas of `docs/schemas/`: every contract of the repository and every proof that the
//! tool writes is valid, and a schema takes what the tool takes, key by key.

mod common;

use boon::{Compiler, Schemas};
use common::Sandbox;
use ringforge_prove::constant_time::{SafetyContract, contract::is_for as is_of_constant_time};
use ringforge_prove::{chain, map};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a schema says of `value`.
fn validate(schema: &str, value: &Value) -> Result<(), String> {
    let path = root().join("docs/schemas").join(schema);
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource(schema, serde_json::from_str(&text).unwrap()).unwrap();
    let index = compiler.compile(schema, &mut schemas).unwrap();
    schemas.validate(value, index).map_err(|e| format!("{e:#}"))
}

fn toml_is_valid(schema: &str, text: &str) -> Result<(), String> {
    let value: toml::Value = toml::from_str(text).unwrap();
    validate(schema, &serde_json::to_value(value).unwrap())
}

fn contract(text: &str) -> Result<(), String> {
    toml_is_valid(if map::is_for(text) { "map.json" } else { "contract.json" }, text)
}

/// Whether the reader takes a contract, of whichever kind it is.
fn read(text: &str) -> Result<(), ringforge_prove::ContractError> {
    if map::is_for(text) {
        return map::MapContract::parse(text).map(drop);
    }
    ringforge_prove::Contract::parse(text).map(drop)
}

/// All files below `dir` that end like this.
fn files(dir: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", ".git", "build"].contains(&name.as_str()) {
                files(&path, end, found);
            }
        } else if name.ends_with(end) {
            found.push(path);
        }
    }
}

/// Contracts that say what is computed: those of constant time alone have no ring.
fn is_contract(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("contract = 1"))
        && text.lines().any(|line| line.trim_start().starts_with("computes ="))
}

#[test]
fn every_contract_of_the_repository_is_read_and_valid() {
    let mut found = Vec::new();
    files(&root(), ".toml", &mut found);
    let mut seen = 0;
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        if is_contract(&text) {
            contract(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            read(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            seen += 1;
        }
    }
    assert!(seen >= 56, "{seen} contracts");
    // And those that pages show.
    let page = std::fs::read_to_string(root().join("docs/prove.md")).unwrap();
    let mut shown = 0;
    for block in page.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        if is_contract(text) {
            contract(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            shown += 1;
        }
    }
    assert!(shown >= 6, "{shown} contracts on the page");
}

/// A key that the schema of maps has is a key of the reader, and the other way round.
#[test]
fn the_schema_of_maps_is_that_of_their_reader() {
    let whole = r#"contract = 1
symbol = "f"
abi = "sysv-x86-64"
computes = "map"
alias = [["r", "a"]]
argument = [
    { name = "r", role = "output", element = "u8", bits = 4, length = 2, align = 1, range = [0, 9], formula = "a", modulo = 3 },
    { name = "e", role = "output", element = "u8", radix = 9, length = 2, align = 1, formula = "k" },
    { name = "h", role = "output", element = "u8", radix = [9, 8], formula = "k" },
    { name = "k", role = "input", element = "u8", length = 2, range = [0, 7] },
    { name = "s", role = "inout", element = "i8", length = 2, range = [0, 9], exit = [0, 1], formula = "n" },
    { name = "a", role = "input", element = "u8", bits = 4, length = 2, range = [0, 9] },
    { name = "t", role = "table", element = "u8", values = [7] },
    { name = "n", role = "number", value = 1 },
    { name = "m", role = "number", range = [0, 1] },
]
given = [{ section = ".data" }]
"#;
    let equal = r#"contract = 1
symbol = "f"
abi = "aapcs"
computes = "equal"
returns = { element = "i32", equal = 0, different = -1 }
argument = [
    { name = "a", role = "input", element = "u8", length = 2, range = [0, 255] },
    { name = "b", role = "input", element = "u8", length = 2, range = [0, 255] },
]
"#;
    let sort = r#"contract = 1
symbol = "f"
abi = "aapcs64"
computes = "sort"
argument = [{ name = "a", role = "inout", element = "i16", length = 9, range = [-5, 5] }]
"#;
    for text in [whole, equal, sort] {
        contract(text).unwrap();
        read(text).unwrap();
    }
    for (from, to) in [
        ("formula = \"a\", ", ""),
        ("modulo = 3", "modulo = 1"),
        ("bits = 4", "bits = 33"),
        ("value = 1", "value = 1, range = [0, 1]"),
        ("value = 1", "length = 1"),
        ("exit = [0, 1]", "exits = [0, 1]"),
        ("equal = 0, ", ""),
        ("different", "other"),
        ("radix = 9", "radix = 1"),
        ("radix = 9", "radix = 9, range = [0, 8]"),
        ("radix = 9, length = 2", "radix = 9"),
    ] {
        for text in [whole, equal].iter().filter(|t| t.contains(from)) {
            let text = text.replacen(from, to, 1);
            assert!(contract(&text).is_err() && read(&text).is_err(), "{to}");
        }
    }
}

const WHOLE: &str = r#"contract = 1
symbol = "f"
abi = "sysv-x86-64"
ring = "Z17[x]/(x^2 + 1)"
computes = "accumulate"
scale = 2
pairs = 2
alias = []
argument = [
    { name = "c", role = "inout", element = "i16", length = 2, align = 32, range = [-8, 8], exit = [-9, 9] },
    { name = "a", role = "input", element = "i16", length = 4, align = 32, range = [-8, 8] },
    { name = "b", role = "input", element = "i16", length = 4, range = [-8, 8] },
    { name = "t", role = "table", element = "u8", length = 1, align = 1, values = [7] },
    { name = "n", role = "number", value = 2 },
]
given = [{ symbol = "g", element = "i32", align = 4, values = [1] }, { section = ".data" }]
[transform]
degree = 1
weights = [4, 13]
order = [0, 1]
"#;

/// The keys that a reader takes in place of one that it does not know, as its error lists them.
fn keys(error: &str) -> Vec<String> {
    let mut keys: Vec<String> = match error.split_once("the keys are ") {
        Some((_, list)) => list.lines().next().unwrap().split(", ").map(str::to_owned).collect(),
        None => {
            let (_, list) =
                error.split_once("expected one of").unwrap_or_else(|| panic!("{error}"));
            list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        }
    };
    keys.sort();
    keys
}

/// The keys of objects of a schema.
fn listed(objects: &[&Value]) -> Vec<String> {
    let of = |o: &&Value| o["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut keys: Vec<String> = objects.iter().flat_map(of).collect();
    keys.sort();
    keys.dedup();
    keys
}

fn schema(name: &str) -> Value {
    let text = std::fs::read_to_string(root().join("docs/schemas").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_schema_has_the_keys_of_the_reader_and_no_others() {
    contract(WHOLE).unwrap();
    ringforge_prove::Contract::parse(WHOLE).unwrap();
    let schema = schema("contract.json");
    let properties = &schema["properties"];
    let kinds = |key: &str| -> Vec<&Value> {
        properties[key]["items"]["oneOf"].as_array().unwrap().iter().collect()
    };
    for (from, objects) in [
        ("abi = ", vec![&schema]),
        ("role = \"table\"", kinds("argument")),
        ("degree = ", vec![&properties["transform"]]),
        ("symbol = \"g\"", kinds("given")),
    ] {
        let (_, value) = from.split_once(" = ").unwrap();
        let unknown = WHOLE.replacen(from, &format!("unheard = {value}"), 1);
        assert_ne!(unknown, WHOLE, "{from}");
        let error = ringforge_prove::Contract::parse(&unknown).unwrap_err().message;
        assert_eq!(keys(&error), listed(&objects), "{from}");
        assert!(contract(&unknown).is_err(), "{from}");
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let wrong = [
        ("contract = 1", "contract = 2"),
        ("\"sysv-x86-64\"", "\"win32\""),
        ("\"accumulate\"", "\"sum\""),
        ("scale = 2", "scale = 0"),
        ("pairs = 2", "pairs = 65"),
        ("\"i16\", length = 2", "\"i17\", length = 2"),
        ("align = 32", "align = 3"),
        ("role = \"inout\"", "role = \"in\""),
        ("role = \"inout\"", "role = \"input\""),
        ("range = [-8, 8], exit", "range = [-8], exit"),
        (", values = [7]", ""),
        ("values = [7]", "values = []"),
        (", value = 2", ""),
        ("role = \"number\"", "role = \"number\", length = 1"),
        ("symbol = \"g\"", "symbol = \"\""),
        ("section = \".data\"", "section = \".data\", align = 4"),
    ];
    for (from, to) in wrong {
        let text = WHOLE.replacen(from, to, 1);
        assert_ne!(text, WHOLE, "{from}");
        assert!(contract(&text).is_err(), "{to}");
        assert!(ringforge_prove::Contract::parse(&text).is_err(), "{to}");
    }
}

/// Everything that a contract of constant time may say.
const SAFETY: &str = r#"contract = 1
abi = "sysv-x86-64"
claims = ["constant-time", "clean-stack"]
[[function]]
symbol = "f"
stack = 64
claims = "constant-time"
released_branches = 1
arguments = [
    { name = "r", role = "output", element = "u8", length = 64, align = 8 },
    { name = "k", role = "input", element = "u8", length = 2, known = [{ at = 1, hex = "0f" }] },
    { name = "n", value = 64 },
    { name = "m", values = [1, 2] },
    { name = "s", secret = true },
    { name = "t", same = "r" },
]
[[data]]
symbol = "d"
words = [[0, 0], [0, 1]]
[[external]]
symbol = "g"
stands_in = true
stack = 64
reads = [{ argument = 1, bytes_of = 2 }]
writes = [{ argument = 0, bytes = 32, known = [{ at = 0, hex = "00" }] }]
returns = 0
"#;

const CHAIN: &str = r#"chain = 1
input = [{ name = "a", element = "i16", range = [-1, 1], elements = 2, transform = "g.toml" }]
define = [{ name = "w", each = "a mod 2" }]
step = [{ contract = "f.toml", arguments = { r = "a[0]" } }]
output = [{ name = "a", computes = "a[0]", range = [-1, 1], transform = "g.toml" }]
"#;

fn safety(text: &str) -> Result<(), String> {
    SafetyContract::parse(text).map(drop).map_err(|e| e.message)
}

/// What the reader says of a chain before it looks at the contracts: that there are none comes last.
fn chained(text: &str) -> Result<(), String> {
    let error = chain::Chain::parse(text, |_| Err("no contract is here".into())).unwrap_err();
    if error.message.contains("no contract is here") { Ok(()) } else { Err(error.message) }
}

/// What the command says of a project with one object and one contract.
fn project(text: &str) -> Result<(), String> {
    let dir = Sandbox::new();
    dir.file("a.o", "");
    dir.file("c.toml", SAFETY);
    dir.file("ringforge.toml", text);
    let run = dir.ringforge(&["prove", "--all", "--no-cache"]);
    assert_ne!(run.status, 0, "the object is empty: {run:?}");
    if run.stderr.contains("project file is refused") { Err(run.stderr) } else { Ok(()) }
}

const PROJECT: &str = r#"objects = ["a.o"]
contracts = ["c.toml"]
build = "make"
time-limit = 9
memory-limit = 900
jobs = 1
confirm = false
cache = "cache"
missing = "skip"
"#;

#[test]
fn contracts_of_constant_time_and_chains_of_the_repository_are_valid() {
    let (mut found, mut seen) = (Vec::new(), [0, 0]);
    files(&root(), ".toml", &mut found);
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_valid = |schema| {
            toml_is_valid(schema, &text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        };
        if is_of_constant_time(&text) {
            safety(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            is_valid("constant-time.json");
            seen[0] += 1;
        } else if chain::is_for(&text) {
            is_valid("chain.json");
            seen[1] += 1;
        }
    }
    assert!(seen[0] > 60 && seen[1] > 0, "{seen:?}");
    let example = std::fs::read_to_string(root().join("docs/examples/ringforge.toml")).unwrap();
    toml_is_valid("project.json", &example).unwrap();
}

/// Key by key: a reader and its schema have the same keys, and refuse the same mistakes.
#[test]
fn the_other_schemas_are_those_of_their_readers() {
    type Reader = fn(&str) -> Result<(), String>;
    // Text before which a key is put, and the objects of the schema.
    type Place = (&'static str, Vec<Value>);
    type Changes = &'static [(&'static str, &'static str)];
    let [of_safety, of_chain, of_project] =
        ["constant-time.json", "chain.json", "project.json"].map(schema);
    let items = |schema: &Value, key: &str| schema["properties"][key]["items"].clone();
    let function = items(&of_safety, "function");
    let arguments = items(&function, "arguments")["oneOf"].as_array().unwrap().clone();
    let external = items(&of_safety, "external");
    let [reads, writes] = ["reads", "writes"].map(|key| items(&external, key));
    // Before which text a key is put that nobody knows, and the objects whose keys the reader then names.
    let data = items(&of_safety, "data");
    let part = |key: &str| vec![items(&of_chain, key)];
    let formats: [(Reader, &str, &str, Vec<Place>); 3] = [
        (
            safety,
            "constant-time.json",
            SAFETY,
            vec![
                ("abi = ", vec![of_safety]),
                ("stack = ", vec![function]),
                ("role = \"input\"", arguments),
                ("words = ", vec![data]),
                ("stands_in = ", vec![external]),
                ("argument = 1", vec![reads]),
                ("argument = 0", vec![writes]),
            ],
        ),
        (
            chained,
            "chain.json",
            CHAIN,
            vec![
                ("chain = ", vec![of_chain.clone()]),
                ("element = ", part("input")),
                ("contract = ", part("step")),
                ("each = ", part("define")),
                ("computes = ", part("output")),
            ],
        ),
        (project, "project.json", PROJECT, vec![("build = ", vec![of_project])]),
    ];
    for (read, name, text, places) in formats {
        read(text).unwrap();
        toml_is_valid(name, text).unwrap();
        for (from, objects) in places {
            let line = text.starts_with(from) || text.contains(&format!("\n{from}"));
            let end = if line { "\n" } else { ", " };
            let changed = text.replacen(from, &format!("unheard = 1{end}{from}"), 1);
            let error = read(&changed).unwrap_err();
            let listed = listed(&objects.iter().collect::<Vec<_>>());
            match &listed[..] {
                // Of two keys the reader says "expected `a` or `b`".
                [a, b] => assert!(error.contains(a) && error.contains(b), "{from}: {error}"),
                _ => assert_eq!(keys(&error), listed, "{from}"),
            }
            assert!(toml_is_valid(name, &changed).is_err(), "{from}");
        }
    }
    let wrong: [(Reader, &str, &str, Changes); 3] = [
        (
            safety,
            "constant-time.json",
            SAFETY,
            &[
                ("contract = 1", "contract = 2"),
                ("\"constant-time\", \"clean-stack\"", "\"clean-stack\""),
                ("\"clean-stack\"", "\"constant-time\""),
                ("\"clean-stack\"", "\"clean-heap\""),
                ("align = 8", "align = 12"),
                (", length = 64", ""),
                ("value = 64", "value = 64, secret = true"),
                ("values = [1, 2]", "values = []"),
                ("align = 8", "known = [{ at = 0, hex = \"00\" }]"),
                ("\"0f\"", "\"0\""),
                ("bytes_of = 2", "bytes_of = 2, bytes = 1"),
                ("bytes_of = 2", "bytes_of = 6"),
                ("bytes_of = 2", "bytes = 2, known = [{ at = 0, hex = \"00\" }]"),
                ("stands_in = true\nstack = 64", "stands_in = true"),
                ("words = [[0, 0], [0, 1]]", "words = [[]]"),
            ],
        ),
        (
            chained,
            "chain.json",
            CHAIN,
            &[
                ("chain = 1", "chain = 2"),
                ("elements = 2", "elements = -1"),
                ("i16", "i17"),
                ("range = [-1, 1], elements", "range = [-1], elements"),
                (", arguments = { r = \"a[0]\" }", ""),
                ("computes = \"a[0]\", ", ""),
            ],
        ),
        (
            project,
            "project.json",
            PROJECT,
            &[
                ("[\"a.o\"]", "[]"),
                ("contracts = [\"c.toml\"]\n", ""),
                ("time-limit = 9", "time-limit = 0"),
                ("jobs = 1", "jobs = -1"),
                ("cache = \"cache\"", "cache = \"\""),
                ("\"skip\"", "\"ignore\""),
                ("confirm = false", "confirm = 0"),
            ],
        ),
    ];
    for (read, name, text, changes) in wrong {
        for (from, to) in changes {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            assert!(toml_is_valid(name, &changed).is_err(), "the schema takes {to}");
            assert!(read(&changed).is_err(), "the reader takes {to}");
        }
    }
}

#[test]
fn proofs_are_valid() {
    let dir = Sandbox::new();
    dir.file("toy.toml", &include_str!("toy/toy.toml").replace("tests/toy/", ""));
    dir.file("toy.plan", include_str!("toy/toy.plan"));
    let args = ["--json", "forge", "toy.toml", "--target", "c", "--no-bench", "--out", "p"];
    let package = dir.ringforge(&args).succeeds().json();
    validate("proof.json", &package).unwrap();
    let written: Value = serde_json::from_str(&dir.read("p/proof.json")).unwrap();
    validate("proof.json", &written).unwrap();
    let object = format!("p/{}", package["object"]["name"].as_str().unwrap());
    let terms = format!("p/{}", package["targets"][0]["contract"].as_str().unwrap());
    let proved = dir.ringforge(&["--json", "prove", &object, "--contract", &terms]).json();
    assert_eq!(proved["verdict"], "proved");
    validate("proof.json", &proved).unwrap();
    // A refuted one has reasons and a witness.
    let narrow = dir.read(&terms).replacen("range = [", "range = [1, 2] # [", 1);
    dir.file("narrow.toml", &narrow);
    let refuted = dir.ringforge(&["--json", "prove", &object, "--contract", "narrow.toml"]).json();
    assert_eq!(refuted["verdict"], "refuted");
    assert!(refuted["objects"][0]["witness"].is_object());
    validate("proof.json", &refuted).unwrap();
    // What is missing or of another type is noticed.
    let mut without = proved.clone();
    without["objects"][0].as_object_mut().unwrap().remove("assumptions");
    assert!(validate("proof.json", &without).is_err());
    let mut rounded = package;
    rounded["verdict"] = json!("probably");
    assert!(validate("proof.json", &rounded).is_err());
}
