"""What check.py looks for in Markdown: links, whether every document can be reached, commands that are there."""

import functools
import pathlib
import re
import shlex
import subprocess

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
# What a reader of a document has besides Quadrille.
PROGRAMS = {
    "cat", "cd", "chmod", "cmake", "cp", "ctest", "curl", "do", "docker", "done", "dpkg-buildpackage", "echo", "env", "exec",
    "export", "for", "g++", "gcc", "git", "grep", "head", "kill", "ls", "man", "mkdir", "module", "ninja", "pkg-config",
    "podman", "printf", "python3", "salloc", "sbatch", "sed", "sleep", "source", "squeue", "srun", "sudo", "tail",
    "time", "timeout", "wait",
}
LAUNCHERS = re.compile(r"(mpirun|mpiexec|mpicc|mpicxx|mpifort)(\.(openmpi|mpich))?$")


def blocks(text, language):
    return [match[2] for match in FENCED.finditer(text) if match[1] == language]


def prose(text):
    """Without code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))


def anchors(text):
    """Those that GitHub makes of headings."""
    found = {}
    for heading in HEADING.findall(FENCED.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {slug if again == 0 else f"{slug}-{again}" for slug, most in found.items() for again in range(most + 1)}


def links(path):
    """(line's text, file, anchor) of each relative link of a Markdown file."""
    for target in LINK.findall(prose(path.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        yield target, (path.parent / name).resolve() if name else path.resolve(), anchor


def check_links(documents):
    """Every relative link leads to a file, and its anchor to a heading."""
    known = {path.resolve(): anchors(path.read_text()) for path in documents}
    for path in documents:
        for target, file, anchor in links(path):
            if not file.exists():
                yield f"{path}: {target} leads nowhere"
            elif anchor and anchor not in known.get(file, ()):
                yield f"{path}: {target} leads to no heading"


def check_reachable(documents, start):
    """Links lead from the index to every document below its folder."""
    folder = start.parent.resolve()
    reached, left = set(), [start.resolve()]
    while left:
        path = left.pop()
        if path in reached or path.suffix != ".md" or not path.is_file():
            continue
        reached.add(path)
        # Not by way of what lies elsewhere: the index is to do without it.
        left += [file for _, file, _ in links(path) if file.is_relative_to(folder)]
    for path in documents:
        if path.resolve().is_relative_to(folder) and path.resolve() not in reached:
            yield f"{path}: no link leads here from {start}"


def commands(text):
    """The words of each command in a document's console blocks; a pipe, && and ; begin another one."""
    lines = "".join(blocks(text, "console")).replace("\\\n", " ").splitlines()
    for line in lines:
        if not line.startswith("$ "):
            continue
        lexer = shlex.shlex(line[2:], posix=True, punctuation_chars="|&;()<>")
        lexer.whitespace_split = True
        found = []
        for word in lexer:
            if word in ("|", "&&", ";", "(", ")", "||"):
                yield found
                found = []
            else:
                found.append(word)
        yield found


@functools.cache
def help_of(quadrille, *words):
    done = subprocess.run([quadrille, *words, "--help"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def options_of(text):
    names = (re.match(r"\s+(-[\w,-]+)", line) for line in text.splitlines())
    return {option for name in names if name for option in name[1].split(",")}


def subcommands_of(text):
    lines = text.partition("Subcommands:\n")[2].splitlines()
    return {line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "}


def faults_of(quadrille, words):
    """What is unknown in the words behind `quadrille`, up to the program that it starts."""
    own = words[: words.index("--")] if "--" in words else words
    chosen = []
    while len(own) > len(chosen) and own[len(chosen)] in subcommands_of(help_of(quadrille, *chosen)):
        chosen.append(own[len(chosen)])
    if not chosen and own and not own[0].startswith("-"):
        yield f"quadrille has no command {own[0]}"
        return
    known = options_of(help_of(quadrille, *chosen))
    for word in own[len(chosen) :]:
        option = word.partition("=")[0]
        if re.match(r"--?[a-z]", option) and option not in known:
            yield f"quadrille {' '.join(chosen)} has no option {option}"


def known_program(word):
    # Variables set in front of a command, what follows $(...), and programs of the reader's own or of the tree.
    return "=" in word or "/" in word or word.startswith("-") or word in PROGRAMS or bool(LAUNCHERS.match(word))


def check_commands(documents, quadrille):
    """Each command of a console block is a known one, and what it asks of Quadrille is there."""
    for path in documents:
        for words in commands(path.read_text()):
            if words and words[0] != "quadrille" and not known_program(words[0]):
                yield f"{path}: {words[0]} is no command that readers are known to have"
            # Also behind a launcher, and behind the -- of another one.
            for at, word in enumerate(words):
                before = words[at - 1] if at else ""
                if word == "quadrille" and before not in ("--name", "module", "load", "lib", "man"):
                    for fault in faults_of(quadrille, words[at + 1 :]):
                        yield f"{path}: {fault}: {' '.join(words)}"


def markdown(files):
    return [path for path in files if pathlib.Path(path).suffix == ".md"]
