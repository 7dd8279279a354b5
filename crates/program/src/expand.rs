//! Modular operations rewritten as word operations.
//!
//! Contract of [`Program::expand`]: procedures, statements, loops, stages and memory operations
//! stay as they are and in their order; every modular operation becomes word operations with
//! the same result word for word (`apply` of its method); values are renumbered; equal constants
//! of a block become one; buffers with [`Role::Factors`] become pairs of [`Role::Table`]s, their
//! names ending in the method's suffixes, at the end of the procedure's buffers.

use crate::ir::*;
use crate::method::*;
use std::collections::HashMap;

impl Program {
    /// The same program in word operations alone.
    pub fn expand(&self) -> Program {
        let mut out = self.clone();
        for procedure in &mut out.procedures {
            let body = std::mem::take(&mut procedure.body);
            let mut tables =
                Tables { q: self.q, buffers: &mut procedure.buffers, made: HashMap::new() };
            procedure.body = statements(body, &mut tables);
            for buffer in &mut procedure.buffers {
                // What remains of a factor table is never read: keep ids stable, drop content.
                if matches!(buffer.role, Role::Factors(_)) {
                    buffer.role = Role::Table(Vec::new());
                    buffer.words = 0;
                }
            }
        }
        out
    }
}

struct Tables<'a> {
    q: u64,
    buffers: &'a mut Vec<Buffer>,
    made: HashMap<(BufferId, MulMethod, bool), (BufferId, BufferId)>,
}

impl Tables<'_> {
    /// The tables of a buffer's constants; each word twice where `doubled`.
    fn pair(&mut self, buffer: BufferId, method: MulMethod, doubled: bool) -> (BufferId, BufferId) {
        if let Some(&pair) = self.made.get(&(buffer, method, doubled)) {
            return pair;
        }
        let source = &self.buffers[buffer.0 as usize];
        let Role::Factors(residues) = &source.role else {
            panic!("the lowering gave a factor a buffer that holds none");
        };
        let (first, second): (Vec<i16>, Vec<i16>) =
            residues.iter().map(|&c| mul_constants(method, c, self.q)).unzip();
        let double = |words: Vec<i16>| words.into_iter().flat_map(|w| [w, w]).collect();
        let (first, second) =
            if doubled { (double(first), double(second)) } else { (first, second) };
        let suffix = match method {
            MulMethod::Montgomery => ["r", "rq"],
            MulMethod::Barrett => ["c", "cq"],
        };
        let name = source.name.clone();
        let mut add = |words: Vec<i16>, suffix: &str| {
            self.buffers.push(Buffer {
                name: format!("{name}_{suffix}"),
                words: words.len(),
                role: Role::Table(words),
                align: 32,
                range: None,
            });
            BufferId(self.buffers.len() as u32 - 1)
        };
        let pair = (add(first, suffix[0]), add(second, suffix[1]));
        self.made.insert((buffer, method, doubled), pair);
        pair
    }
}

fn statements(body: Vec<Stmt>, tables: &mut Tables) -> Vec<Stmt> {
    body.into_iter()
        .map(|stmt| match stmt {
            Stmt::Stage { title, cite, body } => {
                Stmt::Stage { title, cite, body: statements(body, tables) }
            }
            Stmt::Loop { counter, count, body } => {
                Stmt::Loop { counter, count, body: statements(body, tables) }
            }
            Stmt::Block(block) => Stmt::Block(expand_block(block, tables)),
            call @ Stmt::Call { .. } => call,
        })
        .collect()
}

struct Writer {
    block: Block,
    constants: HashMap<Op, Value>,
    /// What [`ProductMethod::Montgomery`] prepared of a value.
    prepared: HashMap<Value, Value>,
}

impl Writer {
    fn op(&mut self, op: Op) -> Value {
        let constant = match op {
            Op::Splat(_) | Op::Lanes(_) => true,
            Op::Load { .. } => false,
            _ => return self.block.push(op),
        };
        if !constant {
            return self.block.push(op);
        }
        if let Some(&v) = self.constants.get(&op) {
            return v;
        }
        let v = self.block.push(op.clone());
        self.constants.insert(op, v);
        v
    }

    fn splat(&mut self, word: i64) -> Value {
        self.op(Op::Splat(word as i16))
    }

    /// The two constants of a modular product.
    fn factor(&mut self, factor: Factor, method: MulMethod, tables: &mut Tables) -> (Value, Value) {
        match factor {
            Factor::Splat(c) => {
                let (b, b2) = mul_constants(method, c, tables.q);
                (self.op(Op::Splat(b)), self.op(Op::Splat(b2)))
            }
            Factor::Lanes(all) => {
                let (b, b2) = all.iter().map(|&c| mul_constants(method, c, tables.q)).unzip();
                (self.op(Op::Lanes(b)), self.op(Op::Lanes(b2)))
            }
            Factor::Table { buffer, at } => {
                let (b, b2) = tables.pair(buffer, method, false);
                let first = self.op(Op::Load { buffer: b, at: at.clone() });
                (first, self.op(Op::Load { buffer: b2, at }))
            }
            // Every word twice, so that a pair of them is broadcast by the load alone.
            Factor::Repeated { buffer, at } => {
                let (b, b2) = tables.pair(buffer, method, true);
                let at = at.times(2);
                let first = self.op(Op::BroadcastPair { buffer: b, at: at.clone() });
                (first, self.op(Op::BroadcastPair { buffer: b2, at }))
            }
        }
    }

