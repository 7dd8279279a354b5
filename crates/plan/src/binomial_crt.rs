//! The Chinese remainder theorem with a binomial factor: values at the roots of (t^N − 1)(t^M − w)
//! [Chiu25 §3.1]. An example is (t^90 − 1)(t^6 − 8): its 96 convolutions fill whole registers of
//! 16, where the 90 of t^90 − 1 leave six lanes idle.
//!
//! Map: a transform of length N takes f mod t^N − 1. A twisted transform of length M takes f mod
//! t^M − w, which is a sum of N/M + 1 pieces times powers of w (8 is a shift). Inverse: with u = f
//! mod t^N − 1 and v = f mod t^M − w, f = u + (t^N − 1)·B where B = (v − u mod
//! t^M − w)/(w^{N/M} − 1) has M blocks. Scale: the first transform's; the second transform is
//! multiplied to match it, forward and backward. Condition: M divides N, w has an M-th root in Z_q,
//! w^{N/M} − 1 is invertible, and Z_q has principal roots of unity of orders N and M.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method, PointsSpec};
use crate::sexpr::Form;
use crate::steps::{Group, Step};
use crate::transform::{Transform, TransformRef};
use crate::twist::{Twist, twisted};
use crate::unit::Unit;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "binomial-crt",
    usage: "(binomial-crt N M W TRANSFORM-N TRANSFORM-M)",
    summary: "The roots of (t^N - 1)(t^M - W), M a divisor of N, by the Chinese remainder theorem; W \
              needs an M-th root, and W^(N/M) - 1 an inverse.",
    citation: "[Chiu25 §3.1]",
    build: Build::Points(build),
};

/// Values at the roots of unity and of one more binomial.
#[derive(Clone, Debug)]
pub struct BinomialCrt {
    /// w.
    pub weight: u64,
    /// The transform of length N.
    pub main: TransformRef,
    /// The twisted transform of length M.
    pub side: TransformRef,
    /// w^(N/M) − 1.
    coprime: Unit,
    /// The scales that the parts leave: there, and back.
    there: [Unit; 2],
    back: [Unit; 2],
}

fn build(arguments: &mut Arguments, spec: &PointsSpec) -> Result<TransformRef, Refusal> {
    let n = arguments.number("the length N")?;
    let m = arguments.number("the length M")?;
    let at = arguments.last_at();
    if n + m != spec.len {
        let message = format!("{n} + {m} = {} points, but {} are needed here", n + m, spec.len);
        return Err(Refusal::new(at, message).instead(format!("N + M = {}", spec.len)));
    }
    if n % m != 0 {
        let message = format!("t^{m} - w does not fit t^{n} - 1: {m} does not divide {n}");
        let fit: Vec<String> = zq::divisors(n as u64).iter().take(8).map(u64::to_string).collect();
        return Err(Refusal::new(at, message).instead(format!("M = {}", fit.join(", "))));
    }
    if let Some(w) = spec.weight {
        let message =
            format!("the product is mod t^{} - {w}, and binomial-crt has another", spec.len);
        return Err(arguments
            .refuse(message)
            .instead("an unreduced product of this length: (lift …)"));
    }
    let q = spec.q;
    let weight = arguments.number("the weight W")? as u64;
    let power = zq::pow(weight, (n / m) as u64, q);
    let Some(coprime) = Unit::new(zq::sub(power, 1, q), q) else {
        let message = format!(
            "t^{n} - 1 and t^{m} - {weight} are not coprime: {weight}^{} - 1 has no inverse mod {q}",
            n / m
        );
        return Err(Refusal::new(arguments.last_at(), message).instead("another weight W"));
    };
    let form = arguments.form("a transform")?;
    let dft = DftSpec::new(q, n).map_err(|missing| {
        let orders: Vec<String> = missing.available.iter().map(u64::to_string).collect();
        Refusal::new(form.at, missing.to_string())
            .instead(format!("one of the lengths {}", orders.join(", ")))
    })?;
    let main = arguments.methods.transform(&form, &dft)?;
    let side = twisted(arguments, q, m, weight)?;
    let units = |scales: [u64; 2]| -> Result<[Unit; 2], Refusal> {
        let unit = |scale: u64| {
            let message =
                format!("binomial-crt divides by the scale {scale}, which has no inverse mod {q}");
            Unit::new(scale, q).ok_or_else(|| Refusal::new(at, message))
        };
        Ok([unit(scales[0])?, unit(scales[1])?])
    };
    let there = units([main.scale(), side.scale()])?;
    let back = units([main.inverse_scale(), side.inverse_scale()])?;
    Ok(Arc::new(BinomialCrt { weight, main, side, coprime, there, back }))
}

impl BinomialCrt {
    /// Σ_k w^k·f_{Mk + c} for one class c mod M.
    fn class(&self, arith: &mut dyn Arith, f: &[Val]) -> Val {
        // From the highest power down: each step is a product by w, a shift if w is small.
        let mut sum = arith.zero();
        for &v in f.iter().rev() {
            let times = arith.scale(sum, self.weight);
            sum = arith.add(times, v);
        }
        sum
    }

