//! A transform that is taken in its own steps where it is the second axis of another.

use crate::arith::{Arith, Val};
use crate::grid::Grid;
use crate::method::{DftSpec, Method};
use crate::sexpr::Form;
use crate::steps::Step;
use crate::transform::{Axes, Transform, TransformRef};

/// A transform as it is, but for [`Transform::stepwise`].
#[derive(Clone, Debug)]
pub(crate) struct Stepwise(pub TransformRef);

impl Transform for Stepwise {
    fn method(&self) -> &'static Method {
        self.0.method()
    }
    fn spec(&self) -> DftSpec {
        self.0.spec()
    }
    fn scale(&self) -> u64 {
        self.0.scale()
    }
    fn forward(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        self.0.forward(arith, input)
    }
    fn inverse(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        self.0.inverse(arith, input)
    }
    fn inverse_wanted(&self, arith: &mut dyn Arith, input: &[Val], wanted: &[bool]) -> Vec<Val> {
        self.0.inverse_wanted(arith, input, wanted)
    }
    fn inverse_scale(&self) -> u64 {
        self.0.inverse_scale()
    }
    fn points(&self) -> Vec<u64> {
        self.0.points()
    }
    fn modulus(&self) -> String {
        self.0.modulus()
    }
    fn values(&self) -> String {
        self.0.values()
    }
    fn forward_steps(&self, present: &[bool]) -> Vec<Step> {
        self.0.forward_steps(present)
    }
    fn inverse_steps(&self, wanted: &[bool]) -> Vec<Step> {
        self.0.inverse_steps(wanted)
    }
    fn stepwise(&self) -> bool {
        true
    }
    fn cells(&self) -> Vec<usize> {
        self.0.cells()
    }
    fn children(&self) -> Vec<&dyn Transform> {
        self.0.children()
    }
    fn axes(&self) -> Option<Axes> {
        self.0.axes()
    }
    fn grid(&self) -> Option<Grid> {
        self.0.grid()
    }
    fn to_form(&self) -> Form {
        self.0.to_form()
    }
    fn title(&self) -> String {
        self.0.title()
    }
}
