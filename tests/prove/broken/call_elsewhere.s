# The callee is not in the object.
#
# contract: z17.toml
# expect:

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
