//! The schoolbook transform, of any length [Chiu25 §2.4].
//!
//! F_j = Σ_i ω^{ij} f_i: (n − 1)² multiplications, scale 1, no condition beyond the root. It is too
//! slow to forge with, but it takes every length, so a new method can be tried in combination with
//! it. It is the worked example of `docs/developers/add-a-method.md`.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::sexpr::Form;
use crate::transform::{Transform, TransformRef};
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "direct",
    usage: "(direct)",
    summary: "A schoolbook transform of any length up to 64.",
    citation: "[Chiu25 §2.4]",
    build: Build::Transform(build),
};

/// The schoolbook transform.
#[derive(Clone, Debug)]
pub struct Direct {
    /// What is computed, on which root.
    pub spec: DftSpec,
}

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    spec.of_numbers(arguments)?;
    if spec.len > 64 {
        let message =
            format!("a direct transform of length {} takes {0}² multiplications", spec.len);
        return Err(arguments.refuse(message).instead("good-thomas or cooley-tukey above it"));
    }
    Ok(Arc::new(Direct { spec: *spec }))
}

impl Transform for Direct {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.spec
    }
    fn scale(&self) -> u64 {
        1
    }
    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let mut output = Vec::new();
        for j in 0..self.spec.len {
            let mut sum = f[0];
            for (i, &block) in f.iter().enumerate().skip(1) {
                let term = arith.scale(block, self.spec.power(i * j % self.spec.len));
                sum = arith.add(sum, term);
            }
            output.push(sum);
        }
        output
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [])
    }
    fn title(&self) -> String {
        format!("Direct {}", self.spec.len)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, try_transform};

    #[test]
    fn agrees_with_the_definition() {
        for n in [1, 2, 5, 10] {
            check(4591, n, "(direct)");
        }
        check(4591, 10, "(good-thomas 5 2 (direct) (time-shift (direct)))");
    }

    #[test]
    fn refuses_long_lengths() {
        let error = try_transform(4591, 90, "(direct)").unwrap_err();
        assert_eq!(error.message, "a direct transform of length 90 takes 90² multiplications");
    }
}
