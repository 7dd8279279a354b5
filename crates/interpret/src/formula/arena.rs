//! Sparse linear forms mod q, many of them, made from each other and thrown away together.

/// Sparse linear forms in one arena; forms made from each other share their index lists.
#[derive(Default)]
pub(super) struct Arena {
    indices: Vec<u32>,
    values: Vec<u32>,
}

/// A form: its indices and as many values.
#[derive(Clone, Copy, Default)]
pub(super) struct Form {
    indices: u32,
    values: u32,
    len: u32,
}

impl Arena {
    pub(super) fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
    }

    pub(super) fn indices(&self, f: Form) -> &[u32] {
        &self.indices[f.indices as usize..(f.indices + f.len) as usize]
    }

    pub(super) fn values(&self, f: Form) -> &[u32] {
        &self.values[f.values as usize..(f.values + f.len) as usize]
    }

    pub(super) fn unit(&mut self, index: u32) -> Form {
        self.indices.push(index);
        self.values.push(1);
        let (indices, values) = (self.indices.len() as u32 - 1, self.values.len() as u32 - 1);
        Form { indices, values, len: 1 }
    }

    /// `c·f`, where f may lie in another arena.
    pub(super) fn scaled(&mut self, from: Option<&Arena>, f: Form, c: u64, q: u64) -> Form {
        let values = self.values.len() as u32;
        // v·c/q is at most one below the quotient by the rounded-down c/q [the remainder is then
        // below 2q]; divisions would take most of the time.
        let ratio = (c << 32) / q;
        let times = |v: u32| {
            let rest = u64::from(v) * c - ((u64::from(v) * ratio) >> 32) * q;
            rest.min(rest.wrapping_sub(q)) as u32
        };
        match from {
            Some(other) => {
                let indices = self.indices.len() as u32;
                self.indices.extend_from_slice(other.indices(f));
                self.values.extend(other.values(f).iter().map(|&v| times(v)));
                Form { indices, values, len: f.len }
            }
            None => {
                let range = f.values as usize..(f.values + f.len) as usize;
                self.values.extend_from_within(range);
                self.values[values as usize..].iter_mut().for_each(|v| *v = times(*v));
                Form { values, ..f }
            }
        }
    }

    /// `f + g`, or with `minus` `f - g`.
    pub(super) fn sum(&mut self, f: Form, g: Form, minus: bool, q: u64) -> Form {
        let (at, q32) = (self.values.len() as u32, q as u32);
        if f.len == 0 {
            return if minus { self.scaled(None, g, q - 1, q) } else { g };
        }
        if g.len == 0 {
            return f;
        }
        let plus = |x: u32, y: u32| {
            let sum = x + if minus { q32 - y } else { y };
            sum.min(sum.wrapping_sub(q32))
        };
        let same = f.len == g.len && (f.indices == g.indices || self.indices(f) == self.indices(g));
        if same {
            self.values.extend_from_within(f.values as usize..(f.values + f.len) as usize);
            let (old, new) = self.values.split_at_mut(at as usize);
            for (x, y) in new.iter_mut().zip(&old[g.values as usize..]) {
                *x = plus(*x, *y);
            }
            return Form { values: at, ..f };
        }
        let indices = self.indices.len() as u32;
        let (mut i, mut j) = (0, 0);
        while i < f.len || j < g.len {
            let x = (i < f.len).then(|| self.indices[(f.indices + i) as usize]);
            let y = (j < g.len).then(|| self.indices[(g.indices + j) as usize]);
            let next = x.into_iter().chain(y).min().unwrap_or(0);
            let (mut a, mut b) = (0, 0);
            if x == Some(next) {
                a = self.values[(f.values + i) as usize];
                i += 1;
            }
            if y == Some(next) {
                b = self.values[(g.values + j) as usize];
                j += 1;
            }
            self.indices.push(next);
            self.values.push(plus(a, b));
        }
        Form { indices, values: at, len: self.indices.len() as u32 - indices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_ring::zq;

    /// Sums and multiples of forms are those of their coefficients, whatever their supports.
    #[test]
    fn arena_arithmetic() {
        for q in [3u64, 4591, 12289, (1 << 31) - 1] {
            let mut arena = Arena::default();
            let (x, y) = (arena.unit(3), arena.unit(5));
            let x = arena.scaled(None, x, q - 1, q);
            let f = arena.sum(x, y, true, q); // -x - y
            let g = arena.sum(f, f, false, q);
            assert_eq!(arena.indices(g), [3, 5]);
            assert_eq!(arena.values(g), [((2 * q - 2) % q) as u32; 2]);
            let zero = arena.sum(g, g, true, q);
            assert_eq!(arena.values(zero), [0; 2]);
            for c in [1, 2, q / 2, q - 1] {
                for v in [0, 1, q / 3, q - 2, q - 1] {
                    let e = arena.unit(0);
                    let e = arena.scaled(None, e, v, q);
                    let e = arena.scaled(None, e, c, q);
                    assert_eq!(u64::from(arena.values(e)[0]), zq::mul(v, c, q), "{v}·{c} mod {q}");
                }
            }
        }
    }
}
