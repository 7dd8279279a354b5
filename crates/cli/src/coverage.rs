//! Which rule of the kernel carries which instruction: reads a certificate together with its code.
//!
//! Nothing is decided here. The certificate was accepted before, and what this module says about
//! its lines follows from that.

mod intervals;

use std::collections::{BTreeMap, HashMap};

use ringforge_certificate::stated::{RULES, place};
use ringforge_contract::{CallLimits, Executed};
use ringforge_kernel::certificate::Line;
use ringforge_machine::Object;
use ringforge_machine::graph::{Graph, NodeId, Op};
use ringforge_prove::Options;
use ringforge_prove::contract::Contract;

/// What carries a node, or an instruction: what stands first where several do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum By {
    /// The kernel's rule at this place in [`RULES`].
    Rule(usize),
    /// Sums, and what else needs no line of the certificate.
    Linear,
    /// It computes what no output depends on.
    Unneeded,
    /// It computes nothing new.
    Nothing,
}

impl By {
    /// All, in order.
    fn all() -> impl Iterator<Item = By> {
        (0..RULES.len()).map(By::Rule).chain([By::Linear, By::Unneeded, By::Nothing])
    }

    /// The rule's name, as docs/kernel.md has it.
    pub fn name(self) -> &'static str {
        match self {
            By::Rule(place) => RULES[place],
            By::Linear => "linear rules",
            By::Unneeded => "not needed by an output",
            By::Nothing => "memory, moves and control",
        }
    }
}

/// One instruction.
pub struct Instruction {
    /// Its address.
    pub address: u64,
    /// Its text.
    pub text: String,
    /// What carries it.
    pub by: By,
    /// How many of its nodes each rule carries.
    pub nodes: BTreeMap<By, usize>,
    /// The interval of the values that it hands on, and how many of them are known to lie there.
    pub interval: Option<(i128, i128, usize)>,
    /// How many values it hands on.
    pub values: usize,
}

/// The instructions of a function and of those that it calls.
pub struct Coverage {
    /// The call that is shown, one of those that the contract allows.
    pub call: String,
    /// Functions by name, with their instructions.
    pub functions: Vec<(String, Vec<Instruction>)>,
}

impl Coverage {
    /// Instructions and nodes by what carries them.
    pub fn shares(&self) -> Vec<(By, usize, usize)> {
        let instructions = || self.functions.iter().flat_map(|f| &f.1);
        let share = |by: By| {
            let carried = instructions().filter(|i| i.by == by).count();
            (by, carried, instructions().filter_map(|i| i.nodes.get(&by)).sum())
        };
        By::all().map(share).filter(|s| s.1 + s.2 > 0).collect()
    }

    /// All instructions.
    pub fn count(&self) -> usize {
        self.functions.iter().map(|f| f.1.len()).sum()
    }
}

/// Reads the first call of an accepted certificate together with the object's code.
pub fn of(object: &[u8], contract: &Contract, certificate: &str) -> Option<Coverage> {
    let object = Object::parse(object).ok()?;
    let cases = ringforge_certificate::parse(certificate).ok()?;
    let (call, lines) = cases.first()?;
    let mut graph = Graph::new();
    let limits = CallLimits { max_steps: Options::default().max_steps };
    let mut executed = Executed::default();
    let go_on = &mut |_| true;
    let calls =
        ringforge_contract::cases(contract, &object, &mut graph, limits, &mut executed, go_on)
            .ok()?;
    let case = calls.iter().find(|c| c.name == *call)?;
    let nodes = Nodes::new(&graph, &case.outputs, lines);
    let intervals = intervals::read(&graph, &nodes.needed, case, case.ranges(contract), lines);
    let mut places = nodes.by_instruction(&graph, &case.outputs, &intervals);

    let all: Vec<_> = object.functions().collect();
    let entry = object.function(&contract.symbol).ok()?;
    let mut functions = Vec::new();
    for (at, function) in all.iter().enumerate() {
        let next = all[at + 1..].iter().find(|f| f.address > function.address);
        let end = match function.size {
            0 => next.map_or(u64::MAX, |f| f.address),
            size => function.address + size,
        };
        let inside = |address: &u64| (function.address..end).contains(address);
        let twice = all[..at].iter().any(|f| f.address == function.address && f.size > 0);
        if twice || (function.address != entry.address && !places.keys().any(inside)) {
            continue;
        }
        functions
            .push((function.name.clone(), listed(&object, function.address, end, &mut places)));
    }
    functions.sort_by_key(|f| f.0 != entry.name);
    Some(Coverage { call: call.clone(), functions })
}

