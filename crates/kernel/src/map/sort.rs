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

mod lists;
mod terms;

use super::project::cone;
use lists::Lists;
use ringforge_contract::map::MapContract;
use ringforge_machine::graph::{Graph, NodeId};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use terms::Terms;

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
    let terms = Terms::of(graph, array.bits, array.signed(), &cone);
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
