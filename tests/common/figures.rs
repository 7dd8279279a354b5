//! Tables of the README and of docs/results/, from what was measured (`docs/figures/`).

use serde_json::Value;
use std::collections::BTreeSet;

/// Reads a file of figures.
pub type Read<'a> = &'a dyn Fn(&str) -> String;

/// Fills what stands between `<!-- NAME -->` and `<!-- end -->`.
pub fn fill(text: &str, read: Read) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<!-- figures: ") {
        let after = &rest[at + "<!-- figures: ".len()..];
        let (name, after) = after.split_once(" -->").ok_or("a marker does not end")?;
        let end = after.find("<!-- end -->").ok_or_else(|| format!("`{name}` has no end"))?;
        out += &rest[..at];
        out += &format!("<!-- figures: {name} -->\n{}", table(name, read)?);
        rest = &after[end..];
    }
    Ok(out + rest)
}

fn table(name: &str, read: Read) -> Result<String, String> {
    let parse = |file: &str| -> Result<Value, String> {
        serde_json::from_str(&read(file)).map_err(|e| format!("{file}: {e}"))
    };
    match name {
        "cycles" => Ok(cycles(&parse("bench.json")?, false)),
        "best cycles" => Ok(cycles(&parse("bench.json")?, true)),
        "proofs" => Ok(proofs(&parse("proofs.json")?)),
        "mutants" => Ok(mutants(&parse("mutants.json")?)),
        "counts" => Ok(counts(&parse("counts.json")?)),
        "reductions" => Ok(reductions(&parse("search.json")?)),
        "placements" => Ok(placements(&parse("placements.json")?)),
        "ring cycles" => Ok(ring_cycles(&parse("rings.json")?, false)),
        "widths" => Ok(widths(&parse("avx512.json")?)),
        "best ring cycles" => Ok(ring_cycles(&parse("rings.json")?, true)),
        "ring proofs" => Ok(ring_proofs(&parse("ring-proofs.json")?)),
        "trinomials" => Ok(trinomials(&parse("trinomials.json")?)),
        "ring mutants" => Ok(ring_mutants(&parse("ring-mutants.json")?)),
        "plan mutants" => Ok(ring_mutants(&parse("plan-mutants.json")?)),
        "kems" => Ok(super::kems::kems(&parse("kems.json")?)),
        "kem references" => Ok(super::kems::references(&parse("kem-references.json")?)),
        "kem phases" => Ok(super::kems::phases(&parse("kems.json")?)),
        "neon operations" => Ok(super::neon::operations(&parse("neon.json")?)),
        "neon phases" => Ok(super::neon::phases(&parse("neon.json")?)),
        "library sizes" => Ok(super::library::sizes(&parse("library-proofs.json")?)),
        "library proofs" => Ok(super::library::proofs(&parse("library-proofs.json")?)),
        "simulated" => Ok(super::simulated::simulated(&parse("plans.json")?)),
        "plans of other rings" => Ok(plans(&parse("plans.json")?, None)),
        _ => match name.strip_prefix("plans ") {
            Some(ring) => Ok(plans(&parse("plans.json")?, Some(ring))),
            None => Err(format!("no table is called `{name}`")),
        },
    }
}

