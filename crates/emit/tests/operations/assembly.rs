//! Blocks that Cortex-M4 has in instructions, registers given out by the emitter.

use super::*;

const T: BufferId = BufferId(4);
/// Registers of the array that blocks work on: more than the machine has.
const WIDE: usize = 20;

/// Random numbers, the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// Sums, differences and products of values that were loaded long ago, of which some were stored over since.
fn tangled(random: &mut Random, lanes: usize, steps: usize, q: u64) -> Block {
    let at = |register: usize| Index::at(register * lanes);
    let mut block = Block::default();
    let zero = block.push(Op::Splat(0));
    let three = block.push(Op::Splat(3));
    let mut values: Vec<Value> =
        (0..WIDE).map(|r| block.push(Op::Load { buffer: T, at: at(r) })).collect();
    for _ in 0..steps {
        let [a, b] = [0; 2].map(|_| values[random.below(values.len())]);
        let method = MulMethod::Plantard;
        let factor = Factor::Splat([5, 1234, q - 1, 77][random.below(4)]);
        let op = match random.below(12) {
            0..4 => Op::Add(a, b),
            4..7 => Op::Sub(a, b),
            7 => Op::Sub(zero, a),
            8 => Op::Shl(a, 1 + random.below(3) as u8),
            9 => Op::MulLo(a, three),
            10 => Op::MulMod { a, factor, method },
            _ => Op::Reduce { a, method: ReduceMethod::Plantard },
        };
        values.push(block.push(op));
        if random.below(3) == 0 {
            let a = values[random.below(values.len())];
            block.push(Op::Store { buffer: T, at: at(random.below(WIDE)), a });
        }
    }
    let method = MulMethod::Plantard;
    let a = block.push(Op::MulMod { a: values[3], factor: Factor::Splat(2), method });
    block.push(Op::Store { buffer: T, at: at(0), a });
    block
}

#[test]
fn registers_are_given_out_and_given_up() {
    let (q, bits, lanes) = KINDS[1];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut body = Vec::new();
    let mut start = Block::default();
    for r in 0..WIDE {
        let (buffer, at) = ([A, B][r % 2], Index::at(r / 2));
        let a = start.push(Op::Load { buffer, at });
        start.push(Op::Store { buffer: T, at: Index::at(r * lanes), a });
    }
    body.push(Stmt::Block(start));
    for steps in [20, 40, 80, 160, 60, 30] {
        body.push(Stmt::Block(tangled(&mut random, lanes, steps, q)));
    }
    let mut end = Block::default();
    for r in 0..WIDE {
        let at = Index::at(r * lanes);
        let a = end.push(Op::Load { buffer: T, at: at.clone() });
        end.push(Op::Store { buffer: C, at, a });
    }
    body.push(Stmt::Block(end));
    let mut program = whole(q, bits, lanes, WIDE * lanes, Block::default());
    program.procedures[0].buffers.push(buffer("t", Role::Local, WIDE * lanes));
    program.procedures[0].body = body;
    check(&program, &["m4", "c"]);
    let said = m4::m4(&program, &Preamble::default()).unwrap();
    assert_eq!(said.matches("\"bne 1b\\n\"").count(), 6, "{said}");
    assert!(said.contains("\"smlawt r") && said.contains(", [sp, #8]"), "{said}");
}

/// Registers far apart, of arrays with pointers of their own, in a loop around the block; and words that are no pairs,
/// which are left to the compiler.
#[test]
fn places_are_reached_from_pointers() {
    let (q, bits, lanes) = KINDS[0];
    let (far, counter, method) = (2100, LoopVar(0), MulMethod::Plantard);
    for odd in [0, 1] {
        let mut fill = Block::default();
        for r in 0..4 {
            let buffer = [A, B][r % 2];
            let a = fill.push(Op::Load { buffer, at: Index::at(r) });
            let to = r / 2 * lanes + r % 2 * far + odd;
            fill.push(Op::Store { buffer: T, at: Index::at(to), a });
        }
        let at = |words: usize| Index::strided(words, counter, lanes);
        let mut block = Block::default();
        let [x, y] = [odd, far + odd].map(|w| block.push(Op::Load { buffer: T, at: at(w) }));
        let mut values = vec![x, y];
        for i in 0..30 {
            let (a, b) = (values[i], values[i + 1]);
            values.push(block.push(match i % 3 {
                0 => Op::Add(a, b),
                1 => Op::Sub(a, b),
                _ => Op::MulMod { a: b, factor: Factor::Splat(17), method },
            }));
        }
        block.push(Op::Store { buffer: C, at: at(0), a: values[31] });
        block.push(Op::Store { buffer: C, at: at(2 * lanes), a: values[30] });
        let around = Stmt::Loop { counter, count: 2, body: vec![Stmt::Block(block)] };
        let mut program = whole(q, bits, lanes, 4 * lanes, Block::default());
        program.procedures[0].buffers.push(buffer("t", Role::Local, far + 3 * lanes));
        program.procedures[0].body = vec![Stmt::Block(fill), around];
        check(&program, &["m4", "c"]);
        let said = m4::m4(&program, &Preamble::default()).unwrap();
        assert_eq!(said.contains("\"bne 1b\\n\""), odd == 0, "{said}");
    }
}
