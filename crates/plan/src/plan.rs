//! A whole plan: a ring, and the tree of maps that multiplies in it.

use crate::cost::Model;
use crate::domain::Domain;
use crate::error::{PlanError, Refusal};
use crate::levels::Levels;
use crate::operand::Operand;
use crate::product::ProductRef;
use crate::reduce_mod::ReduceMod;
use crate::registry::build_product;
use crate::sexpr::{Form, FormKind};
use crate::stages::Stages;
use crate::tree::TreeNode;
use ringforge_ring::{Ring, zq};
use ringforge_targets::{Registers, Target};

/// A decomposition of the product in a ring.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name in the text.
    pub name: String,
    /// Where the plan as a whole is from: `Chiu25`.
    pub cite: Option<String>,
    /// One sentence for people.
    pub note: Option<String>,
    /// The ring it multiplies in.
    pub ring: Ring,
    /// What it relies on about the coefficients of a and b.
    pub operands: [Operand; 2],
    /// The tree.
    pub root: ProductRef,
}

const USAGE: &str = "(plan NAME [(cite KEY)] [(note \"…\")] (ring \"Z4591[x]/(x^761 - x - 1)\") \
                     [(operands big small)] PRODUCT)";

impl Plan {
    /// Reads a plan, and checks every condition that its methods have on the ring.
    pub fn parse(text: &str) -> Result<Plan, PlanError> {
        Plan::read(text).map_err(|refusal| refusal.within(text))
    }

    fn read(text: &str) -> Result<Plan, Refusal> {
        let form = Form::parse(text)?;
        let items = match &form.kind {
            FormKind::List(items) if items.first() == Some(&Form::word("plan")) => items,
            _ => {
                return Err(
                    Refusal::new(form.at, "a plan starts with `(plan NAME …`").instead(USAGE)
                );
            }
        };
        let name = match items.get(1).map(|f| &f.kind) {
            Some(FormKind::Word(name)) => name.clone(),
            _ => return Err(Refusal::new(form.at, "the plan has no name").instead(USAGE)),
        };
        let (mut cite, mut note, mut ring, mut tree) = (None, None, None, None);
        let mut operands = ([Operand::Big; 2], form.at);
        for item in &items[2..] {
            let (head, rest) = match &item.kind {
                FormKind::List(items) => match &items[..] {
                    [first, rest @ ..] => (&first.kind, rest),
                    [] => return Err(Refusal::new(item.at, "this list is empty").instead(USAGE)),
                },
                _ => {
                    let message = format!("a list is expected here, not {}", item.describe());
                    return Err(Refusal::new(item.at, message).instead(USAGE));
                }
            };
            let word = match head {
                FormKind::Word(word) => word.as_str(),
                _ => "",
            };
            match (word, rest) {
                ("cite", [Form { kind: FormKind::Word(key), .. }]) => cite = Some(key.clone()),
                ("note", [Form { kind: FormKind::Text(text), .. }]) => note = Some(text.clone()),
                ("ring", [Form { at, kind: FormKind::Text(text) }]) => {
                    ring = Some(Ring::parse(text).map_err(|e| {
                        // The ring's text starts behind the quotation mark.
                        Refusal::new(
                            at + 1 + e.at,
                            format!("this is not a ring: expected {}", e.expected),
                        )
                        .instead("(ring \"Z4591[x]/(x^761 - x - 1)\")")
                    })?);
                }
                ("operands", [a, b]) => operands = ([operand(a)?, operand(b)?], item.at),
                ("operands", _) => {
                    return Err(Refusal::new(item.at, "`operands` takes two arguments")
                        .instead("(operands big small)"));
                }
                ("cite" | "note" | "ring", _) => {
                    return Err(Refusal::new(item.at, format!("`{word}` takes one argument"))
                        .instead(USAGE));
                }
                _ if tree.is_none() => tree = Some(item),
                _ => {
                    return Err(Refusal::new(
                        item.at,
                        "a plan has one product, and this is another",
                    )
                    .instead(USAGE));
                }
            }
        }
        let ring =
            ring.ok_or_else(|| Refusal::new(form.at, "the plan names no ring").instead(USAGE))?;
        let tree =
            tree.ok_or_else(|| Refusal::new(form.at, "the plan has no product").instead(USAGE))?;
        let (operands, at) = operands;
        if let Some(why) = operands.iter().find_map(|operand| operand.too_wide(ring.q())) {
            return Err(Refusal::new(at, why).instead("`big`, which is every centred coefficient"));
        }
        let root = build_product(tree, &Domain::of_operands(&ring, operands))?;
        Ok(Plan { name, cite, note, ring, operands, root })
    }

    /// The scale that the tree leaves, in `[1, q)`.
    pub fn scale(&self) -> u64 {
        self.root.scale().value()
    }

    /// What the result is multiplied with at the end: the inverse of [`Plan::scale`].
    pub fn final_factor(&self) -> u64 {
        self.root.scale().inverse()
    }

    /// The final reduction mod f with the scale folded in, where the tree starts with a lift.
    pub fn final_reduction(&self) -> Option<ReduceMod> {
        match self.root.stages() {
            Stages::Remainder(lift) => lift.reduction(self.final_factor()),
            _ => None,
        }
    }

