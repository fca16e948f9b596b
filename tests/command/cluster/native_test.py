"""Rules for the MPI's own algorithms on several nodes: native_test.py PATH_OF_QUADRILLE PATH_OF_ROUNDING MPI"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from harness import Cluster, WithCluster, skip_unless_possible

QUADRILLE, ROUNDING, MPI = sys.argv[1:4]
del sys.argv[1:4]

RANKS = 4
# MPICH's device runs a reduce in parts by default, inside nodes and between them.
COLLECTIVE, ALGORITHM, NUMBER = ("allreduce", "basic_linear", 1) if MPI == "openmpi" else ("reduce", "binomial", 0)
FORCED = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": "1"} \
    if MPI == "openmpi" else {"MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE": "0", "MPIR_CVAR_REDUCE_INTRA_ALGORITHM": "binomial"}

WITHOUT_HAN = {"OMPI_MCA_coll": "^han"}


class Native(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", 2, "--slots", 2)

    def rounding(self, variables):
        """The bits of sums of three sizes."""
        options = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
        done = self.cluster("run", "-n", RANKS, *options, "--", ROUNDING,
                            *(f"{COLLECTIVE}:{bytes}" for bytes in (720, 1440, 23040)))
        # Not by the status: MPICH's launcher may complain of ranks that end without MPI_Finalize.
        found = re.findall(rf"^{COLLECTIVE}:\d+ (\w+)$", done.stdout, re.MULTILINE)
        self.assertEqual(len(found), 3, done.stderr)
        return found

    def test_they_are_measured_and_take_effect(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            collective = "reduce_scatter_block" if MPI == "openmpi" else "barrier"
            subprocess.run([QUADRILLE, "tune", "--native", "--mpi", MPI, "--sizes", "64", "--each", "0.01", collective, "--",
                            *self.cluster.words("run", "-n", RANKS)], cwd=folder, check=True, timeout=250)
            report = json.loads((folder / "native.json").read_text())
            self.assertEqual((report["ranks"], report["nodes"]), (RANKS, 2))
            self.assertEqual(report["skipped"], [])
            report["points"] = [
                {"collective": COLLECTIVE, "bytes": 1440, "algorithm": algorithm, "number": number, "segment": 0,
                 "seconds": [[seconds] * 9] * 2}
                for algorithm, number, seconds in (("default", 0, 1), (ALGORITHM, NUMBER, 0.5))]
            (folder / "native.json").write_text(json.dumps(report))
            done = subprocess.run([QUADRILLE, "export", f"--{MPI}", "rules.json"], cwd=folder, check=True,
                                  capture_output=True, text=True)
            variables = dict(re.findall(r"^  export (\w+)=(.*)$", done.stdout, re.MULTILINE))
            usual, forced, ruled = self.rounding({}), self.rounding(FORCED), self.rounding(variables)
            if MPI == "openmpi" and usual == forced and self.rounding({**FORCED, **WITHOUT_HAN})[0] != usual[0]:
                self.skipTest("han runs it on several nodes, and rules are for tuned")  # Open MPI 5.0: docs/reference/mpis.md
        self.assertNotEqual(usual[0], forced[0])
        self.assertNotEqual(usual[1], forced[1])
        self.assertEqual(ruled, [usual[0], forced[1], usual[2]])


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
