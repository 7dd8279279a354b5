//! Residues that have an inverse. A method's condition on the ring makes one where the plan is read, or refuses
//! the ring there; whoever divides later has the inverse already.

use ringforge_ring::zq;

/// A residue modulo q and its inverse.
///
/// ```
/// use ringforge_plan::Unit;
/// let scale = Unit::new(170, 4591).unwrap();
/// assert_eq!((scale.value(), scale.inverse()), (170, 4564));
/// assert_eq!(Unit::new(2, 2048), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    value: u64,
    inverse: u64,
    q: u64,
}

impl Unit {
    /// The residue of `value` modulo q; nothing where it has no inverse.
    pub fn new(value: u64, q: u64) -> Option<Unit> {
        let inverse = zq::inv(value % q, q)?;
        Some(Unit { value: value % q, inverse, q })
    }

    /// 1 modulo q.
    pub fn one(q: u64) -> Unit {
        Unit { value: 1 % q, inverse: 1 % q, q }
    }

    /// In `[1, q)`.
    pub fn value(self) -> u64 {
        self.value
    }

    /// In `[1, q)`.
    pub fn inverse(self) -> u64 {
        self.inverse
    }

    /// The inverse as a unit.
    pub fn inverted(self) -> Unit {
        Unit { value: self.inverse, inverse: self.value, q: self.q }
    }

    /// The negative, whose inverse is that of the unit, negated.
    pub fn negated(self) -> Unit {
        let minus = |x| zq::sub(0, x, self.q);
        Unit { value: minus(self.value), inverse: minus(self.inverse), q: self.q }
    }

    /// The product of two units modulo the same q.
    pub fn times(self, other: Unit) -> Unit {
        debug_assert_eq!(self.q, other.q, "units of one ring");
        let product = |a, b| zq::mul(a, b, self.q);
        Unit {
            value: product(self.value, other.value),
            inverse: product(self.inverse, other.inverse),
            q: self.q,
        }
    }

    /// The unit to the power of `e`.
    pub fn pow(self, e: u64) -> Unit {
        let power = |x| zq::pow(x, e, self.q);
        Unit { value: power(self.value), inverse: power(self.inverse), q: self.q }
    }

    /// The quotient of two units modulo the same q.
    pub fn over(self, other: Unit) -> Unit {
        self.times(other.inverted())
    }
}

impl PartialEq<u64> for Unit {
    fn eq(&self, other: &u64) -> bool {
        self.value == *other
    }
}

impl std::fmt::Display for Unit {
    /// The residue.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_its_inverse() {
        for q in [2, 3, 16, 90, 4591] {
            for value in 0..q.min(100) {
                let unit = Unit::new(value, q);
                assert_eq!(unit.is_some(), zq::gcd(value, q) == 1, "{value} mod {q}");
                let Some(unit) = unit else { continue };
                assert_eq!(zq::mul(unit.value(), unit.inverse(), q), 1);
                assert_eq!(unit.over(unit), Unit::one(q));
                assert_eq!(unit.times(unit).inverse(), zq::mul(unit.inverse(), unit.inverse(), q));
            }
        }
    }
}
