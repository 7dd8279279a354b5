//! What Neon does in fewer operations than the language has.

use super::*;

/// Neon takes pairs and constants by lane, and words out of registers that were just stored.
#[test]
fn operations_that_neon_takes_by_lane() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let mut block = Block::default();
        let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: Index::at(0) }));
        for (i, a) in [a, b].into_iter().enumerate() {
            block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
        }
        let mut results = Vec::new();
        // Windows one word apart, as words alone; four pairs and three; words too far apart; a sum that is
        // wanted by itself too.
        for (terms, apart, sums) in [(4, 1, false), (3, 1, false), (4, 2, false), (4, 1, true)] {
            let mut both: [Option<Value>; 2] = [None; 2];
            for i in 0..terms {
                let pair = block.push(Op::BroadcastPair { buffer: B, at: Index::at(2 * i) });
                for (k, sum) in both.iter_mut().enumerate() {
                    let at = Index::at(lanes - 2 * i - 2 + k * apart);
                    let window = block.push(Op::Load { buffer: C, at });
                    let dot = block.push(Op::PairDot(pair, window));
                    *sum = Some(sum.map_or(dot, |sum| block.push(Op::AddWide(sum, dot))));
                }
            }
            let [Some(even), Some(odd)] = both else { unreachable!("terms") };
            let up = block.push(Op::ShlWide(odd, bits));
            let down = block.push(Op::ShrWide(even, bits));
            results.push(block.push(Op::Blend { a: even, b: up, mask: 0xaa }));
            results.push(block.push(Op::Blend { a: down, b: odd, mask: 0xaa }));
            if sums {
                results.push(block.push(Op::ShrWide(odd, 3)));
            }
        }
        // More constants than there are registers for; one of them is no factor, too.
        for k in 0..14 {
            let word = block.push(Op::Splat(37 * k - 200));
            let low = block.push(Op::MulLo(word, a));
            results.push(block.push(Op::MulHrs(b, word)));
            results.push(block.push(Op::Sub(b, low)));
            let low = block.push(Op::MulLo(b, word));
            results.extend([low, block.push(Op::Add(low, a))]);
            if k == 3 {
                results.push(block.push(Op::Add(word, a)));
            }
        }
        let words = (results.len() + 2) * lanes;
        for (i, a) in results.into_iter().enumerate() {
            block.push(Op::Store { buffer: C, at: Index::at((i + 2) * lanes), a });
        }
        check(&whole(q, bits, lanes, words, block), &["neon"]);
    }
}

/// More constants than are kept are loaded where they are used, once, or once for each half that is computed by itself.
#[test]
fn constants_that_neon_loads_late() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let kept = ringforge_targets::NEON.kept_constants * 128 / usize::from(bits);
        for (count, apart) in [(kept, true), (kept + 1, true), (2 * kept, true), (2 * kept, false)]
        {
            let mut block = Block::default();
            let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: Index::at(0) }));
            let mut sum = match apart {
                true => a,
                false => block.push(Op::Parts { a, b, pick: vec![1, 2] }),
            };
            for k in 0..count as i32 {
                // In no order, and the first one again.
                for k in [k, 0] {
                    let word = block.push(Op::Splat(k * 77 % 1009 - 500));
                    let high = block.push(Op::MulHrs(b, word));
                    sum = block.push(Op::Add(sum, high));
                }
                block.push(Op::Store { buffer: C, at: Index::at(k as usize * lanes), a: sum });
            }
            let program = whole(q, bits, lanes, count * lanes, block);
            check(&program, &["neon"]);
            let said = neon::neon(&program, &Preamble::default()).unwrap();
            let registers = count.div_ceil(128 / usize::from(bits));
            let times = if count > kept && apart { 2 } else { 1 };
            assert_eq!(
                said.matches("LANES(k").count(),
                times * registers,
                "{count} {apart}: {said}"
            );
        }
    }
}

