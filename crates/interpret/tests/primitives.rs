//! Every modular primitive over its whole domain, by running its word operations.
//!
//! No lemma: a function of one 16-bit word has 65,536 cases, and all of them are taken.

use ringforge_interpret::run;
use ringforge_program::ir::*;
use ringforge_program::method::*;
use ringforge_targets::Registers;

const MODULI: [u64; 5] = [3329, 4591, 7681, 10753, 12289];

/// A program of 8 lanes with `words` inputs that stores `op` applied to register after register.
fn map(q: u64, words: usize, op: impl Fn(Value) -> Op) -> Program {
    let buffer = |name: &str, role| Buffer {
        name: name.into(),
        role,
        words,
        bits: 16,
        align: 2,
        range: None,
    };
    let counter = LoopVar(0);
    let at = Index::strided(0, counter, 8);
    let mut block = Block::default();
    let x = block.push(Op::Load { buffer: BufferId(1), at: at.clone() });
    let y = block.push(op(x));
    block.push(Op::Store { buffer: BufferId(0), at, a: y });
    let body =
        vec![Stmt::Loop { counter, count: (words / 8) as u32, body: vec![Stmt::Block(block)] }];
    let buffers = vec![buffer("c", Role::Output), buffer("a", Role::Input)];
    Program {
        name: "map".into(),
        ring: String::new(),
        q,
        word_bits: 16,
        registers: Registers { bits: 128, part: 128 },
        transform: None,
        plan: String::new(),
        schedule: String::new(),
        in_order: 0,
        loops: false,
        procedures: vec![Procedure {
            name: "map".into(),
            exported: true,
            computes: Some(Computes::Product),
            copies: 1,
            q,
            bits: 16,
            buffers,
            body,
        }],
    }
}

fn all_words() -> Vec<i64> {
    (-32768..=32767).collect()
}

/// The image of all words, and whether each result is `scale·a` mod q.
fn image(q: u64, scale: u64, inputs: &[i64], op: impl Fn(Value) -> Op) -> (i64, i64) {
    let program = map(q, inputs.len(), op);
    let outputs = run::run(&program.expand(), &[inputs]).unwrap();
    for (&x, &y) in inputs.iter().zip(&outputs) {
        let off = y - x * scale as i64;
        assert_eq!(off.rem_euclid(q as i64), 0, "{x} to {y} mod {q}");
    }
    (*outputs.iter().min().unwrap(), *outputs.iter().max().unwrap())
}

#[test]
fn reductions_on_all_words() {
    let all = all_words();
    for q in MODULI {
        for method in [
            ReduceMethod::Barrett,
            ReduceMethod::Crude,
            ReduceMethod::BarrettHigh,
            ReduceMethod::Montgomery,
            ReduceMethod::Plantard,
            ReduceMethod::BarrettShifts,
        ] {
            if method.domain(q) != (-32768, 32767) {
                continue;
            }
            let found = image(q, 1, &all, |a| Op::Reduce { a, method });
            assert_eq!(found, method.range((-32768, 32767), q), "{method:?} mod {q}");
        }
    }
    // The seed's primitives, exactly [Chiu25 §3.4.2]; the paper's bound for the crude one is
    // [-4096, 4096].
    let of = |method| image(4591, 1, &all, |a| Op::Reduce { a, method });
    assert_eq!(of(ReduceMethod::Crude), (-4096, 4095));
    assert_eq!(of(ReduceMethod::Barrett), (-2881, 2881));
}

#[test]
fn products_by_constants_on_all_words() {
    let all = all_words();
    for c in [1, 2, 4, 17, 1234, 2295, 2296, 4590] {
        for method in [MulMethod::Montgomery, MulMethod::Barrett, MulMethod::Plantard] {
            let factor = Factor::Splat(c);
            let found = image(4591, c, &all, |a| Op::MulMod { a, factor: factor.clone(), method });
            assert_eq!(found, method.range((-32768, 32767), c, 4591), "{method:?} by {c}");
            let largest = match method {
                MulMethod::Montgomery => 3450,
                MulMethod::Plantard => 2296,
                _ => 4591,
            };
            assert!(found.0 >= -largest && found.1 <= largest, "{method:?} by {c}: {found:?}");
        }
    }
}

#[test]
fn freezing_is_canonical_on_its_domain() {
    for q in MODULI {
        let half = (q as i64 - 1) / 2;
        for method in [
            FreezeMethod::Minimum,
            FreezeMethod::Montgomery,
            FreezeMethod::MontgomeryBiased { k: 1 },
            FreezeMethod::Plantard,
        ] {
            let (lo, hi) = method.domain(q);
            let mut inputs: Vec<i64> = (lo.max(-32768)..=hi.min(32767)).collect();
            inputs.truncate(inputs.len() / 8 * 8);
            let found =
                image(q, method.scale(q).unwrap().value(), &inputs, |a| Op::Freeze { a, method });
            assert!(found.0 >= -half && found.1 <= half, "{method:?} mod {q}: {found:?}");
        }
    }
}

/// A Montgomery reduction of a 32-bit x = 2^16·h + l is h plus a function of l alone: all l
/// at the ends of the interval give the exact range.
#[test]
fn narrowing_is_bounded_by_its_exact_error_form() {
    for q in MODULI {
        let method = NarrowMethod::Montgomery;
        let mut f = (i64::MAX, i64::MIN);
        for l in 0..=0xffff_i64 {
            let y = method.apply(l, q);
            let off = y * 65536 - l;
            assert_eq!(off.rem_euclid(q as i64), 0);
            f = (f.0.min(y), f.1.max(y));
            for h in [-20000, -1, 1, 20000] {
                assert_eq!(method.apply(h * 65536 + l, q), h + y, "{h}, {l} mod {q}");
            }
        }
        for h in [1, 1000, 20000] {
            let exact = (-h + f.0, h + f.1);
            let bound = method.range((-h << 16, (h << 16) + 0xffff), q).unwrap();
            assert!(bound.0 <= exact.0 && bound.1 >= exact.1, "{bound:?} {exact:?} mod {q}");
            assert!(exact.0 - bound.0 <= 1 && bound.1 - exact.1 <= 1, "{bound:?} {exact:?}");
        }
        let too_far = (1i64 << 31) - 1;
        assert_eq!(method.range((0, too_far), q), None, "the result may not be a word");
    }
}
