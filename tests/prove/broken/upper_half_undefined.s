# SPDX-License-Identifier: Apache-2.0 OR MIT
# Legacy SSE loads leave the caller's upper half in place: adding it to the product adds an
# undefined value.
#
# contract: z17.toml
# expect:
#   refuted
#   undefined (disjoint): output: element 0 of c is undefined at return (byte 0)

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    movd xmm0, eax                      # legacy: the upper half is the caller's
    movzx eax, word ptr [rdx]
    movd xmm1, eax
    pmullw xmm0, xmm1
    vextracti128 xmm2, ymm0, 1
    vpaddw xmm0, xmm0, xmm2
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
