# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command's verbs as functions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, List, Optional, Union

from ._answers import Bench, Explanation, Package, Preset, Proof, Replay
from ._command import run
from ._ring import Ring

PathLike = Union[str, "os.PathLike[str]"]


def _options(**values: object) -> List[str]:
    """``--name=value`` for all that are not ``None``; a value of ``True`` is the option alone."""
    out = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            out.append(option)
        elif value is not None and value is not False:
            out.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return out


def forge(
    ring: Union[Ring, str],
    out: PathLike,
    *,
    plan: Optional[PathLike] = None,
    target: str = "all",
    lhs: Optional[str] = None,
    rhs: Optional[str] = None,
    schedule: Optional[PathLike] = None,
    cc: Optional[str] = None,
    opt: Optional[str] = None,
    name: Optional[str] = None,
    bench: bool = True,
    progress: bool = False,
) -> Package:
    """Writes a package (C, header, contract, object, proof, report) into ``out`` and returns what it holds.

    ``ring`` is a ring or a preset's name; without ``plan`` the command searches for one. ``bench=False`` times nothing.
    """
    options = _options(
        plan=plan, target=target, lhs=lhs, rhs=rhs, schedule=schedule, cc=cc, opt=opt, name=name, out=out,
        no_bench=not bench,
    )
    return Package(Path(out), run(["forge", *options, "--", str(ring)], progress))


def prove(
    *objects: PathLike,
    contract: PathLike,
    symbol: Optional[str] = None,
    time_limit: Optional[int] = None,
    memory_limit: Optional[int] = None,
    progress: bool = False,
) -> List[Proof]:
    """Proves that each object file fulfils the contract. ``time_limit`` is in seconds, ``memory_limit`` in megabytes."""
    options = _options(contract=contract, symbol=symbol, time_limit=time_limit, memory_limit=memory_limit)
    answer = run(["prove", *options, "--", *(os.fspath(one) for one in objects)], progress)
    return [Proof(one) for one in answer["objects"]]


def recheck(object: PathLike, *, contract: PathLike, certificate: PathLike, symbol: Optional[str] = None) -> Replay:
    """Replays the certificate of a proof in the kernel, without the search. A certificate that is refused is an ``Error``."""
    options = _options(contract=contract, certificate=certificate, symbol=symbol)
    return Replay(run(["recheck", *options, "--", os.fspath(object)]))


def bench(
    ring: Union[Ring, str],
    *,
    plan: Optional[PathLike] = None,
    target: str = "all",
    cc: Optional[str] = None,
    entries: bool = False,
    peers: bool = False,
    copies: Optional[int] = None,
    samples: Optional[int] = None,
    progress: bool = False,
) -> Bench:
    """Times multipliers in turns of one process. Their ratios hold for this processor alone.

    With ``entries`` it times transforms and base products too, and with ``peers`` the implementations in ``bench/``.
    """
    options = _options(
        plan=plan, target=target, cc=cc, entries=entries, peers=peers, copies=copies, samples=samples
    )
    return Bench(run(["bench", *options, "--", str(ring)], progress))


def explain(
    ring: Union[Ring, str],
    *,
    plan: Optional[PathLike] = None,
    target: str = "avx2",
    schedule: Optional[PathLike] = None,
    entry: Optional[str] = None,
) -> Explanation:
    """The plan of a ring, and the ranges and operation counts of the program that it becomes on ``target``."""
    options = _options(plan=plan, target=target, schedule=schedule, entry=entry)
    return Explanation(run(["explain", *options, "--", str(ring)]))


def presets() -> Dict[str, Preset]:
    """The rings that have a name, by name."""
    return {one["name"]: Preset(one) for one in run(["list"])["presets"]}


def plans(ring: Union[Ring, str, None] = None) -> List[str]:
    """The names of the plans that come with ringforge: all, or those of one ring."""
    wanted = None if ring is None else str(ring)
    return [one["name"] for one in run(["list"])["plans"] if wanted in (None, one["ring"])]
