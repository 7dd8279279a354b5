//! Random chains over tiny rings, half of them with a wrong definition: what is accepted holds for functions that do
//! anything that their contracts allow.

use ringforge_contract::chain::{Callee, Chain};
use ringforge_contract::map::formula::Formula;
use ringforge_contract::{Computes, Contract, expected};
use ringforge_ring::Ring;
use std::collections::BTreeMap;

const RINGS: [(i64, &str); 4] = [
    (5, "Z5[x]/(x^2 + 1)"),
    (5, "Z5[x]/(x^2 - 1)"),
    (3, "Z3[x]/(x^2 + 1)"),
    (4, "Z4[x]/(x^2 + 1)"),
];
const RANGES: [&str; 7] =
    ["[-2, 2]", "[0, 4]", "[-3, 3]", "[1, 5]", "[-1, 2]", "[-3, 1]", "[-2, 1]"];
/// Maps of A and B, and as sums in a ring.
const MAPS: [(&str, &str); 11] = [
    ("A", "1 * A"),
    ("A - 3 * B", "1 * A + 57 * B"),
    ("2 * B - A + 1", "2 * B + 59 * A + 1 * one"),
    ("A mod 60", "1 * A"),
    ("floor(A / 2)", ""),
    ("A mod 5", ""),
    ("A cmod 3", ""),
    ("A cmod 4", ""),
    ("A * B", ""),
    ("B < A ? A : B", ""),
    ("(A + B) mod 5 * 2", ""),
];
const HEAD: &str =
    "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\nalias = [[\"c\", \"a\"]]\n";
/// What functions of a ring compute, with scales S.
const KINDS: [(&str, &str); 6] = [
    ("\"product\"", "1 * X * Y"),
    ("\"product\"", "1 * X * Y"),
    ("\"forward\"\nL", "S * X"),
    ("\"inverse\"\nL", "S * X"),
    ("\"base-product\"\nL", "S * X * Y"),
    ("\"scale\"\nscale = S", "S * X"),
];
/// Changes that make a definition wrong, or not.
const CHANGES: [(&str, &str); 7] = [
    ("mod", "cmod"),
    ("cmod", "mod"),
    ("1", "2"),
    ("2", "3"),
    ("d", "a * d"),
    ("a", "b"),
    ("b", "a"),
];

type Words = Vec<i64>;
/// Words, or what they are congruent to in a ring.
type Meaning = (Words, Option<usize>);
/// What an array should hold: a definition, the ring that it is in, and the step whose transform it is.
type Holds = (String, Option<usize>, Option<usize>);

/// A chain while it is made.
#[derive(Default)]
struct Made {
    /// By step.
    contracts: Vec<String>,
    steps: Vec<BTreeMap<&'static str, String>>,
    rings: Vec<usize>,
    /// Names, rings, and formulas: sums of products in the ring, or integers by coefficient.
    defined: Vec<(String, Option<usize>, String)>,
    holds: BTreeMap<String, Holds>,
}

/// Numbers that look random (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

fn key(name: &str, value: &str) -> String {
    format!("{name} = \"{value}\"\n")
}

fn argument(name: &str, role: &str, range: &str, more: &str) -> String {
    let (name, role) = (key("name", name), key("role", role));
    format!("[[argument]]\n{name}{role}element = \"i16\"\nlength = 2\nrange = {range}\n{more}")
}

