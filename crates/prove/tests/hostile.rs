//! Objects that must not be proved, and damage of every kind to objects that are: whatever is still
//! proved is linked as a program at a fixed place and at any place, run, and right.

mod common;

use common::compile_by;
use common::damage::{self, Anatomy, N, Random, Run, good_objects, run};
use ringforge_prove::{Contract, Options, Oracle, Quiet, Report, prove};
use ringforge_testing::cc;
use std::path::PathBuf;
use std::time::Duration;

const Q: i64 = 17;

fn contract() -> Contract {
    let argument = |name: &str, role: &str| {
        format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {N}\n\
             range = [-8, 8]\n"
        )
    };
    let text = format!(
        "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z{Q}[x]/(x^{N} + 1)\"\n\
         computes = \"product\"\nalias = []\n{}{}{}",
        argument("c", "output"),
        argument("a", "input"),
        argument("b", "input"),
    );
    Contract::parse(&text).unwrap()
}

fn verdict(object: &[u8], contract: &Contract) -> Report {
    let options = Options {
        search: Duration::ZERO,
        max_steps: 20_000,
        time_limit: Some(Duration::from_secs(20)),
        ..Options::default()
    };
    prove(object, contract, &options, &mut Quiet)
}

#[test]
fn what_is_proved_of_damaged_objects_is_right_when_run() {
    what_is_proved_is_right(0);
}

#[test]
fn what_is_proved_of_other_damaged_objects_is_right_when_run() {
    what_is_proved_is_right(1);
}

/// Half of five thousand damaged objects; `RINGFORGE_FLIPS` says another number, `RINGFORGE_FLIP_SEED` another
/// seed.
fn what_is_proved_is_right(half: u64) {
    let count = damage::number("RINGFORGE_FLIPS", 5000) as usize / 2;
    let seed = damage::number("RINGFORGE_FLIP_SEED", 88_172_645_463_325_252);
    let mut random = Random(seed.wrapping_add(half << 32));
    let contract = contract();
    let oracle = Oracle::new(&contract);
    let want: Vec<i16> = damage::inputs()
        .iter()
        .flat_map(|i| oracle.expected(&i.map(|v| v.map(i64::from).to_vec())))
        .map(|c| c as i16)
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let driver = dir.path().join("driver.o");
    let program = compile_by(cc(), &damage::driver(), &damage::DRIVER_FLAGS);
    std::fs::write(&driver, program.unwrap()).unwrap();
    let good = good_objects(compile_by);
    let path = dir.path().join("damaged.o");
    for object in &good {
        let report = verdict(object, &contract);
        assert!(report.is_proved(), "{}", common::told(&report));
        std::fs::write(&path, object).unwrap();
        assert_eq!(run(&path, &driver, false), Run::Wrote(want.clone()));
    }
    let anatomies: Vec<Anatomy> = good.iter().map(|o| Anatomy::of(o)).collect();
    let (mut proved, mut ran, mut wrong) = (0, 0, Vec::new());
    for i in 0..count {
        let which = i % good.len();
        let (bad, what) = anatomies[which].damage(&good[which], &mut random);
        if bad == good[which] || !verdict(&bad, &contract).is_proved() {
            continue;
        }
        proved += 1;
        std::fs::write(&path, &bad).unwrap();
        for pie in [false, true] {
            match run(&path, &driver, pie) {
                Run::Unlinked => {}
                Run::Wrote(got) if got == want => ran += 1,
                _ => {
                    if let Some(keep) = std::env::var_os("RINGFORGE_FLIP_KEEP") {
                        let name = format!("wrong-{half}-{i}.o");
                        std::fs::copy(&path, PathBuf::from(keep).join(name)).unwrap();
                    }
                    wrong.push(format!("object {i} (of good object {which}), pie {pie}: {what}"));
                }
            }
        }
    }
    println!("{count} objects, {proved} proved, {ran} runs right, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(proved > count / 50 && ran > proved, "{proved} proved, {ran} ran: nothing was tested");
}

/// A product that asks how its pointers lie, with `wrong` where it may go wrong.
fn asking(wrong: &str) -> String {
    format!(
        "#include <stdint.h>\nvoid mul(int16_t *c, const int16_t *a, const int16_t *b) {{\n\
         int32_t s[8] = {{0}}, r[4];\n\
         for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) s[i + j] += a[i] * b[j];\n\
         for (int i = 0; i < 4; i++) r[i] = s[i] - s[i + 4];\n\
         {wrong}\n\
         for (int i = 0; i < 4; i++) c[i] = (int16_t)(r[i] - 17 * ((r[i] * 61681 + (1 << 19)) >> 20));\n}}\n"
    )
}

#[test]
fn every_way_in_which_pointers_may_be_equal_is_executed() {
    let contract = contract();
    let assumed = "no two of c, a and b overlap, or a = b exactly";
    let r = verdict(&compile_by(cc(), &asking(""), &["-O1"]).unwrap(), &contract);
    assert!(r.is_proved(), "{}", common::told(&r));
    assert!(r.assumptions.iter().any(|a| a == assumed), "{:?}", r.assumptions);
    for wrong in ["if (a == b) r[0]++;", "if (a <= b && b <= a) r[0]++;"] {
        let r = verdict(&compile_by(cc(), &asking(wrong), &["-O1"]).unwrap(), &contract);
        assert!(!r.is_proved(), "{wrong}");
        assert!(r.reasons[0].call.contains("a and b are one array"), "{}", common::told(&r));
    }
    // Asked for, and the same either way.
    let same = "if (a == b) { for (int i = 0; i < 4; i++) r[i] = r[i] + 17; }";
    let r = verdict(&compile_by(cc(), &asking(same), &["-O1"]).unwrap(), &contract);
    assert!(r.is_proved() && r.counts.cases == 3, "{} {}", common::told(&r), r.counts.cases);
}

#[test]
fn limits_end_in_unknown_that_says_so() {
    let contract = contract();
    let endless = "for (;;) __asm__ volatile (\"\");";
    let object = compile_by(cc(), &asking(endless), &["-O1"]).unwrap();
    let limits = [
        (
            Options { time_limit: Some(Duration::from_millis(50)), ..Options::default() },
            "time limit",
        ),
        (Options { memory_limit: 1 << 20, ..Options::default() }, "memory limit of 1 MB"),
        (Options { max_steps: 10_000, ..Options::default() }, "10000 steps"),
    ];
    for (options, what) in limits {
        let r = prove(&object, &contract, &options, &mut Quiet);
        assert_eq!(r.verdict, ringforge_prove::Verdict::Unknown, "{what}");
        assert!(r.reasons[0].text.contains(what), "{what}: {}", common::told(&r));
    }
}
