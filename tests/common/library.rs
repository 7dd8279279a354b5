//! What docs/figures/library.sh recorded of the library's multipliers: tables, and whether it is of what is there.

use super::figures::{list, markdown, number, text};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The compilers of a file, by the end of its name.
fn compilers(file: &str) -> [&'static str; 2] {
    match file.ends_with("_neon.c") {
        true => ["aarch64-gcc", "aarch64-clang"],
        false => ["gcc", "clang"],
    }
}

/// What a compiler made of a file; nothing where the record has nothing.
fn object<'a>(file: &'a Value, compiler: &str) -> &'a Value {
    list(&file["objects"]).iter().find(|o| o["compiler"] == compiler).unwrap_or(&Value::Null)
}

fn level(file: &Value) -> String {
    list(&file["objects"]).first().map_or(String::new(), |object| text(&object["level"]))
}

/// Lines and bytes of each file.
pub fn sizes(record: &Value) -> String {
    let mut sums = [0; 3];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for file in list(&record["files"]) {
        let name = text(&file["file"]);
        let bytes = compilers(&name).map(|compiler| object(file, compiler)["bytes"].as_u64());
        let row = [file["lines"].as_u64(), bytes[0], bytes[1]].map(|n| n.unwrap_or(0));
        sums.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
        let cells = row.map(|n| number(&n.into()));
        rows.push([vec![name, level(file)], cells.to_vec()].concat());
    }
    rows.push(
        [vec!["all".into(), String::new()], sums.map(|n| number(&n.into())).to_vec()].concat(),
    );
    markdown(&["file", "level", "lines", "bytes, gcc", "bytes, clang"], 2, &rows) + &how(record)
}

/// Each function's proofs.
pub fn proofs(record: &Value) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for file in list(&record["files"]) {
        let objects = compilers(&text(&file["file"])).map(|compiler| object(file, compiler));
        for (i, function) in list(&objects[0]["functions"]).iter().enumerate() {
            let proof = |object: &Value| {
                let one = &object["functions"][i];
                format!(
                    "{}, {:.1} s",
                    text(&one["verdict"]),
                    one["seconds"].as_f64().unwrap_or(0.0)
                )
            };
            let name = format!("`{}`", text(&function["function"]));
            rows.push(vec![name, level(file), proof(objects[0]), proof(objects[1])]);
        }
    }
    markdown(&["function", "level", "by gcc", "by clang"], 2, &rows) + &how(record)
}

/// Which compilers, where and when.
fn how(record: &Value) -> String {
    let versions = record["compilers"].as_object().into_iter().flatten();
    let versions: Vec<String> = versions.map(|(_, version)| text(version)).collect();
    let mut once: Vec<&str> = versions.iter().map(String::as_str).collect();
    once.dedup();
    format!(
        "\n{}; {} ({}), {}.\n",
        once.join("; "),
        text(&record["processor"]),
        text(&record["model"]),
        text(&record["date"])
    )
}

fn sha256(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The names of the files of a folder with an extension, in order.
fn files(folder: &Path, extension: &str) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(extension)).collect();
    names.sort();
    Ok(names)
}

/// Whether the record is of the files of lib/generated as they are, and says of each of their functions, by each of the
/// compilers, that it is proved.
///
/// # Errors
/// What is missing, has changed since, or is not proved.
pub fn covers(record: &Value, generated: &Path) -> Result<usize, String> {
    let sources = files(generated, ".c")?;
    let recorded: Vec<String> = list(&record["files"]).iter().map(|f| text(&f["file"])).collect();
    if sources != recorded {
        return Err(format!("the files are {sources:?}, the record has {recorded:?}"));
    }
    let mut count = 0;
    let mut contracts = Vec::new();
    for (source, file) in sources.iter().zip(list(&record["files"])) {
        if file["sha256"] != sha256(&generated.join(source))? {
            return Err(format!("{source} has changed since"));
        }
        let code = std::fs::read_to_string(generated.join(source)).map_err(|e| e.to_string())?;
        let names = code.lines().filter_map(|l| l.strip_prefix("#define ")?.split_once(" RF_NS("));
        let mut functions: Vec<&str> = names.map(|(name, _)| name).collect();
        functions.sort_unstable();
        if functions.is_empty() {
            return Err(format!("{source} has no functions"));
        }
        for compiler in compilers(source) {
            let proofs = list(&object(file, compiler)["functions"]);
            let proved: Vec<String> = proofs.iter().map(|p| text(&p["function"])).collect();
            if functions != proved {
                return Err(format!(
                    "{source} has {functions:?}, by {compiler} the record has {proved:?}"
                ));
            }
            for (function, proof) in functions.iter().zip(proofs) {
                if proof["verdict"] != "proved" {
                    return Err(format!("{function} by {compiler} is not proved"));
                }
                let contract = format!("{function}.toml");
                if proof["contract_sha256"] != sha256(&generated.join("contracts").join(&contract))?
                {
                    return Err(format!("{contract} has changed since"));
                }
                count += 1;
            }
        }
        contracts.extend(functions.iter().map(|function| format!("{function}.toml")));
    }
    contracts.sort();
    let there = files(&generated.join("contracts"), ".toml")?;
    if there != contracts {
        return Err(format!("there are contracts {there:?}, and functions with {contracts:?}"));
    }
    Ok(count)
}
