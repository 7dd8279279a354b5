//! The remainder by f of sums H·x^n + L.
//!
//! *Folded*: x^n is −Σ c_i·x^i, so H_k is reduced, and c_i times it is taken from sum k + i for each term of f, from the
//! highest k on. Where the term next to x^n is d below it, d of them do not wait for each other.
//!
//! *By the quotient*: the first n coefficients of L − Q·f, with Q = ⌊H·μ/x^(n−2)⌋ and μ = ⌊x^(2n−2)/f⌋.

use super::*;
use crate::build::repeat;
use crate::lower::general::reciprocal;
use ringforge_ring::zq;

impl Writing<'_> {
    /// The last step, sums in t, from which those in s are taken, to c.
    fn end(
        &mut self,
        builder: &mut Builder,
        c: BufferId,
        (t, s): (BufferId, Option<BufferId>),
        most: i64,
    ) {
        let zero = Index::at(0);
        let body = if self.wraps() {
            let up = self.memory - self.q.trailing_zeros() as u8;
            each(builder, self.n, REGISTERS.lanes(self.sums), &|block, here| {
                let mut a = here.load(block, t, &zero);
                if let Some(s) = s {
                    let other = here.load(block, s, &zero);
                    a = block.sub(a, other);
                }
                a = block.sign_extended(a, up);
                here.store(block, c, &zero, a);
            })
        } else {
            let to = Some(self.memory);
            let procedure = self.reduce(("last", self.n), (most, s.is_some()), to);
            vec![call(procedure, [Some(c), Some(t), s].into_iter().flatten())]
        };
        builder.stage("canonical residues of the sums", "", body);
    }

    /// The exported procedure that folds sums by f.
    pub(super) fn folded(&mut self) -> Procedure {
        let (n, lanes) = (self.n, REGISTERS.lanes(self.sums));
        let product = self.product("product", self.ranges, 0..2 * n - 1);
        let (mut builder, [c, a, b]) = self.exported();
        let t = builder.local("t", self.words);
        builder.stage("a·b", "", vec![call(product, [t, a, b])]);
        let most = self.most() as i64;
        // As many at a time as do not wait for each other, in whole registers where there are such.
        let apart = self.plain.apart();
        let size = if apart < lanes { 1 } else { apart / lanes * lanes }.min(n - 1).max(1);
        let (whole, rest) = ((n - 1) / size, (n - 1) % size);
        let r = builder.local("r", size.next_multiple_of(lanes));
        if let Some(steps) = Steps::of(self.q, most).filter(|_| !self.wraps()) {
            builder.narrow(r, steps.bits());
        }
        let counter = builder.counter();
        // The sums of one round, the highest first.
        let first =
            Index { base: (2 * n - 1 - size) as i64, terms: vec![(counter, -(size as i64))] };
        let mut body = Vec::new();
        if whole > 0 {
            let inner = self.round(&mut builder, (t, r), &first, size, most);
            body.push(repeat(counter, whole, inner));
        }
        if rest > 0 {
            body.extend(self.round(&mut builder, (t, r), &Index::at(n), rest, most));
        }
        builder.stage("sums of degree n and above folded by f", "", body);
        self.end(&mut builder, c, (t, None), most);
        builder.finish()
    }

    /// Folds `size` sums from a place on, which do not wait for each other.
    fn round(
        &mut self,
        builder: &mut Builder,
        (t, r): (BufferId, BufferId),
        first: &Index,
        size: usize,
        most: i64,
    ) -> Vec<Stmt> {
        let (n, lanes) = (self.n, REGISTERS.lanes(self.sums));
        let zero = Index::at(0);
        let (mut body, mut from, mut at) = (Vec::new(), t, first.clone());
        if !self.wraps() {
            let name = format!("upper{size}");
            let procedure = self.reduce((&name, size), (most, false), None);
            let arguments = vec![(r, zero.clone()), (t, first.clone())];
            body.push(Stmt::Call { procedure, arguments });
            (from, at) = (r, zero);
        }
        for (i, c) in self.plain.terms() {
            let below = Index { base: first.base - (n - i) as i64, terms: first.terms.clone() };
            body.extend(each(builder, size, lanes, &|block, here| {
                let x = here.load(block, from, &at);
                let old = here.load(block, t, &below);
                let mut term = x;
                if c.abs() != 1 {
                    let factor = block.splat(-c as i32);
                    term = block.push(Op::MulLo(x, factor));
                }
                let new = block.joined(Some(old), term, c == 1);
                here.store(block, t, &below, new);
            }));
        }
        body
    }

    /// The exported procedure that takes the remainder by two more products.
    pub(super) fn quotient(&mut self) -> Procedure {
        let (n, q) = (self.n, self.q);
        let most = self.most() as i64;
        let product = self.product("product", self.ranges, 0..2 * n - 1);
        let upper = self.product("quotient", [self.any; 2], n - 2..2 * n - 3);
        let lower = self.product("multiple", [self.any; 2], 0..n);
        let (mut builder, [c, a, b]) = self.exported();
        let [t, s] = ["t", "m"].map(|name| builder.local(name, self.words));
        let ring = &self.plain.ring;
        let low: Vec<u64> = ring.modulus()[..n].iter().map(|&c| zq::unsigned(c, q)).collect();
        let size = (n, self.memory);
        let mu = builder.residues("reciprocal", reciprocal(ring), size, q);
        let f = builder.residues("f", low, size, q);
        let h = builder.kept("h", Role::Local, n, self.memory);
        builder.stage("a·b", "", vec![call(product, [t, a, b])]);
        let body = self.residues(&mut builder, h, (t, n), most);
        builder.stage("the upper half of the product modulo q", "", body);
        builder.stage(
            "the upper half times the reciprocal of f",
            "",
            vec![call(upper, [s, h, mu])],
        );
        let body = self.residues(&mut builder, h, (s, n - 2), most);
        builder.stage("the quotient by f", "", body);
        builder.stage("quotient times f", "", vec![call(lower, [s, h, f])]);
        self.end(&mut builder, c, (t, Some(s)), most);
        builder.finish()
    }

    /// n − 1 sums from a place on as residues, and a zero behind them.
    fn residues(
        &mut self,
        builder: &mut Builder,
        h: BufferId,
        (t, from): (BufferId, usize),
        most: i64,
    ) -> Vec<Stmt> {
        let (zero, count) = (Index::at(0), self.n - 1);
        let mut body = if self.wraps() {
            let lanes = REGISTERS.lanes(self.sums);
            each(builder, count, lanes, &|block, here| {
                let x = here.load(block, t, &Index::at(from));
                here.store(block, h, &zero, x);
            })
        } else {
            // The last of a procedure's two forms is the one that is called.
            let mut written = self.written.procedures.iter();
            let procedure = match written.rposition(|p| p.name.starts_with("residues")) {
                Some(known) => ProcedureId(known as u32),
                None => self.reduce(("residues", count), (most, false), Some(self.memory)),
            };
            vec![Stmt::Call { procedure, arguments: vec![(h, zero), (t, Index::at(from))] }]
        };
        let mut block = Block::default();
        let nothing = block.splat(0);
        block.push(Op::StorePartial { buffer: h, at: Index::at(count), count: 1, a: nothing });
        body.push(Stmt::Block(block));
        body
    }
}
