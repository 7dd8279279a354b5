//! The plan's tree: one card for each method, from the ring down to the small products.

use super::{Anchor, SIDE, Sheet, grouped, typeset, width};
use ringforge_plan::TreeNode;

const CARD: f64 = 76.0;
const LEVEL: f64 = 104.0;
const GAP: f64 = 14.0;
const TOP: f64 = 64.0;

/// A card with its place in the tree.
struct Card {
    label: String,
    title: String,
    ring: String,
    cost: String,
    cite: String,
    /// Ring maps, transforms, small products.
    kind: usize,
    /// How many equal siblings it represents.
    times: usize,
    children: Vec<Card>,
    width: f64,
    /// Width with everything below.
    span: f64,
}

fn kind(node: &TreeNode) -> usize {
    match node.cost_of {
        text if text.contains("transform") => 1,
        "each" | "for all of them" => 2,
        _ => 0,
    }
}

fn card(node: &TreeNode) -> Card {
    let (label, title) = match node.title.split_once(": ") {
        Some((label, title)) if label.contains("mod") => (label, title),
        _ => ("", node.title.as_str()),
    };
    let mut children: Vec<Card> = Vec::new();
    for (i, child) in node.children.iter().enumerate() {
        match children.last_mut() {
            Some(last) if *child == node.children[i - 1] => {
                last.times += 1;
                last.width = last.width.max(width(&last.title, 15.5) + 68.0);
                last.span = last.span.max(last.width);
            }
            _ => children.push(card(child)),
        }
    }
    let counts = [
        (node.cost.products, "products"),
        (node.cost.scales, "scalings"),
        (node.cost.adds, "sums"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| match n {
            1 => format!("1 {}", what.trim_end_matches('s')),
            _ => format!("{} {what}", grouped(*n)),
        })
        .collect();
    let mut out = Card {
        label: typeset(label),
        title: typeset(title),
        ring: typeset(&node.before),
        cost: counts.join(", "),
        cite: node.citation.replace("] [", ", ").replace(['[', ']'], ""),
        kind: kind(node),
        times: 1,
        children,
        width: 0.0,
        span: 0.0,
    };
    let top = width(&out.label, 11.0) + width(&out.cite, 11.0) + 16.0;
    let lines = [top, width(&out.title, 15.5), width(&out.ring, 12.0), width(&out.cost, 11.0)];
    out.width = lines.into_iter().fold(96.0, f64::max) + 28.0;
    let below: f64 = out.children.iter().map(|c| c.span).sum();
    let gaps = GAP * out.children.len().saturating_sub(1) as f64;
    out.span = out.width.max(below + gaps);
    out
}

fn depth(card: &Card) -> usize {
    1 + card.children.iter().map(depth).max().unwrap_or(0)
}

/// The tree of a plan; `caption` is the sentence above it.
pub fn tree(root: &TreeNode, caption: &str) -> String {
    let root = card(root);
    let mut sheet = Sheet::new();
    let full = root.span.max(width(&typeset(caption), 20.5)) + 2.0 * SIDE;
    let height = TOP + LEVEL * depth(&root) as f64 - (LEVEL - CARD) + 44.0;
    sheet.title(caption);
    place(&mut sheet, &root, (full - root.span) / 2.0, TOP);
    let mut x = SIDE;
    for (i, what) in ["maps of rings", "transforms", "small products"].iter().enumerate() {
        sheet.rect(x, height - 22.0, 10.0, 10.0, &format!("c{i}"), 2.0);
        sheet.text(x + 16.0, height - 13.0, "small note", Anchor::Start, what);
        x += width(what, 11.0) + 40.0;
    }
    sheet.finish(full, height, caption)
}

/// Draws a card and what is below it in `[x, x + span]`; the middle of its top is returned.
fn place(sheet: &mut Sheet, card: &Card, x: f64, y: f64) -> f64 {
    let below: f64 = card.children.iter().map(|c| c.span).sum::<f64>()
        + GAP * card.children.len().saturating_sub(1) as f64;
    let mut at = x + (card.span - below) / 2.0;
    let mut tops = Vec::new();
    for child in &card.children {
        tops.push(place(sheet, child, at, y + LEVEL));
        at += child.span + GAP;
    }
    let middle = match (tops.first(), tops.last()) {
        (Some(first), Some(last)) => {
            let (low, high) = (x + card.width / 2.0, x + card.span - card.width / 2.0);
            ((first + last) / 2.0).clamp(low, high.max(low))
        }
        _ => x + card.span / 2.0,
    };
    for top in &tops {
        let (from, to) = (y + CARD, y + LEVEL);
        let bend = (from + to) / 2.0;
        sheet.path(
            &format!(
                "M{middle:.1} {from:.1} C{middle:.1} {bend:.1} {top:.1} {bend:.1} {top:.1} {to:.1}"
            ),
            "line",
        );
    }
    let left = middle - card.width / 2.0;
    if card.times > 1 {
        sheet.rect(left + 5.0, y + 5.0, card.width, CARD, "card", 6.0);
    }
    sheet.rect(left, y, card.width, CARD, "card", 6.0);
    sheet.rect(left, y + 8.0, 4.0, CARD - 16.0, &format!("c{}", card.kind), 2.0);
    let (text, right) = (left + 15.0, left + card.width - 12.0);
    let title = match card.times {
        1 => card.title.clone(),
        times => format!("{} (× {times})", card.title),
    };
    sheet.text(text, y + 16.0, "small note", Anchor::Start, &card.label);
    sheet.text(right, y + 16.0, "small note", Anchor::End, &card.cite);
    sheet.text(text, y + 33.0, "head", Anchor::Start, &title);
    sheet.text(text, y + 50.0, "", Anchor::Start, &card.ring);
    sheet.text(text, y + 66.0, "number note", Anchor::Start, &card.cost);
    middle
}
