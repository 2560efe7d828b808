"""`python -m sot` and `SOT_CAPTURE_ALL=1`: a program runs as `python` runs it, with every function captured."""

import importlib.util
import os
import re
import subprocess
import sys
import textwrap

import pytest

if importlib.util.find_spec("sot") is None:
    pytest.skip("sot is not built for this interpreter", allow_module_level=True)

PROGRAM = """
import os, sys, __main__

class Point:
    def __init__(self, x):
        self.x = x
    def plus(self, other):
        return Point(self.x + other.x)

def total(n):
    here = Point(0)
    for i in range(n):
        here = here.plus(Point(i))
    return here.x

def fail(text):
    raise ValueError(text)

if __name__ == "__main__":
    print([total(n) for n in range(5)], sys.argv[1:], __main__.total is total, os.path.basename(__file__))
    print(os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)), __spec__ is None)
    if "fail" in sys.argv:
        fail("told")
    if "exit" in sys.argv:
        sys.exit(7)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("from .part import f\nimport sys\nprint(f(2), sys.argv[1:], __package__, __name__)\n")
    (package / "part.py").write_text("def f(x):\n    return x * 21\n")
    return tmp_path


def run(folder, *arguments, **environment):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), PYTHONWARNINGS="ignore", **environment)
    done = subprocess.run(
        [sys.executable, *arguments], env=env, cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def carets_away(text):
    return "\n".join(line for line in text.split("\n") if not re.fullmatch(r"[ ~^]*\^[ ~^]*", line))


@pytest.mark.parametrize(
    "arguments",
    [
        ["program.py"],
        ["program.py", "a", "-b", "--stats"],
        ["program.py", "exit"],
        ["program.py", "fail"],
        ["-m", "package", "a"],
        ["-m", "package.part"],
        ["-mpackage"],
        ["package/../program.py", "fail"],
        ["-c", "import sys; print(sys.argv, sys.path[0], __name__)", "a", "-m"],
        ["-c", "def f(x): raise KeyError(x)\nf(1)"],
        ["-c", "1 +"],
        ["-c", "import sys; sys.exit('no')"],
        ["-c", "raise SystemExit"],
        ["-c", "def f(): raise KeyboardInterrupt\nf()"],
        ["-c", "import sys\nsys.excepthook = lambda *_: print('mine')\n1 / 0"],
        ["-c", "import threading\ndef f(): print('thread')\nt = threading.Thread(target=f); t.start(); t.join()"],
        ["-m", "this"],
    ],
    ids=" ".join,
)
def test_as_python_runs_it(folder, arguments):
    code, out, err = run(folder, *arguments)
    got_code, got_out, got_err = run(folder, "-m", "sot", *arguments)
    assert (got_code, got_out) == (code, out)
    assert carets_away(got_err) == carets_away(err)


def test_a_directory_and_an_archive(folder):
    import zipfile

    archive = folder / "archive.zip"
    with zipfile.ZipFile(str(archive), "w") as file:
        file.writestr("__main__.py", "import sys\nprint('archived', sys.argv, sys.path[0])\n")
    (folder / "__main__.py").write_text("import sys\nprint('directory', sys.argv[1:])\n")
    for arguments in (["archive.zip", "a"], [".", "a"]):
        assert run(folder, "-m", "sot", *arguments) == run(folder, *arguments)


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["nowhere.py"], 2, "can't open file"),
        (["-m", "nowhere"], 1, "No module named nowhere"),
        (["-m"], 2, "-m needs a module"),
        (["-c"], 2, "-c needs code"),
        ([], 2, "name a program"),
        (["--nonsense"], 2, "unknown option --nonsense"),
        (["--only"], 2, "--only needs"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line(folder, arguments, code, words):
    got, out, err = run(folder, "-m", "sot", *arguments)
    assert (got, out) == (code, "") and words in err and len(err.strip().split("\n")) == 1


def test_help(folder):
    code, out, err = run(folder, "-m", "sot", "--help")
    assert (code, err) == (0, "") and out.startswith("Run a Python program") and "--stats" in out


def counts(err):
    return {what: int(number) for number, what in re.findall(r"^ +(\d+)  (.+)$", err, re.MULTILINE)}


def test_frames_without_tensors_are_rewritten(folder):
    code, out, err = run(folder, "-m", "sot", "--stats", "--only", "total", "program.py")
    told = counts(err)
    assert code == 0 and out.startswith("[0, 0, 1, 3, 6] ")
    # Five calls of `total`, which inlines the others.
    assert told["frames entered"] == told["rewritten"] == 5
    assert "no-tensor" not in err and "ambient-mode" not in err


def test_the_standard_library_is_captured_too(folder):
    told = counts(run(folder, "-m", "sot", "--stats", "-c", "import textwrap; print(textwrap.dedent(' a'))")[2])
    # The program, the module, and what the import system calls: how much of that is Python differs by version.
    assert told["rewritten"] >= 3
    assert told["rewritten"] >= 0.8 * told["frames entered"]


def test_only_a_range(folder):
    text = "def f(x): return x\ndef g(x): return -x\nprint(f(1), g(2), f(3))"
    code, out, err = run(folder, "-m", "sot", "--stats", "--only", "1:2", "-c", text)
    assert (code, out) == (0, "1 -2 3\n")
    assert "last function captured is g (<string>:2)" in err and counts(err)["rewritten"] == 1


def test_a_generator_runs_as_it_is(folder):
    text = textwrap.dedent(
        """
        def numbers(n):
            for i in range(n):
                yield twice(i)
        def twice(i):
            return i * 2
        print(list(numbers(4)))
        """
    )
    code, out, err = run(folder, "-m", "sot", "--stats", "--only", "twice", "-c", text)
    assert (code, out) == (0, "[0, 2, 4, 6]\n") and counts(err)["rewritten"] == 4


def test_threads_are_captured(folder):
    text = textwrap.dedent(
        """
        import threading
        def work(): print(twice(4))
        def twice(i): return i * 2
        t = threading.Thread(target=work); t.start(); t.join()
        """
    )
    code, out, err = run(folder, "-m", "sot", "--stats", "--only", "work", "-c", text)
    assert (code, out) == (0, "8\n") and counts(err)["rewritten"] == 1


# ----- the end of the process

LOUD = """
class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print("died", self.name)
    def shout(self):
        return self.name.upper()

