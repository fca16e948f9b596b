"""How the command treats its user: manners_test.py PATH_OF_QUADRILLE"""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

QUADRILLE = sys.argv.pop(1)


def run(*words, **variables):
    return subprocess.run([QUADRILLE, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})


def good(*words):
    done = run(*words)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}")
    return done.stdout


class Mistakes(unittest.TestCase):
    def test_the_nearest_word_is_suggested(self):
        for words, expected in (
            (["lst"], "unknown command 'lst': did you mean list?"),
            (["cluster", "statsu"], "quadrille cluster: unknown command 'statsu': did you mean status?"),
            (["list", "--jsn"], "quadrille list: unknown option '--jsn': did you mean --json?"),
            (["show", "bcast", "--rank=3", "--algoritm=ring"], "'--algoritm': did you mean --algorithm?"),
            (["list", "bcats"], "no collective 'bcats': did you mean bcast?"),
            (["list", "MPI_Bcats"], "no collective 'MPI_Bcats': did you mean bcast?"),
            (["verify", "--algorithm", "rabenseifer"], "no algorithm 'rabenseifer': did you mean rabenseifner?"),
            (["show", "bcast", "--algorithm", "binomal"], "of bcast: did you mean binomial?"),
            (["run", "--algorithm", "allreduce=rng", "--print", "--", "mpirun", "-n", "2", "./a"], "did you mean ring?"),
        ):
            with self.subTest(words):
                done = run(*words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(expected, done.stderr)

    def test_what_is_near_nothing_is_told_where_all_are(self):
        self.assertIn("unknown command 'paint'; quadrille --help shows all", run("paint").stderr)
        self.assertIn("unknown option '--colour'; quadrille list --help shows all", run("list", "--colour").stderr)

    def test_options_of_the_program_are_its_own(self):
        done = run("run", "--print", "--", "mpirun", "--no-such-option", "./a")
        self.assertNotIn("unknown option", done.stderr)


class Names(unittest.TestCase):
    def test_collectives_may_be_written_as_mpi_does(self):
        self.assertEqual(good("list", "MPI_Bcast"), good("list", "bcast"))
        self.assertEqual(good("show", "MPI_Bcast", "--algorithm", "binomial"),
                         good("show", "bcast", "--algorithm", "binomial", "--ranks", "8"))
        self.assertIn("allreduce", good("explain", "MPI_Allreduce", "1MB", "-n", "4"))
        self.assertIn("12 messages, 3.0 KiB", good("matrix", "MPI_Alltoall:1KB", "-n", "4"))

    def test_sizes_may_be_written_in_any_way(self):
        of = ["explain", "allreduce", "-n", "4", "--json"]
        self.assertEqual(good(*of, "1MB"), good(*of, "1MiB"))
        self.assertEqual(good(*of, "1m"), good(*of, "1048576"))
        shown = ["show", "bcast", "--algorithm", "pipelined_chain", "--ranks", "3"]
        self.assertEqual(good(*shown, "--count", "1MB", "--segment", "512K"),
                         good(*shown, "--count", "1048576", "--segment", "524288"))


class Output(unittest.TestCase):
    def test_the_list_fits_100_columns(self):
        self.assertLessEqual(max(map(len, good("list").splitlines())), 100)

    def test_show_without_an_algorithm_lists_them(self):
        text = good("show", "bcast")
        self.assertIn("scatter_ring", text)
        self.assertIn("quadrille show bcast --algorithm", text)
        self.assertIn("binomial", [one["algorithm"] for one in json.loads(good("show", "bcast", "--json"))])

    def test_show_has_the_messages_as_json(self):
        shown = json.loads(good("show", "bcast", "--algorithm", "binomial", "--ranks", "4", "--json"))
        self.assertEqual(shown["ranks"], 4)
        self.assertEqual([(one["step"], one["from"], one["to"]) for one in shown["messages"]],
                         [(1, 0, 2), (2, 0, 1), (2, 2, 3)])

    def test_verify_has_json(self):
        result = json.loads(good("verify", "barrier", "--ranks", "1-5,9", "--json"))
        self.assertEqual((result["passed"], result["failed"], result["failures"]), (204, 0, []))
        self.assertEqual(sum(one.get("passed", 0) for one in result["algorithms"]), 204)

    def test_progress_is_for_terminals_alone_and_has_no_colours(self):
        words = [QUADRILLE, "verify", "bcast", "--ranks", "33"]
        self.assertEqual(subprocess.run(words, capture_output=True, text=True, check=True).stderr, "")
        ours, theirs = pty.openpty()
        shown = ""
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=theirs) as job:
            os.close(theirs)
            try:
                while part := os.read(ours, 1 << 16):
                    shown += part.decode()
            except OSError:  # nobody has the other end any more
                pass
            self.assertEqual(job.wait(), 0)
        os.close(ours)
        self.assertRegex(shown, r"\r\d+ of \d+ cases, about .* left: bcast ")
        self.assertNotIn("\n", shown)
        self.assertNotIn("\x1b", shown)


