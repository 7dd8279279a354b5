//! The same instruction form under another mnemonic.

use crate::mutant::Class;
use iced_x86::Code;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Mnemonics without the `v` of VEX, and what they are mistaken for.
const MISTAKES: &[(Class, &str, &str)] = &[
    (Class::AddSubtract, "paddw", "psubw"),
    (Class::AddSubtract, "psubw", "paddw"),
    (Class::AddSubtract, "paddd", "psubd"),
    (Class::AddSubtract, "psubd", "paddd"),
    (Class::AddSubtract, "paddq", "psubq"),
    (Class::AddSubtract, "psubq", "paddq"),
    (Class::AddSubtract, "add", "sub"),
    (Class::AddSubtract, "sub", "add"),
    (Class::MultiplyKind, "pmulhw", "pmulhuw"),
    (Class::MultiplyKind, "pmulhw", "pmulhrsw"),
    (Class::MultiplyKind, "pmulhw", "pmullw"),
    (Class::MultiplyKind, "pmullw", "pmulhw"),
    (Class::MultiplyKind, "pmullw", "pmulhuw"),
    (Class::MultiplyKind, "pmulhuw", "pmulhw"),
    (Class::MultiplyKind, "pmulhrsw", "pmulhw"),
    (Class::MultiplyKind, "pmulhrsw", "pmullw"),
    (Class::MultiplyKind, "pmulhrsw", "pmulhuw"),
    (Class::MultiplyKind, "pmaddwd", "pmullw"),
    (Class::MultiplyKind, "pmaddwd", "pmaddubsw"),
    (Class::MultiplyKind, "pdpwssd", "pdpwssds"),
    (Class::MultiplyKind, "pmuludq", "pmuldq"),
    (Class::MultiplyKind, "pmuldq", "pmuludq"),
    (Class::MultiplyKind, "imul", "mul"),
    (Class::Comparison, "pminuw", "pmaxuw"),
    (Class::Comparison, "pminuw", "pminsw"),
    (Class::Comparison, "pmaxuw", "pminuw"),
    (Class::Comparison, "pminsw", "pmaxsw"),
    (Class::Comparison, "pmaxsw", "pminsw"),
    (Class::Comparison, "pcmpgtw", "pcmpeqw"),
    (Class::Comparison, "pcmpeqw", "pcmpgtw"),
    (Class::Comparison, "pcmpgtd", "pcmpeqd"),
    (Class::Alignment, "movdqa", "movdqu"),
    (Class::Alignment, "movdqu", "movdqa"),
    (Class::Alignment, "movaps", "movups"),
    (Class::Alignment, "movups", "movaps"),
    (Class::ElementWidth, "paddw", "paddd"),
    (Class::ElementWidth, "paddd", "paddw"),
    (Class::ElementWidth, "paddw", "paddb"),
    (Class::ElementWidth, "psubw", "psubd"),
    (Class::ElementWidth, "psubw", "psubb"),
    (Class::ElementWidth, "psubd", "psubw"),
    (Class::ElementWidth, "psraw", "psrad"),
    (Class::ElementWidth, "psrad", "psraw"),
    (Class::ElementWidth, "psrlw", "psrld"),
    (Class::ElementWidth, "psrld", "psrlw"),
    (Class::ElementWidth, "psllw", "pslld"),
    (Class::ElementWidth, "pslld", "psllw"),
    (Class::ElementWidth, "pcmpgtw", "pcmpgtd"),
    (Class::ElementWidth, "pbroadcastw", "pbroadcastd"),
    (Class::ElementWidth, "pbroadcastd", "pbroadcastw"),
    (Class::ElementWidth, "pbroadcastd", "pbroadcastq"),
    (Class::Shuffle, "punpcklwd", "punpckhwd"),
    (Class::Shuffle, "punpckhwd", "punpcklwd"),
    (Class::Shuffle, "punpckldq", "punpckhdq"),
    (Class::Shuffle, "punpckhdq", "punpckldq"),
    (Class::Shuffle, "punpcklqdq", "punpckhqdq"),
    (Class::Shuffle, "punpckhqdq", "punpcklqdq"),
    (Class::Shuffle, "punpcklwd", "punpckldq"),
    (Class::Shuffle, "punpckldq", "punpcklqdq"),
    (Class::Shuffle, "pshuflw", "pshufhw"),
    (Class::Shuffle, "pshufhw", "pshuflw"),
    (Class::Shuffle, "pshufd", "pshuflw"),
    (Class::Signedness, "psraw", "psrlw"),
    (Class::Signedness, "psrlw", "psraw"),
    (Class::Signedness, "psrad", "psrld"),
    (Class::Signedness, "psrld", "psrad"),
    (Class::Signedness, "packssdw", "packusdw"),
    (Class::Signedness, "packusdw", "packssdw"),
    (Class::Signedness, "packsswb", "packuswb"),
    (Class::Signedness, "pmovsxwd", "pmovzxwd"),
    (Class::Signedness, "pmovzxwd", "pmovsxwd"),
    (Class::Signedness, "paddw", "paddsw"),
    (Class::Signedness, "psubw", "psubsw"),
    (Class::Signedness, "paddw", "paddusw"),
    (Class::Signedness, "movsx", "movzx"),
    (Class::Signedness, "movzx", "movsx"),
    (Class::Signedness, "sar", "shr"),
    (Class::Signedness, "shr", "sar"),
    (Class::Logic, "pand", "por"),
    (Class::Logic, "por", "pand"),
    (Class::Logic, "por", "pandn"),
    (Class::Logic, "pand", "pandn"),
    (Class::Logic, "pandn", "pand"),
    (Class::Logic, "pxor", "por"),
    (Class::Logic, "and", "or"),
    (Class::Logic, "or", "and"),
    (Class::Condition, "je", "jne"),
    (Class::Condition, "jne", "je"),
    (Class::Condition, "jb", "jae"),
    (Class::Condition, "jae", "jb"),
    (Class::Condition, "jbe", "ja"),
    (Class::Condition, "ja", "jbe"),
    (Class::Condition, "jl", "jge"),
    (Class::Condition, "jge", "jl"),
    (Class::Condition, "jle", "jg"),
    (Class::Condition, "jg", "jle"),
];

