# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command's answers as objects. Each keeps the JSON that it was read from in ``json``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._ring import Ring

Json = Dict[str, Any]


@dataclass(frozen=True)
class Witness:
    """Inputs on which a refuted object fails."""

    json: Json


@dataclass(frozen=True)
class Proof:
    """What was proved of one function of one object."""

    json: Json

    @property
    def verdict(self) -> str:
        """``proved``, ``refuted`` or ``unknown``."""
        return str(self.json["verdict"])

    @property
    def symbol(self) -> str:
        """The function."""
        return str(self.json["symbol"])

    @property
    def claims(self) -> List[str]:
        """What holds for all inputs in range, if the verdict is ``proved``."""
        return list(self.json["claims"])

    @property
    def assumptions(self) -> List[str]:
        """What the verdict assumes of the caller."""
        return list(self.json["assumptions"])

    @property
    def reasons(self) -> List[str]:
        """Why the function is not proved, the first cause first."""
        return [reason["text"] for reason in self.json["reasons"]]

    @property
    def witness(self) -> Optional[Witness]:
        """Inputs that show the failure of a refuted object."""
        found = self.json["witness"]
        return None if found is None else Witness(found)

    @property
    def seconds(self) -> float:
        """How long the proof took."""
        return float(self.json["times"]["total"])

    def __bool__(self) -> bool:
        return self.verdict == "proved"


@dataclass(frozen=True)
class Timing:
    """Core cycles of one call."""

    json: Json

    @property
    def min(self) -> float:
        """The least."""
        return float(self.json["min"])

    @property
    def median(self) -> float:
        """The median."""
        return float(self.json["median"])


@dataclass(frozen=True)
class Function:
    """One function of a package."""

    json: Json

    @property
    def target(self) -> str:
        """The machine that it is for, such as ``avx2``."""
        return str(self.json["target"])

    @property
    def symbol(self) -> str:
        """Its name in C."""
        return str(self.json["symbol"])

    @property
    def computes(self) -> str:
        """What it computes, as a sentence."""
        return str(self.json["computes"])

    @property
    def proof(self) -> Optional[Proof]:
        """Its proof; ``None`` where none was asked for."""
        found = self.json["proof"]
        return Proof(found) if isinstance(found, dict) and "verdict" in found else None

    @property
    def cycles(self) -> Optional[Timing]:
        """What a call costs; ``None`` where nothing was timed."""
        found = self.json["timing"]
        return None if found is None else Timing(found)


@dataclass(frozen=True)
class Choice:
    """How the search for a plan went, for one target."""

    json: Json

    @property
    def target(self) -> str:
        """The target."""
        return str(self.json["target"])

    @property
    def trials(self) -> List[Json]:
        """Every plan that was considered, with its cost by model, its cycles and what became of it."""
        return list(self.json["trials"])


@dataclass(frozen=True)
class Package:
    """What ``forge`` wrote."""

    directory: Path
    json: Json

    @property
    def verdict(self) -> str:
        """``proved`` only if every function is."""
        return str(self.json["verdict"])

    @property
    def ring(self) -> Ring:
        """The ring."""
        return Ring.parse(self.json["ring"])

    @property
    def plan(self) -> str:
        """The text of the plan that runs."""
        return str(self.json["plan"]["text"])

    @property
    def functions(self) -> List[Function]:
        """Its functions."""
        return [Function(one) for one in self.json["targets"]]

    @property
    def choices(self) -> List[Choice]:
        """Why these plans were taken; empty where a plan was named."""
        return [Choice(one) for one in self.json["choices"]]

    @property
    def report(self) -> Path:
        """The report for a browser."""
        return self.directory / "report.html"

    def __bool__(self) -> bool:
        return self.verdict == "proved"


@dataclass(frozen=True)
class TreeNode:
    """One method of a plan."""

    json: Json

    @property
    def title(self) -> str:
        """What it does."""
        return str(self.json["title"])

    @property
    def citation(self) -> str:
        """The paper and section it is from."""
        return str(self.json["citation"])

    @property
    def cost(self) -> Dict[str, int]:
        """Modular products, scalings and sums."""
        return dict(self.json["cost"])

    @property
    def children(self) -> List["TreeNode"]:
        """What it reduces the product to."""
        return [TreeNode(child) for child in self.json["children"]]

    def walk(self) -> Iterator["TreeNode"]:
        """This node and all below it, from the ring down."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Explanation:
    """A plan and the program that it becomes on one target."""

    json: Json

    @property
    def ring(self) -> Ring:
        """The ring."""
        return Ring.parse(self.json["ring"])

    @property
    def plan(self) -> str:
        """The plan's text."""
        return str(self.json["plan"])

    @property
    def tree(self) -> TreeNode:
        """The decomposition."""
        return TreeNode(self.json["tree"])

    @property
    def counts(self) -> Dict[str, int]:
        """Operations of one call, by class."""
        return dict(self.json["counts"]["total"])


    @property
    def ranges(self) -> List["Stage"]:
        """The words of each stage, in the order in which they are computed."""
        return [Stage(stage) for stage in self.json["ranges"]["stages"]]

    @property
    def notes(self) -> List[str]:
        """Where the program differs from the plan."""
        return list(self.json["notes"])


@dataclass(frozen=True)
class Stage:
    """The ranges of one stage of a program."""

    json: Json

    @property
    def path(self) -> List[str]:
        """Where the stage is in the program."""
        return list(self.json["path"])

    @property
    def words(self) -> Optional[Tuple[int, int]]:
        """The least and the greatest value that any word of the stage can have; ``None`` where it computes none."""
        found = self.json["words"]
        return None if found is None else (found[0], found[1])

    @property
    def fill(self) -> Optional[float]:
        """How much of a word that is, from 0 to 1."""
        return self.json["fill"]


@dataclass(frozen=True)
class Replay:
    """What the kernel says of a certificate."""

    json: Json

    @property
    def symbol(self) -> str:
        """The function."""
        return str(self.json["symbol"])

    @property
    def lines(self) -> int:
        """How many lines of the certificate were replayed."""
        return int(self.json["replayed"]["lines"])

    def __bool__(self) -> bool:
        return self.json["verdict"] == "accepted"


@dataclass(frozen=True)
class Measurement:
    """Core cycles of one candidate, measured in turns with the others of its table."""

    json: Json

    @property
    def name(self) -> str:
        """The candidate, such as ``ringforge avx2``."""
        return str(self.json["name"])

    @property
    def compiled(self) -> str:
        """Compiler and level."""
        return str(self.json["compiled"])

    @property
    def cycles(self) -> Timing:
        """Of one call."""
        return Timing(self.json)

    @property
    def noisy(self) -> bool:
        """Whether other load disturbed it."""
        return bool(self.json["noisy"])


@dataclass(frozen=True)
class Bench:
    """Multipliers side by side, measured in one process."""

    json: Json

    @property
    def rows(self) -> List[Measurement]:
        """The candidates."""
        return [Measurement(row) for row in self.json["rows"]]

    @property
    def processor(self) -> str:
        """What they ran on. Compare them with no other processor's."""
        return f'{self.json["host"]["processor"]} ({self.json["host"]["model"]})'


@dataclass(frozen=True)
class Preset:
    """A ring that has a name."""

    json: Json

    @property
    def name(self) -> str:
        """The name."""
        return str(self.json["name"])

    @property
    def ring(self) -> Ring:
        """The ring."""
        return Ring.parse(self.json["ring"])
