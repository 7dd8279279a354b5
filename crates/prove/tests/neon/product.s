// SPDX-License-Identifier: Apache-2.0 OR MIT
// c = a b in Z_3329[x]/(x^8 + 1): rows of a, turned and negated, times elements of b; the low half of the
// sums is reduced by a floor and a rounding shift, the high half by a rounded quotient.
.text
.globl f
.type f, %function
f:
    str d8, [sp, #-16]!
    ldr q0, [x1]
    ldr q1, [x2]
    movi v8.8h, #1
    neg v8.8h, v8.8h
    mul v2.8h, v0.8h, v8.8h
    smull v16.4s, v0.4h, v1.h[0]
    smull2 v17.4s, v0.8h, v1.h[0]
    ext v3.16b, v2.16b, v0.16b, #14
    smlal v16.4s, v3.4h, v1.h[1]
    smlal2 v17.4s, v3.8h, v1.h[1]
    ext v3.16b, v2.16b, v0.16b, #12
    smlal v16.4s, v3.4h, v1.h[2]
    smlal2 v17.4s, v3.8h, v1.h[2]
    ext v3.16b, v2.16b, v0.16b, #10
    smlal v16.4s, v3.4h, v1.h[3]
    smlal2 v17.4s, v3.8h, v1.h[3]
    ext v3.16b, v2.16b, v0.16b, #8
    smlal v16.4s, v3.4h, v1.h[4]
    smlal2 v17.4s, v3.8h, v1.h[4]
    ext v3.16b, v2.16b, v0.16b, #6
    smlal v16.4s, v3.4h, v1.h[5]
    smlal2 v17.4s, v3.8h, v1.h[5]
    ext v3.16b, v2.16b, v0.16b, #4
    smlal v16.4s, v3.4h, v1.h[6]
    smlal2 v17.4s, v3.8h, v1.h[6]
    ext v3.16b, v2.16b, v0.16b, #2
    smlal v16.4s, v3.4h, v1.h[7]
    smlal2 v17.4s, v3.8h, v1.h[7]
    adrp x3, constants
    ldr q4, [x3, :lo12:constants]
    sqdmulh v5.4s, v16.4s, v4.s[0]
    srshr v5.4s, v5.4s, #11
    mls v16.4s, v5.4s, v4.s[1]
    sqrdmulh v6.4s, v17.4s, v4.s[2]
    mls v17.4s, v6.4s, v4.s[1]
    xtn v0.4h, v16.4s
    xtn2 v0.8h, v17.4s
    str q0, [x0]
    ldr d8, [sp], #16
    ret
.section .rodata
.p2align 4
constants: .word 1321131424, 3329, 645084, 0
