# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rings Z_q[x]/(f), with the schoolbook product for experiments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List, Sequence, Tuple

_RING = re.compile(r"Z_?(\d+)\[x\]/\((.*)\)")
_TERM = re.compile(r"([+-])(\d*)\*?(x?)(?:\^(\d+))?")


@dataclass(frozen=True)
class Ring:
    """Z_q[x]/(f): ``modulus`` holds the coefficients of the monic f, ascending, so ``modulus[n]`` is 1."""

    q: int
    modulus: Tuple[int, ...]

    def __post_init__(self) -> None:
        if self.q < 2:
            raise ValueError(f"the modulus q must be at least 2, not {self.q}")
        if len(self.modulus) < 2 or self.modulus[-1] != 1:
            raise ValueError("f must be monic, of degree 1 or more")

    @classmethod
    def parse(cls, text: str) -> "Ring":
        """Reads ``Z4591[x]/(x^761 - x - 1)``. The command understands more forms; pass it the text as it is."""
        found = _RING.fullmatch(re.sub(r"\s", "", text))
        if found is None:
            raise ValueError(f"`{text}` is not a ring such as `Z4591[x]/(x^761 - x - 1)`")
        q, polynomial = int(found[1]), found[2]
        if not polynomial.startswith("-"):
            polynomial = "+" + polynomial
        coefficients: dict[int, int] = {}
        at = 0
        while at < len(polynomial):
            term = _TERM.match(polynomial, at)
            # A term has a number or x, and only x has an exponent.
            if term is None or not (term[2] or term[3]) or (term[4] and not term[3]):
                raise ValueError(f"`{text}`: expected a term such as `+ 3x^5` at `{polynomial[at:]}`")
            value = int(term[2] or 1) * (-1 if term[1] == "-" else 1)
            exponent = int(term[4] or 1) if term[3] else 0
            coefficients[exponent] = coefficients.get(exponent, 0) + value
            at = term.end()
        centred = {e: _centred(c, q) for e, c in coefficients.items() if c % q}
        degree = max(centred, default=0)
        modulus = [centred.get(e, 0) for e in range(degree + 1)]
        modulus[-1] %= q
        return cls(q, tuple(modulus))

    @property
    def degree(self) -> int:
        """n, the degree of f: an element has n coefficients."""
        return len(self.modulus) - 1

    def __str__(self) -> str:
        terms: List[str] = []
        for exponent in range(self.degree, -1, -1):
            c = self.modulus[exponent]
            if c == 0:
                continue
            power = "" if exponent == 0 else "x" if exponent == 1 else f"x^{exponent}"
            size = "" if abs(c) == 1 and power else str(abs(c))
            sign = "-" if c < 0 else "+"
            terms.append(f" {sign} {size}{power}" if terms else f"{'-' if c < 0 else ''}{size}{power}")
        return f"Z{self.q}[x]/({''.join(terms)})"

    def mul(self, a: Sequence[int], b: Sequence[int]) -> List[int]:
        """The schoolbook product a·b mod f and mod q: n centred coefficients, in [-(q-1)/2, q/2]."""
        product = [0] * max(len(a) + len(b) - 1, self.degree)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                product[i + j] += x * y
        for top in range(len(product) - 1, self.degree - 1, -1):
            leading, product[top] = product[top], 0
            for k in range(self.degree):
                product[top - self.degree + k] -= leading * self.modulus[k]
        return [_centred(c, self.q) for c in product[: self.degree]]


def _centred(c: int, q: int) -> int:
    c %= q
    return c - q if c > q // 2 else c