/// Rows as Markdown; all but the first `left` columns are aligned right.
pub fn markdown(head: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|s| s.to_string()).collect();
    let rule = (0..head.len()).map(|i| if i < left { "---" } else { "---:" });
    let mut out = line(&head) + &format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
    rows.iter().for_each(|row| out += &line(row));
    out
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// 12345 as `12,345`.
pub fn number(value: &Value) -> String {
    let digits = format!("{:.0}", value.as_f64().unwrap_or(0.0));
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `ringforge bench sntrup761 --peers --json`; of each product all lines, or the fastest.
fn cycles(bench: &Value, best: bool) -> String {
    let mut rows: Vec<&Value> = list(&bench["rows"]).iter().collect();
    let median = |row: &Value| row["median"].as_f64().unwrap_or(f64::MAX);
    rows.sort_by(|a, b| median(a).total_cmp(&median(b)));
    let mut seen = BTreeSet::new();
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        // No command makes a package of that.
        .filter(|row| !text(&row["name"]).contains("VNNI"))
        .filter(|row| seen.insert(text(&row["name"])) || !best)
        .map(|row| {
            let noisy = if row["noisy"] == true { " (noisy)" } else { "" };
            vec![
                text(&row["name"]),
                text(&row["operands"]),
                text(&row["compiled"]),
                number(&row["min"]),
                number(&row["median"]) + noisy,
            ]
        })
        .collect();
    markdown(&["product", "operands", "compiled by", "min", "median"], 3, &rows) + &how(bench)
}

/// Where and how a benchmark was run.
fn how(bench: &Value) -> String {
    format!(
        "\n{} ({}); core cycles of one product, calibrated, {} fresh copies of {} interleaved samples.\n",
        text(&bench["host"]["processor"]),
        text(&bench["host"]["model"]),
        bench["copies"],
        bench["samples"]
    )
}

/// `ringforge prove OBJECT… --json`, one for each target.
fn proofs(all: &Value) -> String {
    let mut rows = Vec::new();
    for run in list(all) {
        for object in list(&run["objects"]) {
            let counts = &object["counts"];
            rows.push(vec![
                text(&object["object"]),
                text(&object["verdict"]),
                format!("{:.1} s", object["times"]["total"].as_f64().unwrap_or(0.0)),
                number(&counts["instructions"]),
                number(&counts["code_bytes"]),
                number(&counts["stack_bytes"]),
            ]);
        }
    }
    markdown(
        &["object", "verdict", "proof", "instructions executed", "code bytes", "stack bytes"],
        2,
        &rows,
    )
}

/// `ringforge mutate sntrup761 --json`.
fn mutants(run: &Value) -> String {
    let row = |name: &str, tally: &Value| {
        let cell = |key: &str| tally[key].as_u64().unwrap_or(0).to_string();
        let keys = [
            "tried",
            "refuted",
            "confirmed",
            "unknown",
            "accepted",
            "unsound",
            "crashed",
            "timed_out",
        ];
        std::iter::once(name.to_owned()).chain(keys.map(cell)).collect::<Vec<_>>()
    };
    let summary = &run["summary"];
    let mut rows = Vec::new();
    if let Some(classes) = summary["classes"].as_object() {
        rows.extend(classes.iter().map(|(name, tally)| row(name, tally)));
    }
    rows.push(row("total", &summary["total"]));
    markdown(
        &[
            "class",
            "tried",
            "refuted",
            "shown by running",
            "left open",
            "proved right",
            "proved wrongly",
            "crashed",
            "timed out",
        ],
        1,
        &rows,
    )
}

/// `ringforge explain sntrup761 --json`, one for each plan.
fn counts(all: &Value) -> String {
    let mut rows = Vec::new();
    for run in list(all) {
        let plan = text(&run["plan"]);
        let plan = plan.strip_prefix("(plan ").and_then(|p| p.split_whitespace().next());
        let plan = format!("{}, {}", plan.unwrap_or("?"), text(&run["target"]));
        let total = &run["counts"]["total"];
        for (stage, counts) in list(&run["counts"]["stages"])
            .iter()
            .map(|s| {
                let path: Vec<String> = list(&s["path"]).iter().map(text).collect();
                (path.join(" › "), &s["counts"])
            })
            .chain([("**total**".to_owned(), total)])
        {
            let sum = |keys: &[&str]| -> String {
                keys.iter().filter_map(|k| counts[*k].as_u64()).sum::<u64>().to_string()
            };
            rows.push(vec![
                plan.clone(),
                stage,
                sum(&["modular_products", "word_products"]),
                sum(&["reductions", "narrowings", "freezes"]),
                sum(&["multiplies"]),
                sum(&["additions"]),
                sum(&["shuffles"]),
            ]);
        }
    }
    markdown(
        &["plan, target", "stage", "products", "reductions", "multiplies", "additions", "shuffles"],
        2,
        &rows,
    )
}

/// What docs/figures/rings.sh keeps of `ringforge bench RING`, one for each ring; with `best` whole products
/// alone, of ours and of the peers the fastest.
fn ring_cycles(all: &Value, best: bool) -> String {
    let mut rows = Vec::new();
    for bench in list(all) {
        let median = |row: &Value| row["median"].as_f64().unwrap_or(f64::MAX);
        let ours = |row: &Value| text(&row["name"]).starts_with("ringforge");
        let peers = list(&bench["rows"]).iter().filter(|row| !ours(row));
        let peer = peers.map(median).fold(f64::MAX, f64::min);
        let mut fastest: Vec<&Value> = list(&bench["rows"]).iter().collect();
        if best {
            fastest.retain(|row| row["operands"] != "");
            fastest.sort_by(|a, b| median(a).total_cmp(&median(b)));
            let mut seen = BTreeSet::new();
            fastest.retain(|row| seen.insert(text(&row["name"])));
        }
        for row in fastest {
            let whole = row["operands"] != "";
            let ratio = median(row) / peer;
            rows.push(vec![
                format!("`{}`", text(&bench["ring"])),
                text(&row["name"]) + if whole { "" } else { " (part)" },
                text(&row["compiled"]),
                number(&row["min"]),
                number(&row["median"]) + if row["noisy"] == true { " (noisy)" } else { "" },
                if whole && peer < f64::MAX { format!("{ratio:.2}") } else { String::new() },
            ]);
        }
    }
    markdown(&["ring", "function", "compiled by", "min", "median", "of the best peer"], 3, &rows)
        + &list(all).first().map_or(String::new(), how)
}

/// Entry points for AVX-512 beside those for AVX2, by compiler.
fn widths(all: &Value) -> String {
    let mut rows = Vec::new();
    for bench in list(all) {
        let find = |name: &str, compiled: &str| {
            list(&bench["rows"])
                .iter()
                .find(|r| text(&r["name"]) == name && text(&r["compiled"]) == compiled)
        };
        for long in list(&bench["rows"]) {
            let (name, compiled) = (text(&long["name"]), text(&long["compiled"]));
            let Some(rest) = name.strip_prefix("ringforge avx512") else { continue };
            let Some(short) = find(&format!("ringforge avx2{rest}"), &compiled) else { continue };
            let of = |row: &Value| row["median"].as_f64().unwrap_or(f64::NAN);
            let noisy = |row: &Value| if row["noisy"] == true { " (noisy)" } else { "" };
            rows.push(vec![
                format!("`{}`", text(&bench["ring"])),
                if rest.is_empty() { "mul".into() } else { rest.trim().into() },
                compiled,
                number(&long["median"]) + noisy(long),
                number(&short["median"]) + noisy(short),
                format!("{:.2}", of(long) / of(short)),
            ]);
        }
    }
    markdown(&["ring", "function", "compiled by", "AVX-512", "AVX2", "ratio"], 3, &rows)
        + &list(all).first().map_or(String::new(), how)
}

/// What docs/figures/rings.sh keeps of `ringforge forge RING --json`: for each ring, compiler and
/// level the entry points with verdict, time, ranges.
fn ring_proofs(all: &Value) -> String {
    let mut rows = Vec::new();
    for run in list(all) {
        let entries = list(&run["entries"]);
        let proved = entries.iter().filter(|e| e["verdict"] == "proved").count();
        let of = |name: &str| {
            let found = entries.iter().find(|e| text(&e["symbol"]).ends_with(name));
            found.map_or("".into(), |e| format!("{:.1} s", e["seconds"].as_f64().unwrap_or(0.0)))
        };
        let total: f64 = entries.iter().filter_map(|e| e["seconds"].as_f64()).sum();
        rows.push(vec![
            text(&run["name"]),
            text(&run["compiled"]),
            format!("{proved} of {}", entries.len()),
            of("_mul_avx2"),
            of("_mul_c"),
            format!("{total:.1} s"),
        ]);
    }
    markdown(
        &["ring", "compiled by", "entry points proved", "product, avx2", "product, c", "all"],
        2,
        &rows,
    )
}

/// What docs/figures/rings.sh keeps of `ringforge forge RING --json` for x^n - x^(n/2) + 1: each product beside plain C by
/// the same compiler, medians of core cycles.
fn trinomials(all: &Value) -> String {
    let mut rows = Vec::new();
    for package in list(all) {
        for product in list(&package["products"]) {
            let cycles = |key: &str| product[key].as_f64().unwrap_or(f64::NAN);
            rows.push(vec![
                format!("{}, `{}`", text(&package["name"]), text(&package["ring"])),
                text(&product["target"]),
                text(&package["compiled"]),
                format!("{} of {}", product["proved"], product["entries"]),
                format!("{:.1} s", cycles("seconds")),
                number(&product["ours"]),
                number(&product["cycles"]),
                format!("{:.3}", cycles("ours") / cycles("cycles")),
            ]);
        }
    }
    let head =
        ["ring", "target", "compiled by", "entry points proved", "proof", "product", "plain C"];
    markdown(&[&head[..], &["of plain C"]].concat(), 3, &rows)
}

/// `ringforge mutate RING --json`, one for each ring.
fn ring_mutants(all: &Value) -> String {
    let row = |run: &Value| {
        let tally = &run["summary"]["total"];
        let cell = |key: &str| tally[key].as_u64().unwrap_or(0).to_string();
        let keys = [
            "tried",
            "refuted",
            "confirmed",
            "unknown",
            "accepted",
            "unsound",
            "crashed",
            "timed_out",
        ];
        std::iter::once(text(&run["symbol"])).chain(keys.map(cell)).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = list(all).iter().map(row).collect();
    markdown(
        &[
            "function",
            "tried",
            "refuted",
            "shown by running",
            "left open",
            "proved right",
            "proved wrongly",
            "crashed",
            "timed out",
        ],
        1,
        &rows,
    )
}

/// Rings that have tables of their own.
const SHOWN: [&str; 2] = ["Z4591[x]/(x^761 - x - 1)", "Z2048[x]/(x^677 - 1)"];

/// What docs/figures/plans.sh keeps of `ringforge bench RING --plans all`: the plans for `RING, OPERANDS`,
/// the fastest first, with the peers among them; or those of all rings without a table of their own.
fn plans(all: &Value, of: Option<&str>) -> String {
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    let ours = |table: &&Value| match of {
        Some(of) => format!("{}, {}", text(&table["ring"]), text(&table["operands"])) == of,
        None => !SHOWN.contains(&text(&table["ring"]).as_str()),
    };
    for table in list(all).iter().filter(ours) {
        let median = |row: &Value| row["median"].as_f64().unwrap_or(f64::MAX);
        let peers = list(&table["peers"]);
        let best = peers.iter().map(median).fold(f64::MAX, f64::min);
        let mut lines: Vec<&Value> = list(&table["plans"]).iter().chain(peers).collect();
        lines.sort_by(|a, b| median(a).total_cmp(&median(b)));
        for line in lines {
            let count = |key: &str| match line[key].as_u64() {
                None | Some(0) => String::new(),
                Some(_) => number(&line[key]),
            };
            let noisy = if line["noisy"] == true { " (noisy)" } else { "" };
            let cycles = |key: &str| match line[key].as_f64() {
                Some(_) => number(&line[key]),
                None => String::new(),
            };
            let seconds = line["seconds"].as_f64().unwrap_or(0.0);
            let mut row = match line["plan"].as_str() {
                Some(plan) => vec![
                    format!("{plan}, {}{}", text(&line["target"]), marks(line, &mut notes)),
                    list(&line["moduli"])
                        .iter()
                        .map(Value::to_string)
                        .collect::<Vec<_>>()
                        .join(", "),
                    text(&line["transform"]),
                ],
                None => vec![text(&line["name"]), String::new(), String::new()],
            };
            if of.is_none() {
                row.insert(0, format!("`{}`, {}", text(&table["ring"]), text(&table["operands"])));
            }
            let counts =
                ["base_products", "multiplications", "additions", "reductions", "shuffles"];
            row.extend(counts.map(count));
            row.extend(["code_bytes", "stack_bytes"].map(count));
            row.push(match line["verdict"].as_str() {
                None => String::new(),
                Some("no program") => "no program".into(),
                Some(verdict) => format!("{verdict}, {seconds:.1} s"),
            });
            row.push(cycles("min"));
            row.push(cycles("median") + noisy);
            row.push(if best < f64::MAX && median(line) < f64::MAX {
                format!("{:.2}", median(line) / best)
            } else {
                String::new()
            });
            rows.push(row);
        }
    }
    let mut head = vec![
        "plan, target",
        "moduli",
        "transform",
        "base products",
        "mul",
        "add",
        "reduce",
        "shuffle",
        "code",
        "stack",
        "proof",
        "min",
        "median",
        "of the best peer",
    ];
    if of.is_none() {
        head.insert(0, "ring");
    }
    let left = head.len() - 11;
    let notes = notes.iter().enumerate().map(|(i, note)| {
        format!(
            "\n{} The program differs from the plan, whose base products are shown. {note}.\n",
            raised(i)
        )
    });
    markdown(&head, left, &rows)
        + &notes.collect::<String>()
        + &list(all).first().map_or(String::new(), plans_how)
}

/// Marks for a plan's notes, each of which gets a number where it is new.
fn marks(line: &Value, notes: &mut Vec<String>) -> String {
    let number = |note: &Value| {
        let note = text(note);
        let at = notes.iter().position(|known| *known == note).unwrap_or(notes.len());
        if at == notes.len() {
            notes.push(note);
        }
        at
    };
    let numbers: BTreeSet<usize> = list(&line["notes"]).iter().map(number).collect();
    numbers.into_iter().map(|at| format!(" {}", raised(at))).collect()
}

/// ¹, ², … for 0, 1, ….
fn raised(number: usize) -> char {
    ['¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][number]
}

/// Where and how plans were measured.
fn plans_how(table: &Value) -> String {
    format!(
        "\n{} ({}); core cycles of one product, calibrated, {} fresh copies of {} interleaved samples.\n",
        text(&table["processor"]),
        text(&table["model"]),
        table["copies"],
        table["samples"]
    )
}

/// `ringforge search --tables --json`.
fn reductions(all: &Value) -> String {
    let row = |row: &Value| {
        let n = row["n"].as_f64().unwrap_or(1.0);
        let units = row["product"].as_f64().unwrap_or(0.0) * 2.0 / n;
        vec![
            format!("{}, {}", row["q"], row["n"]),
            text(&row["who"]),
            number(&row["forward"]),
            number(&row["inverse"]),
            number(&row["product"]),
            format!("{units:.2}"),
            number(&row["operations"]),
            if row["least"] == true { "yes" } else { "" }.into(),
        ]
    };
    let rows: Vec<Vec<String>> = list(all).iter().map(row).collect();
    markdown(
        &[
            "q, n",
            "placement",
            "forward",
            "inverse",
            "product",
            "in n/2",
            "operations",
            "none lower",
        ],
        2,
        &rows,
    )
}

/// What docs/figures/placements.sh keeps of `ringforge forge` with placements of reductions.
fn placements(all: &Value) -> String {
    let row = |row: &Value| {
        let words = if row["words"].is_null() { String::new() } else { number(&row["words"]) };
        vec![
            row["n"].to_string(),
            text(&row["placement"]),
            text(&row["inverse"]),
            words,
            number(&row["registers"]),
            number(&row["cycles"]),
            number(&row["median"]),
        ]
    };
    let rows: Vec<Vec<String>> = list(all).iter().map(row).collect();
    markdown(&["n", "placement", "inverse", "words", "registers", "min", "median"], 3, &rows)
}