/// Neon adds sums of products without adding neighbours, and products to words, in one operation.
#[test]
fn operations_that_neon_does_together() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let mut block = Block::default();
        let mut load = |buffer, i| block.push(Op::Load { buffer, at: Index::at(i * lanes) });
        let [a0, a1, b0, b1] = [load(A, 0), load(A, 1), load(B, 0), load(B, 1)];
        let mut results = Vec::new();
        // A chain, with a sum in the middle that is wanted too.
        let dots = [(a0, b0), (a1, b0), (a1, b1)].map(|(a, b)| block.push(Op::PairDot(a, b)));
        let two = block.push(Op::AddWide(dots[0], dots[1]));
        let three = block.push(Op::AddWide(dots[2], two));
        let fused = block.push(Op::PairDotAdd { acc: three, a: a0, b: b1 });
        results.extend([fused, block.push(Op::ShrWide(fused, 3))]);
        // Two chains; and a product that is wanted twice.
        let [x, y, z] = [(a0, b0), (a1, b1), (a0, b1)].map(|(a, b)| block.push(Op::PairDot(a, b)));
        let twice = block.push(Op::AddWide(x, x));
        let both = block.push(Op::AddWide(y, z));
        let more = block.push(Op::PairDotAdd { acc: twice, a: a1, b: b0 });
        results.extend([block.push(Op::AddWide(both, more)), block.push(Op::SubWide(x, twice))]);
        // Low products added and subtracted, on either side.
        let low = |block: &mut Block, a, b| block.push(Op::MulLo(a, b));
        let p = [low(&mut block, a0, b0), low(&mut block, a1, b0), low(&mut block, a1, b1)];
        results.push(block.push(Op::Add(p[0], a1)));
        results.push(block.push(Op::Sub(a0, p[1])));
        results.push(block.push(Op::Sub(p[2], b0)));
        let p = low(&mut block, a0, b1);
        results.extend([block.push(Op::Add(p, p)), block.push(Op::Sub(p, b1))]);
        // Halves of elements brought together.
        let up = block.push(Op::ShlWide(b0, bits));
        let down = block.push(Op::ShrWide(a0, bits));
        let odd = block.push(Op::OddToEven(a1));
        for (a, b) in [(a0, up), (down, b0), (odd, b1), (odd, up)] {
            results.push(block.push(Op::Blend { a, b, mask: 0xaa }));
        }
        for mask in [0, 0x0f, 0xf0, 0xff, 0x55, 0x3c] {
            results.push(block.push(Op::Blend { a: a0, b: b1, mask }));
        }
        // Least words: the rounding product saturates there, and no constant does.
        let least = block.push(Op::Splat(i32::MIN >> (32 - bits)));
        let most = block.push(Op::Splat(i32::MAX >> (32 - bits)));
        results.extend([least, most].map(|v| block.push(Op::MulHrs(a0, v))));
        let words = results.len() * lanes;
        for (i, a) in results.into_iter().enumerate() {
            block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
        }
        check(&whole(q, bits, lanes, words, block), &["neon"]);
    }
}

/// Neon cuts words out of two registers that are turned alike; not where they are not, or where a blend begins elsewhere.
#[test]
fn words_that_neon_cuts_out_of_two_registers() {
    let (q, bits, lanes) = KINDS[0];
    let turned = |k: usize| (0..8).map(|i| ((i + k) % 8) as u8).collect::<Vec<u8>>();
    let swapped: Vec<u8> = (0..8).map(|i| i ^ 1).collect();
    let cases = (1..8).map(|k| (turned(k), turned(k), (0xff00 >> k) as u8, true)).chain([
        (turned(3), turned(4), 0xe0, false),
        (turned(3), turned(3), 0xf0, false),
        (turned(3), turned(3), 0x1f, false),
        (swapped.clone(), swapped, 0x80, false),
    ]);
    for (first, second, mask, taken) in cases {
        let mut block = Block::default();
        let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: Index::at(0) }));
        let shown = format!("{first:?} {second:?} {mask:x}");
        let a = block.push(Op::PermuteParts { a, pattern: first });
        let b = block.push(Op::PermuteParts { a: b, pattern: second });
        let a = block.push(Op::Blend { a, b, mask });
        block.push(Op::Store { buffer: C, at: Index::at(0), a });
        let program = whole(q, bits, lanes, lanes, block);
        check(&program, &["neon"]);
        let said = neon::neon(&program, &Preamble::default()).unwrap();
        assert_eq!(said.contains("vextq_s16(v0l, v1l, "), taken, "{shown}: {said}");
    }
}

