# SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
"""NTRU Prime from the specification of the third round, slowly: lists of integers, AES from its field, bytes by recursion.

Keys are not made but recognised: h is g / 3f where 3 f h = g, and 1/g where its product with g is 1. What was computed
once is kept, since compare.py asks twice.
"""
from functools import cache
from hashlib import sha512

from ntru import product

# p: q, weights of Streamlined NTRU Prime and of NTRU LPRime, tau0 to tau3
SETS = {653: (4621, 288, 252, (2175, 113, 2031, 290)), 761: (4591, 286, 250, (2156, 114, 2007, 287)),
        857: (5167, 322, 281, (2433, 101, 2265, 324)), 953: (6343, 396, 345, (2997, 82, 2798, 400)),
        1013: (7177, 448, 392, (3367, 73, 3143, 449)), 1277: (7879, 492, 429, (3724, 66, 3469, 496))}


def in_ring(a, b, m):
    """The product modulo x^p - x - 1, centred modulo m."""
    p = len(a)
    out = product(a, b) + [0]
    for i in range(2 * p - 2, p - 1, -1):
        out[i - p] += out[i]
        out[i - p + 1] += out[i]
    return [(x + m // 2) % m - m // 2 for x in out[:p]]


def hashed(b, *strings):
    return sha512(bytes([b]) + b"".join(strings)).digest()[:32]


def encode(r, m):
    """A string of residues r[i] modulo m[i]."""
    if len(m) == 1:
        out, r, m = [], r[0], m[0]
        while m > 1:
            out.append(r % 256)
            r, m = r // 256, (m + 255) // 256
        return bytes(out)
    out, r2, m2 = [], [], []
    for i in range(0, len(m) - 1, 2):
        x, y = r[i] + m[i] * r[i + 1], m[i] * m[i + 1]
        while y >= 16384:
            out.append(x % 256)
            x, y = x // 256, (y + 255) // 256
        r2.append(x)
        m2.append(y)
    if len(m) % 2:
        r2.append(r[-1])
        m2.append(m[-1])
    return bytes(out) + encode(r2, m2)


def decode(s, m):
    if len(m) == 1:
        return [int.from_bytes(s, "little") % m[0]]
    bottom, m2, at = [], [], 0
    for i in range(0, len(m) - 1, 2):
        r, t, y = 0, 1, m[i] * m[i + 1]
        while y >= 16384:
            r, t, at, y = r + s[at] * t, t * 256, at + 1, (y + 255) // 256
        bottom.append((r, t))
        m2.append(y)
    if len(m) % 2:
        m2.append(m[-1])
    above, out = decode(s[at:], m2), []
    for (r, t), x, i in zip(bottom, above, range(0, len(m), 2)):
        x = r + t * x
        out += [x % m[i], x // m[i] % m[i + 1]]
    return out + ([above[-1]] if len(m) % 2 else [])


def rq_encode(a, q):
    return encode([x + q // 2 for x in a], [q] * len(a))


def rq_decode(s, p, q):
    return [x - q // 2 for x in decode(s, [q] * p)]


def rounded_encode(a, q):
    return encode([(x + q // 2) // 3 for x in a], [(q + 2) // 3] * len(a))


def rounded_decode(s, p, q):
    return [3 * x - q // 2 for x in decode(s, [(q + 2) // 3] * p)]


def rounded_length(p, q):
    return len(encode([0] * p, [(q + 2) // 3] * p))


def small_encode(a):
    a = [x + 1 for x in a] + [0] * (-len(a) % 4)
    return bytes(sum(a[i + k] << 2 * k for k in range(4)) for i in range(0, len(a), 4))


def small_decode(s, p):
    return [(s[i // 4] >> i % 4 * 2 & 3) - 1 for i in range(p)]


def words(s):
    return [int.from_bytes(s[i:i + 4], "little") for i in range(0, len(s), 4)]


def small_of(s):
    return [((x & 0x3fffffff) * 3 >> 30) - 1 for x in words(s)]


def short_of(s, weight):
    x = words(s)
    tagged = [v & 0xfffffffe for v in x[:weight]] + [v & 0xfffffffd | 1 for v in x[weight:]]
    return [(v & 3) - 1 for v in sorted(tagged)]


def rounded(a):
    return [x - ((x + 1) % 3 - 1) for x in a]


# Streamlined NTRU Prime


@cache
def is_keypair(p, pk, sk, coins):
    """Whether the keys belong to the coins: g, f, rho."""
    q, w, _, _ = SETS[p]
    n = (p + 3) // 4
    g, f, rho = small_of(coins[:4 * p]), short_of(coins[4 * p:8 * p], w), coins[8 * p:]
    inverse = small_decode(sk[n:2 * n], p)
    one = [1] + [0] * (p - 1)
    h = rq_decode(pk, p, q)
    return (in_ring(inverse, g, 3) == one and max(inverse) <= 1 and rq_encode(h, q) == pk
            and in_ring(h, [3 * x for x in f], q) == g
            and sk == small_encode(f) + small_encode(inverse) + pk + rho + hashed(4, pk))


def invertible(g):
    """Whether g is prime to x^p - x - 1 modulo 3."""
    p = len(g)
    a, b = [-1, -1] + [0] * (p - 2) + [1], list(g)
    while any(b):
        while b[-1] % 3 == 0:
            b.pop()
        while len(a) >= len(b):
            c = a[-1] * b[-1] % 3
            shift = len(a) - len(b)
            a = a[:shift] + [(x - c * y) % 3 for x, y in zip(a[shift:], b)]
            a.pop()
        a, b = b, [x % 3 for x in a]
    return len(a) == 1


def hide(p, r, h, pk):
    r_enc = small_encode(r)
    q = SETS[p][0]
    ct = rounded_encode(rounded(in_ring(h, r, q)), q)
    return ct + hashed(2, hashed(3, r_enc), hashed(4, pk))


@cache
def enc(p, pk, coins):
    q, w, _, _ = SETS[p]
    r = short_of(coins, w)
    ct = hide(p, r, rq_decode(pk, p, q), pk)
    return ct, hashed(1, hashed(3, small_encode(r)), ct)


@cache
def dec(p, ct, sk):
    q, w, _, _ = SETS[p]
    n = (p + 3) // 4
    f, inverse = small_decode(sk[:n], p), small_decode(sk[n:2 * n], p)
    pk, rho = sk[2 * n:-n - 32], sk[-n - 32:-32]
    e = in_ring(rounded_decode(ct[:-32], p, q), [3 * x for x in f], q)
    r = in_ring([(x + 1) % 3 - 1 for x in e], inverse, 3)
    if sum(map(abs, r)) != w:
        r = [1] * w + [0] * (p - w)
    if hide(p, r, rq_decode(pk, p, q), pk) == ct:
        return hashed(1, hashed(3, small_encode(r)), ct)
    return hashed(0, hashed(3, rho), ct)


# NTRU LPRime


def times(a, b):
    """In the field of AES."""
    out = 0
    for i in range(8):
        out ^= (a << i) * (b >> i & 1)
    for i in range(14, 7, -1):
        out ^= (0x11b << i - 8) * (out >> i & 1)
    return out


def affine(x):
    return sum(((x >> i ^ x >> (i + 4) % 8 ^ x >> (i + 5) % 8 ^ x >> (i + 6) % 8 ^ x >> (i + 7) % 8 ^ 0x63 >> i) & 1) << i
               for i in range(8))


INVERSE = [next((y for y in range(256) if times(x, y) == 1), 0) for x in range(256)]
SBOX = [affine(x) for x in INVERSE]
TWICE = [times(2, x) for x in range(256)]


@cache
def stream(key, length):
    """The key stream of AES-256 in counter mode, from zero."""
    w, rcon = [list(key[i:i + 4]) for i in range(0, 32, 4)], 1
    for i in range(8, 60):
        t = w[i - 1]
        if i % 8 == 0:
            t = [SBOX[x] for x in t[1:] + t[:1]]
            t[0] ^= rcon
            rcon = TWICE[rcon]
        elif i % 8 == 4:
            t = [SBOX[x] for x in t]
        w.append([x ^ y for x, y in zip(w[i - 8], t)])
    keys = [sum(w[i:i + 4], []) for i in range(0, 60, 4)]
    out = b""
    for block in range((length + 15) // 16):
        s = [x ^ k for x, k in zip(block.to_bytes(16, "big"), keys[0])]
        for i in range(1, 15):
            s = [SBOX[s[j % 4 + (j // 4 + j % 4) % 4 * 4]] for j in range(16)]
            if i < 14:
                mixed = []
                for c in range(0, 16, 4):
                    a = s[c:c + 4]
                    mixed += [TWICE[a[j]] ^ TWICE[a[j - 3]] ^ a[j - 3] ^ a[j - 2] ^ a[j - 1] for j in range(4)]
                s = mixed
            s = [x ^ k for x, k in zip(s, keys[i])]
        out += bytes(s)
    return out[:length]


def generator(seed, p, q):
    return [x % q - q // 2 for x in words(stream(seed, 4 * p))]


@cache
def lpr_keypair(p, coins):
    """From the seed, the bytes of a, and rho."""
    q, _, w, _ = SETS[p]
    seed, a, rho = coins[:32], short_of(coins[32:32 + 4 * p], w), coins[32 + 4 * p:]
    pk = seed + rounded_encode(rounded(in_ring(generator(seed, p, q), a, q)), q)
    return pk, small_encode(a) + pk + rho + hashed(4, pk)


def lpr_hide(p, message, pk):
    q, _, w, (tau0, tau1, _, _) = SETS[p]
    b = short_of(stream(hashed(5, message), 4 * p), w)
    ct = rounded_encode(rounded(in_ring(generator(pk[:32], p, q), b, q)), q)
    tops = []
    for i, x in enumerate(in_ring(rounded_decode(pk[32:], p, q), b, q)[:256]):
        x += (message[i // 8] >> i % 8 & 1) * (q // 2)
        x = (x + q // 2) % q - q // 2
        tops.append(tau1 * (x + tau0) + 16384 >> 15)
    return ct + bytes(tops[i] + 16 * tops[i + 1] for i in range(0, 256, 2)) + hashed(2, message, hashed(4, pk))


@cache
def lpr_enc(p, pk, message):
    ct = lpr_hide(p, message, pk)
    return ct, hashed(1, message, ct)


@cache
def lpr_dec(p, ct, sk):
    q, _, w, (_, _, tau2, tau3) = SETS[p]
    n = (p + 3) // 4
    a, pk, rho = small_decode(sk[:n], p), sk[n:-64], sk[-64:-32]
    n = rounded_length(p, q)
    b, message = in_ring(rounded_decode(ct[:n], p, q), a, q), 0
    for i in range(256):
        x = tau3 * (ct[n + i // 2] >> i % 2 * 4 & 15) - tau2 - b[i] + 4 * w + 1
        message |= ((x + q // 2) % q < q // 2) << i
    message = message.to_bytes(32, "little")
    if lpr_hide(p, message, pk) == ct:
        return hashed(1, message, ct)
    return hashed(0, rho, ct)
