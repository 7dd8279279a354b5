# SPDX-License-Identifier: Apache-2.0 OR MIT
# The first correction is left out: the high half alone is a b / 2^16 rounded down, not a b
# times the inverse of 2^16.
#
# contract: z4591_one.toml
# expect:
#   refuted
#   function (disjoint): the high half of a sum of products is used without the correction that would make it a Montgomery reduction at 0x_: `vpmullw xmm1, xmm0, [rip]`; c[0] depends on it
#   for a = [2295], b = [2295]: element 0 is -42, the product's 1148

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
    nop #                    # a b / 2^16
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
