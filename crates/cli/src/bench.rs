//! `ringforge bench`: multipliers side by side.

use std::path::{Path, PathBuf};
use std::process::Command;

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN, presets::UTF8_BORDERS_ONLY};
use ringforge_program::ir::{Computes, Program};
use ringforge_program::schedule::Schedule;
use ringforge_ring::Ring;
use ringforge_toolchain::timing::{Candidate, Code, Settings, Timing, measure};
use ringforge_toolchain::{Compiler, Host, Scratch};
use serde::Serialize;

use crate::args::Bench;
use crate::entry;
use crate::forge;
use crate::make;
use crate::package::Tool;
use crate::plans;
use crate::preset::{Job, resolve};
use crate::target::{self, Target};
use crate::ui::{Failure, Ui};

/// One line of the table.
struct Entry {
    candidate: Candidate,
    /// What operands the product takes.
    operands: String,
    /// Compiler and flags.
    compiled: String,
}

/// One measured line.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    timing: Timing,
    operands: String,
    compiled: String,
}

/// A product of another project.
struct Peer {
    /// The ring that it multiplies in.
    ring: &'static str,
    /// Package of bench/ and the arguments that choose this product.
    program: (&'static str, &'static str),
    /// Its name in tables.
    name: &'static str,
    /// What operands it takes.
    operands: &'static str,
}

const SNTRUP761: &str = "Z4591[x]/(x^761 - x - 1)";

