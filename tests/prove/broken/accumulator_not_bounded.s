# SPDX-License-Identifier: Apache-2.0 OR MIT
# The same for any input words: 4 a b does not fit 32 bits.
#
# contract: z4591_any.toml
# expect:
#   refuted
#   range (disjoint): a sum of 2 terms may lie anywhere in [-67829, 67831] and need not fit 16 bits ([-32768, 32767]) at 0x_: `vpmullw xmm1, xmm0, [rip]`; c[0] depends on it
#   for a = [32767], b = [32767]: element 0 is -1261, the product's 2074

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpmaddwd xmm0, xmm0, xmm1                   # a b
    vpslld xmm0, xmm0, 2                        # 4 a b
    vpmullw xmm2, xmm0, xmmword ptr i[rip]
    vpmulhw xmm2, xmm2, xmmword ptr q[rip]
    vpsrld xmm0, xmm0, 16
    vpsubw xmm0, xmm0, xmm2                     # 4 a b / 2^16
    vpmullw xmm1, xmm0, xmmword ptr ri[rip]     # by r: Montgomery again
    vpmulhw xmm0, xmm0, xmmword ptr r[rip]
    vpmulhw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpmullw xmm1, xmm0, xmmword ptr i[rip]      # a single word: its Montgomery reduction is canonical
    vpmulhw xmm1, xmm1, xmmword ptr q[rip]
    vpsraw xmm0, xmm0, 15
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
q:  .fill 16, 2, 4591
i:  .fill 16, 2, 15631              # 1/q mod 2^16
r:  .fill 16, 2, -1177                 # 2^48 / 4 mod q, centred
ri: .fill 16, 2, 17929                 # times 1/q mod 2^16
    .section .note.GNU-stack, "", @progbits
