//! Small graphs with contracts of functions of each element.

use ringforge_contract::map::{MapCase, MapContract};
use ringforge_kernel::check::Limits;
use ringforge_kernel::map::{Checked, Flaw, check};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

/// A function, as a graph, and its contract.
pub struct Map {
    pub contract: MapContract,
    pub graph: Graph,
    pub outputs: Vec<Vec<NodeId>>,
    pub result: Option<NodeId>,
}

impl Map {
    /// Arguments as `name: key; key`.
    pub fn new(arguments: &[&str]) -> Map {
        Map::of("computes = \"map\"", arguments)
    }

    /// With what is computed.
    pub fn of(computes: &str, arguments: &[&str]) -> Map {
        let mut text = format!("contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\n{computes}\n");
        for argument in arguments {
            let (name, keys) = argument.split_once(": ").expect("a name");
            let keys: Vec<String> = keys.split("; ").map(|key| format!("{key}\n")).collect();
            text += &format!("[[argument]]\nname = \"{name}\"\n{}", keys.concat());
        }
        let contract = MapContract::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Map { contract, graph: Graph::new(), outputs: Vec::new(), result: None }
    }

    /// The node as it stands.
    pub fn node(&mut self, width: u8, op: Op, args: &[NodeId]) -> NodeId {
        let args = args.iter().copied().collect();
        self.graph.intern(Node { width, op, args }, None)
    }

    /// An element in memory; of a number, all 64 bits.
    pub fn input(&mut self, operand: u16, index: u32) -> NodeId {
        let a = &self.contract.arguments[self.contract.inputs()[usize::from(operand)]];
        let width = if a.any_number() { 64 } else { a.memory.element.bits() };
        self.node(width, Op::Input { operand, index }, &[])
    }

    pub fn constant(&mut self, width: u8, value: i64) -> NodeId {
        self.node(width, Op::Const(value as u64 & (u64::MAX >> (64 - width))), &[])
    }

    /// An operation of two words, as wide as they are.
    pub fn two(&mut self, op: Op, x: NodeId, y: NodeId) -> NodeId {
        let width = if matches!(op, Op::Eq | Op::Slt | Op::Ult) { 1 } else { self.width(x) };
        self.node(width, op, &[x, y])
    }

    /// An operation of a word and a constant.
    pub fn by(&mut self, op: Op, x: NodeId, value: i64) -> NodeId {
        let constant = self.constant(self.width(x), value);
        self.two(op, x, constant)
    }

    /// y where a bit is set, else x.
    pub fn select(&mut self, bit: NodeId, y: NodeId, x: NodeId) -> NodeId {
        self.node(self.width(x), Op::Select, &[bit, y, x])
    }

    /// x, but for one value of another word: there x + 1.
    pub fn but(&mut self, x: NodeId, other: NodeId, value: i64) -> NodeId {
        let bit = self.by(Op::Eq, other, value);
        let more = self.by(Op::Add, x, 1);
        self.select(bit, more, x)
    }

    pub fn width(&self, id: NodeId) -> u8 {
        self.graph.node(id).width
    }

    /// An output whose elements in memory are all made in one way.
    pub fn each(mut self, mut element: impl FnMut(&mut Map, u32) -> NodeId) -> Map {
        let argument = self.contract.outputs()[self.outputs.len()];
        let length = self.contract.arguments[argument].memory.length as u32;
        let all = (0..length).map(|i| element(&mut self, i)).collect();
        self.outputs.push(all);
        self
    }

    /// A result.
    pub fn gives(mut self, result: impl FnOnce(&mut Map) -> NodeId) -> Map {
        self.result = Some(result(&mut self));
        self
    }

    pub fn check(&self) -> Result<Checked, Flaw> {
        self.check_for(1 << 34)
    }

    pub fn check_for(&self, work: u64) -> Result<Checked, Flaw> {
        let case = MapCase {
            name: "disjoint".into(),
            outputs: self.outputs.clone(),
            result: self.result,
            certain: true,
        };
        check(&self.contract, &self.graph, &case, Limits { work, steps: 0 }, &|_| true)
    }

    #[track_caller]
    pub fn proved(&self) -> Checked {
        match self.check() {
            Ok(done) => done,
            Err(e) => panic!("{e:?}"),
        }
    }

    /// Neither proved nor wrong: for this reason.
    #[track_caller]
    pub fn open(&self, what: &str) {
        match self.check() {
            Err(Flaw::Open { why, .. } | Flaw::Result(why) | Flaw::Stopped(why))
                if why.contains(what) => {}
            other => panic!("{other:?}"),
        }
    }

    /// Wrong, and the inputs show it: argument, field and value of each that matters.
    #[track_caller]
    pub fn wrong(&self) -> Vec<(usize, usize, i64)> {
        let (argument, field, at) = match self.check() {
            Err(Flaw::Wrong { argument, field, at }) => (argument, field, at),
            other => panic!("{other:?}"),
        };
        for &(a, _, value) in &at {
            let (lo, hi) = self.contract.arguments[a].memory.range;
            assert!((lo..=hi).contains(&value), "{at:?}");
        }
        let value = |a: usize, field: usize| {
            at.iter().find(|x| (x.0, x.1) == (a, field)).map_or(0, |x| x.2)
        };
        let a = &self.contract.arguments[argument];
        let place = self.contract.outputs().iter().position(|o| *o == argument).expect("written");
        let tape = Tape::new(&self.graph, &self.outputs[place]).expect("no address");
        let inputs = self.contract.inputs();
        let memory = tape.run(|operand, index| {
            let argument = inputs[usize::from(operand)];
            let a = &self.contract.arguments[argument];
            if !a.packed() {
                // Of a number there is one for all fields.
                let index = if a.any_number() { field } else { index as usize };
                return value(argument, index) as u64;
            }
            let (bits, width) = (usize::from(a.bits), usize::from(a.memory.element.bits()));
            let bit = |p: usize| value(argument, p / bits) >> (p % bits) & 1;
            (0..width).fold(0, |w, i| w | (bit(index as usize * width + i) as u64) << i)
        });
        let (bits, width) = (usize::from(a.bits), usize::from(a.memory.element.bits()));
        let bit = |p: usize| i128::from(memory[p / width] >> (p % width) & 1);
        let word = (0..bits).fold(0, |w, i| w | bit(field * bits + i) << i);
        let found = if a.signed() && word >> (bits - 1) == 1 { word - (1 << bits) } else { word };
        let formula = &a.formula.as_ref().expect("written").root;
        let wanted = formula.value(&|x| {
            let a = &self.contract.arguments[x].memory;
            a.values.first().copied().unwrap_or_else(|| value(x, field)).into()
        });
        assert!(!wanted.is_some_and(|w| a.fulfilled(found, w)), "{at:?} is right");
        at
    }
}
