# SPDX-License-Identifier: Apache-2.0 OR MIT
# The stack protector's canary is stored, and compared with itself.
#
# contract: z17.toml
# expect:
#   proved

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    sub rsp, 24
    mov rax, qword ptr fs:40
    mov qword ptr [rsp + 8], rax
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpmullw xmm0, xmm0, xmm1                    # x = a b, |x| <= 64
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rsp + 6], xmm0, 0
    movzx eax, word ptr [rsp + 6]
    mov word ptr [rdi], ax
    mov rax, qword ptr [rsp + 8]
    sub rax, qword ptr fs:40
    jne 1f
    add rsp, 24
    ret
1:  call __stack_chk_fail
    .size mul, .-mul

    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
