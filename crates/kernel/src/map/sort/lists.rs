//! Lists of terms that sort sets of words at entry.

use super::terms::Term;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Combinations of rows that are looked at for one list.
const ROWS: u64 = 1 << 20;
/// Words at entry, a bit each.
type Set = Rc<Vec<u64>>;

/// Shows that lists sort sets.
pub(super) struct Lists {
    terms: Vec<Term>,
    /// Of each term, the number of the set of words at entry that it depends on.
    pub set_of: Vec<u32>,
    sets: Vec<Set>,
    /// The list that sorts a set, the least first.
    pub sorted: Vec<Option<Rc<Vec<u32>>>>,
    budget: u64,
    /// Combinations that were looked at.
    pub looked: u64,
}

impl Lists {
    /// Terms come after those that they are made of.
    pub fn new(terms: Vec<Term>, length: usize, budget: u64) -> Lists {
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

    pub fn size(&self, set: u32) -> usize {
        self.sets[set as usize].iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Shows what can be shown of the sets below, the smallest first. The last terms of a set are a list of it.
    pub fn all(&mut self) {
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
    pub fn sorts(&mut self, list: &[u32], set: u32) -> Result<Vec<u32>, String> {
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
