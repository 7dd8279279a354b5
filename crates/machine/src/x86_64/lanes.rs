//! What all vector instructions share: operands in three-operand form, lanes, classes.

use super::{Fallible, Machine, UNDEFINED, Value, WIDE, Wide};
use crate::byte::Byte;
use crate::core::bits::fill_unknown;
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId};
use crate::lifted::Class;
use iced_x86::{Instruction, Mnemonic, OpKind};

/// Operands of a vector instruction of two sources, legacy or VEX.
pub(super) struct Sources {
    /// Bytes that count.
    pub size: usize,
    pub a: Wide,
    pub b: Wide,
    /// Both are one register.
    pub same: bool,
}

impl Machine<'_> {
    /// Two sources: destination and operand 1 (legacy), operands 1 and 2 (VEX).
    pub(super) fn sources(&mut self) -> Fallible<Sources> {
        let (i, j) = if self.is_vex() { (1, 2) } else { (0, 1) };
        let makes_mask = self.now.ins.op_register(0).is_k();
        let size = self.vector_size(if makes_mask { i } else { 0 });
        let target = makes_mask || self.is_vector(0);
        if self.now.ins.op_count() <= j || !target || !self.is_vector(i) {
            return Err(self.unsupported("operand form"));
        }
        let same = self.same_registers(i, j);
        let a = self.vector_operand(i, size)?;
        let b = if same { a } else { self.vector_operand(j, size)? };
        Ok(Sources { size, a, b, same })
    }

    /// One source: operand 1.
    pub(super) fn source(&mut self) -> Fallible<(usize, Wide)> {
        if !self.is_vector(0) || self.now.ins.op_count() < 2 {
            return Err(self.unsupported("operand form"));
        }
        let size = self.vector_size(0);
        let a = self.vector_operand(1, size)?;
        Ok((size, a))
    }

    /// Whether operand `i` is a vector register.
    pub(super) fn is_vector(&self, i: u32) -> bool {
        let r = self.now.ins.op_register(i);
        self.now.ins.op_kind(i) == OpKind::Register && r.is_vector_register()
    }

    /// `f` on each pair of lanes of `lane` bytes, into operand 0.
    pub(super) fn lanewise(
        &mut self,
        lane: usize,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let s = self.sources()?;
        self.lanewise_of(&s, lane, f)
    }

    /// The same for sources already read.
    pub(super) fn lanewise_of(
        &mut self,
        s: &Sources,
        lane: usize,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let mut out = UNDEFINED;
        for at in (0..s.size).step_by(lane) {
            let (x, y) = (&s.a[at..at + lane], &s.b[at..at + lane]);
            if self.g.knows_nothing(x) && self.g.knows_nothing(y) {
                fill_unknown(self.g, &mut out[at..at + lane]);
            } else if let (Some(x), Some(y)) = (gather(self.g, x), gather(self.g, y)) {
                let r = f(self.g, x, y);
                scatter(self.g, r, &mut out[at..at + lane]);
            }
        }
        self.set_vector(0, &out, s.size)
    }

    /// `f` on each lane of operand 1, into operand 0.
    pub(super) fn mapped(
        &mut self,
        lane: usize,
        f: impl Fn(&mut Graph, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let (size, a) = self.source()?;
        let mut out = UNDEFINED;
        for at in (0..size).step_by(lane) {
            if self.g.knows_nothing(&a[at..at + lane]) {
                fill_unknown(self.g, &mut out[at..at + lane]);
            } else if let Some(x) = gather(self.g, &a[at..at + lane]) {
                let r = f(self.g, x);
                scatter(self.g, r, &mut out[at..at + lane]);
            }
        }
        self.set_vector(0, &out, size)
    }

    /// A lane of a register.
    pub(super) fn lane(&mut self, bytes: &[Byte]) -> Value {
        gather(self.g, bytes)
    }

    /// Writes the same bytes everywhere in operand 0.
    pub(super) fn set_all(&mut self, byte: u8, size: usize) -> Fallible<()> {
        self.set_vector(0, &[Byte::Const(byte); WIDE], size)
    }
}

/// The class of an instruction, for counting.
pub(super) fn classify(ins: &Instruction) -> Class {
    let name = format!("{:?}", ins.mnemonic()).to_ascii_lowercase();
    let vector = (0..ins.op_count()).any(|i| {
        let r = ins.op_register(i);
        r.is_vector_register() || r.is_k()
    });
    let stores = ins.op_count() > 0
        && ins.op_kind(0) == OpKind::Memory
        && !matches!(ins.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Bt);
    let loads = (1..ins.op_count()).any(|i| ins.op_kind(i) == OpKind::Memory);
    if matches!(ins.mnemonic(), Mnemonic::Jmp | Mnemonic::Call | Mnemonic::Ret)
        || ins.is_jcc_short_or_near()
    {
        return Class::Branch;
    }
    if matches!(
        ins.mnemonic(),
        Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Vzeroupper | Mnemonic::Vzeroall
    ) {
        return Class::Other;
    }
    if !vector {
        return match (stores, loads) {
            (true, _) => Class::ScalarStore,
            (_, true) if name.starts_with("mov") => Class::ScalarLoad,
            _ => Class::Scalar,
        };
    }
    if stores {
        return Class::VectorStore;
    }
    let base = name.strip_prefix('v').unwrap_or(&name);
    let starts = |list: &[&str]| list.iter().any(|p| base.starts_with(p));
    if starts(&["pmul", "pmadd", "pdpw", "pdpb"]) {
        Class::VectorMultiply
    } else if starts(&["psll", "psrl", "psra"]) && !base.ends_with("dq") {
        Class::VectorShift
    } else if starts(&["pmovmsk", "movmsk"]) {
        Class::Shuffle
    } else if starts(&["mov", "lddqu"])
        && !starts(&["movhl", "movlh", "movddup", "movs", "movh", "movl"])
    {
        if loads { Class::VectorLoad } else { Class::VectorMove }
    } else if starts(&["broadcast", "pbroadcast", "movs", "movh", "movl", "movddup"]) && loads {
        Class::VectorLoad
    } else if starts(&[
        "pshuf",
        "punpck",
        "unpck",
        "pack",
        "pblend",
        "blend",
        "perm",
        "shuf",
        "palign",
        "insert",
        "extract",
        "broadcast",
        "pbroadcast",
        "pinsr",
        "pextr",
        "pmov",
        "mov",
        "pslldq",
        "psrldq",
    ]) {
        Class::Shuffle
    } else {
        Class::VectorArithmetic
    }
}
