//! The transform of length 2 [Chiu25 §2.3].
//!
//! F_0 = f_0 + f_1, F_1 = f_0 − f_1; scale 1.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::sexpr::Form;
use crate::transform::{Transform, TransformRef};
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "butterfly",
    usage: "(butterfly)",
    summary: "The transform of length 2: sum and difference.",
    citation: "[Chiu25 §2.3]",
    build: Build::Transform(build),
};

/// The transform of length 2.
#[derive(Clone, Debug)]
pub struct Butterfly {
    q: u64,
}

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    if spec.len != 2 {
        return Err(arguments
            .refuse(format!("a butterfly has length 2, but length {} is needed here", spec.len)));
    }
    Ok(Arc::new(Butterfly { q: spec.q }))
}

impl Transform for Butterfly {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        DftSpec { q: self.q, len: 2, root: self.q - 1, x: 0, width: 0 }
    }
    fn scale(&self) -> u64 {
        1
    }
    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        vec![arith.add(f[0], f[1]), arith.sub(f[0], f[1])]
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [])
    }
    fn title(&self) -> String {
        "Butterfly".to_string()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, try_transform};

    #[test]
    fn agrees_with_the_definition() {
        check(4591, 2, "(butterfly)");
        check(12289, 2, "(butterfly)");
    }

    #[test]
    fn refuses_other_lengths() {
        let error = try_transform(4591, 3, "(butterfly)").unwrap_err();
        assert_eq!(error.message, "a butterfly has length 2, but length 3 is needed here");
    }
}
