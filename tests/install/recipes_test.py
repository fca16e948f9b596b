"""The recipes for Spack and EasyBuild against the tree that they build, as far as that goes without either:
recipes_test.py TREE"""

import ast
import pathlib
import re
import sys
import unittest

TREE = pathlib.Path(sys.argv.pop(1))
# What find_package and the like want, as Spack and EasyBuild call it.
LIBRARIES = {"cli11": "CLI11", "fmt": "fmt", "hwloc": "hwloc", "nlohmann-json": "nlohmann_json", "scotch": "SCOTCH"}


def read(path):
    return (TREE / path).read_text(encoding="utf-8")


def version():
    return re.search(r"^project\(quadrille VERSION (\S+) ", read("CMakeLists.txt"), re.MULTILINE)[1]


def settings():
    """The variables of Quadrille's that CMake reads; of those for an MPI, with its name."""
    text = read("CMakeLists.txt") + "".join(path.read_text(encoding="utf-8") for path in (TREE / "cmake").glob("*.cmake"))
    names = set(re.findall(r"\bQUADRILLE_\w+\b", text))
    for mpi in ("openmpi", "mpich"):
        names |= {f"{name}{mpi}" for name in ("QUADRILLE_COMPILER_", "QUADRILLE_LAUNCHER_") if f"{name}${{name}}" in text}
    return names


class Spack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        tree = ast.parse(read("packaging/spack/package.py"))
        (cls.package,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
        cls.directives = {}
        for node in cls.package.body:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                words = [ast.literal_eval(word) for word in node.value.args]
                cls.directives.setdefault(node.value.func.id, []).append(words[0])

    def test_it_is_a_package_of_this_name(self):
        self.assertEqual(self.package.name, "Quadrille")
        self.assertEqual([base.id for base in self.package.bases], ["CMakePackage"])
        self.assertTrue(ast.get_docstring(self.package))
        self.assertEqual(self.directives["license"], ["BSD-3-Clause"])

    def test_it_has_the_version(self):
        self.assertIn(version(), self.directives["version"])

    def test_it_depends_on_what_cmake_looks_for(self):
        names = {spec.partition("@")[0] for spec in self.directives["depends_on"]}
        self.assertEqual(names, {"c", "cxx", "cmake", "pkgconfig", "mpi", *LIBRARIES})
        needed = re.search(r"cmake_minimum_required\(VERSION (\S+)\)", read("CMakeLists.txt"))[1]
        self.assertIn(f"cmake@{needed}:", self.directives["depends_on"])

    def test_it_sets_variables_that_there_are(self):
        text = read("packaging/spack/package.py")
        names = {name.replace("{self.mpi_kind}", mpi) for name in re.findall(r'define\(f?"([^"]+)"', text)
                 for mpi in ("openmpi", "mpich")}
        self.assertGreater(len(names), 4)
        self.assertEqual(names - settings(), set())


class EasyBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (cls.path,) = (TREE / "packaging" / "easybuild").glob("*.eb")
        cls.fields = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
        exec(compile(cls.path.read_text(encoding="utf-8"), cls.path, "exec"), cls.fields)

    def test_it_has_the_fields_that_are_mandatory(self):
        for name in ("easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "moduleclass"):
            with self.subTest(name):
                self.assertTrue(self.fields[name])
        self.assertEqual(self.fields["easyblock"], "CMakeNinja")

    def test_its_file_is_called_by_name_version_and_toolchain(self):
        toolchain = self.fields["toolchain"]
        name = f"quadrille-{version()}-{toolchain['name']}-{toolchain['version']}.eb"
        self.assertEqual(self.path.name, name)
        self.assertEqual((self.fields["name"], self.fields["version"]), ("quadrille", version()))

    def test_it_depends_on_what_cmake_looks_for(self):
        names = {name for name, _ in self.fields["builddependencies"] + self.fields["dependencies"]}
        self.assertEqual(names, {"CMake", "Ninja", "pkgconf", *LIBRARIES.values()})

    def test_it_sets_variables_that_there_are(self):
        names = set(re.findall(r"-D(QUADRILLE_\w+)=", self.fields["configopts"]))
        self.assertGreater(len(names), 3)
        self.assertEqual(names - settings(), set())


if __name__ == "__main__":
    unittest.main(argv=["recipes_test.py", "--verbose"])
