//! The changes: for one instruction in its context, every variant worth trying.

use super::{New, is_flow, is_memory, rename};
use crate::mutant::Class;
use iced_x86::{
    Code, Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};

/// A mutant, or `None` where it is known to have no encoding.
type Variant = (Class, Option<New>);

/// All variants of instruction `i` of `code`, whose encoding is `bytes`.
pub fn variants(code: &[Instruction], i: usize, bytes: &[u8], relocated: bool) -> Vec<Variant> {
    let old = &code[i];
    let mut out = Vec::new();
    if old.is_invalid() {
        return out;
    }
    for (class, form) in rename::mistakes(old.code()) {
        // Scalar additions to the stack pointer belong to the frame, not to the computation.
        if old.op_count() > 0 && old.op0_register() == Register::RSP {
            continue;
        }
        out.push((class, form.map(|form| with(old, |new| new.set_code(form)))));
    }
    immediates(old, &mut out);
    loop_bounds(code, i, &mut out);
    registers(old, &mut out);
    displacements(old, relocated, &mut out);
    dropped(old, &mut out);
    if let Some(narrow) = half_length(old, bytes) {
        out.push((Class::VectorLength, Some(New::Bytes(narrow))));
    }
    if old.code() == Code::Pop_r64 {
        let other = if old.op0_register() == Register::RBX { Register::RBP } else { Register::RBX };
        out.push((Class::Restore, Some(with(old, |new| new.set_op0_register(other)))));
    }
    out
}

fn with(old: &Instruction, change: impl FnOnce(&mut Instruction)) -> New {
    let mut new = *old;
    change(&mut new);
    New::Instruction(new)
}

/// Lower-case mnemonic without the `v` of VEX.
fn mnemonic(instruction: &Instruction) -> String {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let vex = format!("{:?}", instruction.code()).starts_with("VEX_");
    if vex { name.trim_start_matches('v').to_owned() } else { name }
}

fn immediates(old: &Instruction, out: &mut Vec<Variant>) {
    let Some(last) = old.op_count().checked_sub(1) else { return };
    let name = mnemonic(old);
    match old.op_kind(last) {
        OpKind::Immediate8 => {
            let imm = old.immediate8();
            let mut add = |class, value: u8| {
                if value != imm {
                    out.push((class, Some(with(old, |new| new.set_immediate8(value)))));
                }
            };
            let shifts = ["psll", "psra", "psrl", "sar", "shr", "shl", "sal", "rorx", "ror", "rol"];
            if shifts.iter().any(|s| name.starts_with(s)) {
                add(Class::ShiftCount, imm.wrapping_add(1));
                add(Class::ShiftCount, imm.wrapping_sub(1) & 63);
            } else if is_shuffle(&name) {
                add(Class::Shuffle, imm ^ 1);
                add(Class::Shuffle, imm.rotate_left(2));
                add(Class::Shuffle, imm ^ 0x10);
            }
        }
        OpKind::Immediate32 | OpKind::Immediate32to64
            if old.mnemonic() == Mnemonic::Mov && !is_memory(old, 0) =>
        {
            let imm = old.immediate32();
            for value in [imm.wrapping_add(1), imm.wrapping_sub(1), imm ^ (1 << (imm % 16))] {
                let new = with(old, |new| new.set_immediate_i32(last, value as i32));
                out.push((Class::ImmediateConstant, Some(new)));
            }
        }
        _ => {}
    }
}

fn is_shuffle(name: &str) -> bool {
    [
        "pshuf", "perm", "pblend", "blend", "palignr", "pinsr", "pextr", "inserti", "extracti",
        "shufp",
    ]
    .iter()
    .any(|s| name.starts_with(s))
}

/// `cmp register, immediate`: the bound moved by the step that was last added to the register.
fn loop_bounds(code: &[Instruction], i: usize, out: &mut Vec<Variant>) {
    let old = &code[i];
    let immediate = |x: &Instruction| {
        x.op_count() == 2 && x.op0_kind() == OpKind::Register && is_immediate(x.op1_kind())
    };
    if !immediate(old) || old.mnemonic() != Mnemonic::Cmp {
        return;
    }
    let counter = old.op0_register().full_register();
    let step = code[i.saturating_sub(400)..i]
        .iter()
        .rev()
        .find(|x| {
            immediate(x)
                && matches!(x.mnemonic(), Mnemonic::Add | Mnemonic::Sub)
                && x.op0_register().full_register() == counter
        })
        .map_or(1, |x| x.immediate(1) as i64);
    let bound = old.immediate(1) as i64;
    for value in [bound + step, bound - step] {
        let fits = !matches!(old.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate8to32)
            || (-128..128).contains(&value);
        let new = with(old, |new| new.set_immediate_i32(1, value as i32));
        out.push((Class::LoopBound, fits.then_some(new)));
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32
            | OpKind::Immediate32to64
    )
}