    /// The widest registers of a target that the plan's blocks or matrices of 16-bit words fill, or its own where none are.
    pub fn registers(&self, target: &Target) -> Registers {
        let mut node = &self.root;
        while let (None, Some(&inner)) = (node.stages().together(), node.made_of().first()) {
            node = inner;
        }
        let together = node.stages().together().unwrap_or_default();
        let filled = |registers: &Registers| together.is_multiple_of(registers.lanes(16));
        target.widths().find(filled).unwrap_or(target.registers)
    }

    /// The vector slots that one product is expected to take on a target, by a model.
    ///
    /// ```
    /// use ringforge_plan::Plan;
    /// use ringforge_targets::AVX2;
    /// let [one, two] = ["sntrup761", "sntrup761-two-prime"].map(|name| Plan::find(name).unwrap());
    /// assert!(one.slots(&AVX2) < two.slots(&AVX2));
    /// ```
    pub fn slots(&self, target: &Target) -> f64 {
        let registers = self.registers(target);
        let narrowed = Target { registers, ..*target };
        target.share(registers) * self.root.slots(&Model { target: &narrowed, costs: target.costs })
    }

    /// Whether it is plain C.
    pub fn is_plain(&self) -> bool {
        matches!(self.root.stages(), Stages::Loops(_))
    }

    /// Whether it takes the remainder by an f of many coefficients.
    pub fn is_dense(&self) -> bool {
        matches!(self.root.stages(), Stages::Remainder(lift) if lift.is_dense())
    }

    /// Its levels, where it is a transform of x^n + 1.
    pub fn negacyclic(&self) -> Option<&dyn Levels> {
        match self.root.stages() {
            Stages::Levels(levels) if levels.halves(1).is_some() => Some(levels),
            _ => None,
        }
    }

    /// The moduli that it computes with: those that it changes to, or the ring's.
    pub fn moduli(&self) -> Vec<u64> {
        let changed = self.root.moduli();
        if changed.is_empty() { vec![self.ring.q()] } else { changed }
    }

    /// Whether the plan is right for all such operands.
    pub fn covers(&self, operands: [Operand; 2]) -> bool {
        let q = self.ring.q();
        self.operands.iter().zip(operands).all(|(own, other)| own.covers(other, q))
    }

    /// The product a·b in the ring, centred, through the tree on exact arithmetic; a and b as
    /// [`Plan::operands`] has them.
    pub fn multiply(&self, a: &[i64], b: &[i64]) -> Vec<i64> {
        let q = self.ring.q();
        let enter = |v: &[i64]| -> Vec<u64> {
            self.ring.reduce(v).iter().map(|&c| zq::unsigned(c, q)).collect()
        };
        let c = self.root.multiply(&enter(a), &enter(b));
        c.iter().map(|&x| zq::centered(zq::mul(x, self.final_factor(), q), q)).collect()
    }

    /// Checks the plan again from its own text: every condition on the ring, and that the text
    /// reads back as the same plan.
    pub fn check(&self) -> Result<(), PlanError> {
        let text = self.to_string();
        let again = Plan::parse(&text)?;
        if again.to_form() == self.to_form() {
            return Ok(());
        }
        Err(Refusal::new(0, "the plan reads back as another one").within(&text))
    }

    /// The same plan for other operands, every condition checked again.
    ///
    /// # Errors
    /// A method relies on operands that are promised less of, as
    /// [`ChangeModulus`](crate::ChangeModulus) does.
    pub fn with_operands(&self, operands: [Operand; 2]) -> Result<Plan, PlanError> {
        Plan::parse(&Plan { operands, ..self.clone() }.to_string())
    }

    /// The plan as a form.
    pub fn to_form(&self) -> Form {
        let mut rest = vec![Form::word(&self.name)];
        rest.extend(self.cite.iter().map(|key| Form::list("cite", [Form::word(key)])));
        rest.extend(self.note.iter().map(|text| Form::list("note", [Form::text(text)])));
        rest.push(Form::list("ring", [Form::text(&self.ring)]));
        if self.operands != [Operand::Big; 2] {
            rest.push(Form::list("operands", self.operands.map(Operand::form)));
        }
        rest.push(self.root.to_form());
        Form::list("plan", rest)
    }

    /// The plan for people.
    pub fn tree(&self) -> TreeNode {
        self.root.tree()
    }
}

/// Reads `big`, `small` or `(within 5)`.
fn operand(form: &Form) -> Result<Operand, Refusal> {
    let text = match &form.kind {
        FormKind::Word(word) => word.clone(),
        FormKind::List(items) => {
            let words: Vec<&str> = items
                .iter()
                .map(|item| if let FormKind::Word(word) = &item.kind { word } else { "" })
                .collect();
            words.join(" ")
        }
        FormKind::Text(_) => form.describe(),
    };
    text.parse().map_err(|why: String| {
        Refusal::new(form.at, why).instead("(operands big small), (operands big (within 5))")
    })
}

impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        self.to_form() == other.to_form()
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_form().fmt(f)
    }
}

impl std::str::FromStr for Plan {
    type Err = PlanError;
    fn from_str(text: &str) -> Result<Plan, PlanError> {
        Plan::parse(text)
    }
}
