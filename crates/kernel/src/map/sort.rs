//! Functions that sort an array in place.
//!
//! **Statement.** Let each word that the function leaves be made of the words at entry by minima and maxima alone. Such
//! a term commutes with every threshold t: the least of two words is at least t if and only if both are. So the function
//! sorts all arrays if it sorts those of zeros and ones [Knuth3 §5.3.4].
//!
//! Of these there are 2^n. Let S be a set of words at entry. A list of terms *sorts* S if it is as many zeros, and then as
//! many ones, as S has, for all zeros and ones. Let disjoint sets be sorted by lists, and let the terms of a longer
//! list be made of these lists' members alone. Then each list is one of |S| + 1 rows of zeros and ones, and the longer
//! list sorts the union if it does so for each combination of rows. A network that merges sorted lists is thus shown to
//! sort, from single words on.
//!
//! What a term is, `diagram.rs` decides. As a function of at most two terms below it, a word of the graph is a minimum, a
//! maximum, one of the two or constant, for all values. The word may be that with some bits flipped.

use super::diagram::{Kind, kind};
use ringforge_contract::map::MapContract;
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Combinations of rows that are looked at for one list.
const ROWS: u64 = 1 << 20;
/// Nodes between a term and those that it is made of.
const NEAR: usize = 256;
/// Parts of an exclusive or.
const PARTS: usize = 1024;

/// A minimum, a maximum, or a word at entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Term {
    Entry(u32),
    Least(u32, u32),
    Greatest(u32, u32),
}

/// What a node depends on: terms, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Nothing,
    One(u32),
    Two(u32, u32),
    More,
}

impl Below {
    fn with(self, other: Below) -> Below {
        match (self, other) {
            (Below::Nothing, x) | (x, Below::Nothing) => x,
            (Below::More, _) | (_, Below::More) => Below::More,
            (x, Below::One(a)) => x.and(a),
            (x, Below::Two(a, b)) => x.and(a).and(b),
        }
    }

    fn and(self, a: u32) -> Below {
        match self {
            Below::Nothing => Below::One(a),
            Below::One(x) if x != a => Below::Two(x.min(a), x.max(a)),
            Below::Two(x, y) if x != a && y != a => Below::More,
            same => same,
        }
    }
}

/// Finds the terms that nodes are.
struct Terms<'a> {
    graph: &'a Graph,
    /// Of an element.
    bits: u8,
    signed: bool,
    terms: Vec<Term>,
    numbers: FxHashMap<Term, u32>,
    /// Nodes that are terms, but for bits that are flipped.
    found: FxHashMap<NodeId, (u32, u64)>,
    /// Nodes that are constant, whatever is below them.
    constants: FxHashMap<NodeId, u64>,
    /// The first such node of each term.
    first: Vec<NodeId>,
    /// Nodes that are the exclusive or of two others.
    differ: FxHashMap<NodeId, [NodeId; 2]>,
    /// Of what nodes are made, over inputs (0, 0) and (1, 0).
    shapes: Graph,
    kinds: FxHashMap<NodeId, Option<(Kind, u64)>>,
}

