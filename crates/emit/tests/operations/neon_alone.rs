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
