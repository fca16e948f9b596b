"""The files that name Quadrille's version: versions_test.py TREE"""

import pathlib
import re
import sys
import unittest

TREE = pathlib.Path(sys.argv.pop(1))


def found(pattern, path):
    """All that the group of a pattern is in a file."""
    return set(re.findall(pattern, (TREE / path).read_text(encoding="utf-8"), re.MULTILINE))


class Versions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (cls.version,) = found(r"^project\(quadrille VERSION (\S+) ", "CMakeLists.txt")
        cls.interface = cls.version.rpartition(".")[0]

    def test_the_version_is_the_same_everywhere(self):
        for path, pattern in (  # recipes_test.py has those of Spack and EasyBuild
            ("CITATION.cff", r"^version: (\S+)$"),
            ("debian/changelog", r"\Aquadrille \(([\d.]+)-\d+\) "),
            ("CHANGELOG.md", r"\A(?:(?!^## ).*\n)*## (\S+)$"),
        ):
            with self.subTest(path):
                self.assertEqual(found(pattern, path), {self.version})

    def test_the_interface_is_recorded(self):
        for mpi in ("openmpi", "mpich"):
            self.assertTrue((TREE / "packaging" / "abi" / f"{mpi}-libquadrille.so.{self.interface}.abi").is_file())


if __name__ == "__main__":
    unittest.main(argv=["versions_test.py", "--verbose"])
