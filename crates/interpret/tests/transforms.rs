//! Lowered transforms under `formula` and `ocaml`: every entry point of the rings that have them.

use ringforge_interpret::{formula, ocaml, run::run};
use ringforge_plan::{Plan, RingFile};
use ringforge_program::ir::{Program, Role};
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_ring::Ring;
use ringforge_targets::AVX2;
use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

fn preset(name: &str, schedule: &Schedule) -> Program {
    let plan = RingFile::find(name).unwrap().default_plan(&AVX2).unwrap();
    lower(&plan, schedule, &AVX2, name).unwrap().program
}

fn entries(program: &Program) -> Vec<Program> {
    let exported = program.procedures.iter().filter(|p| p.exported);
    exported.map(|p| program.entry(&p.name).unwrap()).collect()
}

#[test]
fn every_entry_point_of_every_ring_has_the_forms_of_its_definition() {
    for schedule in [Schedule::default(), Schedule::portable()] {
        for name in
            ["mlkem", "kyber1", "newhope512", "newhope1024", "mldsa", "nttru", "ntruplus864"]
        {
            let program = preset(name, &schedule);
            let ring = Ring::parse(&program.ring).unwrap();
            for entry in entries(&program) {
                let began = Instant::now();
                let procedure = entry.procedures.last().unwrap();
                let computes = procedure.computes.unwrap();
                let forms = formula::forms(&entry).unwrap_or_else(|f| panic!("{name}: {f}"));
                let agreement = forms.agrees(computes, entry.transform.as_ref(), &ring);
                let agreement = agreement.unwrap_or_else(|m| panic!("{name} {computes:?}: {m}"));
                assert_eq!(agreement.outputs, ring.degree());
                eprintln!("{name} {}: {agreement:?}, {:?}", procedure.name, began.elapsed());
            }
        }
    }
}

/// Where f has a factor twice, remainders do not say what an element is.
#[test]
fn a_double_factor_has_no_inverse() {
    let program = preset("mlkem", &Schedule::default());
    let entry = program.entry("inverse").unwrap();
    let computes = entry.procedures.last().unwrap().computes.unwrap();
    let forms = formula::forms(&entry).unwrap();
    let mut layout = entry.transform.clone().unwrap();
    layout.weights.fill(1);
    let ring = Ring::parse("Z3329[x]/(x^256 - 2x^128 + 1)").unwrap();
    let refused = forms.agrees(computes, Some(&layout), &ring).unwrap_err().to_string();
    assert!(refused.contains("f has x^2 - 1 twice"), "{refused}");
}

/// A factor changed by one is found, wherever it stands.
#[test]
fn changed_factors_have_other_forms() {
    let program = preset("mlkem", &Schedule::default());
    let ring = Ring::parse(&program.ring).unwrap();
    for entry in entries(&program) {
        let computes = entry.procedures.last().unwrap().computes.unwrap();
        for i in 0..entry.procedures.len() {
            let mut mutant = entry.clone();
            let factors =
                |b: &&mut ringforge_program::ir::Buffer| matches!(b.role, Role::Factors(_));
            let Some(buffer) = mutant.procedures[i].buffers.iter_mut().find(factors) else {
                continue;
            };
            let Role::Factors(all) = &mut buffer.role else { continue };
            all[0] = (all[0] + 1) % 3329;
            let found =
                formula::forms(&mutant).unwrap().agrees(computes, mutant.transform.as_ref(), &ring);
            if i + 1 == entry.procedures.len() {
                assert!(found.is_err(), "{computes:?}");
            }
        }
    }
}

/// The OCaml text, run by `ocaml` on whole products; skipped where there is none.
#[test]
fn ocaml_texts_run() {
    if Command::new("ocaml").arg("-version").output().is_err() {
        eprintln!("skipped: there is no `ocaml` here (Debian: ocaml-nox)");
        return;
    }
    let dir = std::env::temp_dir().join(format!("ringforge-ocaml-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let small = |q: u64, n: usize| {
        let ring = Ring::parse(&format!("Z{q}[x]/(x^{n} + 1)")).unwrap();
        let plan = Plan::automatic(&ring, "auto").unwrap();
        lower(&plan, &Schedule::default(), &AVX2, "small").unwrap().program
    };
    let portable = preset("mlkem", &Schedule::portable());
    let programs =
        [small(7681, 128), preset("mlkem", &Schedule::default()), portable, small(8380417, 128)];
    for (k, program) in programs.iter().enumerate() {
        let entry = program.entry("mul").unwrap();
        let n = Ring::parse(&entry.ring).unwrap().degree() as i64;
        let half = (entry.q as i64 - 1) / 2;
        let operand = |s: i64| -> Vec<i64> {
            (0..n).map(|i| (i * i * s + 77 * i) % half * if i % 3 == 0 { -1 } else { 1 }).collect()
        };
        let (a, b) = (operand(31), operand(57));
        let want = run(&entry, &[&a, &b]).unwrap();
        let mut text = ocaml::text(&entry).unwrap();
        let list = |x: &[i64]| x.iter().map(|w| format!("({w})")).collect::<Vec<_>>().join("; ");
        let _ = writeln!(
            text,
            "let () = let c = Array.make {n} 0 in mul c 0 [| {} |] 0 [| {} |] 0;\n\
             Array.iter (Printf.printf \"%d \") c",
            list(&a),
            list(&b)
        );
        let path = dir.join(format!("p{k}.ml"));
        std::fs::write(&path, text).unwrap();
        let done = Command::new("ocaml").args(["-w", "-a"]).arg(&path).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let found: Vec<i64> = text.split_whitespace().map(|w| w.parse().unwrap()).collect();
        assert_eq!(found, want, "program {k}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
