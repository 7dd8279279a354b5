//! A plan as people read it: one node per method, with rings, scales and costs.

use crate::base::Base;
use crate::network::Cost;
use crate::product::Product;
use crate::transform::Transform;

/// One node of a plan, for `explain`.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct TreeNode {
    /// `Good–Thomas 10 × 9`.
    pub title: String,
    /// The ring the node works in: `Z4591[x]/(x^1440 - 1)`.
    pub before: String,
    /// What it turns that into; empty where it has no inner ring.
    pub after: String,
    /// The scale that it leaves, children included.
    pub scale: u64,
    /// Its operations, children included: on coefficients for products, on blocks for transforms.
    pub cost: Cost,
    /// What `cost` counts: "per product", "per transform of blocks", …
    pub cost_of: &'static str,
    /// `[Chiu25 §2.3.1]`.
    pub citation: String,
    /// What it is made of.
    pub children: Vec<TreeNode>,
}

impl TreeNode {
    /// The node of a transform, with all inputs present.
    pub fn of_transform(transform: &dyn Transform) -> TreeNode {
        let (q, n) = (transform.q(), transform.len());
        TreeNode {
            title: transform.title(),
            before: format!("Z{q}[t]/({})", transform.modulus()),
            after: transform.values(),
            scale: transform.scale(),
            cost: transform.forward_cost(&vec![true; n]),
            cost_of: "per forward transform of blocks",
            citation: transform.citation().to_string(),
            children: transform.children().into_iter().map(TreeNode::of_transform).collect(),
        }
    }

    /// The node of a product, with its title and the ring that it turns its own into.
    pub fn of_product(
        product: &dyn Product,
        (title, after): (impl Into<String>, impl Into<String>),
        children: Vec<TreeNode>,
    ) -> TreeNode {
        TreeNode {
            title: title.into(),
            before: product.domain().to_string(),
            after: after.into(),
            scale: product.scale().value(),
            cost: product.cost(),
            cost_of: "per product",
            citation: product.method().citation.to_string(),
            children,
        }
    }

    /// The node of a small product.
    pub fn of_base(
        title: String,
        base: &dyn Base,
        inner: &[&dyn Base],
        citation: &str,
    ) -> TreeNode {
        TreeNode {
            title,
            before: format!("products of size {} over Z{}", base.size(), base.q()),
            after: String::new(),
            scale: 1,
            cost: base.cost(),
            cost_of: "each",
            citation: citation.to_string(),
            children: inner.iter().map(|b| b.tree()).collect(),
        }
    }

    /// The node with something before its title.
    pub fn titled(mut self, prefix: &str) -> TreeNode {
        self.title = format!("{prefix}{}", self.title);
        self
    }

    /// The tree as indented text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, text: &mut String) {
        let Cost { scales, adds, products } = self.cost;
        text.push_str(&format!(
            "{}{} · {}{}{} · scale {} · {scales} scales, {adds} adds, {products} products {} · {}\n",
            "  ".repeat(depth),
            self.title,
            self.before,
            if self.after.is_empty() { "" } else { " → " },
            self.after,
            self.scale,
            self.cost_of,
            self.citation,
        ));
        self.children.iter().for_each(|child| child.write(depth + 1, text));
    }
}
