"""The code and messages of the how-to are those that are compiled and checked: how_to_test.py ROOT"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


class HowTo(unittest.TestCase):
    def test_its_code_is_in_the_sources(self):
        text = (ROOT / "docs/how-to/add-an-algorithm.md").read_text(encoding="utf-8")
        parts = re.split(r"^```(.*)$", text, flags=re.MULTILINE)
        fenced = [(parts[i], parts[i + 1].strip("\n")) for i in range(1, len(parts) - 1, 4)]
        blocks = [block for language, block in fenced if language in ("cpp", "")]
        self.assertEqual(len(blocks), 4)
        sources = [(ROOT / "tests/proof/verify/how_to_test.cpp"), (ROOT / "src/core/algorithms/allreduce/swing.cpp")]
        together = "".join(path.read_text(encoding="utf-8") for path in sources)
        for block in blocks:
            self.assertTrue(block in together, block)


if __name__ == "__main__":
    unittest.main()