/// Places where compilers start anew to order operations, as often as the schedule says; in a loop as well.
#[test]
fn operations_that_compilers_keep_in_order() {
    let (q, bits, lanes) = KINDS[0];
    // Seven operations for each half.
    for (every, places) in [(0, 0), (2, 6), (3, 4), (7, 1), (14, 0)] {
        let mut block = Block::default();
        let at = |start: usize| Index::strided(start, LoopVar(0), lanes);
        let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: at(0) }));
        let mut sum = block.push(Op::Add(a, b));
        for _ in 0..2 {
            let high = block.push(Op::MulLo(sum, a));
            sum = block.push(Op::Sub(high, sum));
        }
        block.push(Op::Store { buffer: C, at: at(0), a: sum });
        let mut program = whole(q, bits, lanes, 2 * lanes, block);
        let body = &mut program.procedures[0].body;
        *body = vec![Stmt::Loop { counter: LoopVar(0), count: 2, body: std::mem::take(body) }];
        program.in_order = every;
        check(&program, &["neon"]);
        let said = neon::neon(&program, &Preamble::default()).unwrap();
        assert_eq!(said.matches("HERE(h").count(), places, "{every}: {said}");
        assert_eq!(said.contains("#define HERE"), every > 0);
    }
}

/// Neon rounds as it shifts where the sum that rounds is known to be a word; not where it may wrap.
#[test]
fn shifts_that_neon_rounds() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        // The first one is the largest sum that fits; a sum, another half and two other words.
        for (by, down, off, minus, same, taken) in [
            (3, bits - 4, 0, true, true, true),
            (3, bits - 3, 0, true, true, false),
            (0, 4, 0, true, true, false),
            (3, 4, 1, true, true, false),
            (3, 4, 0, false, true, false),
            (3, 4, 0, true, false, false),
        ] {
            let mut block = Block::default();
            let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: Index::at(0) }));
            let part = block.push(Op::Sar(if same { a } else { b }, by));
            let y = block.push(if minus { Op::Sub(a, part) } else { Op::Add(a, part) });
            let half = block.push(Op::Splat((1 << (down - 1)) + off));
            let sum = block.push(Op::Add(y, half));
            let a = block.push(Op::Sar(sum, down));
            block.push(Op::Store { buffer: C, at: Index::at(0), a });
            let program = whole(q, bits, lanes, lanes, block);
            check(&program, &["neon"]);
            let said = neon::neon(&program, &Preamble::default()).unwrap();
            assert_eq!(
                said.contains("vrshrq_n_"),
                taken,
                "{by} {down} {off} {minus} {same}: {said}"
            );
        }
    }
}

