"""Placement of ranks: topology_test.py QUADRILLE MPI LAUNCHER..."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

QUADRILLE, MPI = sys.argv[1:3]
LAUNCH = sys.argv[3:]
del sys.argv[1:]

# Two packages of one core, which are processors 0 and 1.
MACHINE = "HWLOC_SYNTHETIC=pack:2 core:1 pu:1"


def run(*words, **variables):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **variables})
    if done.returncode != 0:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def topology(ranks, *words, before=(), **variables):
    return run(*LAUNCH, str(ranks), *before, QUADRILLE, "topology", *words, **variables)


def parts_known():
    return json.loads(run(QUADRILLE, "topology", "--json", "-"))["parts_known"]


class Topology(unittest.TestCase):
    def test_four_ranks_of_this_node(self):
        found = json.loads(topology(4, "--json", "-"))
        self.assertEqual((found["ranks"], found["nodes"], found["racks"]), (4, 1, 0))
        self.assertEqual([one["name"] for one in found["tree"]], [socket.gethostname()])
        self.assertEqual(found["tree"][0]["ranks"], [0, 1, 2, 3])
        self.assertEqual(found["levels"][0], {"level": "node", "leaders": [0]})
        self.assertIs(found["shared_memory"], True)

    def test_shared_memory_may_be_off(self):
        self.assertIn("share no memory", topology(2, QUADRILLE_SHARED="0"))

    def test_text_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("place.json", "place.svg")]
            text = topology(3, "--json", str(files[0]), "--svg", str(files[1]))
            self.assertTrue(text.startswith("3 ranks on 1 node; ranks of a node share memory"), text)
            self.assertIn("ranks 0-2", text)
            self.assertEqual(json.loads(files[0].read_text())["ranks"], 3)
            tiles = [one for one in ElementTree.parse(files[1]).iter() if one.get("class") == "rank"]
            self.assertEqual(len(tiles), 3)

    def test_a_rank_that_is_alone(self):
        found = json.loads(topology(1, "--json", "-"))
        self.assertEqual((found["ranks"], found["nodes"], found["shared_memory"]), (1, 1, None))

    @unittest.skipUnless({0, 1} <= os.sched_getaffinity(0), "processors 0 and 1 are needed")
    def test_ranks_are_in_the_packages_that_they_are_bound_to(self):
        if not parts_known():
            self.skipTest("built without hwloc")
        # Rank 1 and 3 on processor 1.
        script = 'taskset -c $(( ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % 2 )) env "$@"'
        found = json.loads(topology(4, "--json", "-", before=("sh", "-c", script, "sh", MACHINE)))
        self.assertEqual([one["level"] for one in found["levels"]], ["node", "package"])
        self.assertEqual([one["ranks"] for one in found["tree"][0]["inside"]], [[0, 2], [1, 3]])
        self.assertEqual([one["leader"] for one in found["tree"][0]["inside"]], [0, 1])
        self.assertEqual(found["unbound"], [])

    def test_racks_that_cannot_be_read_are_an_error(self):
        with self.assertRaisesRegex(AssertionError, "QUADRILLE_RACKS=/nowhere: can't read it"):
            topology(2, QUADRILLE_RACKS="/nowhere")
        with tempfile.NamedTemporaryFile("w", suffix=".racks") as file:
            file.write(f": {socket.gethostname()}\n")
            file.flush()
            with self.assertRaisesRegex(AssertionError, ":1: expected a rack's name"):
                topology(2, QUADRILLE_RACKS=file.name)


class ThisMachine(unittest.TestCase):
    def test_without_mpirun_it_has_cores_and_no_ranks(self):
        text = run(QUADRILLE, "topology", HWLOC_SYNTHETIC="pack:2 numa:1 l3:2 core:2 pu:1")
        if "hwloc is missing" in text:
            self.assertIn(socket.gethostname(), text)
            return
        self.assertRegex(text, re.compile(r"^this machine, 8 cores$.*^  package 1: cores 4-7$.*^    L3 2: cores 4-5$",
                                          re.MULTILINE | re.DOTALL))

    def test_a_file_that_cannot_be_written_is_named(self):
        with self.assertRaisesRegex(AssertionError, "exit status 2(.|\n)*can't write /nowhere/x"):
            run(QUADRILLE, "topology", "--json", "/nowhere/x")

    def test_an_mpi_that_is_not_installed_is_named(self):
        with self.assertRaisesRegex(AssertionError, "exit status 2(.|\n)*no programs for 'other'"):
            run(QUADRILLE, "topology", "--mpi", "other")


if __name__ == "__main__":
    unittest.main()
