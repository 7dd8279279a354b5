//! `prove --all`: what a project's `ringforge.toml` names, the verdicts that are kept, and what other programs read.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Run, Sandbox, mentions};
use serde_json::Value;

/// A right function, one whose address depends on a secret, and one that calls another object.
const RIGHT: &str = "#include <stdint.h>\n\
    void halve(uint8_t *r, const uint8_t *a) { for (int i = 0; i < 4; i++) r[i] = a[i] >> 1; }\n";
const WRONG: &str = "#include <stdint.h>\n\
    int first(const uint8_t *a)\n{\n    return a[a[2] & 3];\n}\n";
const UNKNOWN: &str = "#include <stdint.h>\n\
    int other(int);\n\
    int second(const uint8_t *a) { return other(a[0]) + 1; }\n";

fn contract(abi: &str, symbol: &str, arguments: &str) -> String {
    format!(
        "contract = 1\nabi = \"{abi}\"\nclaims = \"constant-time\"\n\n[[function]]\nsymbol = \"{symbol}\"\nstack = 64\n\
         arguments = [{arguments}]\n"
    )
}

const TWO: &str = r#"{ name = "r", role = "output", element = "u8", length = 4 }, { name = "a", role = "input", element = "u8", length = 4 }"#;
const ONE: &str = r#"{ name = "a", role = "input", element = "u8", length = 4 }"#;
const ABI: &str = "sysv-x86-64";

/// A project with a right, a wrong and an unknown object.
fn project() -> Sandbox {
    let dir = Sandbox::new();
    for folder in ["build", "contracts"] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
    }
    for (name, source) in [("right", RIGHT), ("unknown", UNKNOWN), ("wrong", WRONG)] {
        compile(&dir, &format!("build/{name}.o"), source, "-O1");
    }
    dir.file("contracts/halve.toml", &contract(ABI, "halve", TWO));
    dir.file("contracts/first.toml", &contract(ABI, "first", ONE));
    dir.file("contracts/second.toml", &contract(ABI, "second", ONE));
    dir.file(
        "ringforge.toml",
        "objects = [\"build/*.o\"]\ncontracts = [\"contracts\"]\nbuild = \"make -j2\"\ncache = \"kept\"\n",
    );
    dir
}

fn compile(dir: &Sandbox, name: &str, source: &str, level: &str) {
    dir.compile_with(ringforge_testing::cc(), &["-g", level], name, source);
}

fn prove(dir: &Sandbox, more: &[&str]) -> Run {
    dir.ringforge(&[&["--json", "prove", "--all"], more].concat())
}

/// The functions of a report, with verdict, and whether it is from an earlier run.
fn rows(run: &Run) -> Vec<(String, String, bool)> {
    let found = run.json();
    let functions = found["functions"].as_array().unwrap_or_else(|| panic!("{run:?}"));
    let row = |row: &Value| {
        let word = |key: &str| row[key].as_str().unwrap().to_owned();
        (word("function"), word("verdict"), row["cached"].as_bool().unwrap())
    };
    functions.iter().map(row).collect()
}

/// The functions whose verdict is new.
fn anew(run: &Run) -> Vec<String> {
    rows(run).into_iter().filter(|row| !row.2).map(|row| row.0).collect()
}

const ALL: [&str; 3] = ["first", "halve", "second"];

