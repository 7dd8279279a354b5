# SPDX-License-Identifier: Apache-2.0 OR MIT
# Weights are residues from 0 on.
#
# contract: z17_forward.toml
# with: weights = [4, -4]
# expect:
#   contract error: contract, line 12, column 15: the weight -4: a residue from 0 to 16 is expected

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
