# SPDX-License-Identifier: Apache-2.0 OR MIT
# The callee is not in the object.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): unsupported: `somewhere_else` is defined by another object and is not known; link it in (ld -r) at 0x_ (mul+0x_): `call 9`, bytes e8 00 00 00 00

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    sub rsp, 8
    call somewhere_else
    add rsp, 8
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
