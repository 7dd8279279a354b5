//! Signs of 32-bit words, and unsigned products.
//!
//! SSE2 multiplies only unsigned words. Compilers correct the upper half. With the unsigned reading
//! `x_u = x + 2^32·[x < 0]` of x,
//!
//! ```text
//! x_u·y_u = x·y + 2^32·([x < 0]·y + [y < 0]·x)   modulo 2^64
//! ```
//!
//! and `[x < 0]·y` is `y` under the mask of x's sign. For a constant y that is a multiple of the
//! difference of two quotients. For a variable y it is an atom with an unknown value. The atom is
//! the same wherever the two words are, so it can cancel, and do nothing else.

use crate::values::{Base, Form};
use crate::walk::Walk;
use ringforge_machine::graph::{NodeId, Op};
use std::sync::Arc;

/// Bits of a word whose products are twice as wide.
const WORD: u8 = 32;

impl Walk<'_> {
    /// Finds the words whose signs are masks: only those need a name where they are multiplied.
    pub(crate) fn find_signs(&mut self, needed: &[bool]) {
        for id in (0..needed.len()).filter(|&id| needed[id]) {
            let node = self.graph.node(NodeId(id as u32));
            let Some(&a) = node.args.first().filter(|_| node.width == WORD) else { continue };
            let inner = self.graph.node(a);
            match (&node.op, &inner.op) {
                (Op::Ashr(k), _) if *k == WORD - 1 => self.signs.insert((a, 0)),
                (Op::Sext, Op::Slice { lo }) if inner.width == 1 && lo % WORD == WORD - 1 => {
                    self.signs.insert((inner.args[0], lo + 1 - WORD))
                }
                _ => continue,
            };
        }
    }

    /// Whether the sign of the word that a node extends is a mask.
    fn signed(&self, zext: NodeId) -> bool {
        let word = self.graph.node(zext).args[0];
        let node = self.graph.node(word);
        let part = match node.op {
            Op::Slice { lo } => self.signs.contains(&(node.args[0], lo)),
            _ => false,
        };
        part || self.signs.contains(&(word, 0))
    }

    /// Remembers which word a node is the sign or the extension of.
    pub(crate) fn remember(&mut self, id: NodeId) {
        let node = self.graph.node(id);
        if !self.cut.world.wide {
            return;
        }
        let Some(&a) = node.args.first() else { return };
        let word = match node.op {
            Op::Zext if self.width(a) == WORD && node.width == 2 * WORD => self.get(a),
            Op::Ashr(k) if k == WORD - 1 && node.width == WORD => self.get(a),
            Op::Slice { lo } if lo == WORD - 1 && node.width == 1 => {
                let form = self.get(a);
                Arc::new(self.truncate(&form, WORD))
            }
            // The upper word of two.
            Op::Slice { lo } if lo == 2 * WORD - 1 && node.width == 1 => {
                let form = self.get(a);
                self.cut.record.rules.clear();
                let upper = self.slice(&form, 2 * WORD, WORD, WORD);
                let rules = std::mem::take(&mut self.cut.record.rules);
                self.uppers.insert(id, rules);
                upper
            }
            Op::Sext if self.width(a) == 1 && node.width == WORD => match self.words.get(&a) {
                Some(word) => word.clone(),
                None => return,
            },
            _ => return,
        };
        self.words.insert(id, word);
    }

    /// The word whose sign all bits of a node copy.
    fn sign_of(&self, id: NodeId) -> Option<Arc<Form>> {
        let node = self.graph.node(id);
        let mask = node.width == WORD && matches!(node.op, Op::Ashr(_) | Op::Sext);
        if mask { self.words.get(&id).cloned() } else { None }
    }

    /// `-[x < 0]` of the word whose sign all bits of a node copy.
    pub(crate) fn sign(&mut self, id: NodeId) -> Option<Form> {
        let word = self.sign_of(id)?;
        let (form, spelled, base) = self.sign_form(&word)?;
        let upper = self.graph.node(id).args.first().and_then(|a| self.uppers.get(a)).cloned();
        self.cut.by_negative(&spelled, base, upper.map(|rules| (WORD, rules)));
        Some(form)
    }

    /// `-[x < 0]` of a word, from the difference of its two extensions, if these are exact forms.
    /// Also returns the form of the word that their quotients were taken of, and the base that
    /// these are functions of.
    fn sign_form(&mut self, word: &Form) -> Option<(Form, Form, Option<Base>)> {
        let word = self.variable(word, WORD);
        self.cut.taken = Default::default();
        let signed = self.extend_wide(&word, WORD, 2 * WORD, true)?;
        let (shifted, above) = std::mem::take(&mut self.cut.taken);
        let plain = self.extend_wide(&word, WORD, 2 * WORD, false)?;
        let (whole, below) = std::mem::take(&mut self.cut.taken);
        let mut form = Form::combine(&signed, 1, &plain, -1, 2 * WORD);
        let multiple = |c: i64| c & ((1 << WORD) - 1) == 0;
        if !multiple(form.k) || !form.t.iter().all(|t| multiple(t.1)) {
            return None;
        }
        // Both agree modulo 2^32, and so does 2^32 times the mask with the difference modulo 2^64.
        form.k >>= WORD;
        form.t.iter_mut().for_each(|t| t.1 >>= WORD);
        let spelled = match (shifted.t.is_empty(), whole.t.is_empty()) {
            (false, _) => shifted.plus(-(1 << (WORD - 1)), 64),
            (true, false) => whole,
            // A word that neither extension changes is never negative.
            (true, true) => signed,
        };
        Some((form, spelled, above.or(below)))
    }

    /// `mask & y` where the mask, argument number `of`, is a sign.
    pub(crate) fn under_sign(&mut self, of: u8, mask: NodeId, y: &Form) -> Option<Form> {
        let x = self.sign_of(mask)?;
        if y.t.is_empty() {
            let (sign, _, _) = self.sign_form(&x)?;
            self.cut.by_sign(of, &sign);
            return Some(sign.scaled(y.k.wrapping_neg(), WORD));
        }
        if !self.several(&x, y) {
            return None;
        }
        let form = self.masked(&x, y);
        if let Some(sign) = self.sign_name(&x) {
            self.cut.by_mask(of, sign);
        }
        Some(form)
    }

    /// The name of `-[x < 0]` in the certificate.
    fn sign_name(&mut self, x: &Form) -> Option<u32> {
        let (sign, _, _) = self.sign_form(x)?;
        self.cut.made_name(&sign)
    }

    /// The product of two unsigned words, if it differs from the signed product.
    pub(crate) fn unsigned_product(&mut self, a: NodeId, b: NodeId) -> Option<Arc<Form>> {
        let word = |id: NodeId| {
            let zext = self.graph.node(id).op == Op::Zext;
            if zext { self.words.get(&id).cloned() } else { None }
        };
        let x = word(a)?;
        let k = self.get(b);
        if k.t.is_empty() {
            if !self.signed(a) {
                return None;
            }
            // Under the name by which its sign is known.
            let x = self.variable(&x, WORD);
            let form = self.extend_wide(&x, WORD, 2 * WORD, false)?;
            return Some(Arc::new(self.named(&form, 2 * WORD).scaled(k.k, 2 * WORD)));
        }
        let y = word(b)?;
        if !self.several(&x, &y) {
            return None;
        }
        let (sx, sy) =
            (self.extend(&x, WORD, 2 * WORD, true), self.extend(&y, WORD, 2 * WORD, true));
        self.cut.record.rules.clear();
        if sx == self.get(a) && sy == self.get(b) {
            return None;
        }
        let product = self.mul(&sx, &sy, 2 * WORD);
        let (m, n) = (self.masked(&x, &y), self.masked(&y, &x));
        let signs = (self.sign_name(&x), self.sign_name(&y));
        self.cut.by_unsigned(signs, WORD);
        let both = Form::combine(&m, 1 << WORD, &n, 1 << WORD, 2 * WORD);
        Some(Arc::new(Form::combine(&product, 1, &both, 1, 2 * WORD)))
    }

    /// Whether two words vary and do not depend on one and the same variable.
    fn several(&self, x: &Form, y: &Form) -> bool {
        let base = self.cut.one_base(x);
        !x.t.is_empty() && !y.t.is_empty() && (base.is_none() || base != self.cut.one_base(y))
    }

    /// `[x < 0]·y` modulo 2^32: an atom of the two words, unless x's sign is known.
    fn masked(&mut self, x: &Form, y: &Form) -> Form {
        if let Ok(r) = self.cut.read(x) {
            if 0 <= r.lo && r.hi < 1 << (WORD - 1) {
                return Form::default();
            }
            if -(1 << (WORD - 1)) <= r.lo && r.hi < 0 {
                return y.clone();
            }
        }
        let key = (x.clone(), y.clone());
        if let Some(&atom) = self.masked.get(&key) {
            return Form::atom(atom);
        }
        let cause = self.cut.unmodelled(
            "an unsigned product whose upper half is not corrected, or a word under the sign of another",
        );
        let atom = self.cut.world.opaque(cause);
        self.masked.insert(key, atom);
        if let Some(sign) = self.sign_name(x) {
            self.cut.made_masked(atom, sign, y);
        }
        Form::atom(atom)
    }
}
