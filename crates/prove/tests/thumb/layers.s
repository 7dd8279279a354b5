@ SPDX-License-Identifier: Apache-2.0 OR MIT
@ Three layers of a transform modulo x^8 + 1 over Z_8380417 merged for Cortex-M4, in place: f(r), words of 32 bits.
@ Eight coefficients stay in r4 to r11, the address in s0; r1 is q, r2 is -1/q modulo 2^32. A butterfly is smull, mul and
@ smlal, whose upper word is the product over 2^32, then a difference and a sum; roots stand times 2^32.
    .syntax unified
    .cpu cortex-m4
    .fpu fpv4-sp-d16
    .text
    .balign 4
    .globl f
    .type f, %function
    .thumb_func
f:
    push {r4-r11, lr}
    ldm r0, {r4-r11}
    vmov s0, r0
    movw r1, #57345
    movt r1, #127
    movw r2, #57343
    movt r2, #64639
    ldr r3, root0
    smull r12, lr, r8, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r8, r4, lr
    add r4, r4, lr
    smull r12, lr, r9, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r9, r5, lr
    add r5, r5, lr
    smull r12, lr, r10, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r10, r6, lr
    add r6, r6, lr
    smull r12, lr, r11, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r11, r7, lr
    add r7, r7, lr
    ldr r3, root1
    smull r12, lr, r6, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r6, r4, lr
    add r4, r4, lr
    smull r12, lr, r7, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r7, r5, lr
    add r5, r5, lr
    ldr r3, root2
    smull r12, lr, r10, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r10, r8, lr
    add r8, r8, lr
    smull r12, lr, r11, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r11, r9, lr
    add r9, r9, lr
    ldr r3, root3
    smull r12, lr, r5, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r5, r4, lr
    add r4, r4, lr
    ldr r3, root4
    smull r12, lr, r7, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r7, r6, lr
    add r6, r6, lr
    ldr r3, root5
    smull r12, lr, r9, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r9, r8, lr
    add r8, r8, lr
    ldr r3, root6
    smull r12, lr, r11, r3
    mul r0, r12, r2
    smlal r12, lr, r0, r1
    sub r11, r10, lr
    add r10, r10, lr
    vmov r0, s0
    stm r0, {r4-r11}
    pop {r4-r11, pc}
    .balign 4
root0:
    .word 25847
root1:
    .word -2608894
root2:
    .word -518909
root3:
    .word 237124
root4:
    .word -777960
root5:
    .word -876248
root6:
    .word 466468
    .size f, .-f
