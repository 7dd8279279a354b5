# SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
"""Compares a shared library made of lib/ (with -DRINGFORGE_TESTING -fPIC) with the slow models: compare.py LIBRARY [COUNT]

Portable code and AVX2, the same keys, ciphertexts and session keys from the same coins; forged ciphertexts and
malformed keys as well. KEMs that the library was compiled without are left out; the last line counts the others.
"""
import ctypes
import hashlib
import random
import sys

import mlkem
import ntru
import prime


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.portable = ctypes.c_int.in_dll(self.c, "ringforge_test_portable")

    def has(self, kem):
        return hasattr(self.c, f"ringforge_crypto_kem_{kem}_dec")

    def call(self, name, lengths, *inputs):
        """The result and the outputs, of the lengths, of a function that takes outputs, then inputs."""
        outs = [ctypes.create_string_buffer(n) for n in lengths]
        result = getattr(self.c, "ringforge_" + name)(*outs, *inputs)
        return (result, *(o.raw for o in outs))


def flip(data, rng, at=None):
    data = bytearray(data)
    data[rng.randrange(len(data)) if at is None else at] ^= 1 << rng.randrange(8)
    return bytes(data)


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: differs from the model")


def hashes(lib, rng):
    for n in (0, 1, 71, 72, 135, 136, 137, 167, 168, 300):
        data, size = rng.randbytes(n), ctypes.c_size_t(n)
        for name, fn in (("sha3_256", hashlib.sha3_256), ("sha3_512", hashlib.sha3_512)):
            got = lib.call("library_" + name, [fn().digest_size], data, size)
            check(name, got, (0, fn(data).digest()))
        for name, fn in (("shake128", hashlib.shake_128), ("shake256", hashlib.shake_256)):
            for m in (1, 32, 168, 500):
                out = ctypes.create_string_buffer(m)
                getattr(lib.c, "ringforge_library_" + name)(out, ctypes.c_size_t(m), data, size)
                check(name, out.raw, fn(data).digest(m))


def ml_kem(lib, name, rng):
    k, _, du, dv = mlkem.SETS[name]
    pk_bytes, sk_bytes, ct_bytes = 384 * k + 32, 768 * k + 96, 32 * (du * k + dv)
    kem = f"crypto_kem_{name}_"
    coins, m = rng.randbytes(64), rng.randbytes(32)
    ek, dk = mlkem.keypair(name, coins)
    check(kem + "keypair", lib.call(kem + "keypair_derand", [pk_bytes, sk_bytes], coins), (0, ek, dk))
    ct, ss = mlkem.enc(name, ek, m)
    check(kem + "enc", lib.call(kem + "enc_derand", [ct_bytes, 32], ek, m), (0, ct, ss))
    check(kem + "dec", lib.call(kem + "dec", [32], ct, dk), (0, ss))
    bad = flip(ct, rng)
    check(kem + "dec of a forged ct", lib.call(kem + "dec", [32], bad, dk), (0, mlkem.dec(name, bad, dk)))
    _, prepared = lib.call(kem + "prepare", [512 * k * (k + 1) + 32], ek)
    check(kem + "enc_prepared", lib.call(kem + "enc_prepared_derand", [ct_bytes, 32], prepared, m), (0, ct, ss))
    at = 3 * rng.randrange(128 * k)
    large = ek[:at] + (mlkem.Q + 4096 * mlkem.Q).to_bytes(3, "little") + ek[at + 3:]
    check(kem + "enc, modulus check", lib.call(kem + "enc_derand", [ct_bytes, 32], large, m), (-4, bytes(ct_bytes), bytes(32)))
    torn = flip(dk, rng, rng.randrange(384 * k, 768 * k + 64))
    check(kem + "dec, hash check", lib.call(kem + "dec", [32], ct, torn), (-4, bytes(32)))


def ntru_kem(lib, name, rng):
    n, log, hps = ntru.SETS[name]
    size, pk_bytes, length = (n + 3) // 5, ((n - 1) * log + 7) // 8, ntru.coins_length(name)
    sk_bytes = 2 * size + pk_bytes + 32
    kem = f"crypto_kem_{name}_"
    coins, m = rng.randbytes(length + 32), rng.randbytes(length)
    pk, sk = ntru.keypair(name, coins)
    check(kem + "keypair", lib.call(kem + "keypair_derand", [pk_bytes, sk_bytes], coins), (0, pk, sk))
    ct, ss = ntru.enc(name, pk, m)
    check(kem + "enc", lib.call(kem + "enc_derand", [pk_bytes, 32], pk, m), (0, ct, ss))
    check(kem + "dec", (lib.call(kem + "dec", [32], ct, sk), ntru.dec(name, ct, sk)), ((0, ss), ss))
    forged = [flip(ct, rng), rng.randbytes(pk_bytes), bytes(pk_bytes), b"\xff" * pk_bytes]
    if (n - 1) * log % 8:
        forged.append(ct[:-1] + bytes([ct[-1] | 0x80]))  # a bit that is not used
    for bad in forged:
        check(kem + "dec of a forged ct", lib.call(kem + "dec", [32], bad, sk), (0, ntru.dec(name, bad, sk)))
    strange = rng.randbytes(sk_bytes)  # not a key at all, but every one is read alike
    strange = bytes(x % 243 for x in strange[:2 * size]) + strange[2 * size:]
    check(kem + "dec with a strange key", lib.call(kem + "dec", [32], ct, strange), (0, ntru.dec(name, ct, strange)))


