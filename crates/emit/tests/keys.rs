//! A schedule means what it says: for every key, plan and target some value changes the code or is refused by name, and
//! the program's text says the key with what was settled. A day's run takes a sample, the long run a larger one.

use ringforge_emit::{Preamble, avx2, avx512, c, m4, neon, sse41};
use ringforge_plan::Plan;
use ringforge_program::ir::Program;
use ringforge_program::lower::{LowerError, lower, verdicts};
use ringforge_program::schedule::Schedule;
use ringforge_program::settle::{KEYS, Verdict};
use ringforge_targets::{AVX2, C, TARGETS, Target};
use ringforge_testing::in_parallel;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Values that differ from every default, one at least.
fn values(key: &str) -> &'static [&'static str] {
    const MUL: &[&str] =
        &["'montgomery'", "'barrett'", "'montgomery-wide'", "'montgomery-low'", "'plantard'"];
    const REDUCE: &[&str] = &[
        "'montgomery'",
        "'barrett'",
        "'barrett-high'",
        "'crude'",
        "'barrett-wide'",
        "'plantard'",
        "'rounded-shift'",
    ];
    match key {
        "multiply" | "long-multiply" => MUL,
        "reduce" | "long-reduce" => REDUCE,
        "narrow" => &["'barrett'", "'low'", "'montgomery'"],
        "freeze" => {
            &["'minimum'", "'plantard'", "{ montgomery-biased = { k = 1 } }", "'montgomery'"]
        }
        "scale" => &["'last'", "'inverse'"],
        "fused-dot" | "rotate-registers" | "wide-sums" | "rows" | "interleave" => {
            &["true", "false"]
        }
        "unroll" => &["2", "3", "5", "64", "1"],
        "base" => &["'lanes'", "'broadcast-dot'"],
        "weights" => &["'within'", "'apart'"],
        "fuse" => &["1000", "24", "0"],
        "in-order" => &["4", "0"],
        "lanes" => &["4", "16", "8"],
        "word" => &["16", "32"],
        "layout" => &["'registers'", "'packed'", "'apart'"],
        "karatsuba-from" => &["1", "0", "1000"],
        "rounds" => &["1", "1000"],
        "order" => &["'standard'", "'own'"],
        "straight" => &["0", "100000"],
        "depth" => &["1", "2", "4"],
        "operands" => &["'together'", "'apart'"],
        "reductions" => &["['no.such.site']", "[]"],
        "inner-products" => &["[3]", "[2, 4]"],
        "drop" | "add" => &["['no.such.site']"],
        "unsigned" => &[
            "{ inverse-by = 'inverse-cooley-tukey', forward = { multiples = ['1'] }, inverse = { multiples = ['1'] } }",
        ],
        "batch" => &["2"],
        _ => &["1", "1000", "32767", "2147483647"],
    }
}

fn line(key: &str, value: &str) -> String {
    match key.strip_prefix("limits.") {
        Some(key) => format!("[limits]\n{key} = {value}\n"),
        None => format!("{key} = {value}\n"),
    }
}

fn emitted(program: &Program, target: &Target) -> Result<String, String> {
    let none = Preamble::default();
    // The header says the schedule.
    let program = Program { schedule: String::new(), ..program.clone() };
    match target.name {
        "avx2" => avx2::avx2(&program, &none).map_err(|e| e.to_string()),
        "avx512" => avx512::avx512(&program, &none).map_err(|e| e.to_string()),
        "sse41" => sse41::sse41(&program, &none).map_err(|e| e.to_string()),
        "neon" => neon::neon(&program, &none).map_err(|e| e.to_string()),
        "m4" => m4::m4(&program, &none).map_err(|e| e.to_string()),
        _ => c::c(&program, &none).map_err(|e| e.to_string()),
    }
}

/// What a plan is by default on a target, and its code.
fn by_default(plan: &Plan, target: &'static Target) -> Option<(Program, String)> {
    let schedule = Schedule { rounds: 1, ..Schedule::of(target) };
    let program = lower(plan, &schedule, target, "x").ok()?.program;
    let code = emitted(&program, target).ok()?;
    Some((program, code))
}

