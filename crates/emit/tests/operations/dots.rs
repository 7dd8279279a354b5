//! Sums of products: over a register, and of pairs.

use super::*;

/// Sums over a register, and over all registers of a loop, which portable C makes one loop.
#[test]
fn sums_of_words() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        // Callers may pass an input as the output, which is not to be written between.
        let (counter, t) = (LoopVar(0), BufferId(4));
        let mut start = Block::default();
        let a = start.push(Op::Load { buffer: A, at: Index::at(0) });
        start.push(Op::Store { buffer: t, at: Index::at(0), a });
        let sums = |at: Index, to: usize| {
            let mut block = Block::default();
            let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: at.clone() }));
            let product = block.push(Op::MulLo(a, b));
            block.push(Op::AddSum { buffer: t, at: Index::at(to), a: product });
            Stmt::Block(block)
        };
        let all = sums(Index::strided(0, counter, lanes), 1);
        let mut end = Block::default();
        let a = end.push(Op::Load { buffer: t, at: Index::at(0) });
        end.push(Op::Store { buffer: C, at: Index::at(0), a });
        let body = vec![
            Stmt::Block(start),
            sums(Index::at(lanes), 3),
            Stmt::Loop { counter, count: REGISTERS as u32, body: vec![all] },
            Stmt::Block(end),
        ];
        let mut program = whole(q, bits, lanes, lanes, Block::default());
        program.procedures[0].buffers.push(buffer("t", Role::Local, lanes));
        program.procedures[0].body = body;
        check(&program, &ALL);
    }
}

/// Dot products of broadcast pairs with loads at even and odd places, straight and in a loop: Cortex-M4 has them
/// as operations on two halves, either way round.
#[test]
fn dot_products_of_broadcast_pairs() {
    const SUMS: BufferId = BufferId(4);
    let (_, bits, lanes) = KINDS[0];
    let some = [(0, 7), (2, 5), (3, 3), (6, 0)];
    let sums = |terms: &[(usize, usize)], at: &dyn Fn(usize) -> Index| {
        let mut block = Block::default();
        let mut sums = [None; 2];
        for &(column, first) in terms {
            let pair = block.push(Op::BroadcastPair { buffer: A, at: Index::at(column) });
            let swapped = block.push(Op::SwapPairs(pair));
            for (parity, sum) in sums.iter_mut().enumerate() {
                let b = block.push(Op::Load { buffer: B, at: at(first + parity) });
                let a = if (column, first) == (2, 5) { pair } else { swapped };
                let op = match *sum {
                    None => Op::PairDot(a, b),
                    Some(acc) if column == 3 => Op::AddWide(acc, block.push(Op::PairDot(b, a))),
                    Some(acc) => Op::PairDotAdd { acc, a, b },
                };
                *sum = Some(block.push(op));
            }
        }
        let [Some(even), Some(odd)] = sums else { unreachable!() };
        let a = block.push(Op::Narrow { even, odd, method: NarrowMethod::Low });
        block.push(Op::Store { buffer: SUMS, at: at(0), a });
        block
    };
    // An entry point's output may be an input of it, so that sums wait in an array of their own.
    let waiting = |words: usize, sums: Vec<Stmt>| {
        let mut copies = Block::default();
        let a = copies.push(Op::Load { buffer: SUMS, at: Index::at(0) });
        copies.push(Op::Store { buffer: C, at: Index::at(0), a });
        let mut body = vec![Stmt::Block(copies)];
        if words > lanes {
            let (at, count) = (Index::at(lanes), (words - lanes) as u32);
            let mut rest = Block::default();
            let a = rest.push(Op::LoadPartial { buffer: SUMS, at: at.clone(), count });
            rest.push(Op::StorePartial { buffer: C, at, count, a });
            body.push(Stmt::Block(rest));
        }
        let mut program = whole(1 << bits, bits, lanes, words, Block::default());
        program.procedures[0].buffers.push(buffer("sums", Role::Local, words));
        program.procedures[0].body = [sums, body].concat();
        program
    };
    let targets = ["sse41", "neon", "m4"];
    check(&waiting(lanes, vec![Stmt::Block(sums(&some, &Index::at))]), &targets);
    // Two turns, and words to read in the second one.
    let counter = LoopVar(0);
    let body = vec![Stmt::Block(sums(&some, &|base| Index::strided(base, counter, 8)))];
    let twice = vec![Stmt::Loop { counter, count: 2, body }];
    let program = waiting(lanes + 8, twice);
    check(&program, &targets);
    let said = m4::m4(&program, &Preamble::default()).unwrap();
    assert!(said.contains("__smladx("), "{said}");
    // A Toeplitz matrix is written in instructions; one pair elsewhere, and it is none.
    let toeplitz = |moved: usize| {
        let columns = (0..lanes).step_by(2).map(|column| (column, lanes - 1 - column));
        let mut terms: Vec<_> = columns.collect();
        terms[3].1 += moved;
        waiting(lanes, vec![Stmt::Block(sums(&terms, &Index::at))])
    };
    for moved in [0, 2] {
        check(&toeplitz(moved), &targets);
        let said = m4::m4(&toeplitz(moved), &Preamble::default()).unwrap();
        assert_eq!(said.contains("\"smladx r"), moved == 0, "{said}");
    }
    // Sums are reduced there too, by an odd q; not by what is no inverse of it.
    let reduced = |q: u64| {
        let mut program = toeplitz(0);
        (program.q, program.procedures[0].q) = (q, q);
        for stmt in &mut program.procedures[0].body {
            let Stmt::Block(block) = stmt else { continue };
            block.ops.iter_mut().for_each(|op| {
                if let Op::Narrow { method, .. } = op {
                    *method = NarrowMethod::Montgomery;
                }
            });
        }
        program
    };
    for q in [3329, 12289] {
        check(&reduced(q), &targets);
        let said = m4::m4(&reduced(q), &Preamble::default()).unwrap();
        assert!(said.contains("\"smlabt r8, r5, r6, r8"), "{said}");
    }
    // What reads what it writes is no loop over elements.
    let mut block = sums(&some, &Index::at);
    for op in &mut block.ops {
        if let Op::Store { buffer, .. } = op {
            *buffer = B;
        }
    }
    let program = waiting(lanes, vec![Stmt::Block(block)]);
    let said = m4::m4(&program, &Preamble::default()).unwrap_err().to_string();
    assert!(said.contains("touches it again across lanes"), "{said}");
}