/// Neon takes sums of words side by side at all places, and those of 32 bits by one word each with their narrowing; not
/// where a term, a window or a constant is another, or where a sum is wanted by itself.
#[test]
fn sums_that_neon_takes_whole() {
    let (q, bits, lanes) = KINDS[0];
    let mut block = Block::default();
    let mut load = |buffer, i| block.push(Op::Load { buffer, at: Index::at(i * lanes) });
    let [a, b, c, d] = [load(A, 0), load(A, 1), load(B, 0), load(B, 1)];
    let (e, f) = (block.push(Op::Add(a, d)), block.push(Op::Sub(c, b)));
    let zero = block.push(Op::Splat(0));
    let mut results = Vec::new();
    // Terms two by two; the last one alone; another word at odd places; a sum that is wanted too.
    let terms = [([a, b], [c, d]), ([e, f], [d, b])];
    let alone = [terms[0], ([e, zero], [d, zero])];
    for (terms, other, also) in
        [(terms, None, false), (alone, None, false), (terms, Some(f), false), (terms, None, true)]
    {
        let mut both: [Option<Value>; 2] = [None; 2];
        for (x, y) in terms {
            for (odd, sum) in both.iter_mut().enumerate() {
                let y = [y[0], other.filter(|_| odd == 1).unwrap_or(y[1])];
                let [x, y] = [x, y].map(|[a, b]| {
                    let (a, b) = match odd {
                        0 => (a, block.push(Op::SwapPairs(b))),
                        _ => (block.push(Op::SwapPairs(a)), b),
                    };
                    block.push(Op::Blend { a, b, mask: 0xaa })
                });
                let dot = block.push(Op::PairDot(x, y));
                *sum = Some(sum.map_or(dot, |sum| block.push(Op::AddWide(sum, dot))));
            }
        }
        let [Some(even), Some(odd)] = both else { unreachable!("terms") };
        results.push(block.push(Op::Narrow { even, odd, method: NarrowMethod::Montgomery }));
        if also {
            results.push(block.push(Op::ShrWide(even, 3)));
        }
    }
    let words = results.len() * lanes;
    for (i, a) in results.into_iter().enumerate() {
        block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
    }
    let program = whole(q, bits, lanes, words, block);
    check(&program, &["neon"]);
    let said = neon::neon(&program, &Preamble::default()).unwrap();
    // Two sums whole, both halves of each, none of them with neighbours to add; two with.
    assert_eq!(said.matches("vpaddq_s32(").count(), 8, "{said}");
}

/// The same of words of 32 bits.
#[test]
fn long_sums_that_neon_takes_whole() {
    let (q, bits, lanes) = KINDS[3];
    let inverse = ringforge_program::method::inverse_word(Modulus { q, bits }) as i32;
    let sums = |terms: usize, apart: usize, constants: [i32; 2], also: bool| {
        let mut block = Block::default();
        let mut both: [Option<Value>; 2] = [None; 2];
        for i in 0..terms {
            let word = block.push(Op::Broadcast { buffer: B, at: Index::at(i) });
            let even = block.push(Op::Load { buffer: A, at: Index::at(terms - i) });
            let odd = match i {
                0 if apart == 1 => block.push(Op::OddToEven(even)),
                _ => block.push(Op::Load { buffer: A, at: Index::at(terms - i + apart) }),
            };
            for (sum, other) in both.iter_mut().zip([even, odd]) {
                let product = block.push(Op::MulEven(word, other));
                *sum = Some(sum.map_or(product, |sum| block.push(Op::AddWide(sum, product))));
            }
        }
        let [Some(even), Some(odd)] = both else { unreachable!("terms") };
        let [over, modulus] = constants.map(|word| block.push(Op::Splat(word)));
        let [even, rest] = [even, odd].map(|x| {
            let t = block.push(Op::MulEven(x, over));
            let m = block.push(Op::MulEven(t, modulus));
            block.push(Op::Sub(x, m))
        });
        let down = block.push(Op::OddToEven(even));
        let a = block.push(Op::Blend { a: down, b: rest, mask: 0xaa });
        for (i, a) in [a, if also { odd } else { a }].into_iter().enumerate() {
            block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
        }
        whole(q, bits, lanes, 2 * lanes, block)
    };
    let right = [inverse, q as i32];
    for (terms, apart, constants, also, taken) in [
        (5, 1, right, false, true),
        (4, 1, right, false, true),
        (1, 1, right, false, true),
        (4, 2, right, false, false),
        (4, 1, [inverse, q as i32 + 2], false, false),
        (4, 1, right, true, false),
    ] {
        let program = sums(terms, apart, constants, also);
        check(&program, &["neon"]);
        let said = neon::neon(&program, &Preamble::default()).unwrap();
        assert_eq!(said.contains("vmlsl_high_s32("), taken, "{terms} {apart} {also}: {said}");
    }
}
