"""What a trace has of programs that know nothing of it:
trace_test.py QUADRILLE MPI TRACED CALLS MONITORED FORTRAN,... LAUNCHER... -n

TRACED says itself what it sends; CALLS has a rank that is late; MONITORED is a library by which Open MPI says it, "none" under another MPI.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

QUADRILLE, MPI, TRACED, CALLS, MONITORED, FORTRAN, *LAUNCH = sys.argv[1:]
del sys.argv[1:]
# What stands in front of the launcher is for the environment: cmake -E env NAME=VALUE...
while not os.path.basename(LAUNCH[0]).startswith("mpi"):
    name, _, value = LAUNCH.pop(0).partition("=")
    os.environ.update({name: value} if value else {})

XDLU = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdlu")
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
run 50
"""


# Objects and buffers, blocking and not, on a communicator of its own, too.
PYTHON = """from mpi4py import MPI
import array

comm = MPI.COMM_WORLD
turned = comm.Split(0, -comm.rank)
for on in (comm, turned):
    after, before = (on.rank + 1) % on.size, (on.rank - 1) % on.size
    for length in (1, 100, 10000):
        request = on.isend({"rank": on.rank, "values": list(range(length))}, dest=after)
        assert on.recv(source=before)["rank"] == before
        request.wait()
        out, come = array.array("d", [on.rank] * length), array.array("d", [0] * length)
        on.Sendrecv(out, after, recvbuf=come, source=before)
        assert come[-1] == before
        requests = [on.Irecv(come, before), on.Isend(out, after)]
        MPI.Request.Waitall(requests)
        on.Allreduce(out, come)
    on.bcast("text" * 1000, root=0)
    out, come = array.array("d", [on.rank] * on.size), array.array("d", [0] * on.size)
    on.Ialltoall(out, come).Wait()
turned.Free()
"""


