# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Forge and prove polynomial multiplication for lattice cryptography.

A thin, typed layer over the ``ringforge`` command. It decides nothing itself: every verdict, figure and message
is the command's own.
"""

from ._answers import (
    Bench,
    Choice,
    Explanation,
    Function,
    Measurement,
    Package,
    Preset,
    Proof,
    Replay,
    Stage,
    Timing,
    TreeNode,
    Witness,
)
from ._command import Error, version
from ._ring import Ring
from ._verbs import bench, explain, forge, plans, presets, prove, recheck

__all__ = [
    "Bench",
    "Choice",
    "Error",
    "Explanation",
    "Function",
    "Measurement",
    "Package",
    "Preset",
    "Proof",
    "Replay",
    "Ring",
    "Stage",
    "Timing",
    "TreeNode",
    "Witness",
    "bench",
    "explain",
    "forge",
    "plans",
    "presets",
    "prove",
    "recheck",
    "version",
]
