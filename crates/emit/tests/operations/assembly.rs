//! Blocks that Cortex-M4 has in instructions, registers given out by the emitter.

use super::*;
use ringforge_program::build::repeat;

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

/// An index that moves by so many registers in a turn of the outer and of the inner loop.
fn at(register: usize, by: [usize; 2], lanes: usize) -> Index {
    let terms = [(LoopVar(0), (by[0] * lanes) as i64), (LoopVar(1), (by[1] * lanes) as i64)];
    let terms = terms.into_iter().filter(|term| term.1 != 0).collect();
    Index { base: (register * lanes) as i64, terms }
}

/// Registers of the array that loops work on.
const LONG: usize = 64;
const Y: BufferId = BufferId(5);

/// A program whose registers are the machine's: an array is filled, goes through loops, and is the result.
fn in_turns(q: u64, bits: u8, lanes: usize, loops: Vec<Stmt>) -> Program {
    let mut start = Block::default();
    for r in 0..LONG {
        let (buffer, from) = ([A, B][r % 2], Index::at(r / 2 % REGISTERS * lanes));
        let a = start.push(Op::Load { buffer, at: from });
        let by = start.push(Op::Splat(2 * r as i32 + 1));
        let a = start.push(Op::MulLo(a, by));
        start.push(Op::Store { buffer: T, at: Index::at(r * lanes), a });
    }
    let mut end = Block::default();
    for r in 0..LONG {
        let a = end.push(Op::Load { buffer: T, at: Index::at(r * lanes) });
        end.push(Op::Store { buffer: C, at: Index::at(r * lanes), a });
    }
    let body = [vec![Stmt::Block(start)], loops, vec![Stmt::Block(end)]].concat();
    let mut program = whole(q, bits, lanes, LONG * lanes, Block::default());
    let residue = |i: usize| (i as u64 / lanes as u64 * 1_234_577 + 1) % q;
    let factors: Vec<u64> = (0..LONG * lanes).map(residue).collect();
    program.procedures[0].buffers.push(buffer("t", Role::Local, LONG * lanes));
    program.procedures[0].buffers.push(buffer("y", Role::Factors(factors), LONG * lanes));
    program.procedures[0].buffers.iter_mut().for_each(|buffer| buffer.bits = bits);
    program.procedures[0].body = body;
    program.registers.part = program.registers.bits;
    program
}