impl Terms<'_> {
    fn number(&mut self, term: Term) -> u32 {
        let next = self.terms.len() as u32;
        let number = *self.numbers.entry(term).or_insert(next);
        if number == next {
            self.terms.push(term);
        }
        number
    }

    /// Finds the terms among the nodes of `cone`, which ascends.
    fn find(&mut self, cone: &[NodeId]) {
        let mut below: FxHashMap<NodeId, Below> = FxHashMap::default();
        for &id in cone {
            let node = self.graph.node(id);
            let mut is = match node.op {
                Op::Input { operand: 0, index } if node.width == self.bits => {
                    let term = self.number(Term::Entry(index));
                    self.is(id, term, 0)
                }
                Op::Input { .. } | Op::Address { .. } => Below::More,
                _ => node.args.iter().fold(Below::Nothing, |all, a| all.with(below[a])),
            };
            if is == Below::More && node.op == Op::And {
                is = self.masked(node.args[0], node.args[1], &mut below);
            }
            let of = match is {
                Below::One(a) => Some([a, a]),
                Below::Two(a, b) => Some([a, b]),
                _ => None,
            };
            let of = of.filter(|_| node.width == self.bits && !self.found.contains_key(&id));
            if let Some(found) = of.and_then(|of| self.kind(id, of).map(|kind| (of, kind))) {
                is = self.keep(id, found);
            }
            below.insert(id, is);
        }
    }

    fn is(&mut self, id: NodeId, term: u32, flipped: u64) -> Below {
        self.found.insert(id, (term, flipped));
        if self.first.len() == term as usize {
            self.first.push(id);
        }
        Below::One(term)
    }

    /// What x & y depends on, where one of them is the exclusive or of the two terms that the other depends on. The graph
    /// has cancelled what these share, so that neither is below it.
    fn masked(&mut self, x: NodeId, y: NodeId, below: &mut FxHashMap<NodeId, Below>) -> Below {
        for (mask, differ) in [(x, y), (y, x)] {
            let (Below::Two(a, b), Below::More) = (below[&mask], below[&differ]) else { continue };
            let two = [self.first[a as usize], self.first[b as usize]];
            let mut left = FxHashSet::default();
            let all = [differ, two[0], two[1]].map(|id| self.parts(id, &mut left));
            if all == [true; 3] && left.is_empty() {
                self.differ.insert(differ, two);
                below.insert(differ, Below::Two(a, b));
                return Below::Two(a, b);
            }
        }
        Below::More
    }

    /// Of the parts of an exclusive or, puts in those that are not there, and takes out those that are. Says whether
    /// these were all.
    fn parts(&self, id: NodeId, left: &mut FxHashSet<NodeId>) -> bool {
        let mut stack = vec![id];
        for _ in 0..PARTS {
            let Some(id) = stack.pop() else { return true };
            let node = self.graph.node(id);
            match node.op {
                Op::Xor => stack.extend_from_slice(&node.args),
                Op::Const(0) => {}
                _ if !left.insert(id) => drop(left.remove(&id)),
                _ => {}
            }
        }
        false
    }

    /// What function a node is of two terms, or of one.
    fn kind(&mut self, id: NodeId, of: [u32; 2]) -> Option<(Kind, u64)> {
        let shape = self.shape(id, of, &mut FxHashMap::default())?;
        let (shapes, bits, signed) = (&self.shapes, self.bits, self.signed);
        *self.kinds.entry(shape).or_insert_with(|| kind(shapes, shape, bits, signed))
    }

    /// Keeps what a node is, and says what depends on it.
    fn keep(&mut self, id: NodeId, (of, (kind, flipped)): ([u32; 2], (Kind, u64))) -> Below {
        let term = match kind {
            Kind::Word(i) => of[i],
            Kind::Least => self.number(Term::Least(of[0], of[1])),
            Kind::Greatest => self.number(Term::Greatest(of[0], of[1])),
            Kind::Zero => {
                self.constants.insert(id, flipped);
                return Below::Nothing;
            }
        };
        self.is(id, term, flipped)
    }

    /// A node with the terms below it as inputs; [`None`] if it is far above them.
    fn shape(
        &mut self,
        id: NodeId,
        of: [u32; 2],
        made: &mut FxHashMap<NodeId, NodeId>,
    ) -> Option<NodeId> {
        if let Some(&known) = made.get(&id) {
            return Some(known);
        }
        let node = self.graph.node(id).clone();
        let shape = if let Some(&(term, flipped)) = self.found.get(&id) {
            let leaf = self.shapes.input(self.bits, u16::from(term != of[0]), 0);
            let mask = self.shapes.constant(self.bits, flipped);
            self.shapes.xor(leaf, mask)
        } else if let Some(&value) = self.constants.get(&id) {
            self.shapes.constant(node.width, value)
        } else if let Some(&[x, y]) = self.differ.get(&id) {
            let (x, y) = (self.shape(x, of, made)?, self.shape(y, of, made)?);
            self.shapes.xor(x, y)
        } else if let Op::Const(c) = node.op {
            self.shapes.constant(node.width, c)
        } else {
            let mut args = Vec::with_capacity(node.args.len());
            for &a in &node.args {
                args.push(self.shape(a, of, made)?);
            }
            self.shapes.rebuild(node.width, node.op, &args)
        };
        made.insert(id, shape);
        (made.len() <= NEAR).then_some(shape)
    }
}