/// What becomes of one key: nothing where it means something.
fn meaningless(
    (plan, target): (&Plan, &'static Target),
    (usual, usual_code): &(Program, String),
    key: &str,
) -> Option<String> {
    let mut same = Vec::new();
    for value in values(key) {
        let text = line(key, value);
        let schedule = Schedule::parse_for(&text, target).unwrap_or_else(|e| panic!("{text}: {e}"));
        let schedule = match key {
            "rounds" => schedule,
            _ => Schedule { rounds: 1, ..schedule },
        };
        let program = match lower(plan, &schedule, target, "x") {
            Err(error) if error.to_string().contains(key.trim_start_matches("limits.")) => {
                return None;
            }
            // A site names the key by itself.
            Err(error) if error.to_string().contains("no.such.site") => return None,
            Err(error) => return Some(format!("{value} is refused otherwise: {error}")),
            Ok(lowered) => lowered.program,
        };
        let printed = program.schedule.contains(key.trim_start_matches("limits."));
        if !printed {
            return Some(format!("{value} is not printed: {}", program.schedule));
        }
        if program.procedures == usual.procedures && program.in_order == usual.in_order {
            same.push(*value);
            continue;
        }
        match emitted(&program, target) {
            Err(error) if error.contains(key) => return None,
            Err(error) => return Some(format!("{value} is refused by its emitter: {error}")),
            Ok(code) if code != *usual_code => return None,
            Ok(_) => same.push(*value),
        }
    }
    // An effort of a search may find the same.
    (key != "rounds").then(|| format!("{same:?} change nothing"))
}

/// One key in so many is tried every day, and in the long run: of some ten thousand, each of which takes half a second.
const DAILY: usize = 397;
const LONG: usize = 199;

/// Every `nth` key of every plan on every target but for each `but`th; all where nth is 1.
fn keys_mean_something(nth: usize, but: usize) {
    let plans: Vec<Plan> = Plan::names().map(|name| Plan::find(name).expect("a plan")).collect();
    let pairs = plans.iter().flat_map(|plan| TARGETS.map(|target| (plan, target)));
    let (wrong, tried) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    in_parallel(pairs.enumerate(), |(pair, (plan, target))| {
        let numbered = KEYS.iter().enumerate().map(|(i, key)| (pair * KEYS.len() + i + 1, key));
        let chosen: Vec<_> = numbered
            .filter(|(number, _)| number % nth == 0 && (but == 0 || number % but != 0))
            .collect();
        let usual = if chosen.is_empty() { None } else { by_default(plan, target) };
        for (_, key) in chosen {
            tried.fetch_add(1, Ordering::Relaxed);
            let Some(usual) = &usual else { continue };
            if let Some(why) = meaningless((plan, target), usual, key) {
                let line = format!("{} {target} {key}: {why}", plan.name);
                wrong.lock().expect("nobody panics with it").push(line);
            }
        }
    });
    let (wrong, tried) = (wrong.into_inner().expect("nobody panics with it"), tried.into_inner());
    assert!(tried > 20, "{tried}");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_key_changes_the_code_or_is_refused_by_name() {
    if ringforge_testing::long() {
        keys_mean_something(LONG, DAILY)
    } else {
        keys_mean_something(DAILY, 0)
    }
}

#[test]
#[ignore = "by hand: ten thousand keys take an hour or two, and the long run takes one in 199"]
fn by_hand_every_key_means_something() {
    keys_mean_something(1, 0);
}

/// What a text makes of a plan: its program's schedule and its procedures, or why not.
fn by(name: &str, target: &'static Target, text: &str) -> Result<Program, String> {
    let plan = Plan::find(name).expect("a plan");
    let schedule = Schedule::parse_for(text, target).expect("a schedule");
    let schedule = Schedule { rounds: 1, ..schedule };
    lower(&plan, &schedule, target, "x").map(|l| l.program).map_err(|e| e.to_string())
}

#[test]
fn limits_of_products_through_primes_are_kept_or_refused() {
    let two = |text: &str| by("sntrup761-two-prime", &AVX2, text);
    let usual = two("").unwrap();
    let error = two("[limits]\nforward = 300\n").unwrap_err();
    assert!(error.contains("`limits.forward = 300` cannot be kept: stage `"), "{error}");
    assert!(error.contains("needs |x| ≤ 300 and reaches "), "{error}");
    assert!(error.contains("without the key it is "), "{error}");
    for limits in [[5000, 5000, 5000, 9000], [16_000, 12_000, 20_000, 32_000]] {
        let [first, forward, inverse, full] = limits;
        let text = format!(
            "[limits]\nforward-first = {first}\nforward = {forward}\ninverse-first = {inverse}\nfull = {full}\n"
        );
        match two(&text) {
            Err(error) => {
                let named = error.contains("the schedule's `limits.");
                assert!(named && error.contains("needs |x| ≤"), "{error}");
            }
            Ok(program) => {
                assert_ne!(program.procedures, usual.procedures);
                for (key, value) in [("forward", forward), ("full", full)] {
                    let line = format!("{key} = {value}\n");
                    assert_eq!(program.schedule.matches(&line).count(), 2, "{}", program.schedule);
                }
            }
        }
    }
}

#[test]
fn a_key_that_nothing_reads_is_refused_by_name() {
    let error = by("mlkem", &C, "[limits]\nforward = 500\n").unwrap_err();
    assert!(error.contains("`limits.forward` changes nothing here"), "{error}");
    assert!(error.contains("`order`"), "what would work: {error}");
}

#[test]
fn products_that_the_plan_wants_by_lanes_are_printed_so() {
    let chiu = |text: &str| by("sntrup761-chiu", &AVX2, text);
    let usual = chiu("").unwrap();
    for said in ["base = \"lanes\"", "karatsuba-from = 0", "forward = 5400"] {
        assert!(usual.schedule.contains(said), "{said}: {}", usual.schedule);
    }
    let error = chiu("base = \"broadcast-dot\"").unwrap_err();
    assert!(error.contains("needs `base = \"lanes\"`"), "{error}");
    match chiu("[limits]\nforward = 8700\n") {
        Err(error) => assert!(error.contains("`limits.forward = 8700`"), "{error}"),
        Ok(program) => assert!(program.schedule.contains("forward = 8700"), "{}", program.schedule),
    }
}

/// One plan on one target in so many is printed and read again every day.
const PRINTED: usize = 13;

#[test]
fn what_is_printed_is_a_schedule_that_makes_the_same_code() {
    let plans: Vec<Plan> = Plan::names().map(|name| Plan::find(name).expect("a plan")).collect();
    let pairs = plans.iter().flat_map(|plan| TARGETS.map(|target| (plan, target)));
    let nth = if ringforge_testing::long() { 1 } else { PRINTED };
    let (wrong, count) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    in_parallel(pairs.step_by(nth), |(plan, target)| {
        let Some((usual, _)) = by_default(plan, target) else { return };
        count.fetch_add(1, Ordering::Relaxed);
        let why = match by(&plan.name, target, &usual.schedule) {
            Err(error) => error,
            Ok(again) if again.schedule != usual.schedule => again.schedule,
            Ok(again) if again.procedures != usual.procedures => "other code".into(),
            Ok(_) => return,
        };
        let line = format!("{} {target}: {why}\nfrom\n{}", plan.name, usual.schedule);
        wrong.lock().expect("nobody panics with it").push(line);
    });
    let wrong = wrong.into_inner().expect("nobody panics with it");
    assert!(count.into_inner() > 15);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_section_is_for_its_prime_alone() {
    let two = |text: &str| by("sntrup761-two-prime", &AVX2, text);
    let usual = two("").unwrap();
    let primes: Vec<&str> = usual.schedule.split("[modulo.").skip(1).collect();
    let prime = primes[0].split([']', '.']).next().expect("a prime");
    let apart = two(&format!("[modulo.{prime}]\nlayout = 'apart'\nword = 32\n")).unwrap();
    assert_ne!(apart.procedures, usual.procedures);
    assert_eq!(apart.schedule.matches("word = 32").count(), 1, "{}", apart.schedule);
    assert!(usual.schedule.matches("word = 16").count() > 1, "{}", usual.schedule);
    for (text, named) in [
        ("[modulo.9]\nword = 16\n".to_string(), "`modulo.9.word` changes nothing here"),
        (format!("[modulo.{prime}]\norder = 'own'\n"), ".order` changes nothing here"),
        (format!("[modulo.{prime}.limits]\nfull = 9\n"), ".limits.full = 9` cannot be kept: "),
    ] {
        let error = two(&text).unwrap_err();
        assert!(error.contains(named), "{error}");
    }
    for (text, named) in [
        ("[modulo.7681]\nno-such-key = 1\n", "`modulo.7681`: unknown field `no-such-key`"),
        ("[modulo.seven]\nword = 16\n", "`modulo.seven`: invalid digit"),
        ("[modulo.7681.modulo.5]\nword = 16\n", "a section has no sections"),
    ] {
        let error = Schedule::parse_for(text, &AVX2).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn what_else_may_be_settled_says_why_it_does_not_hold() {
    let look = |name: &str, target: &'static Target, text: &str| {
        let schedule = Schedule::parse_for(text, target).expect("a schedule");
        verdicts(&Plan::find(name).expect("a plan"), &Schedule { rounds: 1, ..schedule }, target)
    };
    let all = look("sntrup761-two-prime", &AVX2, "").unwrap();
    let usual = by("sntrup761-two-prime", &AVX2, "").unwrap();
    // The first of each prime that holds is what the program goes by.
    for prime in [all[0].modulus, all[all.len() - 1].modulus] {
        let first = all.iter().find(|v| v.modulus == prime && v.refused.is_none()).expect("one");
        let limits = first.choices.split("full = ").nth(1).expect("a limit");
        let full = limits.split([' ', ',']).next().expect("a number");
        assert!(usual.schedule.contains(&format!("full = {full}\n")), "{}", usual.schedule);
    }
    assert!(all.len() > 10 && all.iter().any(|v| v.choices.contains("word = 32")), "{all:?}");
    // Where nothing holds, all of them say why.
    let text = "[limits]\nforward = 300\n";
    let Err(LowerError::Unsettled { verdicts: none, .. }) =
        look("sntrup761-two-prime", &AVX2, text)
    else {
        panic!("300 holds");
    };
    let why = |v: &Verdict| v.refused.as_ref().is_some_and(|why| why.contains("needs |x| ≤ 300"));
    assert!(none.len() > 1 && none.iter().any(why), "{none:?}");
    assert!(none.iter().all(|v| v.refused.is_some()), "{none:?}");
}

ringforge_testing::rest!(
    every_key_changes_the_code_or_is_refused_by_name,
    what_is_printed_is_a_schedule_that_makes_the_same_code,
);