/// Butterflies on registers of the machine, in loops of either depth, constants the same in all turns and not, and what
/// else transforms have.
#[test]
fn loops_are_taken_whole() {
    for (q, bits, lanes) in [(3329, 16, 2), (8380417, 32, 1)] {
        let multiply = if bits == 16 { MulMethod::Plantard } else { MulMethod::Montgomery };
        let reduce = if bits == 16 { ReduceMethod::Plantard } else { ReduceMethod::RoundedShift };
        let load = |block: &mut Block, at| block.push(Op::Load { buffer: T, at });
        let table = |at| Factor::Table { buffer: Y, at };
        // Four registers, one loop.
        let mut block = Block::default();
        let mut x = [0, 16, 32, 48].map(|r| load(&mut block, at(r, [1, 0], lanes)));
        for (pair, factor) in [
            ([0, 2], Factor::Splat(17)),
            ([1, 3], Factor::Splat(q - 1)),
            ([0, 1], table(at(1, [3, 0], lanes))),
            ([2, 3], table(at(2, [3, 0], lanes))),
        ] {
            let [low, high] = pair.map(|k| x[k]);
            let t = block.push(Op::MulMod { a: high, factor, method: multiply });
            x[pair[0]] = block.push(Op::Add(low, t));
            x[pair[1]] = block.push(Op::Sub(low, t));
        }
        x[3] = block.push(Op::Reduce { a: x[3], method: reduce });
        let zero = block.push(Op::Splat(0));
        x[2] = block.push(Op::Sub(zero, x[2]));
        match bits {
            16 => {
                x[0] = block.push(Op::Freeze { a: x[0], method: FreezeMethod::Plantard });
            }
            _ => {
                let method = ProductMethod::Montgomery;
                x[0] = block.push(Op::MulWords { a: x[0], b: x[1], method });
            }
        }
        for (r, a) in [0, 16, 32, 48].into_iter().zip(x) {
            block.push(Op::Store { buffer: T, at: at(r, [1, 0], lanes), a });
        }
        let first = repeat(LoopVar(0), 16, vec![Stmt::Block(block)]);
        // Two loops, the inner one short or not, and constants that one or both of them change.
        let two = |turns: [usize; 2]| {
            let mut block = Block::default();
            let by = [2 * turns[1], 2];
            let [a, b] = [0, 1].map(|r| load(&mut block, at(r, by, lanes)));
            let sum = block.push(Op::Add(a, b));
            let difference = block.push(Op::Sub(a, b));
            let factor = table(at(3, [2, 0], lanes));
            let t = block.push(Op::MulMod { a: difference, factor, method: multiply });
            let factor = table(at(5, [turns[1], 1], lanes));
            let u = block.push(Op::MulMod { a: sum, factor, method: multiply });
            block.push(Op::Store { buffer: T, at: at(0, by, lanes), a: u });
            block.push(Op::Store { buffer: T, at: at(1, by, lanes), a: t });
            let inner = repeat(LoopVar(1), turns[1], vec![Stmt::Block(block)]);
            repeat(LoopVar(0), turns[0], vec![inner])
        };
        let program = in_turns(q, bits, lanes, vec![first, two([8, 4]), two([2, 16])]);
        check(&program, &["m4", "c"]);
        let said = m4::m4(&program, &Preamble::default()).unwrap();
        assert_eq!(said.matches("\"bne 1b\\n\"").count(), 3, "{said}");
        // One loop around the last of them is the compiler's, and the tables are those of the assembly.
        assert_eq!(said.matches("for (int i").count(), 1, "{said}");
        assert!(said.contains("static const int32_t f0[") && !said.contains("f_y_"), "{said}");
        let product = if bits == 16 { "\"smlawt r" } else { "\"smlal r" };
        assert!(said.contains(product) && said.contains("], #"), "{said}");
    }
}

/// Products of pairs mod x^2 - w: a half of a pair is multiplied by itself.
#[test]
fn products_of_pairs() {
    let (q, bits, lanes) = (3329, 16, 2);
    for add in [false, true] {
        let mut block = Block::default();
        let place = |r| at(r, [1, 0], lanes);
        let [a, b] = [0, 20].map(|r| block.push(Op::Load { buffer: T, at: place(r) }));
        let factor = Factor::Table { buffer: Y, at: at(2, [1, 0], lanes) };
        let w = block.push(Op::MulMod { a: b, factor, method: MulMethod::Plantard });
        let w = block.push(Op::Blend { a: b, b: w, mask: 0xaa });
        let even = block.push(Op::PairDot(a, w));
        let swapped = block.push(Op::SwapPairs(b));
        let odd = block.push(Op::PairDot(a, swapped));
        let method = NarrowMethod::Montgomery;
        let mut product = block.push(Op::Narrow { even, odd, method });
        if add {
            let old = block.push(Op::Load { buffer: T, at: place(40) });
            let sum = block.push(Op::Add(old, product));
            product = block.push(Op::Reduce { a: sum, method: ReduceMethod::Plantard });
        }
        block.push(Op::Store { buffer: T, at: place(40), a: product });
        let all = repeat(LoopVar(0), 20, vec![Stmt::Block(block)]);
        let program = in_turns(q, bits, lanes, vec![all]);
        check(&program, &["m4"]);
        let said = m4::m4(&program, &Preamble::default()).unwrap();
        assert!(said.contains("\"smuadx r") && said.contains("\"pkhbt r"), "{said}");
        assert_eq!(said.matches("\"bne 1b\\n\"").count(), 1, "{said}");
    }
}
