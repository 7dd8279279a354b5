# SPDX-License-Identifier: Apache-2.0 OR MIT
# A float is no coefficient.
#
# contract: z17_four.toml
# with: argument.a.element = "f32"
# expect:
#   contract error: contract, line 20, column 11: unknown variant `f32`, expected one of `i8`, `u8`, `i16`, `u16`, `i32`, `u32`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
