//! The procedures of the entry points.

use super::base::Terms;
use super::pass::Pass;
use super::plan::{Machine, Shuffles};
use super::{Ends, InnerProduct, LowerError, Lowering, write};
use crate::build::Builder;
use crate::ir::*;
use crate::settle::Refused;
use ringforge_targets::ALIGNMENT;

const CITE: &str = "[Seiler18 §4]";

impl Lowering<'_> {
    /// A caller's array with the range of its words.
    fn array(&self, builder: &mut Builder, name: &str, role: Role, most: i64) -> BufferId {
        self.arrays(builder, name, role, (1, most))
    }

    /// Several, one after the other.
    fn arrays(
        &self,
        builder: &mut Builder,
        name: &str,
        role: Role,
        (count, most): (usize, i64),
    ) -> BufferId {
        let align = usize::from(self.words.modulus.bits) / 8;
        builder.ranged(name, role, count * self.machine.ntt.size(), align, Some((-most, most)))
    }

    /// Stages of passes from an array to another; between them local arrays.
    fn passes(
        &self,
        builder: &mut Builder,
        (stage, title): (&str, &str),
        passes: &[Pass],
        from: BufferId,
        to: BufferId,
        mut ours: bool,
    ) {
        let style = self.style(stage);
        let mut at = from;
        // Nothing but vector code, which there is none of without shuffles, is held up by arrays that may be one.
        let direct = !self.machine.inside() && self.machine.shuffles == Shuffles::Striding;
        let direct = direct && passes.iter().all(Pass::in_place);
        for (number, pass) in passes.iter().enumerate() {
            let next = if number + 1 == passes.len() || !ours && direct {
                to
            } else if ours && pass.in_place() {
                at
            } else {
                builder.unique("t", Role::Local, self.machine.ntt.size(), ALIGNMENT)
            };
            ours = true;
            let body = write::pass(builder, &style, pass, (at, next));
            builder.stage(&format!("{title}: {}", pass.title), CITE, body);
            at = next;
        }
    }

    pub(super) fn procedures(
        &self,
        [forward, inverse, last]: [&[Pass]; 3],
        ends: Ends,
        inner: &[InnerProduct],
        [h, out]: [i64; 2],
    ) -> Result<Vec<Procedure>, LowerError> {
        let n = self.machine.ntt.size();
        let (modulus, most) = (self.words.modulus, self.words.most());
        let r = self.base(&self.style(""), &self.own).scale()?;
        let (r, back) = (r.value(), r.inverse());
        let mut all = Vec::new();

        let mut builder = Builder::new("forward", Some(Computes::Forward { scale: 1 }), modulus);
        let c = self.array(&mut builder, "c", Role::Output, ends.forward_out);
        let a = self.array(&mut builder, "a", Role::Input, ends.forward_in);
        self.passes(&mut builder, ("forward", "forward transform"), forward, a, c, false);
        all.push(builder.finish());

        let mut builder = Builder::new("inverse", Some(Computes::Inverse { scale: back }), modulus);
        let c = self.array(&mut builder, "c", Role::Output, ends.inverse_out);
        let a = self.array(&mut builder, "a", Role::Input, ends.inverse_in);
        self.passes(&mut builder, ("inverse", "inverse transform"), inverse, a, c, false);
        all.push(builder.finish());

        for (name, computes, add) in [
            ("base", Computes::BaseProduct { scale: r }, false),
            ("accumulate", Computes::Accumulate { scale: r }, true),
        ] {
            let mut builder = Builder::new(name, Some(computes), modulus);
            let (role, range) = match add {
                true => (Role::InOut, ends.sum),
                false => (Role::Output, ends.base_out),
            };
            let c = self.array(&mut builder, "c", role, range);
            let a = self.array(&mut builder, "a", Role::Input, ends.base_in);
            let b = self.array(&mut builder, "b", Role::Input, ends.base_in);
            let terms = Terms::one(add.then_some(c));
            self.products(&mut builder, [c, a, b], [ends.base_in; 2], (true, terms))?;
            all.push(builder.finish());
        }

        for &InnerProduct { pairs, input, output, reduce } in inner {
            let computes = Computes::InnerProduct { scale: r, pairs };
            let mut builder = Builder::new(&format!("inner{pairs}"), Some(computes), modulus);
            let c = self.array(&mut builder, "c", Role::Output, output);
            let [a, b] =
                ["a", "b"].map(|name| self.arrays(&mut builder, name, Role::Input, (pairs, input)));
            let terms = Terms { pairs, add: None, reduce };
            self.products(&mut builder, [c, a, b], [input; 2], (true, terms))?;
            all.push(builder.finish());
        }

        for (name, computes, passes) in [
            ("to_standard", Computes::ToStandard, self.machine.leave_order()),
            ("from_standard", Computes::FromStandard, self.machine.enter_order()),
        ] {
            let mut builder = Builder::new(name, Some(computes), modulus);
            let c = self.array(&mut builder, "c", Role::Output, most);
            let a = self.array(&mut builder, "a", Role::Input, most);
            self.passes(&mut builder, (name, "reordering"), &passes, a, c, false);
            all.push(builder.finish());
        }

        let mut builder = Builder::new("mul", Some(Computes::Product), modulus);
        let c = self.array(&mut builder, "c", Role::Output, h);
        let a = self.array(&mut builder, "a", Role::Input, h);
        let b = self.array(&mut builder, "b", Role::Input, h);
        let transformed = [("ta", a), ("tb", b)].map(|(name, from)| {
            let to = builder.buffer(name, Role::Local, n, ALIGNMENT);
            let arguments = vec![(to, Index::at(0)), (from, Index::at(0))];
            let call = Stmt::Call { procedure: ProcedureId(0), arguments };
            builder.stage("forward transform", CITE, vec![call]);
            to
        });
        let [ta, tb] = transformed;
        self.products(&mut builder, [ta, ta, tb], [out, out], (false, Terms::one(None)))?;
        self.passes(&mut builder, ("mul.inverse", "inverse transform"), last, ta, c, true);
        all.push(builder.finish());
        Ok(all)
    }

    /// Stages of base products, on arrays of an entry's callers or our own; arrays in
    /// standard order are brought into our order where that has one coefficient in a register.
    fn products(
        &self,
        builder: &mut Builder,
        [c, a, b]: [BufferId; 3],
        bounds: [i64; 2],
        (entry, terms): (bool, Terms),
    ) -> Result<(), LowerError> {
        let style = self.style("base");
        let machine = self.machine;
        let striding = machine.shuffles == Shuffles::Striding;
        let together = machine.inside() && machine.ntt.degree() > 1;
        let apart = machine.standard && together && (striding || machine.odd() > 1);
        if !apart {
            // Compilers vectorise portable loops only where arrays cannot overlap.
            let ours = striding && entry && machine.inside();
            let to = match ours {
                true => builder.unique("r", Role::Local, machine.ntt.size(), ALIGNMENT),
                false => c,
            };
            let body = self.base(&style, &self.own).stage(builder, [to, a, b], bounds, terms)?;
            builder.stage("base products", CITE, body);
            if ours {
                let copy = Machine { standard: true, ..machine.clone() }.leave_order();
                self.passes(builder, ("base", "result"), &copy, to, c, true);
            }
            return Ok(());
        }
        if terms.pairs > 1 {
            return Err(Refused::Unkept {
                key: "inner-products".into(),
                value: format!("{:?}", self.schedule.inner_products()),
                why: "with `order = \"standard\"` operands are reordered here first".into(),
                settled: "[]".into(),
            }
            .into());
        }
        let own = Machine { standard: false, ..machine.clone() };
        let n = machine.ntt.size();
        let enter = own.enter_order();
        let mut arrays = vec![(a, "ua"), (b, "ub")];
        if terms.add.is_some() {
            arrays.push((c, "uc"));
        }
        let mut inside: Vec<BufferId> = Vec::new();
        for (from, name) in arrays {
            let to = builder.unique(name, Role::Local, n, ALIGNMENT);
            self.passes(builder, ("base", "reordering"), &enter[..1], from, to, false);
            inside.push(to);
        }
        let to = inside.get(2).copied().unwrap_or(inside[0]);
        let map = own.own();
        let terms = Terms::one(terms.add.map(|_| to));
        let arrays = [to, inside[0], inside[1]];
        let body = self.base(&style, &map).stage(builder, arrays, bounds, terms)?;
        builder.stage("base products", CITE, body);
        let leave = own.leave_order();
        // The copy behind is needed only where it moves words.
        let passes = if own.apart() == own.identity() { &leave[..1] } else { &leave[..] };
        self.passes(builder, ("base", "reordering"), passes, to, c, true);
        Ok(())
    }
}