def sntrup(lib, p, rng):
    n, q = (p + 3) // 4, prime.SETS[p][0]
    pk_bytes, rounded = len(prime.rq_encode([0] * p, q)), prime.rounded_length(p, q)
    sk_bytes, ct_bytes = 3 * n + pk_bytes + 32, rounded + 32
    kem = f"crypto_kem_sntrup{p}_"
    while True:
        coins = rng.randbytes(8 * p + n)
        result, pk, sk = lib.call(kem + "keypair_derand", [pk_bytes, sk_bytes], coins)
        if result == 0:
            break
        check(kem + "keypair, g without inverse", (result, prime.invertible(prime.small_of(coins[:4 * p]))), (-5, False))
    check(kem + "keypair", prime.is_keypair(p, pk, sk, coins), True)
    m = rng.randbytes(4 * p)
    ct, ss = prime.enc(p, pk, m)
    check(kem + "enc", lib.call(kem + "enc_derand", [ct_bytes, 32], pk, m), (0, ct, ss))
    _, prepared = lib.call(kem + "prepare", [2 * p + 64], pk)
    check(kem + "enc_prepared", lib.call(kem + "enc_prepared_derand", [ct_bytes, 32], prepared, m), (0, ct, ss))
    check(kem + "dec", (lib.call(kem + "dec", [32], ct, sk), prime.dec(p, ct, sk)), ((0, ss), ss))
    for bad in (flip(ct, rng), flip(ct, rng, rounded), rng.randbytes(ct_bytes), bytes(ct_bytes), b"\xff" * ct_bytes):
        check(kem + "dec of a forged ct", lib.call(kem + "dec", [32], bad, sk), (0, prime.dec(p, bad, sk)))
    for strange in (b"\xff" * pk_bytes, rng.randbytes(pk_bytes)):  # more than the residues
        check(kem + "enc for a strange key", lib.call(kem + "enc_derand", [ct_bytes, 32], strange, m), (0, *prime.enc(p, strange, m)))


def ntrulpr(lib, p, rng):
    n, rounded = (p + 3) // 4, prime.rounded_length(p, prime.SETS[p][0])
    pk_bytes, ct_bytes = rounded + 32, rounded + 160
    kem = f"crypto_kem_ntrulpr{p}_"
    coins, m = rng.randbytes(4 * p + 64), rng.randbytes(32)
    pk, sk = prime.lpr_keypair(p, coins)
    check(kem + "keypair", lib.call(kem + "keypair_derand", [pk_bytes, n + pk_bytes + 64], coins), (0, pk, sk))
    ct, ss = prime.lpr_enc(p, pk, m)
    check(kem + "enc", lib.call(kem + "enc_derand", [ct_bytes, 32], pk, m), (0, ct, ss))
    _, prepared = lib.call(kem + "prepare", [4 * p + 64], pk)
    check(kem + "enc_prepared", lib.call(kem + "enc_prepared_derand", [ct_bytes, 32], prepared, m), (0, ct, ss))
    check(kem + "dec", (lib.call(kem + "dec", [32], ct, sk), prime.lpr_dec(p, ct, sk)), ((0, ss), ss))
    for bad in (flip(ct, rng), flip(ct, rng, rounded), rng.randbytes(ct_bytes), b"\xff" * ct_bytes):
        check(kem + "dec of a forged ct", lib.call(kem + "dec", [32], bad, sk), (0, prime.lpr_dec(p, bad, sk)))
    strange = rng.randbytes(32) + b"\xff" * rounded
    check(kem + "enc for a strange key", lib.call(kem + "enc_derand", [ct_bytes, 32], strange, m), (0, *prime.lpr_enc(p, strange, m)))


if __name__ == "__main__":
    lib, count = Library(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for portable in (1, 0):
        lib.portable.value = portable
        rng, done = random.Random(5), 0
        hashes(lib, rng)
        for _ in range(count):
            for name in filter(lib.has, mlkem.SETS):
                ml_kem(lib, name, rng)
                done += 1
            for name in filter(lib.has, ntru.SETS):
                ntru_kem(lib, name, rng)
                done += 1
            for p in prime.SETS:
                for family, name in ((sntrup, f"sntrup{p}"), (ntrulpr, f"ntrulpr{p}")):
                    if lib.has(name):
                        family(lib, p, rng)
                        done += 1
        print(f"{'portable' if portable else 'AVX2'}: {done} exchanges agree with the models")
