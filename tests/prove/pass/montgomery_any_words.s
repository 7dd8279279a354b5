# SPDX-License-Identifier: Apache-2.0 OR MIT
# The same for any input words: one product leaves room for it.
#
# contract: z4591_any.toml
# expect:
#   proved

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpmullw xmm2, xmm0, xmm1                    # low and high half of a b
    vpmulhw xmm0, xmm0, xmm1
    vpmullw xmm2, xmm2, xmmword ptr i[rip]
    vpmulhw xmm2, xmm2, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm2                     # a b / 2^16
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
r:  .fill 16, 2, -117                 # 2^48 mod q, centred
ri: .fill 16, 2, 6181                 # times 1/q mod 2^16
    .section .note.GNU-stack, "", @progbits