def messages(text):
    return sorted(re.findall(r"messages \d+(?: -?\d+:\d+:\d+)+", text))


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name, "a.trace")

    def tearDown(self):
        self.folder.cleanup()

    def trace(self, ranks, *program, options=()):
        """What the program printed; its trace is in self.file."""
        # Of more ranks than cores, MPICH's spin unless the drop-in is active.
        options = [*options, *(["--replace"] if MPI == "mpich" and ranks > 2 else [])]
        words = [QUADRILLE, "trace", "--output", self.file, *options, "--", *LAUNCH, str(ranks), *map(str, program)]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=250, cwd=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"traced to {self.file}", done.stderr)
        return done.stdout

    def monitored(self, ranks, *program):
        """Messages as the trace has them, and as Open MPI counted them."""
        counts = pathlib.Path(self.folder.name, "monitored")
        for old in counts.parent.glob("monitored.*"):
            old.unlink()
        # Before the drop-in, so that it ends before the trace is merged, by messages.
        words = subprocess.run([QUADRILLE, "trace", "--output", self.file, "--print", "--", *LAUNCH, str(ranks),
                                "--mca", "pml_monitoring_enable", "2", *program],
                               check=True, capture_output=True, text=True).stdout
        words = words.replace("LD_PRELOAD=", f"LD_PRELOAD={MONITORED}:")
        done = subprocess.run(["sh", "-c", words], check=False, capture_output=True, text=True, timeout=250,
                              cwd=self.folder.name, env={**os.environ, "MONITORED": str(counts)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        seen = "".join(path.read_text() for path in counts.parent.glob("monitored.*"))
        return messages(self.file.read_text()), messages(seen)

    def test_messages_of_all_forms_are_counted_for_each_pair(self):
        for ranks in (2, 3):
            with self.subTest(ranks):
                said = self.trace(ranks, TRACED)
                self.assertEqual(messages(self.file.read_text()), messages(said))
                self.assertEqual(len(messages(said)), ranks)

    def test_collectives_are_recorded_by_kind(self):
        said = self.trace(4, TRACED)
        self.assertEqual(messages(self.file.read_text()), messages(said))
        text = self.file.read_text().partition("communicator 0-3\n")[2].partition("communicator")[0]
        lines = [re.sub(" seconds=.*", "", line) for line in text.splitlines()]
        for expected in ["calls barrier blocking calls=1 bytes=0",
                         "calls allreduce blocking count=4 unit=4 calls=10 bytes=640",
                         "calls allreduce blocking not-commutative count=4 unit=4 calls=1 bytes=64",
                         "calls bcast blocking root=3 count=24 calls=1 bytes=96",
                         "calls allgather non-blocking count=8 calls=1 bytes=32",
                         "calls alltoallv blocking calls=1 bytes=40",
                         "calls alltoall blocking neighbours calls=1 bytes=72",
                         "blocks 3 0:1:16"]:
            self.assertIn(expected, lines)
        # Up to 256 kinds are told apart; of the other sizes the first three bits.
        reduces = [line for line in lines if line.startswith("calls reduce ")]
        self.assertEqual(sum("rounded" not in line for line in reduces), 256)
        self.assertLess(len(reduces), 256 + 20)
        self.assertEqual(sum(int(re.search(r"calls=(\d+)", line)[1]) for line in reduces), 2000)

    def test_a_trace_does_not_grow_with_calls(self):
        self.trace(2, TRACED)
        size = self.file.stat().st_size
        self.trace(2, TRACED, "10")
        self.assertLess(self.file.stat().st_size, size * 1.1)
        self.assertIn("calls allreduce blocking count=4 unit=4 calls=100 ", self.file.read_text())

    def test_a_million_calls_of_random_sizes_take_no_more_than_few(self):
        """What is bounded by the kinds that are told apart: of 10^8 calls there is not more."""
        sizes = {}
        for calls in (100000, 1000000):
            self.trace(1, TRACED, "random", calls)
            text = self.file.read_text()
            self.assertEqual(sum(int(found) for found in re.findall(r"^calls .* calls=(\d+) ", text, re.MULTILINE)), calls)
            sizes[calls] = self.file.stat().st_size
        self.assertLess(sizes[1000000], 1.1 * sizes[100000])
        self.assertLess(sizes[1000000], 200000)

    def test_the_time_of_many_tests_is_known_by_some(self):
        said = self.trace(1, TRACED, "test", 3000000)
        took = float(re.search(r"tested (\S+)", said)[1])
        in_tests = float(re.search(r"^rank 0 (?:\S+ ){4}(\S+) ", self.file.read_text(), re.MULTILINE)[1])
        self.assertGreater(in_tests, took / 4)
        self.assertLess(in_tests, 2 * took)

    def test_waits_for_late_ranks_are_told_from_calls(self):
        def seconds(word):
            found = re.search(rf"^calls allreduce .*calls=4 .*\b{word}=(\S+)", self.file.read_text(), re.MULTILINE)
            return float(found[1]) if found else None

        self.trace(2, CALLS, "late")
        self.assertIsNone(seconds("waited"))
        self.assertGreater(seconds("seconds"), 0.15)
        self.trace(2, CALLS, "late", options=["--waits"])
        self.assertGreater(seconds("waited"), 0.15)
        self.assertLess(seconds("seconds"), 0.1)
        shown = subprocess.run([QUADRILLE, "trace", "show", self.file], check=True, capture_output=True, text=True).stdout
        self.assertIn("waits for late ranks", shown)

    def test_fortran_is_traced_like_c(self):
        for program in FORTRAN.split(","):
            with self.subTest(program):
                self.trace(2, program)
                text = self.file.read_text()
                self.assertEqual(messages(text), ["messages 0 1:11:220", "messages 1 0:11:220"])
                self.assertIn("calls bcast blocking count=20 calls=1 bytes=40", text)

    def test_it_is_shown_and_drawn(self):
        self.trace(2, TRACED)
        shown = subprocess.run([QUADRILLE, "trace", "show", self.file], check=True, capture_output=True, text=True).stdout
        self.assertIn("outside of traced calls", shown)
        self.assertIn("allgather, non-blocking", shown)
        page = pathlib.Path(self.folder.name, "page.html")
        subprocess.run([QUADRILLE, "trace", "show", self.file, "--output", page], check=True)
        self.assertIn("Who sends to whom", page.read_text())
        drawing = pathlib.Path(self.folder.name, "matrix.svg")
        words = [QUADRILLE, "matrix", self.file, "--json", "--svg", drawing]
        matrix = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        self.assertEqual(matrix["ranks"], 2)
        self.assertIn('class="heat"', drawing.read_text())
        alone = json.loads(subprocess.run([*words, "--only", "messages"], check=True, capture_output=True, text=True).stdout)
        self.assertLess(alone["messages"], matrix["messages"])

    def test_without_finalize_there_is_none_and_that_is_said(self):
        done = subprocess.run([QUADRILLE, "trace", "--output", self.file, "--", *LAUNCH, "1", "true"], check=False,
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no trace", done.stderr)

    @unittest.skipIf(MPI != "openmpi", "Open MPI counts messages itself, others don't")
    def test_messages_are_those_that_open_mpi_counts(self):
        """Those of persistent requests it doesn't, of partitioned ones also what it sends to begin, and of MPI_Intercomm_create
        its own, which have the program's tag."""
        traced, counted = self.monitored(3, TRACED, "1", "plain")
        self.assertEqual(len(traced), 3)
        self.assertEqual(traced, counted)

    @unittest.skipIf(MPI != "openmpi" or not shutil.which("lmp"), "LAMMPS is not there, or not under this MPI")
    def test_lammps_sends_what_open_mpi_counts(self):
        melt = pathlib.Path(self.folder.name, "in.melt")
        melt.write_text(MELT)
        traced, counted = self.monitored(4, "lmp", "-in", str(melt), "-log", "none")
        self.assertEqual(len(traced), 4)
        self.assertEqual(traced, counted)

    @unittest.skipIf(MPI != "openmpi", "Debian's mpi4py is made for Open MPI")
    def test_mpi4py_sends_what_open_mpi_counts(self):
        python = "/usr/bin/python3"
        if subprocess.run([python, "-c", "import mpi4py"], check=False, capture_output=True).returncode != 0:
            self.skipTest("there is no mpi4py")
        program = pathlib.Path(self.folder.name, "program.py")
        program.write_text(PYTHON)
        traced, counted = self.monitored(3, python, str(program))
        self.assertEqual(len(traced), 3)
        self.assertEqual(traced, counted)
        text = self.file.read_text()
        for call in ("calls allreduce blocking ", "calls bcast blocking ", "calls alltoall non-blocking "):
            self.assertIn(call, text)

    @unittest.skipIf(MPI != "openmpi" or not shutil.which("hpcc"), "HPCC is not there, or not under this MPI")
    def test_hpcc_sends_what_open_mpi_counts(self):
        text = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text()
        pathlib.Path(self.folder.name, "hpccinf.txt").write_text(re.sub(r"^1000 +Ns", "400 Ns", text, flags=re.MULTILINE))
        traced, counted = self.monitored(4, "hpcc")
        self.assertEqual(len(traced), 4)
        self.assertEqual(traced, counted)

    @unittest.skipIf(MPI != "openmpi" or not XDLU.exists(), "ScaLAPACK's testers are not there, or not under this MPI")
    def test_a_solver_of_scalapack_sends_what_open_mpi_counts(self):
        shutil.copy("/usr/share/scalapack/LU.dat", self.folder.name)
        traced, counted = self.monitored(4, str(XDLU))
        self.assertEqual(len(traced), 4)
        self.assertEqual(traced, counted)


unittest.main()