/// The instructions between two addresses.
fn listed(
    object: &Object,
    from: u64,
    end: u64,
    places: &mut HashMap<u64, Place>,
) -> Vec<Instruction> {
    let mut all = Vec::new();
    let mut address = from;
    while address < end {
        let Some((text, length)) = object.instruction(address) else {
            if end == u64::MAX {
                break;
            }
            address += 2; // a constant between instructions
            continue;
        };
        let place = places.remove(&address).unwrap_or_default();
        let first = place.nodes.keys().next().copied();
        let by = first.unwrap_or(if place.unneeded { By::Unneeded } else { By::Nothing });
        let Place { nodes, interval, values, .. } = place;
        all.push(Instruction { address, text, by, nodes, interval, values });
        address += length as u64;
    }
    all
}

/// What is known of one instruction's nodes.
#[derive(Default)]
struct Place {
    nodes: BTreeMap<By, usize>,
    unneeded: bool,
    interval: Option<(i128, i128, usize)>,
    values: usize,
    /// Whether the values are not extensions.
    proper: bool,
}

impl Place {
    /// Takes in a value that the instruction hands on. An extension counts only if there is nothing
    /// else: next to a product, say, it is an operand in another width.
    fn hand_on(&mut self, graph: &Graph, node: NodeId, interval: Option<(i128, i128)>) {
        let proper = !matches!(graph.node(node).op, Op::Sext | Op::Zext);
        if proper && !self.proper {
            (self.interval, self.values, self.proper) = (None, 0, true);
        }
        if proper == self.proper {
            self.values += 1;
            if let Some((lo, hi)) = interval.filter(|i| fits(*i, graph.node(node).width)) {
                let (l, h, n) = self.interval.unwrap_or((lo, hi, 0));
                self.interval = Some((l.min(lo), h.max(hi), n + 1));
            }
        }
    }
}

/// The nodes that outputs depend on, and what carries them.
struct Nodes {
    needed: Vec<bool>,
    by: HashMap<u32, By>,
}

impl Nodes {
    fn new(graph: &Graph, outputs: &[NodeId], lines: &[Line]) -> Nodes {
        let mut needed = vec![false; graph.len()];
        outputs.iter().for_each(|o| needed[o.0 as usize] = true);
        for id in (0..needed.len()).rev() {
            if needed[id] {
                let args = &graph.node(NodeId(id as u32)).args;
                args.iter().for_each(|a| needed[a.0 as usize] = true);
            }
        }
        let by = lines.iter().filter_map(|line| match line {
            Line::Node { node, rules, .. } => {
                Some((*node, By::Rule(rules.iter().map(place).min()?)))
            }
            _ => None,
        });
        Nodes { by: by.collect(), needed }
    }

    /// What is to be said of each address.
    fn by_instruction(
        &self,
        graph: &Graph,
        outputs: &[NodeId],
        intervals: &[Option<(i128, i128)>],
    ) -> HashMap<u64, Place> {
        let handed = self.handed_on(graph, outputs);
        let mut places: HashMap<u64, Place> = HashMap::new();
        for id in 0..graph.len() {
            let node = NodeId(id as u32);
            let Some(address) = graph.origin(node) else { continue };
            // A constant is computed by nobody, and an address is no number.
            if graph.node(node).args.is_empty() || graph.has_address(node) {
                continue;
            }
            let place = places.entry(address).or_default();
            if !self.needed[id] {
                place.unneeded = true;
                continue;
            }
            let by = self.by.get(&node.0).copied().unwrap_or(By::Linear);
            *place.nodes.entry(by).or_default() += 1;
            if handed[id] {
                place.hand_on(graph, node, intervals[id]);
            }
        }
        places
    }

    /// The nodes that are outputs, or that another instruction uses.
    fn handed_on(&self, graph: &Graph, outputs: &[NodeId]) -> Vec<bool> {
        let mut handed = vec![false; graph.len()];
        outputs.iter().for_each(|o| handed[o.0 as usize] = true);
        for id in (0..graph.len()).filter(|&id| self.needed[id]) {
            let own = graph.origin(NodeId(id as u32));
            for arg in &graph.node(NodeId(id as u32)).args {
                handed[arg.0 as usize] |= graph.origin(*arg) != own;
            }
        }
        handed
    }
}

/// Whether the interval says something about a word of `width` bits, read as signed or as unsigned:
/// it must fit, and must not be the whole range.
fn fits((lo, hi): (i128, i128), width: u8) -> bool {
    let half = 1i128 << (width - 1);
    let (signed, unsigned) = (-half <= lo && hi < half, lo >= 0 && hi < 2 * half);
    (signed || unsigned) && hi - lo < 2 * half - 1
}