first = Loud("first")
"""

DEFINITIONS = {
    "a function that is called": "def f(): return first.shout()\nprint(f(), f())",
    "attributes of a function": "def f(): ...\nfor a in ('b', 'c'): setattr(f, a, 'z')",
    "wraps": "import functools\ndef g(): ...\n@functools.wraps(g)\ndef f(): ...",
    "lru_cache": "import functools\n@functools.lru_cache()\ndef f(): return first.shout()\nprint(f(), f())",
    "contextmanager": "import contextlib\n@contextlib.contextmanager\ndef f(): yield first\nwith f() as g: print(g.name)",
    "dataclass": "import dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int = 1\nprint(Point(), Point() == Point(2))",
    "enum": "import enum\nclass E(enum.Enum):\n    A = 1\nprint(E.A, E(1))",
    "namedtuple": "import collections\nP = collections.namedtuple('P', 'x y')\nprint(P(1, 2)._replace(x=3))",
    "no collections": "import gc, functools\ngc.disable()\ndef g(): ...\n@functools.wraps(g)\ndef f(): ...",
    "a thread": "import threading\ndef f(): print(first.shout())\nt = threading.Thread(target=f)\nt.start()\nt.join()",
}


@pytest.mark.parametrize("where", ["program", "module"])
@pytest.mark.parametrize("definition", list(DEFINITIONS))
def test_what_globals_hold_dies_at_the_end(folder, definition, where):
    (folder / "loud.py").write_text(LOUD + DEFINITIONS[definition] + "\nlast = Loud('last')\n")
    (folder / "importing.py").write_text("import loud\n")
    program = {"program": "loud.py", "module": "importing.py"}[where]
    code, out, err = run(folder, program)
    assert code == 0 and out.count("died") == 2
    got_code, got_out, got_err = run(folder, "-m", "sot", program)
    # The order of what the collector finds depends on when it has run before.
    assert (got_code, sorted(got_out.split("\n")), got_err) == (code, sorted(out.split("\n")), err)


def test_the_environment_variable(folder):
    text = "import sot\ndef f(x): return x\nf(1)\nsot._sot._capture_all(False)\nprint(sot._sot._capture_counts()['rewritten'])"
    assert int(run(folder, "-c", text, SOT_CAPTURE_ALL="1")[1]) >= 1
    assert run(folder, "-c", text, SOT_CAPTURE_ALL="0")[:2] == (0, "0\n")
    assert run(folder, "-c", text)[:2] == (0, "0\n")


IMPORTS_GO_ELSEWHERE = """
import builtins

class Elsewhere:
    def __getattr__(self, name):
        raise AttributeError(name)

def broken(n):
    out = []
    for i in range(n):
        try:
            print(i, end=" ")
            out.append((lambda: i)())
        finally:
            out.append(len(out))
    return out

def asked():
    yield from broken(2)
    yield sorted([3, 1], key=lambda v: -v), list(map(str, [1])), 1 in {1: 2}

real, builtins.__import__ = builtins.__import__, lambda *names, **more: Elsewhere()
try:
    print(broken(3), list(asked()))
finally:
    builtins.__import__ = real
"""

LENT_MEMORY = """
import decimal

def flags():
    context = decimal.Context()
    copied = context.copy()
    context.flags[decimal.Inexact] = True
    return copied.flags[decimal.Inexact], context.flags[decimal.Inexact]

def traps():
    context = decimal.Context(prec=4)
    context.clear_flags()
    context.traps[decimal.FloatOperation] = False
    context.create_decimal(1.5)
    return context.flags[decimal.FloatOperation], context.traps[decimal.FloatOperation]

for _ in range(20):
    print(flags(), traps())
"""


@pytest.mark.parametrize("program", [IMPORTS_GO_ELSEWHERE, LENT_MEMORY])
def test_the_world_of_the_translator_is_its_own(program, tmp_path):
    (tmp_path / "program.py").write_text(program)
    plain, captured = run(tmp_path, "program.py"), run(tmp_path, "-m", "sot", "program.py")
    assert captured == plain and plain[0] == 0
