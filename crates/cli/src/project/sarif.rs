//! SARIF 2.1.0, the format of code scanning: one result for each reason why a function is not proved.

use std::path::Path;

use ringforge_contract::sha256;
use ringforge_prove::Verdict;
use serde::Serialize;

use super::row::{Cause, Row};
use crate::package::Tool;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const HELP: &str = "https://docs.rs/ringforge";

/// The kinds of reasons, and what each is about.
const RULES: [(&str, &str); 11] = [
    ("constant-time", "A branch, an address or the time of an instruction depends on secret data."),
    ("memory", "An access leaves the arrays, or lacks permission."),
    ("undefined", "A value is used that nothing defines."),
    ("abi", "The calling convention is broken."),
    ("residue", "Data that depends on secrets stays on the stack or in registers."),
    ("range", "A value leaves its word, or an output its range."),
    ("function", "The outputs differ from what the contract states."),
    ("unmodelled", "The prover does not know an instruction, an object or an operation."),
    ("stopped", "A limit or an interrupt ended the proof."),
    ("missing", "No object defines the function of a contract."),
    ("unknown", "The prover could not decide."),
];

#[derive(Serialize)]
struct Log<'a> {
    version: &'static str,
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: ToolText,
    invocations: [Invocation; 1],
    results: Vec<Outcome<'a>>,
    column_kind: &'static str,
}

#[derive(Serialize)]
struct ToolText {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
    help_uri: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: [Location<'a>; 1],
    related_locations: [Location<'a>; 1],
    partial_fingerprints: Fingerprint,
    properties: Properties<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_locations: Option<[Logical<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

#[derive(Serialize)]
struct Logical<'a> {
    name: &'a str,
    kind: &'static str,
}

#[derive(Serialize)]
struct Fingerprint {
    #[serde(rename = "functionAndReason/v1")]
    value: String,
}

#[derive(Serialize)]
struct Properties<'a> {
    verdict: Verdict,
    object: &'a str,
    contract: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<&'a str>,
}

/// The results as text.
///
/// # Errors
/// They have no form in JSON.
pub fn text(rows: &[Row], interrupted: bool) -> Result<String, serde_json::Error> {
    let rule = |&(id, about): &(&'static str, &str)| Rule {
        id,
        short_description: Message { text: about.into() },
        help_uri: HELP,
    };
    let driver = Driver {
        name: Tool::THIS.name,
        semantic_version: Tool::THIS.version,
        information_uri: HELP,
        rules: RULES.iter().map(rule).collect(),
    };
    let failed = rows.iter().filter(|row| row.verdict != Verdict::Proved);
    let log = Log {
        version: "2.1.0",
        schema: SCHEMA,
        runs: [Run {
            tool: ToolText { driver },
            invocations: [Invocation { execution_successful: !interrupted }],
            results: failed.flat_map(results).collect(),
            column_kind: "unicodeCodePoints",
        }],
    };
    serde_json::to_string_pretty(&log)
}

/// A result for each reason, once; without a reason, one for the verdict.
fn results<'a>(row: &'a Row) -> Vec<Outcome<'a>> {
    let mut causes: Vec<&'a Cause> = Vec::new();
    for cause in &row.causes {
        let same = |c: &&Cause| (&c.text, c.address) == (&cause.text, cause.address);
        if !causes.iter().any(same) {
            causes.push(cause);
        }
    }
    if causes.is_empty() {
        return vec![result(row, None, 0)];
    }
    // The same reason keeps its fingerprint if code moves: it is the n-th of its kind in the function.
    let earlier = |at: usize, kind: &str| causes.iter().take(at).filter(|c| c.kind == kind).count();
    let one =
        |(at, cause): (usize, &&'a Cause)| result(row, Some(*cause), earlier(at, &cause.kind));
    causes.iter().enumerate().map(one).collect()
}

fn result<'a>(row: &'a Row, cause: Option<&'a Cause>, nth: usize) -> Outcome<'a> {
    let kind = cause.map_or("unknown", |cause| cause.kind.as_str());
    let last = RULES.len() - 1;
    let rule_index = RULES.iter().position(|rule| rule.0 == kind).unwrap_or(last);
    let rule_id = RULES[rule_index].0;
    let (function, text) = (&row.label.function, cause.map_or("no reason", |c| c.text.as_str()));
    let object = if row.label.object.is_empty() { &row.label.contract } else { &row.label.object };
    let source = cause.and_then(|cause| cause.source.as_ref());
    let physical_location = match source {
        Some(source) => Place {
            artifact_location: Artifact { uri: uri(&source.file) },
            region: Some(Region { start_line: source.line }),
        },
        // Of an archive's member, the archive is the file.
        None => {
            place(object.strip_suffix(')').and_then(|o| o.split_once('(')).map_or(object, |o| o.0))
        }
    };
    let location = Location {
        physical_location,
        logical_locations: Some([Logical { name: function, kind: "function" }]),
        message: None,
    };
    let contract = Location {
        physical_location: place(&row.label.contract),
        logical_locations: None,
        message: Some(Message { text: "the contract".into() }),
    };
    let what = format!("{function}\n{}\n{rule_id}\n{nth}", row.label.contract);
    Outcome {
        rule_id,
        rule_index,
        level: if row.verdict == Verdict::Refuted { "error" } else { "warning" },
        message: Message { text: format!("{function} is {}: {text}", row.verdict) },
        locations: [location],
        related_locations: [contract],
        partial_fingerprints: Fingerprint { value: sha256(what.as_bytes()) },
        properties: Properties {
            verdict: row.verdict,
            object: &row.label.object,
            contract: &row.label.contract,
            address: cause.and_then(|cause| cause.address).map(|a| format!("{a:#x}")),
            instruction: cause.and_then(|cause| cause.instruction.as_deref()),
        },
    }
}

fn place(path: &str) -> Place {
    Place { artifact_location: Artifact { uri: uri(Path::new(path)) }, region: None }
}

/// A path as a URI: relative ones stay relative, to the directory that the command ran in.
fn uri(path: &Path) -> String {
    let mut text = String::new();
    if path.is_absolute() {
        text += "file://";
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte));
            }
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}
