# SPDX-License-Identifier: Apache-2.0 OR MIT
# The same without the doubling.
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
    vpmullw xmm2, xmm0, xmm1
    vpmulhw xmm0, xmm0, xmm1
    vpmullw xmm2, xmm2, xmmword ptr i[rip]
    vpmulhw xmm2, xmm2, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm2
    vpmullw xmm1, xmm0, xmmword ptr ri[rip]
    vpmulhw xmm0, xmm0, xmmword ptr r[rip]
    vpmulhw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpaddw xmm0, xmm0, xmmword ptr h[rip]
    vpaddw xmm1, xmm0, xmmword ptr q[rip]
    vpminuw xmm0, xmm0, xmm1
    vpsubw xmm1, xmm0, xmmword ptr q[rip]
    vpminuw xmm0, xmm0, xmm1
    vpsubw xmm0, xmm0, xmmword ptr h[rip]
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
q:  .fill 16, 2, 4591
i:  .fill 16, 2, 15631              # 1/q mod 2^16
r:  .fill 16, 2, -433                 # 2^32 mod q, centred
ri: .fill 16, 2, -18015                 # times 1/q mod 2^16
h:  .fill 16, 2, 2295
    .section .note.GNU-stack, "", @progbits
