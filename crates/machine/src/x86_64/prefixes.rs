//! Prefixes: only such as every processor reads in one way.
//!
//! The decoder follows one manual; the processor that runs the code may follow another. AMD and Intel
//! differ in `66` before near branches, in which of two prefixes of a group counts, and old
//! processors ignore `f3` where new ones have an instruction. So each accepted use of a prefix is
//! listed here, and any other is refused.

use super::{Fallible, Machine};
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

/// The bytes before the opcode.
#[derive(Default)]
struct Prefixes {
    legacy: Vec<u8>,
    rex: Option<u8>,
    /// The first byte after them.
    opcode: u8,
}

impl Prefixes {
    /// Splits an instruction's bytes.
    fn of(bytes: &[u8]) -> Prefixes {
        let legacy = |b: &u8| {
            matches!(b, 0x66 | 0x67 | 0xf0 | 0xf2 | 0xf3 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65)
        };
        let count = bytes.iter().take_while(|b| legacy(b)).count();
        let rex = bytes.get(count).copied().filter(|b| b & 0xf0 == 0x40);
        let opcode = bytes.get(count + usize::from(rex.is_some())).copied().unwrap_or_default();
        Prefixes { legacy: bytes[..count].to_vec(), rex, opcode }
    }

    fn has(&self, prefix: u8) -> bool {
        self.legacy.contains(&prefix)
    }
}

/// Whether an operand is a vector register.
fn vector(ins: &Instruction) -> bool {
    (0..ins.op_count()).any(|i| ins.op_register(i).is_vector_register())
}

/// Whether an operand has 16 bits, so that an operand-size prefix is one.
fn halfword(ins: &Instruction) -> bool {
    (0..ins.op_count()).any(|i| {
        ins.op_register(i).size() == 2
            || matches!(ins.op_kind(i), OpKind::Immediate16 | OpKind::Immediate8to16)
            || (ins.op_kind(i) != OpKind::Register && ins.memory_size().size() == 2)
    })
}

impl Machine<'_> {
    /// Refuses an instruction whose prefixes are not on the list.
    pub(super) fn check_prefixes(&self, ins: &Instruction) -> Fallible<()> {
        match refusal(ins, self.object.bytes_at(self.address(), ins.len())) {
            Some(why) => Err(self.unsupported(why)),
            None => Ok(()),
        }
    }
}

/// Why the prefixes are not on the list, if they are not.
fn refusal(ins: &Instruction, bytes: &[u8]) -> Option<String> {
    let p = Prefixes::of(bytes);
    let m = ins.mnemonic();
    let branch = Machine::is_branch(ins);
    if p.has(0x67) {
        return Some("32-bit addressing (prefix 67) is not modelled".into());
    }
    if p.has(0xf0) {
        return Some("atomic instructions are not modelled".into());
    }
    // A REX prefix that is not the last is ignored; decoders skip it.
    if p.rex.is_some() && (Prefixes::of(&[p.opcode]).legacy.len() == 1 || p.opcode & 0xf0 == 0x40) {
        return Some("a REX prefix that is not the last".into());
    }
    if m == M::Nop {
        let padding = p.legacy.iter().all(|b| matches!(b, 0x66 | 0x2e));
        return (!padding).then(|| "a prefix of a no-operation".into());
    }
    let twice = |b: &u8| p.legacy.iter().filter(|x| *x == b).count() > 1;
    if let Some(b) = p.legacy.iter().find(|b| twice(b)) {
        return Some(format!("prefix {b:02x} twice"));
    }
    if matches!(p.opcode, 0x62 | 0xc4 | 0xc5)
        && (p.rex.is_some() || p.legacy.iter().any(|b| *b != 0x64))
    {
        return Some("a prefix before a VEX or EVEX prefix".into());
    }
    let indirect = matches!(m, M::Jmp | M::Call)
        && matches!(ins.op_kind(0), OpKind::Register | OpKind::Memory);
    for &b in &p.legacy {
        let listed = match b {
            0x66 if branch => false,
            0x66 if vector(ins) => !(p.has(0xf2) || p.has(0xf3)),
            0x66 if matches!(m, M::Adcx) => true,
            0x66 if p.rex.is_some_and(|r| r & 8 != 0) || m == M::Bswap => false,
            0x66 if m == M::Movsxd => false,
            0x66 => halfword(ins),
            0xf2 => vector(ins) && !ins.has_repne_prefix(),
            0xf3 if vector(ins) => !ins.has_rep_prefix() && !p.has(0xf2),
            0xf3 => matches!(
                m,
                M::Ret
                    | M::Pause
                    | M::Endbr64
                    | M::Popcnt
                    | M::Tzcnt
                    | M::Lzcnt
                    | M::Adox
                    | M::Movsb
                    | M::Movsw
                    | M::Movsd
                    | M::Movsq
                    | M::Stosb
                    | M::Stosw
                    | M::Stosd
                    | M::Stosq
            ),
            // `notrack`, which matters to control-flow enforcement alone.
            0x3e => indirect,
            0x64 => {
                let operand = (0..ins.op_count()).any(|i| ins.op_kind(i) == OpKind::Memory);
                operand && !branch && ins.memory_segment() == Register::FS
            }
            0x65 => return Some("thread-local data (segment gs) is not modelled".into()),
            _ => false,
        };
        if !listed {
            return Some(format!(
                "prefix {b:02x} before `{}`, which is not on the list: processors may read it in \
                 different ways",
                format!("{m:?}").to_ascii_lowercase()
            ));
        }
    }
    // Ignored by all, and written by no assembler.
    let direct = branch && !indirect;
    (direct && p.rex.is_some()).then(|| "a REX prefix before a direct branch".into())
}

