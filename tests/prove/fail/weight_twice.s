# SPDX-License-Identifier: Apache-2.0 OR MIT
# A leaf stands there twice.
#
# contract: z17_forward.toml
# with: weights = [4, 4]
# expect:
#   contract error: contract, line 12, column 11: the weight 4 stands there twice: T would have no inverse

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
