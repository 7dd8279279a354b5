# SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
"""NTRU from the specification of the third round, slowly: polynomials are lists of integers, inverses are Euclid's."""
from functools import cache
from hashlib import sha3_256

SETS = {"ntruhps2048509": (509, 11, True), "ntruhps2048677": (677, 11, True), "ntruhps4096821": (821, 12, True),
        "ntruhps40961229": (1229, 12, True), "ntruhrss701": (701, 13, False), "ntruhrss1373": (1373, 14, False)}  # n, log2 q, HPS


def product(a, b):
    """Of any polynomials, over the integers, as one product of large integers."""
    size = 64
    number = lambda c: sum(x << (size * i) for i, x in enumerate(c))
    both, out = number(a) * number(b), []
    for _ in range(len(a) + len(b) - 1):
        digit = (both + (1 << size - 1)) % (1 << size) - (1 << size - 1)
        out.append(digit)
        both = (both - digit) >> size
    return out


def cyclic(a, b, n, m):
    out = [0] * n
    for i, x in enumerate(product(a, b)):
        out[i % n] = (out[i % n] + x) % m
    return out


def mod_phi(a, n, m):
    return [(x - a[n - 1]) % m for x in a[:n - 1]] + [0]


def centred(a, m):
    return [(x + m // 2) % m - m // 2 for x in a]


def degree(a):
    return max((i for i, x in enumerate(a) if x), default=-1)


def inverse(a, n, p):
    """Of a modulo Phi and the prime p, by Euclid's algorithm."""
    r0, r1, s0, s1 = [1] * n, mod_phi([x % p for x in a], n, p), [0] * n, [1] + [0] * (n - 1)
    while degree(r1) > 0:
        while degree(r0) >= degree(r1):
            shift = degree(r0) - degree(r1)
            c = r0[degree(r0)] * pow(r1[degree(r1)], -1, p) % p
            r0 = [(x - c * (r1[i - shift] if i >= shift else 0)) % p for i, x in enumerate(r0)]
            s0 = [(x - c * (s1[i - shift] if i >= shift else 0)) % p for i, x in enumerate(s0)]
        r0, r1, s0, s1 = r1, r0, s1, s0
    c = pow(r1[0], -1, p)
    return mod_phi([c * x for x in s1], n, p)


def inverse_q(a, n, q):
    c, bits = inverse(a, n, 2), 1
    while 1 << bits < q:
        bits *= 2
        t = [-x for x in cyclic(a, c, n, q)]
        t[0] += 2
        c = cyclic(c, t, n, q)
    return mod_phi(c, n, q)


def iid(coins, n):
    return [x % 3 for x in coins[:n - 1]] + [0]


def fixed(coins, n, q):
    whole, weight = int.from_bytes(coins, "little"), q // 8 - 2
    words = []
    for i in range(n - 1):
        word = (whole >> (30 * i)) % (1 << 30) << 2
        words.append((word - (1 << 32) if word >> 31 else word) | (1 if i < weight // 2 else 2 if i < weight else 0))
    return [x & 3 for x in sorted(words)] + [0]


def iid_plus(coins, n):
    a = signs(iid(coins, n))
    if sum(a[i] * a[i + 1] for i in range(n - 1)) < 0:
        a = [x if i % 2 else -x for i, x in enumerate(a)]
    return a


def signs(a):
    return [-1 if x == 2 else x for x in a]


def pack3(a, n):
    a = [x % 3 for x in a[:n - 1]]
    return bytes(sum(x * 3**j for j, x in enumerate(a[i:i + 5])) for i in range(0, n - 1, 5))


def unpack3(data, n):
    return [data[i // 5] // 3**(i % 5) % 3 for i in range(n - 1)] + [0]


def pack(a, n, log):
    return sum((x % (1 << log)) << (log * i) for i, x in enumerate(a[:n - 1])).to_bytes(((n - 1) * log + 7) // 8, "little")


def unpack(data, n, log):
    whole = int.from_bytes(data, "little")
    return [(whole >> (log * i)) % (1 << log) for i in range(n - 1)] + [0]


def unpack_sum_zero(data, n, log):
    a = unpack(data, n, log)
    a[n - 1] = -sum(a) % (1 << log)
    return a


@cache
def one_over_x_minus_one(n):
    return tuple(inverse([-1, 1] + [0] * (n - 2), n, 3))


def lift(m, n, hps):
    if hps:
        return signs(m)
    quotient = cyclic(m, one_over_x_minus_one(n), n, 3)
    return cyclic([-1, 1], signs(mod_phi(quotient, n, 3)), n, 1 << 62)


def coins_length(name):
    n, _, hps = SETS[name]
    return n - 1 + (30 * (n - 1) + 7) // 8 if hps else 2 * (n - 1)


@cache  # for the second kind of code the coins are the same
def keypair(name, coins):
    n, log, hps = SETS[name]
    q = 1 << log
    if hps:
        f, g = signs(iid(coins, n)), [3 * x for x in signs(fixed(coins[n - 1:-32], n, q))]
    else:
        f, g = iid_plus(coins, n), cyclic([-3, 3], iid_plus(coins[n - 1:], n), n, q)
    fg = inverse_q(cyclic(f, g, n, q), n, q)
    h = cyclic(cyclic(fg, g, n, q), g, n, q)
    over = mod_phi(cyclic(cyclic(fg, f, n, q), f, n, q), n, q)
    pk = pack(h, n, log)
    return pk, pack3(f, n) + pack3(inverse(f, n, 3), n) + pack(over, n, log) + coins[-32:]


def enc(name, pk, coins):
    n, log, hps = SETS[name]
    q = 1 << log
    r, m = iid(coins, n), fixed(coins[n - 1:], n, q) if hps else iid(coins[n - 1:], n)
    c = cyclic(signs(r), unpack_sum_zero(pk, n, log), n, q)
    c = [x + y for x, y in zip(c, lift(m, n, hps))]
    return pack(c, n, log), sha3_256(pack3(r, n) + pack3(m, n)).digest()


def dec(name, ct, sk):
    n, log, hps = SETS[name]
    q, size = 1 << log, (n + 3) // 5
    f, f3 = signs(unpack3(sk, n)), unpack3(sk[size:], n)
    over, z = unpack(sk[2 * size:-32], n, log), sk[-32:]
    c = unpack_sum_zero(ct, n, log)
    m = mod_phi(centred(cyclic(c, f, n, q), q), n, 3)
    m = mod_phi(cyclic(m, f3, n, 3), n, 3)
    lifted = lift(m, n, hps)
    r = mod_phi(cyclic([(x - y) % q for x, y in zip(c, lifted)], over, n, q), n, q)
    good = all(x in (0, 1, q - 1) for x in r) and int.from_bytes(ct, "little") >> (log * (n - 1)) == 0
    if hps:
        good = good and m.count(1) == m.count(2) == q // 16 - 1
    if not good:
        return sha3_256(z + ct).digest()
    return sha3_256(pack3(centred(r, q), n) + pack3(m, n)).digest()
