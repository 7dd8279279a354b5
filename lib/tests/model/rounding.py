# SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
"""Rounding and reduction of ML-KEM for all 65,536 words against integers: rounding.py LIBRARY (made as for compare.py)"""
import ctypes
import sys

Q = 3329
lib = ctypes.CDLL(sys.argv[1])
portable = ctypes.c_int.in_dll(lib, "ringforge_test_portable")
Words = ctypes.c_int16 * 256


def check(what, got, want):
    if list(got) != want:
        sys.exit(f"{what}: wrong")


for portable.value in (1, 0):
    for base in range(-32768, 32768, 256):
        x = range(base, base + 256)
        for d in (1, 4, 5, 10, 11):
            out = Words()
            lib.ringforge_mlkem_round(out, Words(*x), d)
            check(f"Compress_{d}", out, [(2 * (a % Q << d) + Q) // (2 * Q) % (1 << d) for a in x])
        words, more = Words(*x), [7 * a % 60001 - 30000 for a in x]
        lib.ringforge_mlkem_freeze(words)
        check("freeze", words, [a % Q for a in x])
        words = Words(*x)
        lib.ringforge_mlkem_scale_add(words, Words(*more))
        check("scale_add", words, [(65536 * a + b) % Q for a, b in zip(x, more)])
    print("portable" if portable.value else "AVX2", "agrees for all words")
