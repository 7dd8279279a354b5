//! A method that no other file knows: it states stages that lowering has, and its plan multiplies, is modelled and is
//! drawn like any other.

mod common;

use ringforge_plan::{
    Blocks, Build, Cost, Domain, Form, Lift, Method, Plan, Product, Stages, Substitute, TreeNode,
    Unit,
};
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, C};
use std::sync::Arc;

const METHOD: Method = Method {
    name: "own",
    usage: "(own)",
    summary: "Blocks of another method.",
    citation: "[Chiu25 §3.2.1]",
    build: Build::Product(|arguments, _| Err(arguments.refuse("it has no text"))),
};

#[derive(Clone, Debug)]
struct Own(Blocks);

impl Product for Own {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.0.domain
    }
    fn scale(&self) -> Unit {
        self.0.scale
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let scale = |c: u64| c * self.0.scale.value() % self.0.domain.q;
        self.0.domain.multiply(a, b).into_iter().map(scale).collect()
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Blocks(&self.0)
    }
    fn cost(&self) -> Cost {
        self.0.convolution.total_cost()
    }
    fn tree(&self) -> TreeNode {
        TreeNode::of_product(self, ("Own", ""), Vec::new())
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [])
    }
}

#[test]
fn a_method_of_known_stages_needs_no_other_file() {
    let known = Plan::find("sntrup761-good-rader-bruun").expect("a preset");
    let lift = known.root.as_method::<Lift>().expect("a lift");
    let blocks = lift.inner.as_method::<Substitute>().expect("blocks").blocks.clone();
    let root = Arc::new(Lift { inner: Arc::new(Own(blocks)), ..lift.clone() });
    let plan = Plan { root, ..known };
    assert_eq!(plan.root.to_form().to_string(), "(lift 1632 (own))");
    assert_eq!((plan.root.shape().as_str(), plan.moduli()), ("own", vec![4591]));
    assert!(plan.slots(&AVX2) > 0.0);
    let quick = |schedule: Schedule| Schedule { rounds: 1, ..schedule };
    let vectors = common::check(&plan, &quick(Schedule::default()), 2);
    let portable = common::check_on(&C, &plan, &quick(Schedule::portable()), 2);
    vectors.and(portable).unwrap_or_else(|e| panic!("{e}"));
}