const PEERS: &[Peer] = &[
    Peer {
        ring: SNTRUP761,
        program: ("peer-pqcrypto", "avx2"),
        name: "pqcrypto-ntruprime 0.1.6, AVX2",
        operands: "big × small",
    },
    Peer {
        ring: SNTRUP761,
        program: ("peer-pqcrypto", "clean"),
        name: "pqcrypto-ntruprime 0.1.6, portable",
        operands: "big × small",
    },
    Peer {
        ring: SNTRUP761,
        program: ("peer-liboqs", "avx2"),
        name: "liboqs 0.13, AVX2",
        operands: "big × small",
    },
    Peer {
        ring: "Z2048[x]/(x^677 - 1)",
        program: ("peer-ntru", "2048677 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z2048[x]/(x^677 - 1)",
        program: ("peer-ntru", "2048677 clean"),
        name: "pqcrypto-ntru 0.5.8, portable",
        operands: "big × big",
    },
    Peer {
        ring: "Z2048[x]/(x^509 - 1)",
        program: ("peer-ntru", "2048509 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z4096[x]/(x^821 - 1)",
        program: ("peer-ntru", "4096821 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z8192[x]/(x^701 - 1)",
        program: ("peer-ntru", "701 avx2"),
        name: "pqcrypto-ntru 0.5.8, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z8192[x]/(x^256 + 1)",
        program: ("peer-saber", ""),
        name: "pqcrypto-saber 0.1.11, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z3329[x]/(x^256 + 1)",
        program: ("peer-mlkem", ""),
        name: "pqcrypto-mlkem 0.1.1, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z12289[x]/(x^512 + 1)",
        program: ("peer-fndsa", "512"),
        name: "fn-dsa-comm 0.3.0, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z12289[x]/(x^1024 + 1)",
        program: ("peer-fndsa", "1024"),
        name: "fn-dsa-comm 0.3.0, AVX2",
        operands: "big × big",
    },
    Peer {
        ring: "Z8380417[x]/(x^256 + 1)",
        program: ("peer-mldsa", ""),
        name: "pqcrypto-mldsa 0.1.2, AVX2",
        operands: "big × big",
    },
];

/// Runs the command.
///
/// # Errors
/// Bad input, or nothing could be measured.
pub fn run(ui: &Ui, args: &Bench) -> Result<u8, Failure> {
    if !args.plans.is_empty() {
        return plans::run(ui, args);
    }
    let job = resolve(&args.subject)?;
    let compilers = compilers(&args.cc)?;
    let host = Host::detect();
    let scratch =
        Scratch::new().map_err(|e| Failure::failed(format!("no temporary directory: {e}")))?;
    let mut entries = Vec::new();
    let mut missing = Vec::new();
    if args.peers {
        for compiler in &compilers {
            peers(ui, &job.plan.ring, &args.bench_dir, compiler, &mut entries, &mut missing)?;
        }
    }
    let wanted = |entry: &entry::Entry| args.entries || entry.computes == Computes::Product;
    for compiler in &compilers {
        ours(ui, &job, &args.target, compiler, &host, scratch.path(), &wanted, &mut entries)?;
    }
    let settings = Settings { copies: args.copies, samples: args.samples, ..Settings::default() };
    let bar = ui.bar("timing", (settings.copies * settings.samples) as u64);
    let candidates: Vec<Candidate> = entries.iter().map(|e| e.candidate.clone()).collect();
    let timings = measure(&compilers[0], &candidates, &settings, &mut |done, _| {
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let timings = timings.map_err(|e| Failure::failed(e.to_string()))?;
    let rows: Vec<Row> = entries
        .into_iter()
        .zip(timings)
        .map(|(e, timing)| Row { timing, operands: e.operands, compiled: e.compiled })
        .collect();
    ui.json(&serde_json::json!({
        "ring": job.plan.ring.to_string(),
        "tool": Tool::THIS,
        "host": host,
        "copies": args.copies,
        "samples": args.samples,
        "rows": rows,
        "missing": missing,
    }))?;
    ui.say(table(&rows, args.markdown).to_string());
    ui.say(format!(
        "{} ({}); core cycles of one product, calibrated; {} fresh copies of {} samples, interleaved",
        host.processor, host.model, args.copies, args.samples
    ));
    for reason in &missing {
        ui.say(format!("left out: {reason}"));
    }
    Ok(0)
}

/// The compilers of these names, or the usual ones that are here, gcc before clang; at least one.
///
/// # Errors
/// One is not here.
pub fn compilers(names: &[String]) -> Result<Vec<Compiler>, Failure> {
    if !names.is_empty() {
        return names.iter().map(|name| forge::compiler(Some(name))).collect();
    }
    let mut found: Vec<Compiler> = Compiler::find("gcc").into_iter().collect();
    let clang = ["clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16"];
    found.extend(clang.iter().find_map(|name| Compiler::find(name).ok()));
    if found.is_empty() { Ok(vec![forge::compiler(None)?]) } else { Ok(found) }
}

/// The peers that can be built with a compiler, for timing beside others.
///
/// # Errors
/// bench/ is not there, or has no peers for the ring.
pub fn peer_candidates(
    ui: &Ui,
    ring: &Ring,
    bench: &Path,
    compiler: &Compiler,
) -> Result<Vec<Candidate>, Failure> {
    let (mut entries, mut missing) = (Vec::new(), Vec::new());
    peers(ui, ring, bench, compiler, &mut entries, &mut missing)?;
    for reason in missing {
        ui.say(format!("left out: {reason}"));
    }
    Ok(entries.into_iter().map(|entry| entry.candidate).collect())
}

/// The peers that can be built with a compiler, with name, operands and how they are compiled; none for
/// a ring that has none.
///
/// # Errors
/// bench/ is not there.
pub fn peer_rows(
    ui: &Ui,
    ring: &Ring,
    bench: &Path,
    compiler: &Compiler,
) -> Result<Vec<(Candidate, String, String, String)>, Failure> {
    if PEERS.iter().all(|peer| peer.ring != ring.to_string()) {
        return Ok(Vec::new());
    }
    let (mut entries, mut missing) = (Vec::new(), Vec::new());
    peers(ui, ring, bench, compiler, &mut entries, &mut missing)?;
    for reason in missing {
        ui.say(format!("left out: {reason}"));
    }
    let row = |e: Entry| {
        let name = e.candidate.name.clone();
        (e.candidate, name, e.operands, e.compiled)
    };
    Ok(entries.into_iter().map(row).collect())
}

/// Builds the peers with a compiler and adds those that could be built.
fn peers(
    ui: &Ui,
    ring: &Ring,
    bench: &Path,
    compiler: &Compiler,
    entries: &mut Vec<Entry>,
    missing: &mut Vec<String>,
) -> Result<(), Failure> {
    let ring = ring.to_string();
    let here: Vec<&Peer> = PEERS.iter().filter(|peer| peer.ring == ring).collect();
    if here.is_empty() {
        let mut rings: Vec<&str> = PEERS.iter().map(|peer| peer.ring).collect();
        rings.dedup();
        return Err(Failure::input(format!(
            "bench/ has no peers for {ring}, only for {}",
            rings.join(", ")
        )));
    }
    let manifest = bench.join("Cargo.toml");
    if !manifest.is_file() {
        return Err(Failure::input(format!(
            "the peers are built from {}, which is not here; pass --bench-dir DIR",
            manifest.display()
        )));
    }
    for &&Peer { program: (package, arguments), name, operands, .. } in &here {
        let bar = ui.spinner(&format!("building {package} with {}", compiler.name));
        let built = build_peer(&manifest, package, compiler);
        bar.finish_and_clear();
        match built {
            Ok(program) => entries.push(Entry {
                candidate: Candidate {
                    name: name.into(),
                    code: Code::Program(
                        program,
                        arguments.split_whitespace().map(str::to_owned).collect(),
                    ),
                },
                operands: operands.into(),
                compiled: format!("{}, its own flags", short(compiler)),
            }),
            Err(why) => missing.push(format!("{name} ({}): {why}", compiler.name)),
        }
    }
    Ok(())
}

fn build_peer(manifest: &Path, package: &str, compiler: &Compiler) -> Result<PathBuf, String> {
    // One target directory for each compiler: Cargo does not see that $CC changed.
    let dir = manifest.with_file_name("target").join(compiler.name.replace('/', "_"));
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--message-format=json", "-p", package])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(dir)
        .env("CC", &compiler.path)
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().rev().find(|l| l.contains("error") || l.contains("panicked"));
        return Err(line.unwrap_or("cargo build fails").trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .find(|path| path.file_stem().is_some_and(|stem| stem == package))
        .ok_or_else(|| "cargo names no program".into())
}

/// Forges our candidates, without proof: `forge` and `prove` are for that.
#[allow(clippy::too_many_arguments)]
fn ours(
    ui: &Ui,
    job: &Job,
    targets: &str,
    compiler: &Compiler,
    host: &Host,
    scratch: &Path,
    wanted: &dyn Fn(&entry::Entry) -> bool,
    entries: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let [a, b] = job.operands;
    let operands = format!("{a} × {b}");
    for target in target::choose(targets)?.into_iter().filter(|t| t.runs_on(host)) {
        let mut seen: Vec<Program> = Vec::new();
        for variant in target.variants(host, &job.plan.name)? {
            let bar = ui.spinner(&format!("forging {} with {}", variant.name, compiler.name));
            let made = make::make(job, target, &variant.schedule, &job.name)?;
            let text = make::source(&made, "ringforge bench")?;
            bar.finish_and_clear();
            // A choice that the plan has no use for makes no other program.
            if seen.iter().any(|program| program.procedures == made.program.procedures) {
                continue;
            }
            seen.push(made.program.clone());
            for opt in target.levels {
                let file = format!("{}{}{}{opt}", job.name, entries.len(), target.name);
                let object = object(scratch, &file, &text, compiler, opt)?;
                for entry in made.entries.iter().filter(|e| wanted(e)) {
                    let whole = entry.computes == Computes::Product;
                    let part = if whole { "" } else { entry.procedure.as_str() };
                    entries.push(Entry {
                        candidate: Candidate {
                            name: format!("ringforge {} {part}", variant.name).trim().to_owned(),
                            code: Code::Objects(vec![object.clone()], entry.signature.clone()),
                        },
                        operands: if whole { operands.clone() } else { String::new() },
                        compiled: format!("{} {opt}", short(compiler)),
                    });
                }
            }
        }
    }
    Ok(())
}

fn object(
    scratch: &Path,
    file: &str,
    text: &str,
    compiler: &Compiler,
    opt: &str,
) -> Result<PathBuf, Failure> {
    let source = scratch.join(format!("{file}.c"));
    std::fs::write(&source, text)
        .map_err(|e| Failure::failed(format!("cannot write {}: {e}", source.display())))?;
    let object = scratch.join(format!("{file}.o"));
    compiler
        .compile(&source, &[opt.into(), "-std=c99".into()], &object)
        .map_err(|e| Failure::failed(e.to_string()))?;
    Ok(object)
}

/// `gcc 12.2.0` from a compiler's long first line.
pub fn short(compiler: &Compiler) -> String {
    let version = compiler
        .version
        .split_whitespace()
        .map(|word| word.trim_matches(|c| c == '(' || c == ')'))
        .filter(|word| {
            word.split('.').count() >= 3 && word.starts_with(|c: char| c.is_ascii_digit())
        })
        .find(|word| word.chars().all(|c| c.is_ascii_digit() || c == '.'));
    let family = match compiler.family {
        ringforge_toolchain::Family::Gcc => "gcc",
        ringforge_toolchain::Family::Clang => "clang",
        ringforge_toolchain::Family::Other => compiler.name.as_str(),
    };
    format!("{family} {}", version.unwrap_or(&compiler.version))
}

fn table(rows: &[Row], markdown: bool) -> Table {
    let mut table = Table::new();
    table.load_preset(if markdown { ASCII_MARKDOWN } else { UTF8_BORDERS_ONLY });
    table.set_header(["product", "operands", "compiled by", "min", "median", "ratio", "runs"]);
    for row in rows {
        let t = &row.timing;
        let runs =
            format!("{} of {}{}", t.runs, t.runs + t.dropped, if t.noisy { ", noisy" } else { "" });
        table.add_row([
            t.name.clone(),
            row.operands.clone(),
            row.compiled.clone(),
            format!("{:.0}", t.min),
            format!("{:.0}", t.median),
            format!("{:.3}", t.ratio),
            runs,
        ]);
    }
    for index in 3..6 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A schedule worth measuring.
pub struct Variant {
    /// The target's name and what is special.
    pub name: String,
    /// The schedule.
    pub schedule: Schedule,
}

impl Target {
    /// The schedule that `forge` takes for a plan, and others that this host runs.
    fn variants(&self, host: &Host, plan: &str) -> Result<Vec<Variant>, Failure> {
        let usual = make::schedule(None, self, plan)?;
        let mut all = vec![Variant { name: self.name.into(), schedule: usual.clone() }];
        if self.name == "avx2" && host.has("avx_vnni") {
            let schedule = Schedule { fused_dot: true, ..usual };
            all.push(Variant { name: "avx2 + VNNI".into(), schedule });
        }
        Ok(all)
    }
}
