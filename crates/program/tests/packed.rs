//! Blocks shorter than a register, several in each: sizes, radices and words, against the product by its definition.

mod common;

use ringforge_interpret::count::count;
use ringforge_plan::Plan;
use ringforge_program::ir::Stmt;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, C, NEON, SSE41};

const QUICK: u32 = 2;

/// A transform of a length in small radices.
fn transform(length: usize) -> String {
    match (length, length.isqrt()) {
        (2, _) => "(butterfly)".into(),
        (3 | 5, _) => format!("(rader {length})"),
        (_, root) if root * root == length => levels(root, root),
        (n, _) if n.is_multiple_of(2) => levels(2, n / 2),
        (n, _) => levels(3, n / 3),
    }
}

fn levels(p: usize, q: usize) -> String {
    format!("(cooley-tukey {p} {q} {} {})", transform(p), transform(q))
}

/// The product of blocks of `k` through P × Q points, twisted or not.
fn blocks(k: usize, (p, q): (usize, usize), twisted: bool) -> String {
    let inner = levels(p, q);
    let points = if twisted { format!("(twist {inner})") } else { inner };
    format!("(substitute {k} {points} (weighted-convolution (toeplitz)))")
}

fn plan(ring: &str, operands: &str, tree: &str) -> Plan {
    let text = format!("(plan p (ring \"{ring}\") {operands} {tree})");
    Plan::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Whether registers hold several blocks on the target.
fn packed(plan: &Plan, schedule: &Schedule) -> bool {
    let lowered = lower(plan, schedule, &AVX2, "x").unwrap_or_else(|e| panic!("{e}"));
    let at_once =
        |stmt: &Stmt| matches!(stmt, Stmt::Stage { title, .. } if title.contains("at once"));
    lowered.program.procedures.iter().flat_map(|p| &p.body).any(at_once)
}

/// Checks a plan on all targets.
fn check(plan: &Plan) {
    let vectors = Schedule { rounds: QUICK, ..Schedule::default() };
    let portable = Schedule { rounds: QUICK, ..Schedule::portable() };
    let neon = Schedule { rounds: QUICK, ..Schedule::of(&NEON) };
    for (target, schedule) in
        [(&AVX2, &vectors), (&SSE41, &vectors), (&NEON, &neon), (&C, &portable)]
    {
        common::check_on(target, plan, schedule, 10).unwrap_or_else(|e| panic!("{target}: {e}"));
    }
    assert!(packed(plan, &vectors), "{}", plan.root.to_form());
    assert!(!packed(plan, &portable), "{}", plan.root.to_form());
}

#[test]
fn words_of_16_bits_by_twists() {
    words_of_16_bits(true);
}

#[test]
fn words_of_16_bits_as_they_come() {
    words_of_16_bits(false);
}

fn words_of_16_bits(twisted: bool) {
    for (q, k, radices) in [
        (7681, 2, (16, 8)),
        (7681, 2, (8, 16)),
        (7681, 2, (8, 8)),
        (7681, 2, (3, 16)),
        (7681, 4, (8, 8)),
        (7681, 4, (16, 4)),
        (7681, 6, (8, 8)),
        (7681, 8, (4, 8)),
        (7681, 8, (8, 8)),
        (577, 2, (9, 8)),
        (577, 2, (8, 9)),
    ] {
        let n = k * radices.0 * radices.1;
        let sign = if twisted { '+' } else { '-' };
        check(&plan(&format!("Z{q}[x]/(x^{n} {sign} 1)"), "", &blocks(k, radices, twisted)));
    }
}

/// Rows that end within a register, columns that end within a square.
#[test]
fn rows_that_fill_no_register() {
    for (q, k, radices) in
        [(7681, 2, (8, 5)), (7681, 2, (16, 3)), (4591, 4, (9, 3)), (4591, 2, (9, 3))]
    {
        let n = k * radices.0 * radices.1;
        check(&plan(&format!("Z{q}[x]/(x^{n} - 1)"), "", &blocks(k, radices, false)));
        check(&plan(&format!("Z{q}[x]/(x^{n} + 1)"), "", &blocks(k, radices, true)));
    }
}

/// Operands that end within a row, results that are longer than they or shorter than a transform.
#[test]
fn unreduced_products() {
    for n in [33, 47, 48, 53, 54] {
        let tree = format!("(lift 108 {})", blocks(4, (9, 3), false));
        check(&plan(&format!("Z4591[x]/(x^{n} - x - 1)"), "", &tree));
    }
    for n in [29, 61, 64] {
        let part = blocks(2, (8, 8), false);
        let tree = format!("(lift 128 (change-modulus (prime 12289 {part})))");
        check(&plan(&format!("Z128[x]/(x^{n} - 1)"), "(operands big small)", &tree));
    }
}

/// Any width of blocks, down to single coefficients.
#[test]
fn words_of_32_bits() {
    for (k, radices) in [(1, (8, 8)), (2, (8, 8)), (3, (8, 4)), (2, (16, 8)), (4, (4, 16))] {
        let n = k * radices.0 * radices.1;
        check(&plan(&format!("Z8380417[x]/(x^{n} + 1)"), "", &blocks(k, radices, true)));
        check(&plan(&format!("Z8380417[x]/(x^{n} - 1)"), "", &blocks(k, radices, false)));
    }
}

/// Where registers of their own are fewer, where pairs would be of two blocks, and where small products have a method of
/// their own.
#[test]
fn others_have_registers_of_their_own() {
    let quick = Schedule { rounds: QUICK, ..Schedule::default() };
    let other = |k: usize, radices: (usize, usize), small: &str| {
        let n = k * radices.0 * radices.1;
        let tree = blocks(k, radices, false).replace("(toeplitz)", small);
        let plan = plan(&format!("Z7681[x]/(x^{n} - 1)"), "", &tree);
        common::check(&plan, &quick, 2).unwrap_or_else(|e| panic!("{e}"));
        packed(&plan, &quick)
    };
    assert!(other(2, (8, 8), "(toeplitz)"));
    assert!(!other(3, (8, 8), "(toeplitz)"));
    assert!(!other(8, (2, 8), "(toeplitz)"));
    assert!(!other(16, (8, 8), "(toeplitz)"));
}

/// Each register of both levels is loaded and stored once, not each block.
#[test]
fn registers_are_few() {
    let plan = Plan::find("kyber1-16x8").unwrap_or_else(|e| panic!("{e}"));
    let lowered = lower(&plan, &Schedule::default(), &AVX2, "x").unwrap_or_else(|e| panic!("{e}"));
    let total = count(&lowered.program).unwrap_or_else(|e| panic!("{e}")).total;
    let registers = 256 / AVX2.registers.lanes(16) as u64;
    // Two operands through two levels, products of two, the inverse through two levels, the remainder; and two words for each
    // factor: of the second level in one direction and the other, of the weights.
    assert!(total.loads <= (4 + 2 + 2 + 1) * registers + 2 * 4 * registers, "{}", total.loads);
    assert!(total.stores <= (4 + 1 + 2 + 1) * registers + 2, "{}", total.stores);
}
