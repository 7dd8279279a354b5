# SPDX-License-Identifier: Apache-2.0 OR MIT
# Montgomery reduction of a 32-bit accumulator: its high half is right because |4 a b| < 2^31
# - q 2^15.
#
# contract: z4591_one.toml
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