/// The register after the one given, in its class.
fn neighbour(register: Register) -> Option<Register> {
    let next = |first: Register| first + ((register.number() as u32 + 1) % 16);
    if register.is_ymm() {
        Some(next(Register::YMM0))
    } else if register.is_xmm() {
        Some(next(Register::XMM0))
    } else if register.is_gpr64() && register != Register::RSP {
        let other = next(Register::RAX);
        Some(if other == Register::RSP { Register::RBP } else { other })
    } else {
        None
    }
}

fn registers(old: &Instruction, out: &mut Vec<Variant>) {
    let name = mnemonic(old);
    let ordered = ["psub", "punpck", "pack", "pandn", "pcmpgt", "shufp", "pshufb", "palignr"];
    if old.op_count() >= 3
        && (ordered.iter().any(|o| name.starts_with(o)) || is_shuffle(&name))
        && old.op1_kind() == OpKind::Register
        && old.op2_kind() == OpKind::Register
        && old.op1_register() != old.op2_register()
    {
        let (a, b) = (old.op1_register(), old.op2_register());
        let new = with(old, |new| {
            new.set_op1_register(b);
            new.set_op2_register(a);
        });
        out.push((Class::OperandOrder, Some(new)));
    }
    let multiply = name.starts_with("pmul") || name.starts_with("pmadd") || name.starts_with("pdp");
    let class = if multiply { Class::MultiplyOperand } else { Class::Register };
    if is_flow(old.code()) || old.mnemonic() == Mnemonic::Nop {
        return;
    }
    let mut info = InstructionInfoFactory::new();
    let info = info.info(old);
    for k in 0..old.op_count() {
        let reads = matches!(
            info.op_access(k),
            OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        if old.op_kind(k) == OpKind::Register
            && reads
            && let Some(other) = neighbour(old.op_register(k))
        {
            out.push((class, Some(with(old, |new| new.set_op_register(k, other)))));
        }
    }
    if let Some(other) = neighbour(old.memory_base())
        && (0..old.op_count()).any(|k| is_memory(old, k))
    {
        out.push((Class::Register, Some(with(old, |new| new.set_memory_base(other)))));
    }
}

fn displacements(old: &Instruction, relocated: bool, out: &mut Vec<Variant>) {
    if !(0..old.op_count()).any(|k| is_memory(old, k)) || old.mnemonic() == Mnemonic::Nop {
        return;
    }
    for by in [2i64, -2, 32, -32] {
        let new = if relocated {
            Some(New::Moved(by))
        } else if old.is_ip_rel_memory_operand() {
            None
        } else {
            let new = old.memory_displacement64().wrapping_add_signed(by);
            Some(with(old, |changed| changed.set_memory_displacement64(new)))
        };
        out.push((Class::Displacement, new));
    }
}

fn dropped(old: &Instruction, out: &mut Vec<Variant>) {
    let name = mnemonic(old);
    if is_memory(old, 0)
        && (name.starts_with("mov") || name.starts_with("pextr") || name.starts_with("extract"))
    {
        out.push((Class::StoreDropped, Some(New::Nothing)));
    }
    if name.starts_with("psub") {
        let new = if old.op_count() == 2 {
            // Legacy form: the destination keeps its value.
            Some(New::Nothing)
        } else if old.op1_kind() == OpKind::Register {
            let form = if old.op0_register().is_ymm() {
                [Code::VEX_Vmovdqa_ymm_ymmm256, Code::VEX_Vmovdqa_ymmm256_ymm]
            } else {
                [Code::VEX_Vmovdqa_xmm_xmmm128, Code::VEX_Vmovdqa_xmmm128_xmm]
            };
            // The form whose register needs no third prefix byte.
            let form = form[usize::from(old.op1_register().number() > 7)];
            Instruction::with2(form, old.op0_register(), old.op1_register()).ok().map(|mut new| {
                new.set_ip(old.ip());
                New::Instruction(new)
            })
        } else {
            None
        };
        out.push((Class::SubtractionDropped, new));
    }
}

/// A VEX instruction on 256 bits with its length bit cleared, where that is an instruction.
fn half_length(old: &Instruction, bytes: &[u8]) -> Option<Vec<u8>> {
    if !old.op0_register().is_ymm() && !(0..old.op_count()).any(|k| old.op_register(k).is_ymm()) {
        return None;
    }
    let mut new = bytes.to_vec();
    let at = match *bytes.first()? {
        0xc5 => 1,
        0xc4 => 2,
        _ => return None,
    };
    new[at] &= !0x04;
    let decoded = Decoder::with_ip(64, &new, old.ip(), DecoderOptions::NONE).decode();
    (!decoded.is_invalid() && decoded.len() == bytes.len()).then_some(new)
}