/// Words at entry, a bit each.
type Set = Rc<Vec<u64>>;

/// Shows that lists sort sets.
struct Lists {
    terms: Vec<Term>,
    /// Of each term, the number of the set of words at entry that it depends on.
    set_of: Vec<u32>,
    sets: Vec<Set>,
    /// The list that sorts a set, the least first.
    sorted: Vec<Option<Rc<Vec<u32>>>>,
    budget: u64,
    /// Combinations that were looked at.
    looked: u64,
}

impl Lists {
    /// Terms come after those that they are made of.
    fn new(terms: Vec<Term>, length: usize, budget: u64) -> Lists {
        let mut sets: Vec<Set> = Vec::new();
        let mut numbers: FxHashMap<Set, u32> = FxHashMap::default();
        let mut set_of: Vec<u32> = Vec::new();
        for term in &terms {
            let mut set = vec![0u64; length.div_ceil(64)];
            match *term {
                Term::Entry(i) => set[i as usize / 64] |= 1 << (i % 64),
                Term::Least(a, b) | Term::Greatest(a, b) => {
                    for of in [a, b] {
                        let of = &sets[set_of[of as usize] as usize];
                        set.iter_mut().zip(&**of).for_each(|(s, o)| *s |= o);
                    }
                }
            }
            let set = Rc::new(set);
            let number = *numbers.entry(set.clone()).or_insert(sets.len() as u32);
            if number as usize == sets.len() {
                sets.push(set);
            }
            set_of.push(number);
        }
        let sorted = vec![None; sets.len()];
        Lists { terms, set_of, sets, sorted, budget, looked: 0 }
    }

    fn args(&self, term: u32) -> Option<[u32; 2]> {
        match self.terms[term as usize] {
            Term::Entry(_) => None,
            Term::Least(a, b) | Term::Greatest(a, b) => Some([a, b]),
        }
    }

