//! The AVX2 source: what it declares, what it needs, what it refuses. That it is right is shown
//! on the compiled object, by the oracle and by the prover.

use ringforge_emit::{Preamble, avx2};
use ringforge_plan::Plan;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::AVX2;

const PLAN: &str = r#"
    (plan small
      (ring "Z4591[x]/(x^43 - x - 1)")
      (lift 96
        (substitute 16
          (good-thomas 2 3 (butterfly) (rader 3 unscaled))
          (weighted-convolution (toeplitz)))))"#;

fn source(schedule: &Schedule) -> String {
    let lowered = lower(&Plan::parse(PLAN).unwrap(), schedule, &AVX2, "small").unwrap();
    let preamble =
        Preamble { command: "make */ it".into(), tool: "test".into(), facts: Vec::new() };
    avx2::avx2(&lowered.program, &preamble).unwrap()
}

#[test]
fn the_source_states_its_origin_and_exports_one_function() {
    let text = source(&Schedule::default());
    assert!(text.starts_with("/*\n * small: multiplication with AVX2\n"));
    assert!(text.contains("do not edit") && text.contains("make * / it"));
    assert!(text.contains("Ring: Z4591[x]/(x^43 - x - 1)"));
    let exported = "void small_mul_avx2(int16_t c[43], const int16_t a[43], const int16_t b[43])";
    assert_eq!(text.matches(&format!("\n{exported};\n")).count(), 1, "a prototype");
    assert_eq!(text.matches(&format!("TARGET\n{exported}\n{{")).count(), 1, "a definition");
    assert_eq!(text.matches("static void").count(), 1, "one helper, not exported");
    assert!(text.contains("target(\"avx2\")") && !text.contains("avxvnni"));
    assert!(!text.contains("malloc") && !text.contains("memcpy"));
    assert_eq!(text, source(&Schedule::default()), "the same program gives the same text");
}

#[test]
fn fused_dot_products_ask_for_their_feature() {
    let text = source(&Schedule { fused_dot: true, ..Schedule::default() });
    assert!(text.contains("target(\"avx2,avxvnni\")"));
    assert!(text.contains("_mm256_dpwssd_epi32"));
}

#[test]
fn other_register_widths_are_refused() {
    let lowered = lower(&Plan::parse(PLAN).unwrap(), &Schedule::default(), &AVX2, "small").unwrap();
    let mut program = lowered.program;
    program.registers.bits = 512;
    let error = avx2::avx2(&program, &Preamble::default()).unwrap_err();
    assert!(error.to_string().contains("256 bits, the program is one for 512"), "{error}");
}

/// gcc is kept from taking products by constants apart: it does not know the words.
#[test]
fn words_that_others_are_multiplied_with_are_hidden_from_gcc() {
    let text = source(&Schedule::default());
    for pass in ["ter", "forwprop", "reassoc", "fre", "pre", "slsr"] {
        assert!(text.contains(&format!("\"no-tree-{pass}\"")), "{pass}");
    }
    let lines = || text.lines().map(str::trim);
    let splats: Vec<&str> = lines().filter(|line| line.contains("_mm256_set1_epi16(")).collect();
    assert!(!splats.is_empty() && splats.iter().all(|line| line.starts_with("REPEAT(v")));
    // gcc's table has the word that other compilers are told, twice.
    let tables: Vec<&str> = lines().filter(|line| line.contains("_repeated[] = {")).collect();
    for splat in splats {
        let [_, from, word] = splat.split(", ").collect::<Vec<_>>()[..] else { panic!("{splat}") };
        let (table, at) = from.trim_end_matches(']').split_once('[').unwrap();
        let table = tables.iter().find(|line| line.contains(&format!(" {table}[]"))).unwrap();
        let list = table.split_once('{').unwrap().1.trim_end_matches("};");
        let pair: i32 = list.split(", ").nth(at.parse().unwrap()).unwrap().parse().unwrap();
        let word = word.trim_start_matches("_mm256_set1_epi16(").trim_end_matches("));");
        let word: i16 = word.parse().unwrap();
        assert_eq!([pair as i16, (pair >> 16) as i16], [word; 2], "{splat}");
    }
}
