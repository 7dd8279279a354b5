@ SPDX-License-Identifier: Apache-2.0 OR MIT
@ The product in Z_3329[x]/(x^8 + 1) for Cortex-M4, two coefficients in a register: f(c, a, b).
@ r9: q below, its inverse modulo 2^16 above. Sums of products by smladx, each reduced as Montgomery does,
@ and brought to -1664 to 1664 by two conditional instructions.
    .syntax unified
    .cpu cortex-m4
    .text
    .balign 4
    .globl f
    .type f, %function
    .thumb_func
f:
    push {r4-r11, lr}
    sub sp, #20
    movw r9, #3329
    movt r9, #62209
    ldr r10, scale
    ldr r3, [r1, #0]
    smulbb r4, r3, r10
    smultb r5, r3, r10
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    smulbt r12, r5, r9
    smulbb r12, r12, r9
    sub r5, r5, r12
    pkhtb r4, r5, r4, asr #16
    str r4, [sp, #0]
    ldr r3, [r1, #4]
    smulbb r4, r3, r10
    smultb r5, r3, r10
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    smulbt r12, r5, r9
    smulbb r12, r12, r9
    sub r5, r5, r12
    pkhtb r4, r5, r4, asr #16
    str r4, [sp, #4]
    ldr r3, [r1, #8]
    smulbb r4, r3, r10
    smultb r5, r3, r10
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    smulbt r12, r5, r9
    smulbb r12, r12, r9
    sub r5, r5, r12
    pkhtb r4, r5, r4, asr #16
    str r4, [sp, #8]
    ldr r3, [r1, #12]
    smulbb r4, r3, r10
    smultb r5, r3, r10
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    smulbt r12, r5, r9
    smulbb r12, r12, r9
    sub r5, r5, r12
    pkhtb r4, r5, r4, asr #16
    str r4, [sp, #12]
    ldrd r6, r7, [r2]
    ldr r8, [r2, #8]
    ldr r11, [r2, #12]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    smlabb r4, r3, r6, r4
    smlatt r5, r3, r11, r5
    ldr r3, [sp, #4]
    lsr r12, r8, #16
    pkhbt r12, r12, r11, lsl #16
    smladx r5, r3, r12, r5
    ldr r3, [sp, #8]
    lsr r12, r7, #16
    pkhbt r12, r12, r8, lsl #16
    smladx r5, r3, r12, r5
    ldr r3, [sp, #12]
    lsr r12, r6, #16
    pkhbt r12, r12, r7, lsl #16
    smladx r5, r3, r12, r5
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #0]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    smladx r4, r3, r6, r4
    ldr r3, [sp, #4]
    smladx r5, r3, r11, r5
    ldr r3, [sp, #8]
    smladx r5, r3, r8, r5
    ldr r3, [sp, #12]
    smladx r5, r3, r7, r5
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #2]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    lsr r12, r6, #16
    pkhbt r12, r12, r7, lsl #16
    smladx r4, r3, r12, r4
    ldr r3, [sp, #4]
    smlabb r4, r3, r6, r4
    smlatt r5, r3, r11, r5
    ldr r3, [sp, #8]
    lsr r12, r8, #16
    pkhbt r12, r12, r11, lsl #16
    smladx r5, r3, r12, r5
    ldr r3, [sp, #12]
    lsr r12, r7, #16
    pkhbt r12, r12, r8, lsl #16
    smladx r5, r3, r12, r5
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #4]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    smladx r4, r3, r7, r4
    ldr r3, [sp, #4]
    smladx r4, r3, r6, r4
    ldr r3, [sp, #8]
    smladx r5, r3, r11, r5
    ldr r3, [sp, #12]
    smladx r5, r3, r8, r5
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #6]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    lsr r12, r7, #16
    pkhbt r12, r12, r8, lsl #16
    smladx r4, r3, r12, r4
    ldr r3, [sp, #4]
    lsr r12, r6, #16
    pkhbt r12, r12, r7, lsl #16
    smladx r4, r3, r12, r4
    ldr r3, [sp, #8]
    smlabb r4, r3, r6, r4
    smlatt r5, r3, r11, r5
    ldr r3, [sp, #12]
    lsr r12, r8, #16
    pkhbt r12, r12, r11, lsl #16
    smladx r5, r3, r12, r5
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #8]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    smladx r4, r3, r8, r4
    ldr r3, [sp, #4]
    smladx r4, r3, r7, r4
    ldr r3, [sp, #8]
    smladx r4, r3, r6, r4
    ldr r3, [sp, #12]
    smladx r5, r3, r11, r5
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #10]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    lsr r12, r8, #16
    pkhbt r12, r12, r11, lsl #16
    smladx r4, r3, r12, r4
    ldr r3, [sp, #4]
    lsr r12, r7, #16
    pkhbt r12, r12, r8, lsl #16
    smladx r4, r3, r12, r4
    ldr r3, [sp, #8]
    lsr r12, r6, #16
    pkhbt r12, r12, r7, lsl #16
    smladx r4, r3, r12, r4
    ldr r3, [sp, #12]
    smlabb r4, r3, r6, r4
    smlatt r5, r3, r11, r5
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #12]
    movs r4, #0
    movs r5, #0
    ldr r3, [sp, #0]
    smladx r4, r3, r11, r4
    ldr r3, [sp, #4]
    smladx r4, r3, r8, r4
    ldr r3, [sp, #8]
    smladx r4, r3, r7, r4
    ldr r3, [sp, #12]
    smladx r4, r3, r6, r4
    subs r4, r4, r5
    smulbt r12, r4, r9
    smulbb r12, r12, r9
    sub r4, r4, r12
    asrs r4, r4, #16
    cmp r4, #1664
    it gt
    subwgt r4, r4, #3329
    cmn r4, #1664
    it lt
    addwlt r4, r4, #3329
    strh r4, [r0, #14]
    add sp, #20
    pop {r4-r11, pc}
    .balign 4
scale:
    .word 1353
    .size f, . - f
