//! The procedures of the entry points.

use super::base::Terms;
use super::pass::Pass;
use super::plan::{Machine, Shuffles};
use super::{Ends, InnerProduct, LowerError, Lowering, write};
use crate::build::{Builder, call};
use crate::ir::*;
use crate::schedule::Operands;
use crate::settle::Refused;
use crate::together::Together;

const CITE: &str = "[Seiler18 §4]";

impl Lowering<'_> {
    /// A procedure in the making, and its callers' arrays c, a and maybe b by their roles. An input has `count` transforms, one
    /// after the other. The largest words are those of what comes out and of what goes in.
    fn entry<const N: usize>(
        &self,
        (name, computes): (&str, Computes),
        roles: [Role; N],
        count: usize,
        [output, input]: [i64; 2],
    ) -> (Builder, [BufferId; N]) {
        let modulus = self.words.modulus;
        let mut builder = Builder::new(name, Some(computes), modulus);
        let mut names = ["c", "a", "b"].into_iter();
        let arrays = roles.map(|role| {
            let input_of = role == Role::Input;
            let (count, most) = if input_of { (count, input) } else { (1, output) };
            let size = (count * self.machine.ntt.size(), modulus.bits);
            builder.parameter(names.next().unwrap_or("d"), role, size, Some((-most, most)))
        });
        (builder, arrays)
    }

    /// Stages of passes from an array to another; between them local arrays.
    fn passes(
        &self,
        builder: &mut Builder,
        (stage, title): (&str, &str),
        passes: &[Pass],
        from: BufferId,
        to: BufferId,
        ours: bool,
    ) {
        let style = self.style(stage);
        // Nothing but vector code, which there is none of without shuffles, is held up by arrays that may be one.
        let direct = !self.machine.inside() && self.machine.shuffles == Shuffles::Striding;
        let direct = direct && passes.iter().all(Pass::in_place);
        let size = (self.machine.ntt.size(), direct);
        let all = (passes, title, CITE);
        write::chained(builder, all, (from, to), (ours, size), &mut |builder, pass, at| {
            write::pass(builder, &style, pass, at)
        });
    }

    pub(super) fn procedures(
        &self,
        [forward, inverse, last]: [&[Pass]; 3],
        ends: Ends,
        inner: &[InnerProduct],
        [h, out]: [i64; 2],
    ) -> Result<Vec<Procedure>, LowerError> {
        let most = self.words.most();
        let r = self.base(&self.style(""), &self.own).scale()?;
        let (r, back) = (r.value(), r.inverse());
        let mut all = Vec::new();

        let [output, input] = [Role::Output, Role::Input];
        let entry = |(name, title): (&str, &str), computes, passes: &[Pass], most_of| {
            let roles = [output.clone(), input.clone()];
            let (mut builder, [c, a]) = self.entry((name, computes), roles, 1, most_of);
            self.passes(&mut builder, (name, title), passes, a, c, false);
            builder.finish()
        };
        let product = |role: &Role| [role.clone(), input.clone(), input.clone()];
        let (computes, most_of) =
            (Computes::Forward { scale: 1 }, [ends.forward_out, ends.forward_in]);
        all.push(entry(("forward", "forward transform"), computes, forward, most_of));
        let (computes, most_of) =
            (Computes::Inverse { scale: back }, [ends.inverse_out, ends.inverse_in]);
        all.push(entry(("inverse", "inverse transform"), computes, inverse, most_of));

        for (name, computes, add) in [
            ("base", Computes::BaseProduct { scale: r }, false),
            ("accumulate", Computes::Accumulate { scale: r }, true),
        ] {
            let (role, range) = match add {
                true => (Role::InOut, ends.sum),
                false => (Role::Output, ends.base_out),
            };
            let most_of = [range, ends.base_in];
            let (mut builder, [c, a, b]) = self.entry((name, computes), product(&role), 1, most_of);
            let terms = Terms::one(add.then_some(c));
            self.products(&mut builder, [c, a, b], [ends.base_in; 2], (true, terms))?;
            all.push(builder.finish());
        }

        for &InnerProduct { pairs, input: most, output: sum, reduce } in inner {
            let computes = Computes::InnerProduct { scale: r, pairs };
            let name = format!("inner{pairs}");
            let (mut builder, [c, a, b]) =
                self.entry((&name, computes), product(&output), pairs, [sum, most]);
            let terms = Terms { pairs, add: None, reduce };
            self.products(&mut builder, [c, a, b], [most; 2], (true, terms))?;
            all.push(builder.finish());
        }

        for (name, computes, passes) in [
            ("to_standard", Computes::ToStandard, self.machine.leave_order()),
            ("from_standard", Computes::FromStandard, self.machine.enter_order()),
        ] {
            all.push(entry((name, "reordering"), computes, &passes, [most; 2]));
        }

        let (mut builder, [c, a, b]) =
            self.entry(("mul", Computes::Product), product(&output), 1, [h; 2]);
        let [ta, tb] = ["ta", "tb"].map(|name| builder.local(name, self.machine.ntt.size()));
        match self.schedule.operands() {
            Operands::Apart => [(ta, a), (tb, b)].into_iter().for_each(|(to, from)| {
                builder.stage("forward transform", CITE, vec![call(ProcedureId(0), [to, from])]);
            }),
            Operands::Together => {
                let mut together = Together::new(&mut all, 2);
                let both = together.helper(ProcedureId(0), "forward_both");
                let arguments = [ta, a, tb, b];
                builder.stage("forward transforms", CITE, vec![call(both, arguments)]);
            }
        }
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
                true => builder.fresh("r", machine.ntt.size()),
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
            let to = builder.fresh(name, n);
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
