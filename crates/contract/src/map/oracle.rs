//! What outputs should be, from the contract alone: slow and obvious.

use super::{MapArgument, MapContract, MapKind, encoding};

/// A field that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The argument that is written; [`None`] of the result.
    pub argument: Option<usize>,
    /// The field.
    pub field: usize,
    /// What it is.
    pub found: i64,
    /// What it should be.
    pub expected: i64,
    /// The range that it lies outside of, if it is congruent to what it should be.
    pub outside: Option<(i64, i64)>,
}

impl Wrong {
    /// The same in words.
    pub fn said(&self, contract: &MapContract) -> String {
        let &Wrong { argument, field, found, expected, outside } = self;
        let what = match argument {
            Some(a) => format!("{}[{field}]", contract.arguments[a].memory.name),
            None => "the result".into(),
        };
        match outside {
            Some((lo, hi)) => format!("{what} is {found}, outside [{lo}, {hi}]"),
            // Anything else would do.
            None if contract
                .returns()
                .is_some_and(|r| r.different.is_none() && found == r.equal) =>
            {
                format!("{what} is {found}, and should not be")
            }
            None => format!("{what} is {found}, and should be {expected}"),
        }
    }
}

impl MapArgument {
    /// The fields of an array of elements in memory; what encodes digits stays as it is.
    pub fn fields(&self, memory: &[i64]) -> Vec<i64> {
        if !self.packed() {
            return memory.to_vec();
        }
        let bit = |at: usize| memory[at / 8] >> (at % 8) & 1;
        let bits = usize::from(self.bits);
        (0..self.length).map(|k| (0..bits).map(|i| bit(bits * k + i) << i).sum()).collect()
    }

    /// The elements in memory of an array of fields.
    pub fn memory_of(&self, fields: &[i64]) -> Vec<i64> {
        if !self.radices.is_empty() {
            return encoding::bytes(fields, &self.radices);
        }
        if !self.packed() {
            return fields.to_vec();
        }
        let bits = usize::from(self.bits);
        let bit = |at: usize| fields[at / bits] >> (at % bits) & 1;
        (0..self.memory.length).map(|k| (0..8).map(|i| bit(8 * k + i) << i).sum()).collect()
    }

    /// What should lie in memory, for what was `found` there and the formula's values.
    pub fn should(&self, found: &[i64], values: &[i128]) -> Vec<i64> {
        let field = |value: i128| i64::try_from(self.allowed(value)).unwrap_or(i64::MAX);
        if !self.radices.is_empty() {
            return self.memory_of(&values.iter().map(|&v| field(v)).collect::<Vec<i64>>());
        }
        let both = self.fields(found).into_iter().zip(values);
        let right = both.map(|(found, &value)| match self.fulfilled(found.into(), value) {
            true => found,
            false => field(value),
        });
        self.memory_of(&right.collect::<Vec<i64>>())
    }
}

impl MapContract {
    /// What the fields of the arguments that are written should be, for the fields of those that are read, in the order
    /// of [`MapContract::inputs`]; [`None`] beyond 128 bits.
    pub fn expected(&self, inputs: &[Vec<i64>]) -> Option<Vec<Vec<i128>>> {
        let operands = self.inputs();
        if self.computes == MapKind::Sort {
            let mut sorted: Vec<i128> = inputs.first()?.iter().map(|&x| x.into()).collect();
            sorted.sort_unstable();
            return Some(vec![sorted]);
        }
        let totals: Option<Vec<i128>> = (self.sums.iter())
            .map(|sum| sum.total(&inputs[operands.iter().position(|&o| o == sum.array)?]))
            .collect();
        let totals = totals?;
        let value = |argument: usize, k: usize| -> i128 {
            let Some(a) = self.arguments.get(argument) else {
                let sum = (argument - self.arguments.len()).checked_sub(1);
                return sum.map_or(k as i128, |sum| totals[sum]);
            };
            let fields = match operands.iter().position(|&o| o == argument) {
                Some(operand) => &inputs[operand],
                None => &a.memory.values,
            };
            fields[if a.memory.values.is_empty() && !a.any_number() { k } else { 0 }].into()
        };
        let of = |argument: usize| -> Option<Vec<i128>> {
            let a = &self.arguments[argument];
            let formula = &a.formula.as_ref()?.root;
            (0..a.length).map(|k| formula.value(&|x| value(x, k))).collect()
        };
        self.outputs().into_iter().map(of).collect()
    }

    /// The first wrong field. `inputs` are fields, and `outputs` are elements in memory. The result comes last, if the
    /// contract says what it is.
    pub fn wrong(&self, inputs: &[Vec<i64>], outputs: &[Vec<i64>]) -> Option<Wrong> {
        let expected = self.expected(inputs)?;
        for ((argument, memory), values) in self.outputs().into_iter().zip(outputs).zip(expected) {
            let a = &self.arguments[argument];
            if !a.radices.is_empty() {
                let right = a.should(memory, &values);
                if let Some(field) = (0..right.len()).find(|&k| memory[k] != right[k]) {
                    let (found, expected) = (memory[field], right[field]);
                    let argument = Some(argument);
                    return Some(Wrong { argument, field, found, expected, outside: None });
                }
                continue;
            }
            for (field, (found, value)) in a.fields(memory).into_iter().zip(values).enumerate() {
                if !a.fulfilled(found.into(), value) {
                    let expected = i64::try_from(a.allowed(value)).unwrap_or(i64::MAX);
                    let same = |m: i64| {
                        i128::from(found).rem_euclid(m.into()) == value.rem_euclid(m.into())
                    };
                    let outside = a.modulo.filter(|&m| same(m)).map(|_| a.memory.exit);
                    let argument = Some(argument);
                    return Some(Wrong { argument, field, found, expected, outside });
                }
            }
        }
        let returns = self.returns()?;
        let found = *outputs.last()?.first()?;
        let of = |i: usize| self.inputs().iter().position(|&x| x == i).map(|o| &inputs[o]);
        let mut compared = self.compared().into_iter().map(of);
        let equal = compared.next()? == compared.next()?;
        let other = returns.different.unwrap_or(!returns.equal);
        let expected = if equal { returns.equal } else { other };
        (!returns.fulfilled(equal, found)).then_some(Wrong {
            argument: None,
            field: 0,
            found,
            expected,
            outside: None,
        })
    }
}
