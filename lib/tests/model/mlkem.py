# SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
"""ML-KEM from the text of FIPS 203, slowly: schoolbook transforms, integers, nothing shared with the library."""
from hashlib import sha3_256, sha3_512, shake_128, shake_256

Q, N = 3329, 256
SETS = {"mlkem512": (2, 3, 10, 4), "mlkem768": (3, 2, 10, 4), "mlkem1024": (4, 2, 11, 5)}  # k, eta1, du, dv


def bitrev7(i):
    return int(f"{i:07b}"[::-1], 2)


GAMMA = [pow(17, 2 * bitrev7(i) + 1, Q) for i in range(128)]  # T(a) = remainders by x^2 - gamma_i


def ntt(a):
    powers = [[pow(g, j, Q) for j in range(128)] for g in GAMMA]
    out = []
    for p in powers:
        out += [sum(a[2 * j] * p[j] for j in range(128)) % Q, sum(a[2 * j + 1] * p[j] for j in range(128)) % Q]
    return out


def intt(a):
    inverse = pow(128, -1, Q)
    out = [0] * N
    powers = [[pow(g, -j, Q) for j in range(128)] for g in GAMMA]
    for j in range(128):
        for odd in (0, 1):
            out[2 * j + odd] = inverse * sum(a[2 * i + odd] * powers[i][j] for i in range(128)) % Q
    return out


def times(a, b):
    out = []
    for i, g in enumerate(GAMMA):
        a0, a1, b0, b1 = a[2 * i], a[2 * i + 1], b[2 * i], b[2 * i + 1]
        out += [(a0 * b0 + a1 * b1 * g) % Q, (a0 * b1 + a1 * b0) % Q]
    return out


def plus(a, b):
    return [(x + y) % Q for x, y in zip(a, b)]


def bits(data):
    return [byte >> i & 1 for byte in data for i in range(8)]


def encode(values, d):
    return sum(v << (d * i) for i, v in enumerate(values)).to_bytes(32 * d, "little")


def decode(data, d):
    whole = int.from_bytes(data, "little")
    return [(whole >> (d * i)) % (1 << d) for i in range(N)]


def compress(a, d):  # round(x 2^d / q), halves do not occur
    return [(2 * (x << d) + Q) // (2 * Q) % (1 << d) for x in a]


def decompress(a, d):
    return [(2 * x * Q + (1 << d)) >> (d + 1) for x in a]


def uniform(seed):
    stream = shake_128(seed).digest(4095)
    out = []
    for i in range(0, len(stream), 3):
        for value in (stream[i] + 256 * (stream[i + 1] % 16), stream[i + 1] // 16 + 16 * stream[i + 2]):
            if value < Q and len(out) < N:
                out.append(value)
    return out


def noise(seed, nonce, eta):
    b = bits(shake_256(seed + bytes([nonce])).digest(64 * eta))
    return [(sum(b[2 * eta * i:2 * eta * i + eta]) - sum(b[2 * eta * i + eta:2 * eta * (i + 1)])) % Q for i in range(N)]


def keypair(name, coins):
    k, eta1, _, _ = SETS[name]
    d, z = coins[:32], coins[32:]
    both = sha3_512(d + bytes([k])).digest()
    rho, sigma = both[:32], both[32:]
    s = [ntt(noise(sigma, i, eta1)) for i in range(k)]
    t = [ntt(noise(sigma, k + i, eta1)) for i in range(k)]
    for i in range(k):
        for j in range(k):
            t[i] = plus(t[i], times(uniform(rho + bytes([j, i])), s[j]))
    ek = b"".join(encode(x, 12) for x in t) + rho
    return ek, b"".join(encode(x, 12) for x in s) + ek + sha3_256(ek).digest() + z


def encrypt(name, ek, m, r):
    k, eta1, du, dv = SETS[name]
    t, rho = [decode(ek[384 * i:384 * i + 384], 12) for i in range(k)], ek[384 * k:]
    y = [ntt(noise(r, i, eta1)) for i in range(k)]
    ct = b""
    for i in range(k):
        u = [0] * N
        for j in range(k):
            u = plus(u, times(uniform(rho + bytes([i, j])), y[j]))
        ct += encode(compress(plus(intt(u), noise(r, k + i, 2)), du), du)
    v = [0] * N
    for j in range(k):
        v = plus(v, times(t[j], y[j]))
    v = plus(plus(intt(v), noise(r, 2 * k, 2)), decompress(decode(m, 1), 1))
    return ct + encode(compress(v, dv), dv)


def enc(name, ek, m):
    """ct, ss; or None where the key fails the modulus check."""
    k = SETS[name][0]
    if any(x >= Q for i in range(k) for x in decode(ek[384 * i:384 * i + 384], 12)):
        return None
    both = sha3_512(m + sha3_256(ek).digest()).digest()
    return encrypt(name, ek, m, both[32:]), both[:32]


def dec(name, ct, dk):
    """ss; or None where the key fails the hash check."""
    k, _, du, dv = SETS[name]
    s, ek, h, z = dk[:384 * k], dk[384 * k:768 * k + 32], dk[768 * k + 32:768 * k + 64], dk[768 * k + 64:]
    if sha3_256(ek).digest() != h:
        return None
    w = [0] * N
    for i in range(k):
        u = decompress(decode(ct[32 * du * i:32 * du * (i + 1)], du), du)
        w = plus(w, times([x % Q for x in decode(s[384 * i:384 * i + 384], 12)], ntt(u)))
    v = decompress(decode(ct[32 * du * k:], dv), dv)
    m = encode(compress([(x - y) % Q for x, y in zip(v, intt(w))], 1), 1)
    both = sha3_512(m + h).digest()
    if encrypt(name, ek, m, both[32:]) != ct:
        return shake_256(z + ct).digest(32)
    return both[:32]
