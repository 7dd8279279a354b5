//! Words too wide to enumerate: extensions and shifts as exact integer forms.

use crate::funs::centre;
use crate::uses::Use;
use crate::values::{Atom, Base, Form};
use crate::walk::Walk;
use ringforge_machine::graph::{NodeId, Op};
use rustc_hash::FxHashSet;

impl Walk<'_> {
    /// Whether two words that vary are multiplied to 64 bits, as words of 32-bit primes are,
    /// whatever the contract's modulus is. A product does not count if only its lower half is used,
    /// or if both words are extensions of 16 bits. Then the instruction is one for words of 32 bits
    /// or more, but the product is not.
    pub(crate) fn multiplies_words(&self, needed: &[bool]) -> bool {
        let varies = |a: &NodeId| !matches!(self.graph.node(*a).op, Op::Const(_));
        let mut products: FxHashSet<NodeId> = FxHashSet::default();
        for id in (0..needed.len()).filter(|&id| needed[id]) {
            let node = self.graph.node(NodeId(id as u32));
            let low = matches!(node.op, Op::Slice { lo } if lo + node.width <= 32);
            if !low && node.args.iter().any(|a| products.contains(a)) {
                return true;
            }
            let product = node.op == Op::Mul && node.width == 64 && node.args.iter().all(varies);
            if product && node.args.iter().any(|a| self.bits(*a) > 16) {
                products.insert(NodeId(id as u32));
            }
        }
        false
    }

    /// The bits of the word that a node extends.
    fn bits(&self, id: NodeId) -> u8 {
        let node = self.graph.node(id);
        match node.op {
            Op::Sext => self.bits(node.args[0]),
            // A word with its sign copied is a long one where it is read without sign.
            Op::Zext if self.graph.node(node.args[0]).op != Op::Sext => self.bits(node.args[0]),
            Op::Zext => self.width(node.args[0]),
            _ => node.width,
        }
    }

    /// The extension of a word too wide to enumerate: the integer itself if it fits, else the
    /// integer less a multiple of 2^from.
    pub(crate) fn extend_wide(
        &mut self,
        form: &Form,
        from: u8,
        to: u8,
        signed: bool,
    ) -> Option<Form> {
        if from <= 16 || form.t.is_empty() {
            return None;
        }
        // Sums of reduced values get a name, lest sums of sums have growing coefficients.
        let mut form = if from == 32 { self.named(form, from) } else { form.clone() };
        self.cut.resolve(&mut form, from);
        self.cut.lift(&mut form, from);
        let middle = if signed { 1i64 << (from - 1) } else { 0 };
        let shifted = form.clone().plus(middle, 64);
        if !self.cut.quotient(&shifted, from, from) {
            // Few quotients by 2^from; but it may be a long way between two of them.
            let wide = self.cut.world.wide || self.cut.world.has_floor(&form);
            if !wide || !self.cut.quotient(&form, from, 10) {
                return None;
            }
        }
        let least = -i128::from(middle);
        let most = least + (1i128 << from) - 1;
        let inside = |lo: i128, hi: i128| lo >= least && hi <= most;
        if self.cut.within(&form, least, most) {
            return Some(form);
        }
        let less = |top: &Form| Form::combine(&form, 1, top, (-1i64).wrapping_shl(from.into()), to);
        let out = less(&self.cut.floor(&shifted, from, to));
        self.cut.passed(&form, from, &out);
        let beside = self.cut.joined && self.cut.taken.1.is_some();
        if !beside || self.cut.folded_bounds(&out).is_some_and(|(lo, hi)| inside(lo, hi)) {
            return Some(out);
        }
        // A function of what a quotient is of, beside the quotient: two quotients show what they are together.
        self.cut.taken = Default::default();
        let out = less(&self.cut.quotient_of(&shifted, from, to));
        self.cut.read(&out).is_ok_and(|r| inside(r.lo, r.hi)).then_some(out)
    }

    /// A sum of reduced words as a multiple of one variable, so that all products of it by
    /// constants are multiples of that variable.
    pub(crate) fn named(&mut self, form: &Form, w: u8) -> Form {
        let reduced =
            self.cut.world.has_floor(form) || self.cut.world.wide && self.enumerated(form);
        if !(32..=64).contains(&w) || !reduced {
            return form.clone();
        }
        self.variable(form, w)
    }

    /// A sum in the form that says most about it where it is multiplied by c modulo 2^w. That is
    /// the sum's variable, if it has one and the product says less about the sum. Both are equal
    /// modulo 2^w.
    ///
    /// If c is a multiple of 2^j, the product keeps only w - j bits of the coefficients. Take
    /// `x - p·round(x/p)` with p = 21·2^7 + 1 and j = 9. What is left is `x - round(x/p)`, which
    /// nothing shows to be a residue.
    ///
    /// If the product does not fit the word, it is half of a modular one, whose other half is a
    /// function of the sum. In Barrett's `c·x - p·round(c·x/p)` the two meet as functions of one
    /// variable. But terms of c·x may merge with those that the difference is added to.
    pub(crate) fn kept(&mut self, form: &Form, c: i64, w: u8) -> Form {
        if w > 16 || form.t.len() < 2 || !(self.loses(form, c, w) || self.wraps(form, c, w)) {
            return form.clone();
        }
        match self.cut.use_form(form, w) {
            Use::Const(k) => Form::constant(k, w),
            Use::One(Base::Var(_), _) => match self.cut.as_variable(form, w) {
                Ok((v, m, k)) => Form::atom(self.cut.world.var(v).atom).scaled(m, w).plus(k, w),
                Err(_) => form.clone(),
            },
            _ => form.clone(),
        }
    }

    /// Whether a product by c modulo 2^w loses bits of a coefficient of a function.
    fn loses(&self, form: &Form, c: i64, w: u8) -> bool {
        let left = u32::from(w).saturating_sub(c.trailing_zeros()) as u8;
        let function = |a: u32| matches!(self.cut.world.atoms[a as usize], Atom::Fun(..));
        (1..w).contains(&left) && form.t.iter().any(|&(a, x)| function(a) && centre(x, left) != x)
    }

    /// Whether a product by c does not fit w bits. Never for an even q: there many products wrap
    /// that are not products of a residue.
    fn wraps(&mut self, form: &Form, c: i64, w: u8) -> bool {
        let times = i128::from(c).abs();
        self.cut.world.q % 2 == 1
            && self.cut.read(form).is_ok_and(|r| (r.hi - r.lo) * times >= 1i128 << w)
    }

    /// Whether a sum is Barrett's subtraction `x - p·floor(…)` for a modulus p other than the
    /// contract's. Such a digit needs a name before it is added to other digits, because digits are
    /// integers only one by one.
    pub(crate) fn reduces(&self, a: &Form, b: &Form, w: u8) -> bool {
        let world = &self.cut.world;
        let quotient = |f: &Form| {
            matches!(f.t[..], [(a, c)] if c.abs() > 65535
                && matches!(world.atoms[a as usize], Atom::Floor(_) | Atom::Fun(..)))
        };
        w == 32 && world.wide && world.q <= 65535 && (quotient(a) || quotient(b))
    }

    /// The same for words of 16 bits, whose quotient is a function of the sum. Returns `a ± b` as
    /// the digit that it is, if it is one.
    pub(crate) fn digit(&mut self, a: &Form, b: &Form, sum: &Form, w: u8) -> Option<Form> {
        if w != 16 {
            return None;
        }
        let q = i64::from(self.cut.world.q);
        let modulus = |f: &Form| match f.t[..] {
            [(a, p)] if p % 2 != 0 && matches!(self.cut.world.atoms[a as usize], Atom::Fun(..)) => {
                Some(p.abs()).filter(|p| *p > 1 && p % q != 0)
            }
            _ => None,
        };
        let p = modulus(b).or_else(|| modulus(a))?;
        let met = self.cut.resolved(sum, w);
        let (lo, hi) = self.cut.world.domain(self.cut.one_base(&met)?);
        let read = self.cut.read(&met).ok()?;
        let known = read.residue.is_some_and(|of| !of.t.is_empty() && i64::from(of.m) == p);
        // What takes no fewer values than the sum is better known as a function of it.
        let reduced = read.lo < read.hi && read.hi - read.lo < i128::from(hi) - i128::from(lo);
        if !known || !reduced {
            return None;
        }
        let (v, m, k) = self.cut.as_variable(&met, w).ok()?;
        Some(Form::atom(self.cut.world.var(v).atom).scaled(m, w).plus(k, w))
    }

    /// A word `a ± b` as a residue, if a multiple of q that is a quotient is subtracted in it: a
    /// double word was reduced. Multiples of the residue modulo 2^16 say less about that double
    /// word.
    pub(crate) fn residue(&mut self, a: &Form, b: &Form, sum: &Form, w: u8) -> Option<Form> {
        let q = i64::from(self.cut.world.q);
        let quotient = |f: &Form| match f.t[..] {
            [(a, c)] => c % q == 0 && matches!(self.cut.world.atoms[a as usize], Atom::Floor(_)),
            _ => false,
        };
        if w != 16 || q % 2 == 0 || sum.t.len() < 2 || !(quotient(a) || quotient(b)) {
            return None;
        }
        let met = self.cut.resolved(sum, w);
        let r = self.cut.read(&met).ok()?;
        if r.residue.is_none_or(|m| i64::from(m.m) != q) || r.hi - r.lo >= 1 << w {
            return None;
        }
        let (v, m, k) = self.cut.as_variable(&met, w).ok()?;
        Some(Form::atom(self.cut.world.var(v).atom).scaled(m, w).plus(k, w))
    }

    /// Whether a form has a function that was enumerated.
    fn enumerated(&self, form: &Form) -> bool {
        let function = |a: u32| matches!(self.cut.world.atoms[a as usize], Atom::Fun(..));
        form.t.len() > 1 && form.t.iter().any(|t| function(t.0))
    }

    /// A sum that fits 32 bits as a multiple of one variable, so that its sign is a function of what
    /// it is made of.
    pub(crate) fn variable(&mut self, form: &Form, w: u8) -> Form {
        let several = self.cut.world.wide && form.t.len() > 1;
        if !self.cut.world.has_floor(form) && !several {
            return form.clone();
        }
        let named = match self.cut.read(form) {
            Ok(r) => {
                let least = if r.hi < 1i128 << 31 { -(1i128 << 31) } else { 0 };
                let fits = least <= r.lo && r.hi < 1i128 << 32;
                // Bits that a word keeps are no residue of what is multiplied.
                let reduced = |m: u32| !m.is_power_of_two() || r.integer.is_some();
                fits && r.residue.is_some_and(|m| !m.t.is_empty() && reduced(m.m))
            }
            Err(_) => false,
        };
        if named && let Ok((v, m, k)) = self.cut.as_variable(form, w) {
            let v = self.cut.world.var(v).atom;
            return Form::atom(v).scaled(m, w).plus(k, w);
        }
        form.clone()
    }

    /// Whether shifting a word of more than 16 bits right by fewer takes some terms of a sum whole and
    /// leaves others. (By 16 and more, they are words side by side.)
    pub(crate) fn mixed(&self, form: &Form, w: u8, k: u8) -> bool {
        let whole = |t: &&(u32, i64)| t.1 & ((1 << k) - 1) == 0;
        let count = form.t.iter().filter(whole).count();
        w > 16 && k < 16 && count > 0 && count < form.t.len()
    }

    /// A sum as its variable, if it has one, and if it has quotients among its terms or takes few
    /// enough values to enumerate.
    ///
    /// A quotient by 2^k of a sum, term by term, takes multiples of 2^k out of the coefficients.
    /// Quotients have such coefficients (q·floor(…), where q is 1 modulo 2^k). What is left no
    /// longer shows that the whole is near the sum over 2^k. Both forms are congruent modulo 2^w,
    /// and so are their bits below w.
    pub(crate) fn whole_sum(&mut self, form: Form, w: u8) -> Form {
        if form.t.len() < 2 || self.cut.world.wide {
            return form;
        }
        let quotients = self.cut.world.has_floor(&form);
        match self.cut.as_variable(&form, w) {
            Ok((v, m, k)) if quotients || self.cut.enumerable(Base::Var(v)) => {
                Form::atom(self.cut.world.var(v).atom).scaled(m, w).plus(k, w)
            }
            _ => form,
        }
    }

    /// Writes functions of a sum that takes too many values to enumerate as the multiple of the sum
    /// that they are together. Unsigned products of its halves, added up, are a product of the sum,
    /// whose quotients are known.
    pub(crate) fn straight(&mut self, form: &Form, w: u8) -> Option<Form> {
        let base = self.cut.one_base(form)?;
        if form.t.len() < 2 || self.cut.enumerable(base) {
            return None;
        }
        let (lo, hi) = self.cut.world.domain(base);
        let fun = self.cut.as_fun(form, w);
        let (c, d) = self.cut.enumeration.linear(&mut self.cut.world.funs, fun, lo, hi, w)?;
        Some(self.base_form(base, w)?.scaled(c, w).plus(d, w))
    }

    /// A form modulo 2^w shifted right by k as an exact integer, where it is one.
    pub(crate) fn shift(&mut self, form: &Form, w: u8, k: u8, signed: bool) -> Option<Form> {
        if w < 32 || form.t.is_empty() {
            return None;
        }
        let mut form = form.clone();
        self.cut.resolve(&mut form, w);
        self.cut.lift(&mut form, w);
        if self.cut.world.has_floor(&form) {
            form = self.whole_sum(form, w);
        }
        let wide = self.cut.world.wide && k <= 62 && !self.cut.narrow(&form);
        if !wide && !self.cut.quotient(&form, w, k) {
            return None;
        }
        let r = self.cut.read(&form).ok()?;
        let middle = if signed { 1i128 << (w - 1) } else { 0 };
        let fits = r.lo >= -middle && r.hi < (1i128 << w) - middle;
        if !fits {
            // The word as an integer: a sign bit of what wraps, of which only multiples are used.
            if !wide || w > 48 {
                return None;
            }
            let middle = if signed { 1i64 << (w - 1) } else { 0 };
            let top = self.cut.floor(&form.clone().plus(middle, 64), w, 64);
            form = Form::combine(&form, 1, &top, -1i64 << w, 64);
        }
        let out = self.cut.floor(&form, k, w);
        self.cut.by_taken();
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use crate::walk::Walk;
    use ringforge_contract::InputRange;
    use ringforge_machine::graph::{Graph, NodeId};

    const P: i64 = 21 * 128 + 1;

    /// Montgomery's product by 2^9 of `x - p·round(x/p) - (y - p·round(y/p))`, whose low half is a shift:
    /// 2^9/p is 2^9 modulo 2^16. `wrong` is a mutant.
    fn proved(wrong: usize) -> bool {
        let mut g = Graph::new();
        let reduced = |g: &mut Graph, i: u32, p: i64| -> NodeId {
            let (x, v) = (g.input(16, 0, i), g.constant(32, 12));
            let wide = g.sext(x, 32);
            let product = g.mul(wide, v);
            let half = g.constant(32, 1 << 14);
            let rounded = g.add(product, half);
            let quotient = g.slice(rounded, 15, 16);
            let p = g.constant(16, p as u64);
            let multiple = g.mul(quotient, p);
            g.sub(x, multiple)
        };
        let x = reduced(&mut g, 0, if wrong == 1 { P + 2 } else { P });
        let y = reduced(&mut g, 1, P);
        let z = g.sub(x, y);
        let high = |g: &mut Graph, x: NodeId, c: i64| {
            let (x, c) = (g.sext(x, 32), g.constant(32, c as u64));
            let product = g.mul(x, c);
            g.slice(product, 16, 16)
        };
        let hi = high(&mut g, z, 512);
        let other = g.add(x, y);
        let low = g.shl(if wrong == 2 { other } else { z }, if wrong == 3 { 8 } else { 9 });
        let m = high(&mut g, low, P);
        let out = g.sub(hi, m);
        let range = InputRange { lo: -12000, hi: 12000, signed: true };
        let mut walk = Walk::new(&g, P as u32, vec![range]);
        walk.run(&[out], &mut |_, _| true);
        walk.output(out, 16, true).is_ok_and(|o| o.hi - o.lo < 2 * P && o.residue.t.len() == 1)
    }

    #[test]
    fn a_shifted_reduction_is_that_of_the_variable() {
        assert!(proved(0));
        for wrong in 1..4 {
            assert!(!proved(wrong), "mutant {wrong}");
        }
    }

    /// Adds the digits modulo 577 of a + b and of a - b. What a ± b have in common must not be
    /// merged before both are known to be digits. `wrong` is 0, or a mutant. Mutant 1 takes a
    /// multiple other than the quotient's, 2 takes a quotient of another sum, and 3 takes q itself,
    /// which needs no name. In 4 the sums take fewer values than digits.
    fn sum_of_digits(wrong: usize) -> Option<(i64, i64)> {
        const P: i64 = 577;
        let mut g = Graph::new();
        let (a, b) = (g.input(16, 0, 0), g.input(16, 0, 1));
        let (sum, difference) = (g.add(a, b), g.sub(a, b));
        let digit = |g: &mut Graph, x: NodeId, of: NodeId, p: i64| {
            let (wide, v) = (g.sext(of, 32), g.constant(32, 65536 / 577));
            let product = g.mul(wide, v);
            let quotient = g.slice(product, 16, 16);
            let p = g.constant(16, p as u64);
            let multiple = g.mul(quotient, p);
            g.sub(x, multiple)
        };
        let of = if wrong == 2 { difference } else { sum };
        let x = digit(&mut g, sum, of, if wrong == 1 { P + 2 } else { P });
        let y = digit(&mut g, difference, difference, P);
        let out = g.add(x, y);
        let most = if wrong == 4 { 100 } else { 1400 };
        let range = InputRange { lo: -most, hi: most, signed: true };
        let mut walk = Walk::new(&g, if wrong == 3 { 577 } else { 2 }, vec![range]);
        let mut forms = Vec::new();
        walk.run(&[x, y, out], &mut |_, _| true);
        for node in [x, y] {
            forms.push(walk.get(node).t.len());
        }
        (forms == [1, 1]).then(|| {
            let read = walk.output(out, 16, true).unwrap_or_else(|_| panic!("digits {wrong}"));
            (read.lo, read.hi)
        })
    }

    #[test]
    fn a_digit_has_a_name_before_it_is_added() {
        let (lo, hi) = sum_of_digits(0).expect("two names");
        assert!(-24 < lo && hi < 2 * 577 + 24, "[{lo}, {hi}]");
        for wrong in 1..5 {
            assert_eq!(sum_of_digits(wrong), None, "mutant {wrong}");
        }
    }

    /// Barrett's reduction modulo 65521 of c·(x - y + z) by two shifts: the first is of a sum with more than 2^20
    /// values, of a variable with few. `wrong` is a mutant.
    fn shifted_twice(wrong: usize) -> Option<(i64, i64)> {
        let mut g = Graph::new();
        let [x, y, z] = [0, 1, 2].map(|i| g.input(16, 0, i));
        let [x, y, z] = [x, y, z].map(|v| g.sext(v, 32));
        let sum = g.sub(x, y);
        let sum = g.add(sum, z);
        let c = g.constant(32, 5297);
        let product = g.mul(sum, c);
        let other = g.sub(product, x);
        let first = g.ashr(if wrong == 1 { other } else { product }, 10);
        let (v, half) = (g.constant(32, 4097), g.constant(32, 1 << 17));
        let times = g.mul(first, v);
        let rounded = g.add(times, half);
        let quotient = g.ashr(rounded, if wrong == 2 { 17 } else { 18 });
        let q = g.constant(32, if wrong == 3 { 65519 } else { 65521 });
        let multiple = g.mul(quotient, q);
        let out = g.sub(product, multiple);
        let range = InputRange { lo: -3079, hi: 3079, signed: true };
        let mut walk = Walk::new(&g, 65521, vec![range]);
        walk.run(&[out], &mut |_, _| true);
        let read = walk.output(out, 32, true).ok()?;
        (read.residue.m == 65521 && !read.residue.t.is_empty()).then_some((read.lo, read.hi))
    }

    #[test]
    fn a_word_of_few_values_is_shifted_as_a_function() {
        let (lo, hi) = shifted_twice(0).expect("a residue");
        assert!(-34_300 < lo && hi < 34_300, "[{lo}, {hi}]");
        for wrong in 1..4 {
            let narrow = shifted_twice(wrong).is_some_and(|(lo, hi)| hi - lo < 68600);
            assert!(!narrow, "mutant {wrong}");
        }
    }

    /// Reduces double words by quotients of 31 bits: p is the sum of eight, and d that of three
    /// more. The result is p - d less the reduction of p + d. It is narrow only if p + d meets its
    /// quotient again. `wrong` is a mutant.
    fn narrowed(wrong: usize) -> bool {
        const Q: i64 = 4591;
        let mut g = Graph::new();
        // t·x - q·round(t·x / q), for a word of twice 16 bits, or of 16.
        let product = |g: &mut Graph, x: NodeId, t: i64, q: i64, bits: u8| {
            let width = g.node(x).width;
            let multiple = ((t << (bits + 1)) + Q).div_euclid(2 * Q);
            let (wide, c) = (g.sext(x, 2 * width), g.constant(2 * width, multiple as u64));
            let (high, half) = (g.mul(wide, c), g.constant(2 * width, 1 << (bits - 1)));
            let rounded = g.add(high, half);
            let quotient = g.slice(rounded, bits, width);
            let [quotient, low] = [quotient, x].map(|x| g.slice(x, 0, 16));
            let (t, q) = (g.constant(16, t as u64), g.constant(16, q as u64));
            let (low, less) = (g.mul(low, t), g.mul(quotient, q));
            g.sub(low, less)
        };
        let residue = |g: &mut Graph, i: u32| {
            let mut sum = g.constant(32, 0);
            for i in 4 * i..4 * i + 4 {
                let [x, y] = [0, 1].map(|operand| g.input(16, operand, i));
                let [x, y] = [x, y].map(|x| g.sext(x, 32));
                let product = g.mul(x, y);
                sum = g.add(sum, product);
            }
            product(g, sum, 2296 - i64::from(i), if wrong == 1 && i == 9 { Q + 2 } else { Q }, 31)
        };
        let words: Vec<NodeId> = (0..11).map(|i| residue(&mut g, i)).collect();
        let [p, d] = [&words[..8], &words[8..]]
            .map(|words| words[1..].iter().fold(words[0], |sum, &word| g.add(sum, word)));
        let sum = g.add(p, d);
        let reduced = product(&mut g, sum, 1, if wrong == 2 { -Q } else { Q }, 15);
        let difference = if wrong == 3 { g.add(sum, p) } else { g.sub(p, d) };
        let word = g.sub(difference, reduced);
        let out = product(&mut g, word, 1, Q, 15);
        let range = InputRange { lo: -9000, hi: 9000, signed: true };
        let mut walk = Walk::new(&g, Q as u32, vec![range; 2]);
        walk.run(&[out], &mut |_, _| true);
        walk.output(out, 16, true).is_ok_and(|o| o.hi - o.lo < 2 * Q && !o.residue.t.is_empty())
    }

    #[test]
    fn a_reduced_double_word_is_a_residue() {
        assert!(narrowed(0));
        for wrong in 1..4 {
            assert!(!narrowed(wrong), "mutant {wrong}");
        }
    }
}
