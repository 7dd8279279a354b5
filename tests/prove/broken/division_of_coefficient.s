# idiv takes longer for some operands than for others.
#
# contract: z17.toml
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movsx eax, word ptr [rsi]
    movsx ecx, word ptr [rdx]
    imul eax, ecx                   # x = a b, |x| <= 64
    add eax, 8 + 17*8
    cdq
    mov ecx, 17
    idiv ecx
    sub edx, 8
    mov word ptr [rdi], dx
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
