# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The package against the command that ``RINGFORGE`` names."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ringforge
from ringforge import Ring


class Rings(unittest.TestCase):
    def test_texts_read_back(self):
        for text in ["Z4591[x]/(x^761 - x - 1)", "Z257[x]/(x^32 + 1)", "Z2[x]/(x^3 + x + 1)", "Z7[x]/(x^2 - 3x)"]:
            self.assertEqual(str(Ring.parse(text)), text)
        self.assertEqual(Ring.parse("Z17 [x] / (-1+x^2)"), Ring(17, (-1, 0, 1)))
        self.assertEqual(Ring.parse("Z17[x]/(x^2 + 16)"), Ring(17, (-1, 0, 1)))

    def test_what_is_no_ring_is_refused(self):
        for text in ["", "Z17[x]", "Z1[x]/(x + 1)", "Z17[x]/(2x + 1)", "Z17[x]/(x^)", "Z17[x]/(3^2)", "Z17[x]/()"]:
            with self.assertRaises(ValueError, msg=text):
                Ring.parse(text)

    def test_the_product_is_the_schoolbook_product(self):
        ring = Ring.parse("Z17[x]/(x^2 + 1)")
        self.assertEqual(ring.mul([0, 1], [0, 1]), [-1, 0])
        ring = Ring.parse("Z4591[x]/(x^761 - x - 1)")
        self.assertEqual(ring.mul([0] * 760 + [1], [0, 1]), [1, 1] + [0] * 759)
        # 2295^2 = 5267025 = 1147 * 4591 + 1148, and outputs are centred.
        self.assertEqual(ring.mul([2295], [2295, -2295])[:3], [1148, -1148, 0])


class Command(unittest.TestCase):
    def test_presets_and_plans(self):
        presets = ringforge.presets()
        self.assertEqual(presets["mlkem"].ring, Ring.parse("Z3329[x]/(x^256 + 1)"))
        self.assertIn("sntrup761-chiu", ringforge.plans(presets["sntrup761"].ring))
        self.assertNotIn("mlkem", ringforge.plans("Z4591[x]/(x^761 - x - 1)"))
        self.assertRegex(ringforge.version(), r"^\d+\.\d+\.\d+$")

    def test_a_plan_is_explained(self):
        explained = ringforge.explain("sntrup761", target="avx2")
        titles = [node.title for node in explained.tree.walk()]
        self.assertTrue(any("Good–Thomas" in title for title in titles), titles)
        self.assertGreater(explained.counts["multiplies"], 0)
        self.assertEqual(explained.ring.degree, 761)
        words = [stage.words for stage in explained.ranges if stage.words is not None]
        self.assertTrue(words and all(-(2**15) <= low <= high < 2**15 for low, high in words), words)

    def test_a_ring_is_forged_and_proved(self):
        with tempfile.TemporaryDirectory() as place:
            ring = Ring.parse("Z257[x]/(x^32 + 1)")
            package = ringforge.forge(ring, Path(place) / "toy", target="c", bench=False)
            self.assertEqual((package.verdict, bool(package), package.ring), ("proved", True, ring))
            self.assertTrue(package.report.is_file())
            [function] = package.functions
            self.assertTrue(function.proof and function.cycles is None)
            contract = package.directory / "z257_n32.contract.toml"
            [proof] = ringforge.prove(package.directory / "z257_n32.o", contract=contract)
            self.assertEqual((proof.verdict, proof.reasons, proof.witness), ("proved", [], None))
            [certificate] = package.directory.glob("*.certificate.gz")
            replay = ringforge.recheck(package.directory / "z257_n32.o", contract=contract, certificate=certificate)
            self.assertTrue(replay and replay.symbol == function.symbol and replay.lines > 0)
            certificate.write_bytes(b"certificate of nothing")
            with self.assertRaises(ringforge.Error):
                ringforge.recheck(package.directory / "z257_n32.o", contract=contract, certificate=certificate)
            # The output comes first. That it never is 128 is false, which is a result and no exception.
            text = contract.read_text()
            narrow = contract.with_name("narrow.toml")
            narrow.write_text(text.replace("range = [-128, 128]", "range = [-128, 127]", 1))
            self.assertNotEqual(narrow.read_text(), text)
            [refuted] = ringforge.prove(package.directory / "z257_n32.o", contract=narrow)
            self.assertEqual((refuted.verdict, bool(refuted)), ("refuted", False))
            self.assertTrue(refuted.witness and refuted.reasons)

    def test_candidates_are_measured(self):
        bench = ringforge.bench("Z257[x]/(x^32 + 1)", target="c", copies=1, samples=20)
        self.assertTrue(bench.processor)
        self.assertTrue(all(row.cycles.min > 0 and row.compiled for row in bench.rows) and bench.rows)

    def test_bad_input_is_an_error_with_the_commands_message(self):
        with self.assertRaises(ringforge.Error) as raised:
            ringforge.explain("kyberl")
        self.assertEqual(raised.exception.status, 2)
        self.assertIn("did you mean `kyber1`?", str(raised.exception))

    def test_a_command_that_is_missing_is_said(self):
        environment = {**os.environ, "RINGFORGE": "/nowhere/ringforge"}
        code = "import ringforge\ntry: ringforge.version()\nexcept ringforge.Error as e: print(e)"
        said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        self.assertIn("/nowhere/ringforge", said.stdout)


if __name__ == "__main__":
    unittest.main()