impl Made {
    /// One more call, and a definition of what it should leave.
    fn step(&mut self, r: &mut Random) {
        let arrays: Vec<String> = self.holds.keys().cloned().collect();
        let (a, b) = (r.of(&arrays), r.of(&arrays));
        let free: Vec<&str> = ["a", "x", "y", "z"].into_iter().filter(|c| *c != b).collect();
        let c = r.of(&free).to_string();
        let ((x, in_x, t), (y, in_y, u)) = (self.holds[&a].clone(), self.holds[&b].clone());
        let (number, known) = (self.contracts.len(), in_x.or(in_y));
        // There is a ring at first, and what takes a transform has one.
        let kind = match (r.below(12), t, u) {
            _ if number == 0 => 0,
            (3, None, _) | (4, None, _) | (4, _, None) => 2,
            (2, Some(_), _) => 3,
            (kind, ..) => kind,
        };
        let (keys, range, more, ring, formula, transform);
        if kind < 6 {
            let (other, scale) = (r.below(4), (1 + r.below(4)).to_string());
            let in_ring = if kind > 1 { 0 } else { r.of(&[known.unwrap_or(0), other]) };
            let (computes, of) = KINDS[kind];
            let order = r.of(&["0, 1", "0, 1", "1, 0"]);
            keys = format!("ring = \"{}\"\ncomputes = {computes}\n", RINGS[in_ring].1)
                .replace(
                    'L',
                    "scale = S\ntransform = { degree = 1, weights = [2, 3], order = [O] }",
                )
                .replace('O', order)
                .replace('S', &scale);
            self.rings.push(in_ring);
            (range, more, ring) = (r.of(&RANGES), String::new(), Some(in_ring));
            transform = if kind == 2 { Some(number) } else { t.filter(|_| kind > 3) };
            formula = of.replace('S', &scale).replace('X', &x).replace('Y', &y);
        } else {
            let ((map, sum), own) = (r.of(&MAPS), r.of(&self.rings));
            let modulo = RINGS[own].0 * r.of(&[0, 0, 1, 2]);
            (keys, transform) = ("computes = \"map\"\n".to_string(), t);
            range = if modulo > 0 { "[-11, 11]" } else { "[-99, 99]" };
            let modular = if modulo > 0 { format!("modulo = {modulo}\n") } else { String::new() };
            more = format!("formula = \"{}\"\n{modular}", map.to_lowercase());
            let in_ring = !sum.is_empty() && (modulo > 0 || known.is_some()) && r.below(4) > 0;
            ring = in_ring.then_some(known.unwrap_or(own));
            let [x, y] = [(x, in_x), (y, in_y)].map(|(name, of)| {
                let Some(of) = of.filter(|_| !in_ring) else { return name };
                let form = r.of(&["(W mod Q)", "(W cmod Q)", "((W - 1) mod Q + 1)", "W"]);
                form.replace('W', &name).replace('Q', &RINGS[of].0.to_string())
            });
            formula = if in_ring { sum } else { map }.replace('A', &x).replace('B', &y);
        }
        let mut contract = HEAD.to_string() + &keys + &argument("c", "output", range, &more);
        let mut arguments = BTreeMap::from([("a", a), ("c", c.clone())]);
        contract += &argument("a", "input", "[-99, 99]", "");
        if kind >= 6 || keys.contains("product") {
            contract += &argument("b", "input", "[-99, 99]", "");
            arguments.insert("b", b);
        }
        let name = format!("d{}", self.defined.len());
        self.defined.push((name.clone(), ring, formula));
        self.holds.insert(c, (name, ring, transform));
        self.contracts.push(contract);
        self.steps.push(arguments);
    }

    /// The text that claims what an array holds, with the definitions that this needs.
    fn text(&self, ranges: [[i64; 2]; 2], array: &str, (name, ring, transform): &Holds) -> String {
        let said = |ring: Option<usize>, formula: &str| match ring {
            None => key("each", formula),
            Some(ring) => key("computes", formula) + &key("ring", RINGS[ring].1),
        };
        let (mut needed, mut defined) = (vec![name.as_str()], String::new());
        for (name, ring, formula) in self.defined.iter().rev() {
            if needed.contains(&name.as_str()) {
                needed.extend(formula.split(|c: char| !c.is_alphanumeric()));
                defined =
                    format!("[[define]]\n{}{}{defined}", key("name", name), said(*ring, formula));
            }
        }
        let mut text = "chain = 1\n".to_string();
        for (name, range) in ["a", "b"].iter().zip(ranges) {
            text +=
                &format!("[[input]]\n{}element = \"i16\"\nrange = {range:?}\n", key("name", name));
        }
        text += &defined;
        for (i, arguments) in self.steps.iter().enumerate() {
            let given: String =
                arguments.iter().map(|(k, v)| "arguments.".to_string() + &key(k, v)).collect();
            text += &format!("[[step]]\ncontract = \"{i}\"\n{given}");
        }
        let t = transform.map_or(String::new(), |step| key("transform", &step.to_string()));
        text + "[[output]]\nrange = [-99, 99]\n" + &key("name", array) + &said(*ring, name) + &t
    }

    /// What the definitions mean; not those that mean nothing.
    fn meanings(&self, inputs: &[Words; 2], r: &mut Random) -> BTreeMap<String, Meaning> {
        let mut all: BTreeMap<String, Meaning> = BTreeMap::new();
        for (name, words) in ["a", "b"].iter().zip(inputs) {
            all.insert(name.to_string(), (words.clone(), None));
        }
        for (name, ring, formula) in &self.defined {
            let words = match ring {
                Some(ring) => sum(&all, *ring, formula),
                None => integers(&all, formula, r),
            };
            all.extend(words.map(|words| (name.clone(), (words, *ring))));
        }
        all
    }
}

/// `1 * a + 2 * a * b` in a ring.
fn sum(all: &BTreeMap<String, Meaning>, ring: usize, formula: &str) -> Option<Words> {
    let of = Ring::parse(RINGS[ring].1).ok()?;
    let mut sum = vec![0, 0];
    for term in formula.split(" + ") {
        let mut product = vec![1, 0];
        for factor in term.split(" * ") {
            let known = all.get(factor).filter(|m| m.1.is_none_or(|other| other == ring));
            let words = factor.parse().map(|c| vec![c, 0]).ok();
            product = of.mul(&product, &words.or(known.map(|m| m.0.clone()))?);
        }
        sum.iter_mut().zip(product).for_each(|(s, p)| *s += p);
    }
    Some(sum)
}