/// Instruction forms by the names that the decoder's author gave them, such as
/// `VEX_Vpaddw_ymm_ymm_ymmm256` and `Paddw_xmm_xmmm128`.
static FORMS: LazyLock<HashMap<String, Code>> =
    LazyLock::new(|| Code::values().map(|code| (format!("{code:?}"), code)).collect());

/// What the instruction form may be mistaken for, `None` where the other has no such form.
pub fn mistakes(code: Code) -> Vec<(Class, Option<Code>)> {
    let form = format!("{code:?}");
    let (prefix, rest) = match form.split_once('_') {
        Some((p @ ("VEX" | "EVEX"), rest)) => (format!("{p}_"), rest),
        _ => (String::new(), form.as_str()),
    };
    let (mnemonic, operands) = rest.split_once('_').unwrap_or((rest, ""));
    let lower = mnemonic.to_lowercase();
    let vex = !prefix.is_empty();
    let plain = if vex { lower.strip_prefix('v').unwrap_or(&lower) } else { &lower };
    MISTAKES
        .iter()
        .filter(|(_, from, _)| *from == plain)
        .map(|&(class, _, to)| {
            let mut name = if vex { format!("v{to}") } else { to.to_owned() };
            name[..1].make_ascii_uppercase();
            (class, FORMS.get(&format!("{prefix}{name}_{operands}")).copied())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_found_by_name() {
        assert!(
            mistakes(Code::VEX_Vpaddw_ymm_ymm_ymmm256)
                .contains(&(Class::AddSubtract, Some(Code::VEX_Vpsubw_ymm_ymm_ymmm256)))
        );
        assert!(
            mistakes(Code::Jne_rel32_64).contains(&(Class::Condition, Some(Code::Je_rel32_64)))
        );
        assert!(
            mistakes(Code::Psraw_xmm_imm8)
                .contains(&(Class::Signedness, Some(Code::Psrlw_xmm_imm8)))
        );
        assert!(mistakes(Code::Retnq).is_empty());
    }

    #[test]
    fn every_mnemonic_of_the_table_has_a_form() {
        let known: std::collections::HashSet<String> = FORMS
            .keys()
            .map(|form| {
                let rest = form.strip_prefix("VEX_V").unwrap_or(form);
                rest.split('_').next().unwrap_or("").to_lowercase()
            })
            .collect();
        for (_, from, to) in MISTAKES {
            assert!(known.contains(*from), "{from}");
            assert!(known.contains(*to), "{to}");
        }
    }
}
