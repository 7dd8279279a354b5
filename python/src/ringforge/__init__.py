# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Forge and prove polynomial multiplication for lattice cryptography.

A thin, typed layer over the ``ringforge`` command. It decides nothing itself: every verdict, figure and message
is the command's own.
"""

from ._answers import Choice, Explanation, Function, Package, Preset, Proof, Timing, TreeNode, Witness
from ._command import Error, version
from ._ring import Ring
from ._verbs import explain, forge, plans, presets, prove

__all__ = [
    "Choice",
    "Error",
    "Explanation",
    "Function",
    "Package",
    "Preset",
    "Proof",
    "Ring",
    "Timing",
    "TreeNode",
    "Witness",
    "explain",
    "forge",
    "plans",
    "presets",
    "prove",
    "version",
]
