//! What each operation does with registers and memory.

use super::*;

impl<D: Domain> Machine<'_, D> {
    pub(super) fn operation(
        &mut self,
        op: &Op,
        frame: &Frame,
        values: &[Register<D::Word, D::Wide>],
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        use Register::{Nothing, Wide};
        let (lanes, part) = (self.lanes(), self.program.registers.part_lanes(self.word_bits()));
        let get = |v: &Value| &values[v.0 as usize];
        Ok(match op {
            Op::MulMod { a, factor, method } => {
                let a = self.as_words(get(a))?;
                let each = |(i, w): (usize, &D::Word)| {
                    let c = self.residue(factor, i, frame)?;
                    self.domain.mul_mod(w, c, *method)
                };
                words(a.iter().enumerate().map(each).collect::<Result<_, _>>()?)
            }
            Op::Reduce { a, method } => self.map(get(a), |d, w| d.reduce(w, *method))?,
            Op::Freeze { a, method } => self.map(get(a), |d, w| d.freeze(w, *method))?,
            Op::MulWords { a, b, method } => {
                self.zip(get(a), get(b), |d, a, b| d.mul_words(a, b, *method))?
            }
            Op::Unsigned(op) => self.unsigned(op, frame, values)?,
            Op::Narrow { even, odd, method } => {
                let (even, odd) = (self.as_wide(get(even))?, self.as_wide(get(odd))?);
                let mut all = Vec::with_capacity(lanes);
                for (e, o) in even.iter().zip(&odd) {
                    all.push(self.domain.narrow(e, *method)?);
                    all.push(self.domain.narrow(o, *method)?);
                }
                words(all)
            }
            Op::Load { buffer, at } => words(self.load(*buffer, frame.at(at), lanes, frame)?),
            Op::LoadPartial { buffer, at, count } => {
                let mut all = self.load(*buffer, frame.at(at), *count as usize, frame)?;
                while all.len() < lanes {
                    all.push(self.domain.constant(0));
                }
                words(all)
            }
            Op::LoadParts { buffer, at } => {
                let mut all = Vec::with_capacity(lanes);
                for index in at {
                    all.extend(self.load(*buffer, frame.at(index), part, frame)?);
                }
                words(all)
            }
            Op::BroadcastPair { buffer, at } => {
                let pair = self.load(*buffer, frame.at(at), 2, frame)?;
                words((0..lanes).map(|i| pair[i % 2].clone()).collect())
            }
            Op::Broadcast { buffer, at } => {
                words(vec![self.load(*buffer, frame.at(at), 1, frame)?.remove(0); lanes])
            }
            Op::Store { buffer, at, a } => {
                let a = self.as_words(get(a))?;
                self.store(*buffer, frame.at(at), 1, &a, frame)?;
                Nothing
            }
            Op::StorePartial { buffer, at, count, a } => {
                let a = self.as_words(get(a))?;
                self.store(*buffer, frame.at(at), 1, &a[..*count as usize], frame)?;
                Nothing
            }
            Op::StoreStrided { buffer, at, stride, a } => {
                let a = self.as_words(get(a))?;
                self.store(*buffer, frame.at(at), i64::from(*stride), &a, frame)?;
                Nothing
            }
            Op::AddSum { buffer, at, a } => {
                let a = self.as_words(get(a))?;
                let mut sum = self.load(*buffer, frame.at(at), 1, frame)?;
                for word in &a {
                    sum[0] = self.domain.binary(Binary::Add, &sum[0], word)?;
                }
                self.store(*buffer, frame.at(at), 1, &sum, frame)?;
                Nothing
            }
            Op::StoreParts { buffer, at, a } => {
                let a = self.as_words(get(a))?;
                for (words, index) in a.chunks(part).zip(at) {
                    self.store(*buffer, frame.at(index), 1, words, frame)?;
                }
                Nothing
            }
            Op::Splat(w) => words(vec![self.domain.constant((*w).into()); lanes]),
            Op::Lanes(all) => words(all.iter().map(|&w| self.domain.constant(w.into())).collect()),
            Op::Add(a, b) => self.binary(Binary::Add, get(a), get(b))?,
            Op::Sub(a, b) => self.binary(Binary::Sub, get(a), get(b))?,
            Op::MulLo(a, b) => self.binary(Binary::MulLo, get(a), get(b))?,
            Op::MulHi(a, b) => self.binary(Binary::MulHi, get(a), get(b))?,
            Op::MulHiU(a, b) => self.binary(Binary::MulHiU, get(a), get(b))?,
            Op::MulHrs(a, b) => self.binary(Binary::MulHrs, get(a), get(b))?,
            Op::Greater(a, b) => self.binary(Binary::Greater, get(a), get(b))?,
            Op::MinU(a, b) => self.binary(Binary::MinU, get(a), get(b))?,
            Op::Min(a, b) => self.binary(Binary::Min, get(a), get(b))?,
            Op::Max(a, b) => self.binary(Binary::Max, get(a), get(b))?,
            Op::And(a, b) => self.binary(Binary::And, get(a), get(b))?,
            Op::Or(a, b) => self.binary(Binary::Or, get(a), get(b))?,
            Op::Xor(a, b) => self.binary(Binary::Xor, get(a), get(b))?,
            Op::Shl(a, k) => self.map(get(a), |d, w| d.shift(Shift::Left(*k), w))?,
            Op::Sar(a, k) => self.map(get(a), |d, w| d.shift(Shift::Arithmetic(*k), w))?,
            Op::Shr(a, k) => self.map(get(a), |d, w| d.shift(Shift::Logical(*k), w))?,
            Op::PairDot(a, b) => Wide(self.pair_dot(get(a), get(b))?),
            Op::PairDotAdd { acc, a, b } => {
                let (acc, dot) = (self.as_wide(get(acc))?, self.pair_dot(get(a), get(b))?);
                let sums = acc.iter().zip(&dot);
                Wide(
                    sums.map(|(x, y)| self.domain.wide_binary(WideBinary::Add, x, y))
                        .collect::<Result<_, _>>()?,
                )
            }
            Op::MulEven(a, b) => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let zero = self.domain.constant(0);
                let products = a
                    .chunks(2)
                    .zip(b.chunks(2))
                    .map(|(a, b)| self.domain.pair_dot([&a[0], &zero], [&b[0], &zero]));
                Wide(products.collect::<Result<_, _>>()?)
            }
            Op::AddWide(a, b) => self.wide_binary(WideBinary::Add, get(a), get(b))?,
            Op::SubWide(a, b) => self.wide_binary(WideBinary::Sub, get(a), get(b))?,
            Op::MulLoWide(a, b) => self.wide_binary(WideBinary::MulLo, get(a), get(b))?,
            Op::ShlWide(a, k) => self.wide_shift(Shift::Left(*k), get(a))?,
            Op::SarWide(a, k) => self.wide_shift(Shift::Arithmetic(*k), get(a))?,
            Op::ShrWide(a, k) => self.wide_shift(Shift::Logical(*k), get(a))?,
            Op::Blend { a, b, mask } => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let pick = |i: usize| if mask >> (i % 8) & 1 == 1 { &b[i] } else { &a[i] };
                words((0..lanes).map(|i| pick(i).clone()).collect())
            }
            Op::SwapPairs(a) => {
                let a = self.as_words(get(a))?;
                words((0..lanes).map(|i| a[i ^ 1].clone()).collect())
            }
            Op::OddToEven(a) => {
                let a = self.as_words(get(a))?;
                words((0..lanes).map(|i| a[i | 1].clone()).collect())
            }
            Op::PermuteParts { a, pattern } => {
                let a = self.as_words(get(a))?;
                if pattern.len() != part || pattern.iter().any(|&i| usize::from(i) >= part) {
                    return Err(format!("a pattern has {part} places below {part}"));
                }
                let from = |i: usize| i / part * part + usize::from(pattern[i % part]);
                words((0..lanes).map(|i| a[from(i)].clone()).collect())
            }
            Op::Parts { a, b, pick } => {
                let all = [self.as_words(get(a))?, self.as_words(get(b))?].concat();
                if pick.len() != lanes / part
                    || pick.iter().any(|&p| usize::from(p) * part >= all.len())
                {
                    return Err(format!(
                        "a choice of parts has {} numbers below {}",
                        lanes / part,
                        all.len() / part
                    ));
                }
                let from = |p: &u8| all[usize::from(*p) * part..][..part].iter().cloned();
                words(pick.iter().flat_map(from).collect())
            }
            Op::Interleave { a, b, unit, half } => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let unit = self.unit(*unit)?;
                let mut all = Vec::with_capacity(lanes);
                for start in (0..lanes).step_by(part) {
                    let start = start + if *half == Half::High { part / 2 } else { 0 };
                    for at in (start..start + part / 2).step_by(unit) {
                        all.extend_from_slice(&a[at..at + unit]);
                        all.extend_from_slice(&b[at..at + unit]);
                    }
                }
                words(all)
            }
            Op::Deinterleave { a, b, unit, half } => {
                let (a, b) = (self.as_words(get(a))?, self.as_words(get(b))?);
                let unit = self.unit(*unit)?;
                let first = if *half == Parity::Odd { unit } else { 0 };
                let mut all = Vec::with_capacity(lanes);
                for start in (0..lanes).step_by(part) {
                    for from in [&a, &b] {
                        for at in (start + first..start + part).step_by(2 * unit) {
                            all.extend_from_slice(&from[at..at + unit]);
                        }
                    }
                }
                words(all)
            }
        })
    }

    fn unsigned(
        &mut self,
        op: &Unsigned,
        frame: &Frame,
        values: &[Register<D::Word, D::Wide>],
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let operands = Op::Unsigned(op.clone()).operands();
        let all: Vec<Words<D>> = operands
            .iter()
            .map(|v| self.as_words(&values[v.0 as usize]))
            .collect::<Result<_, _>>()?;
        let (a, b) = (&all[0], &all[all.len() - 1]);
        let mut out = Vec::with_capacity(a.len());
        for (i, word) in a.iter().enumerate() {
            let of = |count: usize| if count == 1 { 0 } else { i };
            let op = match op {
                Unsigned::Add(..) => UnsignedWord::Add,
                Unsigned::Sub { offset, .. } => UnsignedWord::Sub(offset[of(offset.len())]),
                Unsigned::Mul { factor, .. } => UnsignedWord::Mul(self.residue(factor, i, frame)?),
                Unsigned::MulWords { .. } => UnsignedWord::MulWords,
                Unsigned::Reduce { kinds, .. } => match kinds[of(kinds.len())] {
                    Some(kind) => UnsignedWord::Reduce(kind),
                    None => {
                        out.push(word.clone());
                        continue;
                    }
                },
            };
            out.push(self.domain.unsigned(op, word, &b[i])?);
        }
        Ok(words(out))
    }

    /// How many words an element of `bits` bits has.
    fn unit(&self, bits: u8) -> Result<usize, Refusal> {
        match (bits / self.word_bits(), bits) {
            (n @ 1.., 16 | 32 | 64) => Ok(usize::from(n)),
            _ => Err(format!("{bits} bits are no element of {}-bit words", self.word_bits())),
        }
    }

    fn as_words(&mut self, r: &Register<D::Word, D::Wide>) -> Result<Words<D>, Refusal> {
        match r {
            Register::Words(all) => Ok(all.clone()),
            Register::Wide(all) => {
                let mut words = Vec::with_capacity(2 * all.len());
                for x in all {
                    let (low, high) = self.domain.split(x)?;
                    words.extend([low, high]);
                }
                Ok(words)
            }
            Register::Nothing => Err("uses the result of a store".into()),
        }
    }

    fn as_wide(&mut self, r: &Register<D::Word, D::Wide>) -> Result<Vec<D::Wide>, Refusal> {
        match r {
            Register::Wide(all) => Ok(all.clone()),
            Register::Words(all) => {
                all.chunks(2).map(|pair| self.domain.join(&pair[0], &pair[1])).collect()
            }
            Register::Nothing => Err("uses the result of a store".into()),
        }
    }

    fn map(
        &mut self,
        a: &Register<D::Word, D::Wide>,
        f: impl Fn(&mut D, &D::Word) -> Result<D::Word, Refusal>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let a = self.as_words(a)?;
        Ok(words(a.iter().map(|w| f(&mut self.domain, w)).collect::<Result<_, _>>()?))
    }

    fn zip(
        &mut self,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
        f: impl Fn(&mut D, &D::Word, &D::Word) -> Result<D::Word, Refusal>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let (a, b) = (self.as_words(a)?, self.as_words(b)?);
        let pairs = a.iter().zip(&b);
        Ok(words(pairs.map(|(a, b)| f(&mut self.domain, a, b)).collect::<Result<_, _>>()?))
    }

    fn binary(
        &mut self,
        op: Binary,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        self.zip(a, b, |d, a, b| d.binary(op, a, b))
    }

    fn pair_dot(
        &mut self,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
    ) -> Result<Vec<D::Wide>, Refusal> {
        let (a, b) = (self.as_words(a)?, self.as_words(b)?);
        let pairs = a.chunks(2).zip(b.chunks(2));
        pairs.map(|(a, b)| self.domain.pair_dot([&a[0], &a[1]], [&b[0], &b[1]])).collect()
    }

    fn wide_binary(
        &mut self,
        op: WideBinary,
        a: &Register<D::Word, D::Wide>,
        b: &Register<D::Word, D::Wide>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let (a, b) = (self.as_wide(a)?, self.as_wide(b)?);
        let pairs = a.iter().zip(&b);
        let each = pairs.map(|(a, b)| self.domain.wide_binary(op, a, b));
        Ok(Register::Wide(each.collect::<Result<_, _>>()?))
    }

    fn wide_shift(
        &mut self,
        op: Shift,
        a: &Register<D::Word, D::Wide>,
    ) -> Result<Register<D::Word, D::Wide>, Refusal> {
        let a = self.as_wide(a)?;
        let each = a.iter().map(|x| self.domain.wide_shift(op, x));
        Ok(Register::Wide(each.collect::<Result<_, _>>()?))
    }
}

fn words<W, X>(all: Vec<W>) -> Register<W, X> {
    Register::Words(all)
}