class Report(unittest.TestCase):
    def printed(self, *words):
        done = run("run", "--print", *words)
        return done.stdout + done.stderr

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_a_file_may_follow_the_option(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/run.json"
            for words in (["--report", file, "--", "mpirun"], [f"--report={file}", "mpirun"],
                          ["--report", file, "--force", "--", "mpirun"], ["--report", file, "mpirun"]):
                self.assertIn(f"QUADRILLE_REPORT={file}", self.printed(*words, "-n", "2", "./a"), words)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_without_a_file_it_is_printed(self):
        for words in (["--report", "--", "mpirun"], ["--report", "mpirun"], ["--report", "--force", "mpirun"]):
            self.assertIn("QUADRILLE_REPORT=-", self.printed(*words, "-n", "2", "./a"), words)


class Cluster(unittest.TestCase):
    def test_down_is_no_error_if_it_is_down(self):
        done = run("cluster", "down", "--name", "never-was-up")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("never-was-up is not up", done.stdout)


class Completion(unittest.TestCase):
    def complete_by_bash(self, *words):
        """What bash offers for the last word."""
        array = " ".join(f"'{word}'" for word in ("quadrille", *words))
        script = f"""source <('{QUADRILLE}' completion bash)
            COMP_WORDS=({array}); COMP_CWORD={len(words)}; _quadrille; printf '%s\\n' "${{COMPREPLY[@]}}" """
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()

    def test_bash_completes_commands_options_and_names(self):
        self.assertEqual(self.complete_by_bash("li"), ["list"])
        self.assertEqual(self.complete_by_bash("cluster", "st"), ["status"])
        self.assertEqual(self.complete_by_bash("list", "--j"), ["--json"])
        self.assertEqual(self.complete_by_bash("list", "allred"), ["allreduce"])
        self.assertIn("rabenseifner", self.complete_by_bash("show", "allreduce", "--algorithm", "rab"))
        self.assertEqual(self.complete_by_bash("run", "--mpi", "op"), ["openmpi"])
        self.assertEqual(self.complete_by_bash("run", "--table", ""), [])  # left to file names
        self.assertIn("bash", self.complete_by_bash("run", "--", "bas"))

    def test_it_has_every_command_of_the_help(self):
        text = good("completion", "bash")
        commands = [line.split()[0] for line in good("--help").partition("Subcommands:\n")[2].splitlines()
                    if line.startswith("  ") and line[2] != " "]
        self.assertGreater(len(commands), 15)
        for command in commands:
            self.assertIn(f"' {command}'", text)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "_quadrille").write_text(good("completion", "zsh"), encoding="utf-8")
            script = f"""autoload -Uz compinit; fpath=({folder} $fpath); compinit -D -u
                functions _quadrille >/dev/null || exit 1
                _describe() {{ print -l -- $found }}; _files() {{ print FILES }}; compadd() {{ shift; print -l -- $@ }}
                words=(quadrille cluster ''); CURRENT=3; _quadrille
                words=(quadrille run --mpi ''); CURRENT=4; _quadrille"""
            done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("status:Print whether", done.stdout)
            self.assertIn("openmpi\nmpich", done.stdout)


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        good("document", "--man", str(cls.folder))

    def test_each_command_has_one_with_the_text_of_its_help(self):
        self.assertGreater(len(list(self.folder.iterdir())), 20)
        page = " ".join((self.folder / "quadrille-cluster-up.1").read_text(encoding="utf-8").split())
        self.assertIn("Take the cluster down when the process with this ID ends", page)
        self.assertIn(".It Fl -slots", page)

    def test_their_lines_of_text_are_short(self):
        for page in self.folder.iterdir():
            for line in page.read_bytes().splitlines():
                self.assertTrue(len(line) <= 80 or line.startswith(b"."), (page.name, line))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_gives_no_warnings(self):
        done = subprocess.run(["mandoc", "-T", "lint", *map(str, self.folder.iterdir())], capture_output=True, text=True,
                              check=False)
        wrong = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
