//! A small multiplier written by hand, which every interpretation reads: the product in
//! Z4591[x]/(x^8 - w), one register wide, with each kind of modular operation.

use ringforge_program::ir::*;
use ringforge_program::method::*;
use ringforge_ring::Ring;
use ringforge_targets::Registers;

pub const Q: u64 = 4591;
pub const W: u64 = 1234;

pub fn ring() -> Ring {
    Ring::parse("Z4591[x]/(x^8 - 1234)").unwrap()
}

fn buffer(name: &str, role: Role, words: usize, range: Option<(i64, i64)>) -> Buffer {
    Buffer { name: name.into(), role, words, bits: 16, align: 2, range }
}

/// What a test may do to the program.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Mutation {
    /// Leaves the reduction of the half sum out.
    pub drop_reduction: bool,
    /// Multiplies by another weight.
    pub other_weight: bool,
    /// Reads the operand one word off.
    pub shifted: bool,
}

/// With e = [w·b | b]: `c = Σ_i a_i · e[8-i .. 16-i]`, halves summed apart, in two loops.
pub fn program(mutation: Mutation) -> Program {
    let range = Some((-2295, 2295));
    let (c, a, b) = (BufferId(0), BufferId(1), BufferId(2));
    let (e, half, w) = (BufferId(3), BufferId(4), BufferId(5));
    let buffers = vec![
        buffer("c", Role::Output, 8, range),
        buffer("a", Role::Input, 8, range),
        buffer("b", Role::Input, 8, range),
        buffer("e", Role::Local, 17, None),
        buffer("half", Role::Local, 16, None),
        buffer("w", Role::Factors(vec![W + u64::from(mutation.other_weight); 8]), 8, None),
    ];
    let mut prepare = Block::default();
    let x = prepare.push(Op::Load { buffer: b, at: Index::at(0) });
    let factor = Factor::Table { buffer: w, at: Index::at(0) };
    let y = prepare.push(Op::MulMod { a: x, factor, method: MulMethod::Montgomery });
    let zero = prepare.push(Op::Splat(0));
    prepare.push(Op::StorePartial { buffer: e, at: Index::at(16), count: 1, a: zero });
    prepare.push(Op::Store { buffer: e, at: Index::at(0), a: y });
    prepare.push(Op::Store { buffer: e, at: Index::at(8), a: x });
    let counter = LoopVar(0);
    let mut sum = Block::default();
    let mut total = None;
    for i in 0..4usize {
        let at = Index::strided(i, counter, 4);
        let s = sum.push(Op::Broadcast { buffer: a, at });
        let base = 8 - i as i64 + i64::from(mutation.shifted && i == 3);
        let at = Index { base, terms: vec![(counter, -4)] };
        let v = sum.push(Op::Load { buffer: e, at });
        let method = ProductMethod::Montgomery;
        let p = sum.push(Op::MulWords { a: v, b: s, method });
        total = Some(match total {
            None => p,
            Some(t) => sum.push(Op::Add(t, p)),
        });
    }
    let at = Index::strided(0, counter, 8);
    sum.push(Op::Store { buffer: half, at, a: total.unwrap() });
    let mut finish = Block::default();
    let x = finish.push(Op::Load { buffer: half, at: Index::at(0) });
    let y = finish.push(Op::Load { buffer: half, at: Index::at(8) });
    let z = finish.push(Op::Add(x, y));
    // Twice the sum of eight products does not fit a word without a reduction.
    let r = match mutation.drop_reduction {
        true => z,
        false => finish.push(Op::Reduce { a: z, method: ReduceMethod::BarrettHigh }),
    };
    let double = finish.push(Op::Add(r, r));
    let factor = Factor::Splat((1 << 15) % Q);
    let scaled = finish.push(Op::MulMod { a: double, factor, method: MulMethod::Montgomery });
    let frozen = finish.push(Op::Freeze { a: scaled, method: FreezeMethod::Minimum });
    finish.push(Op::Store { buffer: c, at: Index::at(0), a: frozen });
    let stage = |title: &str, body| Stmt::Stage { title: title.into(), cite: String::new(), body };
    let body = vec![
        stage("prepare", vec![Stmt::Block(prepare)]),
        stage("multiply", vec![Stmt::Loop { counter, count: 2, body: vec![Stmt::Block(sum)] }]),
        stage("finish", vec![Stmt::Block(finish)]),
    ];
    Program {
        name: "toy".into(),
        ring: ring().to_string(),
        q: Q,
        word_bits: 16,
        registers: Registers { bits: 128, part: 128 },
        transform: None,
        plan: String::new(),
        schedule: String::new(),
        in_order: 0,
        loops: false,
        procedures: vec![Procedure {
            name: "mul".into(),
            exported: true,
            computes: Some(Computes::Product),
            copies: 1,
            q: Q,
            bits: 16,
            buffers,
            body,
        }],
    }
}