/// By coefficient; of residues, any integers that are congruent.
fn integers(all: &BTreeMap<String, Meaning>, formula: &str, r: &mut Random) -> Option<Words> {
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let mut any = |(words, ring): &Meaning| -> Words {
        let q = ring.map_or(0, |ring| RINGS[ring].0);
        words.iter().map(|x| x + q * (r.below(7) as i64 - 3)).collect()
    };
    let values: Vec<Words> = all.values().map(&mut any).collect();
    let root = Formula::parse(formula, &names).ok()?.root;
    (0..2).map(|k| i64::try_from(root.value(&|i| values[i][k].into())?).ok()).collect()
}

/// What arrays hold after functions that do anything that their contracts allow. [`None`] where one can do nothing.
fn called(
    callees: &[Callee],
    made: &Made,
    inputs: &[Words; 2],
    r: &mut Random,
) -> Option<BTreeMap<String, Words>> {
    let mut held = BTreeMap::from(
        ["a", "b"].map(|name| (name.to_string(), inputs[usize::from(name == "b")].clone())),
    );
    for (callee, arguments) in callees.iter().zip(&made.steps) {
        let read: Vec<Words> =
            ["a", "b"].iter().filter_map(|name| Some(held[arguments.get(name)?].clone())).collect();
        let ((lo, hi), words): (_, Vec<i128>) = match callee {
            Callee::Ring(c) => {
                (c.arguments[0].exit, expected(c, &read).into_iter().map(i128::from).collect())
            }
            Callee::Map(c) => (c.arguments[0].memory.exit, c.expected(&read)?.remove(0)),
        };
        let mut left = Vec::new();
        for word in words {
            let allowed = |found: &i64| match callee {
                Callee::Ring(c) => (i128::from(*found) - word) % i128::from(c.ring.q()) == 0,
                Callee::Map(c) => c.arguments[0].fulfilled((*found).into(), word),
            };
            let all: Vec<i64> = (lo..=hi).filter(allowed).collect();
            left.push(*all.get(r.below(all.len().max(1)))?);
        }
        held.insert(arguments["c"].clone(), left);
    }
    Some(held)
}

/// Whether words are what is meant, or its transform.
fn right(
    callees: &[Callee],
    found: &Words,
    (words, ring): &Meaning,
    transform: Option<usize>,
) -> bool {
    let mut words = words.clone();
    if let Some(Callee::Ring(c)) = transform.map(|step| &callees[step]) {
        words =
            expected(&Contract { computes: Computes::Forward { scale: 1 }, ..c.clone() }, &[words]);
    }
    let same = |(x, y): (&i64, &i64)| ring.map_or(x == y, |ring| (x - y) % RINGS[ring].0 == 0);
    found.iter().zip(&words).all(same)
}

#[test]
fn accepted_chains_hold() {
    let r = &mut Random(0x9e37_79b9_7f4a_7c15);
    // Accepted, refused and wrong, others.
    let mut counts = [[0; 3]; 2];
    for _ in 0..2500 {
        let own = |name: &str| (name.to_string(), (name.to_string(), None, None));
        let holds = BTreeMap::from([own("a"), own("b")]);
        let mut made =
            Made { holds, defined: vec![("one".into(), None, "1".into())], ..Made::default() };
        (0..2 + r.below(4)).for_each(|_| made.step(r));
        let mutated = r.below(2);
        if mutated == 1 {
            let at = r.below(made.defined.len());
            let (from, to) = r.of(&CHANGES);
            made.defined[at].2 = made.defined[at].2.replacen(from, to, 1);
        }
        let callees: Vec<Callee> = made
            .contracts
            .iter()
            .map(|c| Callee::parse(c).unwrap_or_else(|e| panic!("{e}\n{c}")))
            .collect();
        let ranges = [0; 2].map(|_| r.of(&[[-2, 2], [0, 3], [0, 0], [1, 1], [-1, 1]]));
        for (array, said) in made.holds.iter().filter(|(array, said)| **array != said.0) {
            let text = made.text(ranges, array, said);
            let accepted =
                Chain::parse(&text, |file| Ok(callees[file.parse::<usize>().unwrap_or(0)].clone()))
                    .is_ok();
            let mut word = |[lo, hi]: [i64; 2]| lo + r.below((hi - lo + 1) as usize) as i64;
            let calls: Vec<[Words; 2]> =
                (0..12).map(|_| ranges.map(|range| vec![word(range), word(range)])).collect();
            let mut judged = 0;
            let wrong = calls.iter().any(|inputs| {
                let Some(held) = called(&callees, &made, inputs, r) else { return false };
                judged += 1;
                let meanings = made.meanings(inputs, r);
                !meanings.get(&said.0).is_some_and(|m| right(&callees, &held[array], m, said.2))
            });
            assert!(!accepted || !wrong, "{text}\n{}\n{calls:?}", made.contracts.join("\n"));
            // What no function can do says nothing.
            let which = if wrong {
                1
            } else if accepted && judged > 0 {
                0
            } else {
                2
            };
            counts[mutated][which] += 1;
        }
    }
    println!("accepted, refused and wrong, others: {counts:?}");
    assert!(counts.iter().flatten().all(|&n| n > 100), "{counts:?}");
}