#[test]
fn a_project_is_proved_and_remembered() {
    let dir = project();
    let run = prove(&dir, &["--jobs", "2"]);
    assert_eq!(run.status, 1, "{run:?}");
    let of = |run: &Run| rows(run).into_iter().map(|r| (r.0, r.1)).collect::<Vec<_>>();
    let expected = [("first", "refuted"), ("halve", "proved"), ("second", "unknown")];
    let expected = expected.map(|(f, v)| (f.to_owned(), v.to_owned())).to_vec();
    assert_eq!(of(&run), expected);
    assert_eq!(anew(&run), ALL);
    let report = run.json();
    assert_eq!(report["verdict"], "refuted");
    assert_eq!(report["build"], "make -j2");
    assert_eq!(report["functions"][1]["object"], "build/right.o");
    assert_eq!(report["functions"][1]["contract"], "contracts/halve.toml");

    // The second run has the same from the cache, whatever the number of jobs and the place.
    let again = prove(&dir, &["--jobs", "1"]);
    assert_eq!(again.status, 1, "{again:?}");
    assert_eq!(anew(&again), Vec::<String>::new());
    let strip = |report: &Value| {
        let mut functions = report["functions"].as_array().unwrap().clone();
        for function in &mut functions {
            function.as_object_mut().unwrap().remove("cached");
        }
        functions
    };
    assert_eq!(strip(&report), strip(&again.json()));
    let below = dir.path().join("contracts");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringforge"));
    let from_below = command.args(["prove", "--all"]).current_dir(&below).output().unwrap();
    let said = String::from_utf8_lossy(&from_below.stdout);
    assert_eq!(from_below.status.code(), Some(1), "{said}");
    assert!(said.contains("(cached)") && said.contains("1 of 3 proved"), "{said}");
    assert!(said.contains("first is refuted: "), "{said}");
    assert!(said.contains("  assumed, for 1 of 3: "), "{said}");

    // One job proves what two do.
    let one = prove(&dir, &["--jobs", "1", "--no-cache"]);
    assert_eq!(of(&one), expected);
    assert_eq!(anew(&one), ALL);
    let reasons = |run: &Run| {
        let report = run.json();
        report["functions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["reasons"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(reasons(&one), reasons(&run));
}

#[test]
fn what_changed_is_proved_anew() {
    let dir = project();
    assert_eq!(anew(&prove(&dir, &[])), ALL);
    assert_eq!(anew(&prove(&dir, &[])).len(), 0);
    // An object, whose name plays no part.
    compile(&dir, "build/right.o", RIGHT, "-O2");
    assert_eq!(anew(&prove(&dir, &[])), ["halve"]);
    let from = |name: &str| dir.path().join("build").join(name);
    std::fs::rename(from("right.o"), from("renamed.o")).unwrap();
    assert_eq!(anew(&prove(&dir, &[])).len(), 0);
    // A contract, even where it says the same.
    let text = dir.read("contracts/first.toml");
    dir.file("contracts/first.toml", &format!("# new\n{text}"));
    assert_eq!(anew(&prove(&dir, &[])), ["first"]);
    // Options.
    assert_eq!(anew(&prove(&dir, &["--time-limit", "500"])), ALL);
    assert_eq!(anew(&prove(&dir, &["--memory-limit", "4000"])), ALL);
    assert_eq!(anew(&prove(&dir, &["--no-confirm"])), ALL);
    assert_eq!(anew(&prove(&dir, &[])).len(), 0);
    // The tool: a program with one more byte at its end does the same, and is another one.
    let tool = dir.path().join("tool");
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_ringforge")).unwrap();
    bytes.push(0);
    std::fs::copy(env!("CARGO_BIN_EXE_ringforge"), &tool).unwrap();
    std::fs::write(&tool, bytes).unwrap();
    let output = Command::new(&tool)
        .args(["--json", "prove", "--all"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let functions = report["functions"].as_array().unwrap();
    assert!(functions.iter().all(|f| f["cached"] == false), "{report:#}");
    // The user's own cache serves where the file names none.
    let text = dir.read("ringforge.toml").replace("cache = \"kept\"\n", "");
    dir.file("ringforge.toml", &text);
    let cache = tempfile::tempdir().unwrap();
    for count in [3, 0] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringforge"));
        command.args(["--json", "prove", "--all"]).current_dir(dir.path());
        let output = command.env("XDG_CACHE_HOME", cache.path()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let functions = report["functions"].as_array().unwrap();
        assert_eq!(functions.iter().filter(|f| f["cached"] == false).count(), count, "{report:#}");
    }
    assert_eq!(kept(&cache.path().join("ringforge/proofs")).len(), 3);
}

/// The files of a cache.
fn kept(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).map(|entries| entries.flatten().collect::<Vec<_>>());
    let mut paths: Vec<PathBuf> = entries.unwrap_or_default().iter().map(|e| e.path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_damaged_entry_is_as_if_it_were_not_there() {
    let dir = project();
    let whole = prove(&dir, &[]);
    let files = kept(&dir.path().join("kept"));
    assert_eq!(files.len(), 3);
    let texts: Vec<String> = files.iter().map(|f| std::fs::read_to_string(f).unwrap()).collect();
    let of = |word: &str| {
        let at = texts.iter().position(|t| t.contains(word)).unwrap();
        (&files[at], &texts[at])
    };
    // A forged verdict, half a file, nothing, no text at all, the entry of another function.
    let (refuted, text) = of("\"verdict\":\"refuted\"");
    for damaged in [
        text.replace("\"verdict\":\"refuted\"", "\"verdict\":\"proved\"").into_bytes(),
        text.as_bytes()[..text.len() / 2].to_vec(),
        Vec::new(),
        vec![0xff; 100],
        of("\"function\":\"halve\"").1.clone().into_bytes(),
    ] {
        assert_ne!(damaged, text.as_bytes());
        std::fs::write(refuted, damaged).unwrap();
        let run = prove(&dir, &[]);
        assert_eq!(anew(&run), ["first"], "{run:?}");
        assert_eq!(run.status, 1);
        assert_eq!(anew(&prove(&dir, &[])).len(), 0, "the entry is whole again");
    }
    // A cache that cannot be written costs nothing but time.
    std::fs::remove_dir_all(dir.path().join("kept")).unwrap();
    dir.file("kept", "a file in its place");
    let run = prove(&dir, &[]);
    assert_eq!(rows(&run).len(), 3);
    assert_eq!(anew(&run), ALL);
    mentions(&run, &["warning: results are not kept"]);
    assert_eq!(run.json()["verdict"], whole.json()["verdict"]);
}

#[test]
fn an_interrupted_run_loses_nothing() {
    let dir = Sandbox::new();
    compile(&dir, "right.o", RIGHT, "-O1");
    let slow = "void slow(unsigned char *r) { __asm__ volatile(\"mov $0x7fffffff, %%ecx\\n1: dec %%ecx\\njnz 1b\" ::: \"ecx\"); }\n";
    compile(&dir, "slow.o", slow, "-O1");
    dir.file("halve.toml", &contract(ABI, "halve", TWO));
    let out = r#"{ name = "r", role = "inout", element = "u8", length = 4 }"#;
    dir.file("slow.toml", &contract(ABI, "slow", out));
    let both = "objects = [\"*.o\"]\ncontracts = [\"halve.toml\", \"slow.toml\"]\ncache = \"kept\"\ntime-limit = 300\n";
    dir.file("ringforge.toml", both);
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_ringforge"), "--json"]);
    command.args(["prove", "--all", "--jobs", "1", "--junit", "junit.xml"]);
    command.current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let start = Instant::now();
    while kept(&dir.path().join("kept")).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing is proved");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["interrupted"], true);
    assert_eq!(report["verdict"], "unknown");
    assert_eq!(report["functions"][0]["verdict"], "proved");
    assert_eq!(report["functions"][1]["reasons"][0], "interrupted");
    let junit = dir.read("junit.xml");
    assert!(junit.contains("tests=\"2\"") && junit.contains("errors=\"1\""), "{junit}");
    dir.file("ringforge.toml", &both.replace(", \"slow.toml\"", ""));
    let run = prove(&dir, &[]).succeeds();
    assert_eq!(rows(&run), [("halve".into(), "proved".into(), true)]);
    // What a limit ended is not kept.
    dir.file("ringforge.toml", &both.replace("300", "1"));
    for _ in 0..2 {
        let run = prove(&dir, &[]);
        assert_eq!(run.status, 1);
        assert_eq!(rows(&run)[1], ("slow".into(), "unknown".into(), false), "{run:?}");
    }
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let dir = project();
    let refused = |text: &str, expected: &[&str]| {
        dir.file("wrong.toml", text);
        let run = dir.ringforge(&["prove", "--all", "--config", "wrong.toml"]);
        run.fails(2, expected);
        assert!(run.stdout.is_empty(), "{run:?}");
    };
    let usual = "objects = [\"build/*.o\"]\ncontracts = [\"contracts\"]\n";
    for (more, expected) in [
        ("object = []", &["wrong.toml:3:", "unknown key `object`; did you mean `objects`?"][..]),
        ("time_limit = 5", &["did you mean `time-limit`?"]),
        ("colour = 1", &["unknown key `colour`", "the keys are objects, contracts, build, "]),
        ("time-limit = 0", &["nonzero"]),
        ("jobs = \"two\"", &["invalid type: string"]),
        ("missing = \"skipp\"", &["unknown value `skipp`; did you mean `skip`?"]),
        ("cache = \"\"", &["this is no directory", "--no-cache"]),
        ("cache =", &["wrong.toml:3:"]),
    ] {
        refused(&format!("{usual}{more}\n"), expected);
    }
    refused("contracts = [\"contracts\"]\n", &["the key `objects` is missing", "build/*.o"]);
    for (objects, expected) in [
        ("", &["this names nothing to prove"][..]),
        ("\"no/*.o\"", &["this matches no file", "to build: `make it`"]),
        ("\"none.o\"", &["there is no `none.o`", "to build: `make it`"]),
        ("\"build\"", &["this is a directory; its objects are `build/*.o`"]),
        ("\"build/[a.o\"", &["this pattern has a mistake"]),
    ] {
        let text =
            format!("objects = [{objects}]\ncontracts = [\"contracts\"]\nbuild = \"make it\"\n");
        refused(&text, expected);
    }
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    for (contracts, expected) in [
        ("", "this names nothing to prove"),
        ("\"none\"", "there is no `none`"),
        ("\"empty\"", "this matches no contract"),
        ("\"*.nothing\"", "this matches no contract"),
    ] {
        refused(&format!("objects = [\"build/*.o\"]\ncontracts = [{contracts}]\n"), &[expected]);
    }
    // A contract with a mistake is shown as by itself, and text is no object.
    dir.file("bad.toml", "contract = 1\nsymbol = 3\n");
    refused(
        "objects = [\"build/*.o\"]\ncontracts = [\"bad.toml\"]\n",
        &["this contract is refused", "bad.toml:2"],
    );
    refused(
        "objects = [\"bad.toml\"]\ncontracts = [\"contracts\"]\n",
        &["cannot read `bad.toml` as an object"],
    );
    // Nothing to prove is no success.
    dir.file("arm.toml", &contract("aapcs64", "halve", TWO));
    refused(
        "objects = [\"build/*.o\"]\ncontracts = [\"arm.toml\"]\n",
        &["no object defines", "for other processors: arm.toml"],
    );
    dir.file("third.toml", &contract(ABI, "third", ONE));
    refused(
        "objects = [\"build/*.o\"]\ncontracts = [\"third.toml\"]\nmissing = \"skip\"\n",
        &["no object defines", "third"],
    );
    dir.ringforge(&["prove", "--all", "--config", "nowhere.toml"]).fails(2, &["nowhere.toml"]);
    std::fs::remove_file(dir.path().join("ringforge.toml")).unwrap();
    dir.ringforge(&["prove", "--all"])
        .fails(2, &["no `ringforge.toml` here or in a directory above"]);
    dir.ringforge(&["prove", "--all", "build/right.o"]).fails(2, &["cannot be used with"]);
    dir.ringforge(&[
        "prove",
        "build/right.o",
        "--contract",
        "contracts/halve.toml",
        "--sarif",
        "x",
    ])
    .fails(2, &["cannot be used with"]);
}

/// A function that was renamed is no longer proved: that must not pass unnoticed.
#[test]
fn a_contract_without_its_function_is_unknown() {
    let dir = project();
    let text = "objects = [\"build/right.o\"]\ncontracts = [\"contracts/halve.toml\", \"contracts/first.toml\"]\ncache = \"kept\"\n";
    dir.file("ringforge.toml", text);
    let run = prove(&dir, &["--sarif", "out.sarif"]);
    assert_eq!(run.status, 1, "{run:?}");
    let found: Vec<(String, String)> = rows(&run).into_iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(found, [("halve".into(), "proved".into()), ("first".into(), "unknown".into())]);
    let sarif: Value = serde_json::from_str(&dir.read("out.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "missing");
    assert_eq!(rows(&prove(&dir, &["--missing", "skip"]).succeeds()).len(), 1);
    dir.file("ringforge.toml", &format!("{text}missing = \"skip\"\n"));
    assert_eq!(prove(&dir, &["--missing", "unknown"]).status, 1);
    let run = prove(&dir, &[]).succeeds();
    assert_eq!(rows(&run).len(), 1);
    assert_eq!(run.json()["left_out"]["not_defined"][0], "first");
}

/// A chain depends on its contracts' texts, too. Refuted objects are run on their counterexamples.
#[test]
fn chains_are_proved_with_their_contracts() {
    let dir = Sandbox::new();
    let tiny = include_str!("../docs/examples/tiny.c");
    compile(&dir, "tiny.o", tiny, "-O1");
    let contract = include_str!("../docs/examples/tiny.toml");
    dir.file("tiny.toml", contract);
    let input = |name: &str| {
        format!("[[input]]\nname = \"{name}\"\nelement = \"i16\"\nrange = [-1664, 1664]\n")
    };
    let chain = format!(
        "chain = 1\n{}{}[[step]]\ncontract = \"tiny.toml\"\narguments = {{ c = \"c\", a = \"a\", b = \"b\" }}\n\
         [[output]]\nname = \"c\"\ncomputes = \"a * b\"\nrange = [-1664, 1664]\n",
        input("a"),
        input("b")
    );
    dir.file("chain.toml", &chain);
    let text =
        "objects = [\"*.o\"]\ncontracts = [\"chain.toml\", \"tiny.toml\"]\ncache = \"kept\"\n";
    dir.file("ringforge.toml", text);
    let run = prove(&dir, &[]).succeeds();
    assert_eq!(anew(&run), ["chain.toml", "tiny_mul"]);
    let claims = run.json()["functions"][0]["report"]["claims"].to_string();
    assert!(claims.contains("c at the end = a * b"), "{claims}");
    assert_eq!(anew(&prove(&dir, &[])).len(), 0);
    dir.file("tiny.toml", &format!("# new\n{contract}"));
    assert_eq!(anew(&prove(&dir, &[])), ["chain.toml", "tiny_mul"]);

    compile(&dir, "tiny.o", &format!("#define LAZY 1\n{tiny}"), "-O1");
    for cached in [false, true] {
        let run = prove(&dir, &[]);
        assert_eq!(run.status, 1);
        let expected = ["chain.toml", "tiny_mul"].map(|f| (f.into(), "refuted".into(), cached));
        assert_eq!(rows(&run), expected);
        let reasons = run.json()["functions"][1]["reasons"].to_string();
        assert!(reasons.contains("confirmed by running the object"), "{reasons}");
    }
    compile(&dir, "again.o", tiny, "-O1");
    dir.ringforge(&["prove", "--all"])
        .fails(2, &["calls `tiny_mul`, which again.o and tiny.o define: which is meant?"]);
}

/// Archives and linked files.
#[test]
fn archives_and_linked_files_are_objects_too() {
    let dir = project();
    let tool = |program: &str, args: &[&str]| {
        let status = Command::new(program).args(args).current_dir(dir.path()).status();
        assert!(status.unwrap().success(), "{program} {args:?}");
    };
    tool("ar", &["rcs", "build/all.a", "build/right.o", "build/wrong.o"]);
    tool(ringforge_testing::cc(), &["-shared", "-fPIC", "-o", "build/one.so", "build/right.o"]);
    dir.file(
        "ringforge.toml",
        "objects = [\"build/all.a\", \"build/one.so\"]\ncontracts = [\"contracts/halve.toml\"]\ncache = \"kept\"\n",
    );
    let run = prove(&dir, &[]).succeeds();
    let report = run.json();
    assert_eq!(report["functions"][0]["object"], "build/all.a(right.o)");
    assert_eq!(report["functions"][1]["object"], "build/one.so");
}

/// SARIF's parts that readers depend on: GitHub refuses a file without one of them.
fn check_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("/sarif-schema-2.1.0.json"));
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "ringforge");
    assert_eq!(driver["semanticVersion"], env!("CARGO_PKG_VERSION"));
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        assert!(rule["shortDescription"]["text"].as_str().unwrap().ends_with('.'), "{rule}");
    }
    for result in runs[0]["results"].as_array().unwrap() {
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        let level = if result["properties"]["verdict"] == "refuted" { "error" } else { "warning" };
        assert_eq!(result["level"], level);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let fingerprint = &result["partialFingerprints"]["functionAndReason/v1"];
        assert_eq!(fingerprint.as_str().unwrap().len(), 64);
        for key in ["locations", "relatedLocations"] {
            for location in result[key].as_array().unwrap() {
                let physical = &location["physicalLocation"];
                let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                assert!(
                    uri.bytes().all(|b| b.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&b)),
                    "{uri}"
                );
                let line =
                    physical.get("region").map(|region| region["startLine"].as_u64().unwrap());
                assert_ne!(line, Some(0));
            }
        }
    }
    // The official schema, where somebody has it: it is not free to be copied here.
    if let Some(path) = std::env::var_os("RINGFORGE_SARIF_SCHEMA") {
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.add_resource("sarif.json", schema).unwrap();
        let index = compiler.compile("sarif.json", &mut schemas).unwrap();
        schemas.validate(log, index).unwrap_or_else(|e| panic!("{e:#}"));
    }
}

#[test]
fn other_programs_read_the_results() {
    let dir = project();
    let files = ["--sarif", "out/a.sarif", "--junit", "junit.xml", "--markdown", "summary.md"];
    for cached in [false, true] {
        let run = dir.ringforge(&[&["prove", "--all"][..], &files].concat());
        assert_eq!(run.status, 1, "{run:?}");
        let log: Value = serde_json::from_str(&dir.read("out/a.sarif")).unwrap();
        check_sarif(&log);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let of = |function: &str| {
            let prefix = format!("{function} is ");
            let of = |r: &&Value| r["message"]["text"].as_str().unwrap().starts_with(&prefix);
            results.iter().find(of).unwrap_or_else(|| panic!("{log:#}"))
        };
        assert!(
            results.iter().all(|r| !r["message"]["text"].as_str().unwrap().starts_with("halve"))
        );
        let wrong = of("first");
        assert_eq!((&wrong["ruleId"], &wrong["level"]), (&"constant-time".into(), &"error".into()));
        let place = &wrong["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "source-of-object.c");
        assert_eq!(place["region"]["startLine"], 4);
        assert_eq!(wrong["locations"][0]["logicalLocations"][0]["name"], "first");
        assert_eq!(wrong["properties"]["object"], "build/wrong.o");
        let contract = &wrong["relatedLocations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(contract["uri"], "contracts/first.toml");
        assert_eq!(of("second")["level"], "warning");

        let junit = dir.read("junit.xml");
        for part in [
            "<testsuites name=\"ringforge\" tests=\"3\" skipped=\"0\" failures=\"1\" errors=\"1\"",
            "<testsuite name=\"build/right.o\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"0\"",
            "<testcase name=\"halve\" classname=\"contracts/halve.toml\" time=",
            "<failure message=\"refuted: ",
            "type=\"constant-time\"",
            "<error message=\"unknown: ",
        ] {
            assert!(junit.contains(part), "no {part} in {junit}");
        }
        assert_eq!(junit.contains("<property name=\"cached\" value=\"true\"/>"), cached, "{junit}");

        let summary = dir.read("summary.md");
        assert!(summary.starts_with("### ringforge: 1 of 3 proved\n\n| |"), "{summary}");
        let row = "| ✅ proved | halve | build/right.o | halve.toml | ";
        assert!(summary.contains(row), "{summary}");
        assert!(summary.contains("| ❌ refuted | first | "), "{summary}");
        assert!(summary.contains("\n- second is unknown: "), "{summary}");
        assert!(summary.contains("made by make -j2."), "{summary}");
    }
    // GitHub's file has what other commands wrote; any other is replaced.
    dir.file("step.md", "# Before\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringforge"));
    command.args(["--quiet", "prove", "--all", "--markdown", "step.md"]).current_dir(dir.path());
    command.env("GITHUB_STEP_SUMMARY", "step.md").status().unwrap();
    assert!(dir.read("step.md").starts_with("# Before\n### ringforge: 1 of 3"));
    dir.ringforge(&["prove", "--all", "--markdown", "step.md"]);
    assert!(dir.read("step.md").starts_with("### ringforge"));
}

/// `--contracts` writes the same files; nothing of a name is taken for markup.
#[test]
fn names_are_escaped() {
    let dir = Sandbox::new();
    let object = "a <b> & 'c' \"d\" |e| %41.o";
    compile(&dir, object, WRONG, "-O1");
    std::fs::create_dir(dir.path().join("con tracts")).unwrap();
    dir.file("con tracts/f_i`r`st*.toml", &contract(ABI, "first", ONE));
    let files = ["--sarif", "a.sarif", "--junit", "a.xml", "--markdown", "a.md"];
    let args = ["prove", object, "--contracts", "con tracts"];
    assert_eq!(dir.ringforge(&[&args[..], &files].concat()).status, 1);
    let log: Value = serde_json::from_str(&dir.read("a.sarif")).unwrap();
    check_sarif(&log);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["properties"]["object"], object);
    let contract = &result["relatedLocations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(contract["uri"], "con%20tracts/f_i%60r%60st%2A.toml");
    let junit = dir.read("a.xml");
    assert!(junit.contains("name=\"a &lt;b&gt; &amp; "), "{junit}");
    assert!(!junit.contains("<b>"), "{junit}");
    let summary = dir.read("a.md");
    let row = "| ❌ refuted | first | a &lt;b&gt; &amp; 'c' \"d\" \\|e\\| %41.o | f\\_i\\`r\\`st\\*.toml | ";
    assert!(summary.contains(row), "{summary}");
    // Without debug information, the place is the object.
    dir.compile_with(ringforge_testing::cc(), &["-O1"], object, WRONG);
    dir.ringforge(&[&args[..], &files].concat());
    let log: Value = serde_json::from_str(&dir.read("a.sarif")).unwrap();
    check_sarif(&log);
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"]["uri"],
        "a%20%3Cb%3E%20%26%20%27c%27%20%22d%22%20%7Ce%7C%20%2541.o"
    );
    assert_eq!(place.get("region"), None);
}

/// A failure after a comparison of addresses refutes if the object, run on these inputs, fails too.
#[test]
fn a_failure_on_a_way_that_may_be_impossible_is_run() {
    let dir = Sandbox::new();
    let contract = include_str!("../docs/examples/tiny.toml");
    let apart = contract.replace("alias = [[\"c\", \"a\"]]", "alias = []");
    assert_ne!(apart, contract);
    dir.file("tiny.toml", &apart);
    let tiny = include_str!("../docs/examples/tiny.c");
    let source = |lies: &str| {
        format!(
            "#define tiny_mul inner\n{tiny}#undef tiny_mul\n\
             void tiny_mul(int16_t *c, const int16_t *a, const int16_t *b) {{\n\
             inner(c, a, b); unsigned long d = (char *)c - (char *)a; if ({lies}) c[0] = 5; }}\n"
        )
    };
    // Elements of two bytes never lie 11 bytes apart; any two arrays of a process lie as near as the other says.
    for (lies, fails) in [("d == 11", false), ("d - 10 < 1UL << 39 || -d - 10 < 1UL << 39", true)] {
        compile(&dir, "tiny.o", &source(lies), "-O1");
        for runs in [true, false] {
            let mut args = vec!["prove", "tiny.o", "--contract", "tiny.toml"];
            args.extend((!runs).then_some("--no-confirm"));
            let run = dir.ringforge(&args);
            assert_eq!(run.status, 1);
            let refuted = runs && fails;
            assert_eq!(run.stdout.contains("tiny_mul is refuted"), refuted, "{}", run.stdout);
            assert_eq!(run.stdout.contains("confirmed by running"), refuted, "{}", run.stdout);
            assert_eq!(run.stdout.contains("counterexample"), refuted, "{}", run.stdout);
            let odd = "the failure lies on a way that may be impossible";
            assert_eq!(run.stdout.contains(odd), !refuted, "{}", run.stdout);
        }
    }
    // What fails wherever they lie needs no run.
    compile(&dir, "tiny.o", &format!("#define LAZY 1\n{}", source("d == 11")), "-O1");
    let run = dir.ringforge(&["prove", "tiny.o", "--contract", "tiny.toml", "--no-confirm"]);
    assert!(run.stdout.contains("counterexample (disjoint, a lies above c)"), "{}", run.stdout);
}
