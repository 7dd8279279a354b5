//! The calling convention: the state at entry, and what must hold at return.

use super::memory::{Region, RegionKind};
use super::{Choice, Convention, Fallible, InstructionSet, Machine, Stop};
use crate::byte::Byte;
use crate::call::{ArgSpec, CallSpec, Initial};
use crate::error::{LiftError, Violation};
use crate::graph::{Graph, NodeId};
use crate::object::Object;
use rustc_hash::FxHashMap;

/// Where Android keeps the canary in a thread's own memory.
const THREAD_CANARY: i64 = 40;

/// Where the caller's bytes in the home space are numbered from: no register's are.
const HOME: u16 = 0x8000;

/// What a function finds in its registers; only the first [`InstructionSet::WORD`] bytes count.
pub(crate) struct Entry {
    pub stack_pointer: [Byte; 8],
    /// The return address, for instruction sets whose calls leave it in a register.
    pub back: [Byte; 8],
    pub convention: &'static Convention,
}

/// What linkers for Windows would change in code and its stack [PECOFF; Microsoft's /INCREMENTAL and /CETCOMPAT].
const AS_LINKED: &str = "the program is linked without /INCREMENTAL and /CETCOMPAT";

impl<'a, I: InstructionSet> Machine<'a, I> {
    /// The state at entry of `call` in the case `choice`.
    pub fn new(
        object: &'a Object,
        call: &CallSpec,
        g: &'a mut Graph,
        choice: &Choice,
    ) -> Fallible<Machine<'a, I>> {
        let function = match object.function(&call.symbol) {
            Ok(function) => function,
            Err(why) => {
                let available = object.functions().map(|f| f.name.clone()).collect();
                let symbol = call.symbol.clone();
                return Err(LiftError::NoSymbol { symbol, why, available }.into());
            }
        };
        let convention = I::convention(object);
        g.set_origin(None);
        let mut regions: Vec<Region> = Vec::new();
        for spec in &call.regions {
            let bad = |why: &str| LiftError::BadCall(format!("region {}: {why}", spec.name));
            if !spec.align.is_power_of_two() {
                return Err(bad("its alignment is not a power of two").into());
            }
            if spec.bytes > 1 << 28 {
                return Err(bad("it is larger than 256 MiB").into());
            }
            let mut data = vec![Byte::Undefined; spec.bytes as usize];
            match &spec.initial {
                Initial::Undefined => {}
                Initial::Bytes(bytes) => {
                    if bytes.len() != data.len() {
                        return Err(bad("its content does not have its size").into());
                    }
                    data.iter_mut().zip(bytes).for_each(|(d, b)| *d = Byte::Const(*b));
                }
                Initial::Partly { operand, known } => {
                    if known.len() != data.len() {
                        return Err(bad("its content does not have its size").into());
                    }
                    for (i, (d, byte)) in data.iter_mut().zip(known).enumerate() {
                        *d = match byte {
                            Some(b) => Byte::Const(*b),
                            None => Byte::Node(g.input(8, *operand, i as u32), 0),
                        };
                    }
                }
                Initial::Inputs { operand, element_bits } => {
                    if ![8, 16, 32, 64].contains(element_bits) {
                        return Err(bad("elements have 8, 16, 32 or 64 bits").into());
                    }
                    let size = usize::from(element_bits / 8);
                    if !data.len().is_multiple_of(size) {
                        return Err(bad("it does not hold whole elements").into());
                    }
                    for (i, chunk) in data.chunks_mut(size).enumerate() {
                        let node = g.input(*element_bits, *operand, i as u32);
                        for (k, b) in chunk.iter_mut().enumerate() {
                            *b = Byte::Node(node, k as u8);
                        }
                    }
                }
            }
            let mut region = Region::new(&spec.name, RegionKind::Caller, data);
            (region.read, region.write, region.align) = (spec.read, spec.write, spec.align);
            regions.push(region);
        }
        if regions.len() + object.sections.len() > 60_000 {
            return Err(LiftError::BadCall("too many regions".into()).into());
        }
        let stack = regions.len() as u16;
        g.set_address_width(8 * I::WORD as u8);
        let word = |node, k| if k < I::WORD { Byte::Node(node, k as u8) } else { Byte::Undefined };
        let pointer = |g: &mut Graph, region: u16, offset: i64| -> [Byte; 8] {
            let node = g.address(region, offset);
            std::array::from_fn(|k| word(node, k))
        };
        // Tokens stand behind the stack: the return address, then what belongs to the caller.
        let back = pointer(g, stack + 1, 0);
        let mut above = back[..convention.return_slot as usize].to_vec();
        above.extend((0..convention.home).map(|k| Byte::Caller(HOME + k as u16)));
        let mut arguments = Vec::new();
        for (i, arg) in call.args.iter().enumerate() {
            let value = match *arg {
                ArgSpec::Constant(c) if c <= u64::MAX >> (64 - 8 * I::WORD) => {
                    c.to_le_bytes().map(Byte::Const)
                }
                ArgSpec::Constant(c) => {
                    let bits = 8 * I::WORD;
                    let what = format!("argument {i}: {c} does not fit a register of {bits} bits");
                    return Err(LiftError::BadCall(what).into());
                }
                ArgSpec::Input { operand } => {
                    let node = g.input(8 * I::WORD as u8, operand, 0);
                    std::array::from_fn(|k| word(node, k))
                }
                ArgSpec::Pointer(r, offset) if r < call.regions.len() => {
                    pointer(g, r as u16, offset)
                }
                ArgSpec::Pointer(r, _) => {
                    return Err(LiftError::BadCall(format!("argument {i}: no region {r}")).into());
                }
            };
            if i < convention.arguments.len() {
                arguments.push(value);
            } else {
                above.extend_from_slice(&value[..I::WORD]);
            }
        }
        regions.push(Region::stack(above, convention.return_slot, convention.stack_align));
        let token = |name: &str| {
            let mut region = Region::new(name, RegionKind::Token, Vec::new());
            region.read = false;
            region
        };
        regions.push(token("the return address"));
        let mut cpu = I::at_entry(&Entry { stack_pointer: pointer(g, stack, 0), back, convention });
        let mut hold = |register, value: [Byte; 8]| {
            cpu.word(register).copy_from_slice(&value[..I::WORD]);
        };
        convention.arguments.iter().zip(arguments).for_each(|(&r, value)| hold(r, value));
        for (i, &(name, register)) in convention.saved.iter().enumerate() {
            hold(register, pointer(g, stack + 2 + i as u16, 0));
            regions.push(token(&format!("{name} at entry")));
        }
        // The canary of each place is its own: nobody says that they are one.
        for (name, offset) in [("the thread's own memory", THREAD_CANARY), (super::links::GUARD, 0)]
        {
            let canary = pointer(g, regions.len() as u16, 0)[..I::WORD].to_vec();
            regions.push(token("the stack protector's canary"));
            regions.push(Region::one_word(name, offset, canary));
        }
        let mut section_regions = Vec::new();
        for (i, section) in object.sections.iter().enumerate() {
            section_regions.push(regions.len() as u16);
            for (start, end) in section.entries.spans(section.size) {
                // Its bytes stay in the object; accesses read them there.
                let kind = RegionKind::Section(i, start);
                let mut region = Region::new(&section.name, kind, Vec::new());
                region.high = (end - start) as i64;
                region.align = section.entries.alignment(section.align, start);
                regions.push(region);
                if regions.len() > 60_000 {
                    let what = "the object has too many mergeable constants".into();
                    return Err(LiftError::BadCall(what).into());
                }
            }
        }
        let data: FxHashMap<String, u16> =
            call.data.iter().map(|(name, r)| (name.clone(), *r as u16)).collect();
        if let Some((name, _)) = call.data.iter().find(|(_, r)| *r >= call.regions.len()) {
            return Err(LiftError::BadCall(format!("data {name}: no such region")).into());
        }
        let mut coincide = Vec::new();
        for &(a, b) in &call.coincide {
            match (call.regions.get(a), call.regions.get(b)) {
                (Some(x), Some(y)) if a != b && x.bytes == y.bytes && !x.write && !y.write => {
                    coincide.push((a.min(b) as u16, a.max(b) as u16));
                }
                _ => {
                    let what =
                        format!("regions {a} and {b} cannot be one: read only and of one size");
                    return Err(LiftError::BadCall(what).into());
                }
            }
        }
        for &(region, modulus, residue) in &choice.residues {
            let r = &mut regions[usize::from(region)];
            (r.align, r.residue) = (modulus, residue);
        }
        let at = (function.section, function.offset);
        let mut stand_ins = FxHashMap::default();
        for f in call.functions.iter().filter(|f| f.stands_in) {
            let own = object.function(&f.symbol).map_err(LiftError::BadCall)?;
            stand_ins.insert((own.section, own.offset), f.symbol.clone());
        }
        // The function that is called is executed.
        stand_ins.remove(&at);
        let known = call.functions.iter().filter(|f| f.stands_in && !f.known.is_empty());
        let unreached = known.map(|f| f.symbol.clone());
        let unreached = unreached.filter(|f| stand_ins.values().any(|other| other == f)).collect();
        Ok(Machine {
            orders: choice.orders.iter().map(|o| ((o.0, o.1), o.2)).collect(),
            coincide,
            decisions: choice.decisions.iter().map(|d| (d.0, d.1)).collect(),
            releases: (choice.releases.clone(), 0),
            releasing: (Vec::new(), call.released_branches),
            object,
            g,
            regions,
            cpu,
            convention,
            at,
            next: at,
            now: I::Instruction::default(),
            stack,
            section_regions,
            data,
            ranges: (call.ranges.clone(), crate::settled::EVALUATIONS),
            given_sections: call.given_sections.clone(),
            functions: call.functions.clone(),
            stand_ins,
            unreached,
            stood_in: Vec::new(),
            passes_checks: call.passes_checks,
            checks: Default::default(),
            returned: false,
            calls: Vec::new(),
            used: 0,
            deepest: 0,
            touched: 0,
            dead: super::residue::DeadStack::new(
                call.args.iter().any(|a| matches!(a, ArgSpec::Input { .. })),
            ),
            decoded: FxHashMap::default(),
            code: Vec::new(),
            steps: 0,
            work: (0, call.max_steps),
            loaded: 0,
            stored: 0,
            assumptions: function
                .weak
                .then(|| super::links::not_replaced(&function.name))
                .into_iter()
                .chain(object.is_coff().then(|| AS_LINKED.to_string()))
                .collect(),
        })
    }

    /// The stack protector's canary in a thread's own memory. It must be the same at entry and at
    /// return, and can be used for nothing else.
    pub fn canary(&mut self) -> NodeId {
        self.g.address(self.canary_region(true) - 1, 0)
    }

    /// The region that holds a canary: a thread's own memory, or a variable.
    pub fn canary_region(&self, of_thread: bool) -> u16 {
        self.stack + 2 + self.convention.saved.len() as u16 + if of_thread { 1 } else { 3 }
    }

    /// Checks what the caller relies on and ends the run; the stack pointer is past the return address.
    pub fn finish(&mut self) -> Fallible<()> {
        let changed = |register: &str, m: &Self| -> Box<Stop> {
            LiftError::from(Violation::CalleeSaved { register: register.into(), at: m.place() })
                .into()
        };
        if self.stack_pointer()? != self.convention.return_slot {
            return Err(changed(I::STACK_POINTER, self));
        }
        for (i, &(name, register)) in self.convention.saved.iter().enumerate() {
            let token = self.g.address(self.stack + 2 + i as u16, 0);
            let saved = self.cpu.word(register);
            let kept = (0..I::WORD).all(|k| saved[k] == Byte::Node(token, k as u8));
            if !kept {
                return Err(changed(name, self));
            }
        }
        if let Some(register) = self.cpu.changed(self.convention) {
            return Err(changed(&register, self));
        }
        self.returned = true;
        Ok(())
    }
}
