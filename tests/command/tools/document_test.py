"""The generated documents: document_test.py PATH_OF_QUADRILLE FOLDER_OF_DOCUMENTS"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

QUADRILLE, DOCUMENTS = sys.argv[1], pathlib.Path(sys.argv[2])
del sys.argv[1:3]


def contents(folder):
    files = [folder / "algorithms.md", folder / "environment.md", *(folder / "images" / "algorithms").iterdir()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Document(unittest.TestCase):
    def test_the_committed_documents_are_up_to_date(self):
        with tempfile.TemporaryDirectory() as folder:
            before = (DOCUMENTS / "environment.md").read_text()
            begin, end = re.search(r"(?s)<!-- The table.*?-->\n(.*)<!-- Its end", before).span(1)
            pathlib.Path(folder, "environment.md").write_text(before[:begin] + before[end:])
            subprocess.run([QUADRILLE, "document", "--output", folder], check=True)
            written, committed = contents(pathlib.Path(folder)), contents(DOCUMENTS)
        self.assertEqual(set(written), set(committed))
        differing = [name for name, content in written.items() if content != committed[name]]
        self.assertEqual(differing, [], "regenerate them: quadrille document --output docs/reference")

    def test_every_algorithm_has_a_section_and_a_drawing(self):
        text = (DOCUMENTS / "algorithms.md").read_text()
        listed = json.loads(subprocess.run([QUADRILLE, "list", "--json"], capture_output=True, check=True).stdout)
        for one in listed:
            with self.subTest(one["collective"] + " " + one["algorithm"]):
                section = text.partition(f"\n### {one['collective']} {one['algorithm']}\n")[2].partition("\n### ")[0]
                for key in ("steps", "cost", "scratch", "paper"):
                    self.assertIn(one[key], section)
                self.assertIn(f"(images/algorithms/{one['collective']}-{one['algorithm']}.svg)", section)

    def test_every_link_leads_somewhere(self):
        for name in ("algorithms.md", "environment.md"):
            text = (DOCUMENTS / name).read_text()
            headings = {head.lower().replace(" ", "-") for head in re.findall(r"^##+ (.*)$", text, re.MULTILINE)}
            self.assertEqual(set(re.findall(r"\(#(.*?)\)", text)) - headings, set())
        text = (DOCUMENTS / "algorithms.md").read_text()
        for image in re.findall(r"\((images/.*?)\)", text):
            self.assertTrue((DOCUMENTS / image).is_file(), image)

    def test_the_drawings_stay_small(self):
        sizes = [path.stat().st_size for path in (DOCUMENTS / "images" / "algorithms").iterdir()]
        self.assertLess(sum(sizes) / len(sizes), 15_500)

    def test_a_folder_that_cannot_be_written_is_status_2(self):
        done = subprocess.run([QUADRILLE, "document", "--output", "/dev/null/x"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