#[cfg(test)]
mod tests {
    use super::refusal;
    use iced_x86::{Decoder, DecoderOptions};

    fn accepted(bytes: &[u8]) -> bool {
        let ins = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).decode();
        assert!(!ins.is_invalid() && ins.len() == bytes.len(), "{bytes:02x?}");
        refusal(&ins, bytes).is_none()
    }

    #[test]
    fn prefixes_that_assemblers_write_are_accepted() {
        let good: [&[u8]; 17] = [
            &[0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
            &[0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
            &[0x66, 0x90],
            &[0xf3, 0xc3],
            &[0x3e, 0xff, 0xe0],
            &[0x48, 0xff, 0xe0],
            &[0xf3, 0x0f, 0x1e, 0xfa],
            &[0xf3, 0x90],
            &[0x66, 0x48, 0x0f, 0x6e, 0xc0],
            &[0xf3, 0x41, 0x0f, 0x6f, 0x00],
            &[0xf2, 0x0f, 0x70, 0xc0, 0],
            &[0xf3, 0x48, 0xa5],
            &[0x66, 0x01, 0xc8],
            &[0x66, 0xc7, 0x00, 1, 0],
            &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],
            &[0x66, 0xf3, 0x0f, 0xb8, 0xc1],
            &[0xc5, 0xfd, 0xfd, 0xc1],
        ];
        for bytes in good {
            assert!(accepted(bytes), "{bytes:02x?}");
        }
    }

    #[test]
    fn prefixes_that_processors_read_differently_are_refused() {
        let bad: [&[u8]; 19] = [
            // near branches with 66: AMD truncates the target
            &[0x66, 0xc3],
            &[0x66, 0xff, 0xe0],
            &[0x66, 0x75, 0x00],
            &[0x66, 0xe8, 0, 0, 0, 0],
            // bnd, and repeats that mean nothing
            &[0xf2, 0xc3],
            &[0xf2, 0xe8, 0, 0, 0, 0],
            &[0xf3, 0x01, 0xc8],
            &[0xf3, 0x89, 0x08],
            // 67: eip, ecx, 32-bit addresses
            &[0x67, 0x8b, 0x05, 0, 0, 0, 0],
            &[0x67, 0xe3, 0x00],
            &[0x67, 0x8b, 0x06],
            // twice, both of a group, ignored ones
            &[0x66, 0x66, 0x01, 0xc8],
            &[0x2e, 0x8b, 0x06],
            &[0x66, 0x48, 0x01, 0xc8],
            &[0x66, 0x0f, 0xc8],
            &[0x66, 0x00, 0xc8],
            &[0x48, 0x66, 0x01, 0xc8],
            &[0x64, 0x90],
            &[0x65, 0x8b, 0x06],
        ];
        for bytes in bad {
            assert!(!accepted(bytes), "{bytes:02x?}");
        }
    }
}