/// Words of 16 bits in memory whose products are taken in words of 64: portable C multiplies them in 32 bits, which the
/// largest product, of two least words, just fits, and adds two of them there only where one factor of each is more than
/// the least word.
#[test]
fn products_of_short_words_in_long_ones() {
    let (q, bits, lanes) = KINDS[0];
    let long = 64;
    let counter = LoopVar(0);
    let here = lanes * usize::from(bits) / usize::from(long);
    let at = Index::strided(0, counter, here);
    let mut block = Block::default();
    let a = block.push(Op::Load { buffer: A, at: at.clone() });
    let b = block.push(Op::Load { buffer: B, at: at.clone() });
    let first = block.push(Op::Broadcast { buffer: B, at: Index::at(0) });
    let product = block.push(Op::MulLo(a, b));
    let other = block.push(Op::MulLo(first, a));
    let sum = block.push(Op::Add(product, other));
    let high = block.push(Op::Sar(sum, 17));
    block.push(Op::Store { buffer: C, at, a: high });
    let count = (REGISTERS * lanes / here) as u32;
    let body = vec![Stmt::Loop { counter, count, body: vec![Stmt::Block(block)] }];
    let words = REGISTERS * lanes;
    for least in [None, Some(-32768), Some(-32767)] {
        let buffers = |to: Role| {
            let inputs = ["a", "b"].map(|name| Buffer {
                range: least.filter(|_| name == "a").map(|least| (least, 32767)),
                ..buffer(name, Role::Input, words)
            });
            [vec![buffer("c", to, words)], inputs.to_vec()].concat()
        };
        let mut inner = entry("g", buffers(Role::Scratch), body.clone());
        inner.exported = false;
        let arguments = [C, A, B].map(|buffer| (buffer, Index::at(0))).to_vec();
        let call = Stmt::Call { procedure: ProcedureId(0), arguments };
        let outer = entry("f", buffers(Role::Output), vec![call]);
        let mut program = program(q, bits, lanes, vec![inner, outer]);
        program.procedures[0].bits = long;
        let text = c::c(&program, &Preamble::default()).unwrap();
        let paired = text.contains("(int32_t)v0 * (int32_t)v1 + (int32_t)v2 * (int32_t)v0");
        assert_eq!(paired, least == Some(-32767), "{text}");
        let mut cases = cases(&program);
        cases.push(vec![vec![-32768; words]; 2]);
        let above = |word: &mut i64| *word = (*word).max(least.unwrap_or(-32768));
        cases.iter_mut().for_each(|case| case[0].iter_mut().for_each(above));
        check_cases(&program, &["c"], &cases);
    }
}