    /// The blocks of class c: those of u with B subtracted, and B, from u (all of the class) and v,
    /// each with the scale that its inverse leaves.
    fn join(&self, arith: &mut dyn Arith, u: &[Val], v: Val) -> Vec<Val> {
        let q = self.q();
        let inverse = self.coprime.inverse();
        let align = self.back[0].over(self.back[1]).value();
        // B = inverse·(align·v − Σ w^k u_k), every constant at once.
        let mut sum = arith.scale(v, zq::mul(align, inverse, q));
        for (k, &block) in u.iter().enumerate() {
            let c = zq::mul(zq::pow(self.weight, k as u64, q), inverse, q);
            let term = arith.scale(block, c);
            sum = arith.sub(sum, term);
        }
        let mut blocks = u.to_vec();
        blocks[0] = arith.sub(u[0], sum);
        blocks.push(sum);
        blocks
    }

    /// The values at the roots of t^M − w, with the scale that the first transform leaves.
    fn side_forward(&self, arith: &mut dyn Arith, classes: &[Val]) -> Vec<Val> {
        let align = self.there[0].over(self.there[1]).value();
        let values = self.side.forward(arith, classes);
        match align {
            1 => values,
            _ => values.into_iter().map(|v| arith.scale(v, align)).collect(),
        }
    }

    fn classes(&self) -> usize {
        self.side.len()
    }
}