    fn size(&self, set: u32) -> usize {
        self.sets[set as usize].iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Shows what can be shown of the sets below, the smallest first. The last terms of a set are a list of it.
    fn all(&mut self) {
        let mut last: Vec<Vec<u32>> = vec![Vec::new(); self.sets.len()];
        let mut goes_on = vec![false; self.terms.len()];
        for term in 0..self.terms.len() as u32 {
            for of in self.args(term).into_iter().flatten() {
                goes_on[of as usize] |= self.set_of[of as usize] == self.set_of[term as usize];
            }
        }
        for (term, on) in goes_on.iter().enumerate() {
            if !on {
                last[self.set_of[term] as usize].push(term as u32);
            }
        }
        let mut order: Vec<u32> = (0..self.sets.len() as u32).collect();
        order.sort_by_key(|&set| self.size(set));
        for set in order {
            let list = std::mem::take(&mut last[set as usize]);
            if list.len() != self.size(set) {
                continue;
            }
            if list.len() == 1 {
                self.sorted[set as usize] = Some(Rc::new(list));
            } else if let Ok(sorted) = self.sorts(&list, set) {
                self.sorted[set as usize] = Some(Rc::new(sorted));
            }
        }
    }

    /// The sets of sorted lists that the terms of a list are made of.
    fn parts(&self, list: &[u32], set: u32) -> Vec<u32> {
        let (mut parts, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let mut stack = list.to_vec();
        while let Some(term) = stack.pop() {
            if !seen.insert(term) {
                continue;
            }
            let own = self.set_of[term as usize];
            let sorted = self.sorted[own as usize].as_ref().filter(|_| own != set);
            if sorted.is_some_and(|l| l.contains(&term)) {
                parts.insert(own);
            } else {
                stack.extend(self.args(term).into_iter().flatten());
            }
        }
        let mut parts: Vec<u32> = parts.into_iter().collect();
        parts.sort_unstable();
        parts
    }

    /// The list in order, if it sorts the set.
    fn sorts(&mut self, list: &[u32], set: u32) -> Result<Vec<u32>, String> {
        let parts = self.parts(list, set);
        let mut union = vec![0u64; self.sets[set as usize].len()];
        for &part in &parts {
            for (u, s) in union.iter_mut().zip(&**self.sets[part as usize]) {
                if *u & s != 0 {
                    return Err("lists that share words are merged".into());
                }
                *u |= s;
            }
        }
        if union != **self.sets[set as usize] {
            return Err("words are left out".into());
        }
        let merge = self.merge(list, &parts)?;
        let cost = 2 * merge.rows.div_ceil(64) * (merge.steps.len() + list.len()) as u64;
        self.budget = self.budget.checked_sub(cost).ok_or("more work than is allowed for")?;
        self.looked += merge.rows;
        // Of two members of a sorted list, the later one is one more often.
        let mut often = vec![0u64; list.len()];
        merge.all(&mut |values, _| {
            for (often, &at) in often.iter_mut().zip(&merge.list) {
                *often += u64::from(values[at].count_ones());
            }
            true
        });
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by_key(|&i| often[i]);
        let fine = merge.all(&mut |values, sorted| {
            order.iter().zip(sorted).all(|(&i, sorted)| values[merge.list[i]] == *sorted)
        });
        if !fine {
            return Err("lists are merged to one that is not sorted".into());
        }
        Ok(order.into_iter().map(|i| list[i]).collect())
    }

    /// How the terms of a list are made of sorted lists.
    fn merge(&self, list: &[u32], parts: &[u32]) -> Result<Merge, String> {
        let lists: Vec<Rc<Vec<u32>>> =
            parts.iter().filter_map(|&p| self.sorted[p as usize].clone()).collect();
        let lengths: Vec<usize> = lists.iter().map(|l| l.len()).collect();
        let rows = lengths.iter().try_fold(1u64, |n, &l| n.checked_mul(l as u64 + 1));
        let rows = rows.filter(|&n| n <= ROWS).ok_or("too many lists are merged at once")?;
        let ends: FxHashMap<u32, (usize, usize)> = (lists.iter().enumerate())
            .flat_map(|(l, list)| list.iter().enumerate().map(move |(k, &t)| (t, (l, k))))
            .collect();
        let (mut between, mut stack) = (FxHashSet::default(), list.to_vec());
        while let Some(term) = stack.pop() {
            if between.insert(term) && !ends.contains_key(&term) {
                stack.extend(self.args(term).into_iter().flatten());
            }
        }
        let mut between: Vec<u32> = between.into_iter().collect();
        between.sort_unstable();
        let at: FxHashMap<u32, usize> = between.iter().enumerate().map(|(i, &t)| (t, i)).collect();
        let step = |term: &u32| match (ends.get(term), self.terms[*term as usize]) {
            (Some(&(l, k)), _) => Ok(Step::Member(l, k)),
            (None, Term::Least(a, b)) => Ok(Step::And(at[&a], at[&b])),
            (None, Term::Greatest(a, b)) => Ok(Step::Or(at[&a], at[&b])),
            (None, Term::Entry(_)) => Err("a word is of no list".to_string()),
        };
        let steps = between.iter().map(step).collect::<Result<_, _>>()?;
        Ok(Merge { list: list.iter().map(|t| at[t]).collect(), steps, lengths, rows })
    }
}

/// A value of zeros and ones.
enum Step {
    /// Member number k of list number l.
    Member(usize, usize),
    /// Of two steps before.
    And(usize, usize),
    Or(usize, usize),
}

/// A list that is made of sorted lists.
struct Merge {
    /// The steps of its members.
    list: Vec<usize>,
    steps: Vec<Step>,
    /// Members of the sorted lists.
    lengths: Vec<usize>,
    /// Combinations of their rows.
    rows: u64,
}

impl Merge {
    /// Gives the values of all steps, and the list as it should be, for 64 combinations at a time, until `each` says no.
    fn all(&self, each: &mut dyn FnMut(&[u64], &[u64]) -> bool) -> bool {
        let mut values = vec![0u64; self.steps.len()];
        for first in (0..self.rows).step_by(64) {
            // Rows of members, each of zeros and then ones: where the ones begin.
            let mut rows: Vec<Vec<u64>> = self.lengths.iter().map(|&n| vec![0; n + 1]).collect();
            let mut sorted = vec![0u64; self.list.len() + 1];
            for j in 0..(self.rows - first).min(64) {
                let (mut rest, mut count) = (first + j, 0);
                for (row, &n) in rows.iter_mut().zip(&self.lengths) {
                    let ones = (rest % (n as u64 + 1)) as usize;
                    rest /= n as u64 + 1;
                    row[n - ones] |= 1 << j;
                    count += ones;
                }
                sorted[self.list.len() - count] |= 1 << j;
            }
            for row in rows.iter_mut().chain([&mut sorted]) {
                for k in 1..row.len() {
                    row[k] |= row[k - 1];
                }
            }
            for (i, step) in self.steps.iter().enumerate() {
                values[i] = match *step {
                    Step::Member(l, k) => rows[l][k],
                    Step::And(a, b) => values[a] & values[b],
                    Step::Or(a, b) => values[a] | values[b],
                };
            }
            if !each(&values, &sorted) {
                return false;
            }
        }
        true
    }
}

/// Checks that the words an array is left with are those at entry, in order; how many combinations were looked at.
///
/// # Errors
/// Why that is not shown.
pub(super) fn check(
    contract: &MapContract,
    graph: &Graph,
    left: &[NodeId],
    budget: u64,
) -> Result<u64, String> {
    let (cone, array) = (cone(graph, left), &contract.arguments[contract.outputs()[0]]);
    let mut terms = Terms {
        graph,
        bits: array.bits,
        signed: array.signed(),
        terms: Vec::new(),
        numbers: FxHashMap::default(),
        found: FxHashMap::default(),
        constants: FxHashMap::default(),
        first: Vec::new(),
        differ: FxHashMap::default(),
        shapes: Graph::new(),
        kinds: FxHashMap::default(),
    };
    terms.find(&cone);
    let mut list = Vec::with_capacity(left.len());
    for (k, id) in left.iter().enumerate() {
        match terms.found.get(id) {
            Some(&(term, 0)) => list.push(term),
            _ => return Err(format!("word {k} is not made of minima and maxima of two words")),
        }
    }
    let mut lists = Lists::new(terms.terms, array.length, budget);
    if list.iter().collect::<FxHashSet<_>>().len() < list.len() {
        return Err("two words are left with one value".into());
    }
    lists.all();
    let set = lists.set_of[list[0] as usize];
    if lists.size(set) != array.length || list.iter().any(|&t| lists.set_of[t as usize] != set) {
        return Err("a word that is left does not depend on all".into());
    }
    let known = lists.sorted[set as usize].take();
    let sorted = match known.filter(|known| **known == list) {
        Some(known) => known,
        None => Rc::new(lists.sorts(&list, set)?),
    };
    if *sorted != list {
        return Err("the words are sorted, and left in another order".into());
    }
    Ok(lists.looked)
}

/// What nodes are made of, ascending.
fn cone(graph: &Graph, roots: &[NodeId]) -> Vec<NodeId> {
    let mut seen: FxHashSet<NodeId> = roots.iter().copied().collect();
    let mut cone: Vec<NodeId> = seen.iter().copied().collect();
    let mut next = 0;
    while next < cone.len() {
        let args = graph.node(cone[next]).args.clone();
        cone.extend(args.into_iter().filter(|a| seen.insert(*a)));
        next += 1;
    }
    cone.sort_unstable();
    cone
}
