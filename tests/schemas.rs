//! The JSON schemas of `docs/schemas/`: every contract of the repository and every proof that the
//! tool writes is valid, and a schema takes what the tool takes, key by key.

mod common;

use boon::{Compiler, Schemas};
use common::Sandbox;
use ringforge_prove::map;
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

fn contract(text: &str) -> Result<(), String> {
    let value: toml::Value = toml::from_str(text).unwrap();
    let schema = if map::is_for(text) { "map.json" } else { "contract.json" };
    validate(schema, &serde_json::to_value(value).unwrap())
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
    for text in [whole, equal] {
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

/// The keys that the reader takes in place of one that it does not know.
fn keys(text: &str) -> Vec<String> {
    let error = ringforge_prove::Contract::parse(text).unwrap_err().message;
    let (_, list) = error.split_once("expected one of").unwrap_or_else(|| panic!("{error}"));
    let mut keys: Vec<String> = list.split('`').skip(1).step_by(2).map(str::to_string).collect();
    keys.sort();
    keys
}

#[test]
fn the_schema_has_the_keys_of_the_reader_and_no_others() {
    contract(WHOLE).unwrap();
    ringforge_prove::Contract::parse(WHOLE).unwrap();
    let text = std::fs::read_to_string(root().join("docs/schemas/contract.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let listed = |objects: &[&Value]| -> Vec<String> {
        let mut keys: Vec<String> = objects
            .iter()
            .flat_map(|o| o["properties"].as_object().unwrap().keys().cloned())
            .collect();
        keys.sort();
        keys.dedup();
        keys
    };
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
        assert_eq!(keys(&unknown), listed(&objects), "{from}");
        assert!(contract(&unknown).is_err(), "{from}");
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let wrong = [
        ("contract = 1", "contract = 2"),
        ("\"sysv-x86-64\"", "\"win64\""),
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