impl Transform for BinomialCrt {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.main.spec()
    }
    fn len(&self) -> usize {
        self.main.len() + self.side.len()
    }
    fn scale(&self) -> u64 {
        self.main.scale()
    }
    fn inverse_scale(&self) -> u64 {
        self.main.inverse_scale()
    }
    fn points(&self) -> Vec<u64> {
        [self.main.points(), self.side.points()].concat()
    }
    fn modulus(&self) -> String {
        format!("({})({})", self.main.modulus(), self.side.modulus())
    }
    fn values(&self) -> String {
        format!("{}; {}", self.main.values(), self.side.values())
    }

    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let (n, m) = (self.main.len(), self.classes());
        let mut wrapped = f[..n].to_vec();
        for i in n..n + m {
            wrapped[i - n] = arith.add(wrapped[i - n], f[i]);
        }
        let mut output = self.main.forward(arith, &wrapped);
        let mut classes = Vec::new();
        for c in 0..m {
            let blocks: Vec<Val> = (c..n + m).step_by(m).map(|i| f[i]).collect();
            classes.push(self.class(arith, &blocks));
        }
        output.extend(self.side_forward(arith, &classes));
        output
    }

    fn inverse(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        let (n, m) = (self.main.len(), self.classes());
        let u = self.main.inverse(arith, &input[..n]);
        let v = self.side.inverse(arith, &input[n..]);
        let mut output = input.to_vec();
        for c in 0..m {
            let blocks: Vec<Val> = (c..n).step_by(m).map(|i| u[i]).collect();
            let joined = self.join(arith, &blocks, v[c]);
            (c..n + m).step_by(m).zip(joined).for_each(|(i, v)| output[i] = v);
        }
        output
    }

    fn forward_steps(&self, present: &[bool]) -> Vec<Step> {
        let (n, m, q) = (self.main.len(), self.classes(), self.q());
        if present[n..].iter().any(|&p| p) {
            return crate::steps::forward_whole(self, present);
        }
        let mut steps = self.main.forward_steps(&present[..n]);
        let sums = (0..m).map(|c| {
            let from: Vec<usize> = (c..n).step_by(m).collect();
            let here: Vec<bool> = from.iter().map(|&i| present[i]).collect();
            let sum = |arith: &mut dyn Arith, f: &[Val]| vec![self.class(arith, f)];
            Group::record(q, from, &here, vec![n + c], sum)
        });
        let line: Vec<usize> = (n..n + m).collect();
        let last = Group::record(q, line.clone(), &vec![true; m], line, |arith, f| {
            self.side_forward(arith, f)
        });
        // Sums read blocks of the operand, so they belong to the first step.
        if let Some(first) = steps.first_mut() {
            first.groups.extend(sums);
            first.title += &format!(", and {m} sums mod {}", self.side.modulus());
        }
        match steps.len() {
            1 => steps.push(Step {
                title: format!("{m}-point transform of the sums"),
                cite: METHOD.citation,
                name: "side".into(),
                groups: vec![last],
            }),
            _ => steps.last_mut().into_iter().for_each(|step| step.groups.push(last.clone())),
        }
        steps
    }

    fn inverse_steps(&self, wanted: &[bool]) -> Vec<Step> {
        let (n, m, q) = (self.main.len(), self.classes(), self.q());
        let mut steps = self.main.inverse_steps(&vec![true; n]);
        let line: Vec<usize> = (n..n + m).collect();
        let all = vec![true; m];
        let side =
            Group::record(q, line.clone(), &all, line, |arith, f| self.side.inverse(arith, f));
        if let Some(first) = steps.first_mut() {
            first.groups.push(side);
        }
        let joined = |c: usize| -> Vec<usize> { (c..n + m).step_by(m).collect() };
        let last = steps.pop();
        let inside = last.as_ref().is_some_and(|step| {
            let whole = |g: &Group| g.to.iter().all(|&i| i < n && i % m == g.to[0] % m);
            !steps.is_empty() && step.groups.iter().all(whole)
        });
        let Some(last) = last.filter(|_| inside) else {
            return crate::steps::inverse_whole(self, wanted);
        };
        // The last step's groups of one class become one, with the join behind them.
        let groups = (0..m).map(|c| {
            let parts: Vec<&Group> = last.groups.iter().filter(|g| g.to[0] % m == c).collect();
            let mut from: Vec<usize> = parts.iter().flat_map(|g| g.from.clone()).collect();
            from.push(n + c);
            let record = |arith: &mut dyn Arith, f: &[Val]| {
                let (mut start, mut u) = (0, vec![f[0]; n / m]);
                for part in &parts {
                    let inputs = &f[start..start + part.from.len()];
                    let values = part.net.replay(arith, inputs, &part.outputs);
                    part.to.iter().zip(values).for_each(|(&i, v)| u[i / m] = v);
                    start += part.from.len();
                }
                self.join(arith, &u, f[start])
            };
            let present = vec![true; from.len()];
            Group::record(q, from, &present, joined(c), record).keep(|i| wanted[i])
        });
        steps.push(Step {
            title: format!("{}, joined with the blocks mod {}", last.title, self.side.modulus()),
            cite: METHOD.citation,
            name: last.name.clone(),
            groups: groups.collect(),
        });
        steps
    }

    fn cells(&self) -> Vec<usize> {
        let n = self.main.len();
        self.main.cells().into_iter().chain(n..n + self.classes()).collect()
    }

    fn children(&self) -> Vec<&dyn Transform> {
        vec![self.main.as_ref(), self.side.as_ref()]
    }
    fn to_form(&self) -> Form {
        let numbers = [Form::word(self.main.len()), Form::word(self.classes())];
        let weight = [Form::word(self.weight)];
        let twist = self.side.as_method::<Twist>();
        let side = twist.map_or_else(|| self.side.to_form(), |twist| twist.inner.to_form());
        let parts = [self.main.to_form(), side];
        Form::list(METHOD.name, numbers.into_iter().chain(weight).chain(parts))
    }
    fn title(&self) -> String {
        format!("CRT with the binomial factor {}", self.side.modulus())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_points, try_points};

    const SIX: &str = "(good-thomas 2 3 (butterfly) (rader 3 unscaled))";

    #[test]
    fn agrees_with_the_definition() {
        check_points(4591, 8, None, &format!("(binomial-crt 6 2 2 {SIX} (butterfly))"));
        check_points(4591, 9, None, &format!("(binomial-crt 6 3 8 {SIX} (rader 3))"));
        check_points(4591, 3, None, "(binomial-crt 2 1 5 (butterfly) (direct))");
    }

    /// (t^90 − 1)(t^6 − 8): 96 points. Where the last columns lie within classes mod 6, the join is
    /// part of that step; otherwise all is one network.
    #[test]
    fn fills_six_registers() {
        for (main, steps) in [
            ("(good-thomas 5 18 (rader 5 unscaled) (good-thomas 2 9 (butterfly) (direct)))", 2),
            ("(good-thomas 10 9 (direct) (direct))", 1),
        ] {
            let points =
                check_points(4591, 96, None, &format!("(binomial-crt 90 6 8 {main} {SIX})"));
            assert_eq!(points.inverse_steps(&[true; 96]).len(), steps);
            assert_eq!(
                points.forward_steps(&[[true; 90].as_slice(), &[false; 6]].concat()).len(),
                2
            );
            assert_eq!(points.modulus(), "(t^90 - 1)(t^6 - 8)");
        }
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let message = |n, text: &str| try_points(4591, n, None, text).unwrap_err().message;
        assert_eq!(
            message(9, "(binomial-crt 6 2 2 (direct) (direct))"),
            "6 + 2 = 8 points, but 9 are needed here"
        );
        assert_eq!(
            message(10, "(binomial-crt 6 4 2 (direct) (direct))"),
            "t^4 - w does not fit t^6 - 1: 4 does not divide 6"
        );
        assert_eq!(
            message(8, "(binomial-crt 6 2 1 (direct) (direct))"),
            "t^6 - 1 and t^2 - 1 are not coprime: 1^3 - 1 has no inverse mod 4591"
        );
        assert_eq!(
            message(8, "(binomial-crt 6 2 4590 (direct) (direct))"),
            "4590 has no root of order 2 mod 4591"
        );
    }
}