    fn product(&mut self, a: Value, b: Value, b2: Value, method: MulMethod, q: u64) -> Value {
        let modulus = self.splat(q as i64);
        match method {
            MulMethod::Montgomery => {
                let t = self.op(Op::MulLo(a, b2));
                let hi = self.op(Op::MulHi(a, b));
                let m = self.op(Op::MulHi(t, modulus));
                self.op(Op::Sub(hi, m))
            }
            MulMethod::Barrett => {
                let t = self.op(Op::MulHrs(a, b2));
                let lo = self.op(Op::MulLo(a, b));
                let m = self.op(Op::MulLo(t, modulus));
                self.op(Op::Sub(lo, m))
            }
        }
    }

    fn reduce(&mut self, a: Value, method: ReduceMethod, q: u64) -> Value {
        let t = match method {
            ReduceMethod::Montgomery => {
                let (b, b2) = mul_constants(MulMethod::Montgomery, 1, q);
                let (b, b2) = (self.op(Op::Splat(b)), self.op(Op::Splat(b2)));
                return self.product(a, b, b2, MulMethod::Montgomery, q);
            }
            ReduceMethod::Barrett => {
                let (_, v) = mul_constants(MulMethod::Barrett, 1, q);
                let v = self.op(Op::Splat(v));
                self.op(Op::MulHrs(a, v))
            }
            ReduceMethod::Crude => {
                let zero = self.splat(0);
                let high = self.op(Op::Sar(a, q.ilog2() as u8));
                let negative = self.op(Op::Greater(zero, a));
                self.op(Op::Sub(high, negative))
            }
            ReduceMethod::BarrettHigh => {
                let (v, s) = high_constants(q);
                let (v, half) = (self.splat(v as i64), self.splat(1 << (s - 1)));
                let high = self.op(Op::MulHi(a, v));
                let sum = self.op(Op::Add(high, half));
                self.op(Op::Sar(sum, s))
            }
        };
        let modulus = self.splat(q as i64);
        let m = self.op(Op::MulLo(t, modulus));
        self.op(Op::Sub(a, m))
    }

    fn narrow(&mut self, even: Value, odd: Value, method: NarrowMethod, q: u64) -> Value {
        match method {
            NarrowMethod::Montgomery => {
                let up = self.op(Op::ShlWide(odd, 16));
                let lo = self.op(Op::Blend { a: even, b: up, mask: 0xaa });
                let down = self.op(Op::ShrWide(even, 16));
                let hi = self.op(Op::Blend { a: down, b: odd, mask: 0xaa });
                let (inverse, modulus) = (self.splat(inverse_word(q)), self.splat(q as i64));
                let t = self.op(Op::MulLo(lo, inverse));
                let m = self.op(Op::MulHi(t, modulus));
                self.op(Op::Sub(hi, m))
            }
        }
    }

    fn product_of_words(&mut self, a: Value, b: Value, method: ProductMethod, q: u64) -> Value {
        match method {
            ProductMethod::Montgomery => {
                let (inverse, modulus) = (self.splat(inverse_word(q)), self.splat(q as i64));
                let prepared = match self.prepared.get(&b) {
                    Some(&v) => v,
                    None => self.op(Op::MulLo(b, inverse)),
                };
                self.prepared.insert(b, prepared);
                let t = self.op(Op::MulLo(a, prepared));
                let hi = self.op(Op::MulHi(a, b));
                let m = self.op(Op::MulHi(t, modulus));
                self.op(Op::Sub(hi, m))
            }
        }
    }

    fn freeze(&mut self, a: Value, method: FreezeMethod, q: u64) -> Value {
        let modulus = self.splat(q as i64);
        match method {
            FreezeMethod::Minimum => {
                let h = self.splat((q as i64 - 1) / 2);
                let x = self.op(Op::Add(a, h));
                let up = self.op(Op::Add(x, modulus));
                let y = self.op(Op::MinU(x, up));
                let down = self.op(Op::Sub(y, modulus));
                let z = self.op(Op::MinU(y, down));
                self.op(Op::Sub(z, h))
            }
            FreezeMethod::Montgomery => {
                let inverse = self.splat(inverse_word(q));
                let t = self.op(Op::MulLo(a, inverse));
                let m = self.op(Op::MulHi(t, modulus));
                let sign = self.op(Op::Sar(a, 15));
                self.op(Op::Sub(sign, m))
            }
            FreezeMethod::MontgomeryBiased { k } => {
                let bias = self.splat(k as i64 * q as i64);
                let inverse = self.splat(-inverse_word(q));
                let x = self.op(Op::Sub(a, bias));
                let t = self.op(Op::MulLo(x, inverse));
                self.op(Op::MulHi(t, modulus))
            }
        }
    }
}

fn expand_block(block: Block, tables: &mut Tables) -> Block {
    let q = tables.q;
    let mut writer =
        Writer { block: Block::default(), constants: HashMap::new(), prepared: HashMap::new() };
    let mut new: Vec<Value> = Vec::with_capacity(block.ops.len());
    for op in block.ops {
        let value = match op.map_operands(&mut |v| new[v.0 as usize]) {
            Op::MulMod { a, factor, method } => {
                let (b, b2) = writer.factor(factor, method, tables);
                writer.product(a, b, b2, method, q)
            }
            Op::Reduce { a, method } => writer.reduce(a, method, q),
            Op::Narrow { even, odd, method } => writer.narrow(even, odd, method, q),
            Op::MulWords { a, b, method } => writer.product_of_words(a, b, method, q),
            Op::Freeze { a, method } => writer.freeze(a, method, q),
            other => writer.op(other),
        };
        new.push(value);
    }
    writer.block
}
