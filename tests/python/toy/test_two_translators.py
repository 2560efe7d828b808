"""Two extension modules built on sot-core in one process: each is as it would be without the other.

One captures the whole program (`python -m sot`, or a twin of the made-up framework: the same library under another path,
which the loader takes for another one, with statics of its own). The program uses the other one's `to_static`.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from toy_framework import toy

HERE = os.path.dirname(os.path.abspath(__file__))

# Runs a program whose frames a twin of the framework captures, which the program does not find by its name.
TWIN = """
import importlib.util, sys
path, program = sys.argv[1:3]
del sys.argv[:2]
spec = importlib.util.spec_from_file_location("twin.toy_backend", path)
twin = importlib.util.module_from_spec(spec)
before = set(sys.modules)
spec.loader.exec_module(twin)
for name in set(sys.modules) - before:
    if "toy_backend" in name:
        del sys.modules[name]
sys.twin = twin
code = compile(open(program).read(), program, "exec")
names = {"__name__": "__main__", "__builtins__": __builtins__, "__file__": program}
twin._capture_all(True)
exec(code, names)
"""

PROLOGUE = """
import gc, sys, threading, weakref
sys.path.insert(0, %r)
from toy_framework import toy
t = toy.tensor
""" % HERE


def plain(folder, program):
    return ["program.py"]


def under_a_twin(folder, program):
    copy = folder / "twin.so"
    if not copy.exists():
        shutil.copyfile(toy.__file__, str(copy))
    (folder / "run_twin.py").write_text(TWIN)
    return ["run_twin.py", str(copy), "program.py"]


def under_sot(folder, program):
    if importlib.util.find_spec("sot") is None:
        pytest.skip("sot is not built for this interpreter")
    return ["-m", "sot", "program.py"]


def run(folder, how, program, **environment):
    (folder / "program.py").write_text(PROLOGUE + textwrap.dedent(program))
    # What one of them does in the middle of the other's work shows as an error of the guards' reference, too.
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), SOT_VERIFY_GUARDS="1", PYTHONFAULTHANDLER="1")
    if "Thread(" in program:
        # What other threads change before the guards are asked again is no error.
        env["SOT_VERIFY_GUARDS"] = "0"
    env.pop("SOT_CAPTURE_ALL", None)
    env.update(environment)
    done = subprocess.run(
        [sys.executable, *how(folder, program)], env=env, cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# Each prints what it finds; where it says so, with what the framework's translator has captured.
PROGRAMS = {
    "weak references": """
        class W: pass
        def f(x):
            a = W()
            return weakref.ref(a)() is None
        def g(x):
            a = W()
            seen = weakref.ref(a)
            a = None
            return seen() is None, x + 1
        f, g = toy.to_static(f), toy.to_static(g)
        print([f(1) for _ in range(3)], [g(1) for _ in range(3)])
    """,
    "finalizers": """
        class Loud:
            def __init__(self, name): self.name = name
            def __del__(self): print("died", self.name)
        def f(x, name):
            a = Loud(name)
            y = x + 1
            toy.show(y)
            b = Loud(name + "'")
            a = None
            return y * 2
        f = toy.to_static(f)
        for n in range(3):
            print(f(t([1.0]), str(n)).tolist())
    """,
    "what is captured": """
        def inner(x):
            return x * 2
        def f(x, n):
            for i in range(n):
                x = inner(x) + i
            return x
        f = toy.to_static(f)
        for n in (1, 2, 3, 2, 1):
            print(f(t([1.0, 2.0]), n).tolist())
        print(sorted(toy.stats().items(), key=str))
    """,
    "breaks": """
        def below(x):
            toy.show(x)
            return x + 1
        def f(x):
            try:
                x = below(x) * 2
                toy._psdb.breakgraph()
                with_names = {"x": x}
                toy.show(x)
            finally:
                x = below(x)
            return with_names["x"] + x
        f = toy.to_static(f)
        for n in range(3):
            print(f(t([float(n)])).tolist())
        print(sorted(toy.stats().items(), key=str))
    """,
    "frames below": """
        def below(x, n):
            return x if n == 0 else below(x + n, n - 1)
        def f(x, n):
            toy._psdb.fallback()
            return below(x, n)
        f = toy.to_static(f)
        print([f(t([1.0]), n).tolist() for n in (0, 3, 30, 3)])
        print(sorted(toy.stats().items(), key=str))
    """,
    "exceptions": """
        import traceback
        def fail(x):
            toy.show(x)
            raise ValueError("told")
        def f(x):
            y = x + 1
            fail(y)
            return y
        f = toy.to_static(f)
        for n in range(3):
            try:
                f(t([1.0]))
            except ValueError:
                print([(e.name, e.line) for e in traceback.extract_tb(sys.exc_info()[2])])
    """,
    "generators": """
        def numbers(n):
            for i in range(n):
                toy._psdb.breakgraph()
                yield i
        def f(x, n):
            return [x + i for i in numbers(n)], sum(numbers(n))
        def escapes(x):
            kept = x + 1
            return (kept * i for i in range(3))
        f, escapes = toy.to_static(f), toy.to_static(escapes)
        for n in range(3):
            print([v.tolist() for v in f(t([1.0]), n)[0]], [v.tolist() for v in escapes(t([1.0]))])
    """,
    "methods and closures": """
        class Net:
            def __init__(self): self.calls = 0
            @toy.to_static
            def forward(self, x):
                self.calls += 1
                def scaled(by):
                    return x * by + self.calls
                return sorted([scaled(2), scaled(1)], key=lambda v: v.tolist())
        net = Net()
        for n in range(3):
            print([v.tolist() for v in net.forward(t([1.0]))], net.calls, Net.forward.__name__)
    """,
    "recursion without end": """
        def below(x, n):
            toy.show(x) if n < 0 else None
            return below(x, n + 1) + 1
        def f(x):
            toy._psdb.breakgraph()
            return below(x, 0)
        f = toy.to_static(f)
        for n in range(2):
            try:
                f(t([1.0]))
            except RecursionError as error:
                print(type(error))
    """,
    "a call back": """
        def again(x, n):
            toy.show(x)
            return f(x + 1, n - 1) if n else x
        def f(x, n):
            return again(x * 2, n)
        f = toy.to_static(f)
        print([f(t([1.0]), n).tolist() for n in (0, 1, 5, 5)])
    """,
    "threads": """
        def f(x, n):
            for i in range(n):
                x = x + i
                toy._psdb.breakgraph()
            return x
        f = toy.to_static(f)
        def work(n, found):
            for i in range(20):
                found.append(f(t([float(n)]), i % 4).tolist())
        found = [[] for _ in range(4)]
        threads = [threading.Thread(target=work, args=(n, found[n])) for n in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(found)
    """,
    "a thread from inside": """
        def work(found): found.append(sorted([3, 1, 2], key=lambda v: -v))
        def f(x):
            found = []
            thread = threading.Thread(target=work, args=(found,))
            thread.start()
            thread.join()
            return x + 1, found
        f = toy.to_static(f)
        print([f(1) for _ in range(3)])
    """,
    "a callback for frames": """
        def helper(n): return n + 1
        seen = set()
        def callback(frame):
            seen.add(sorted([frame.f_code.co_name, ""], key=lambda name: -len(name))[0])
        class C:
            def __call__(self): return helper(1)
        toy.set_eval_frame(callback)
        try:
            print(C()())
        finally:
            toy.set_eval_frame(None)
        print(toy.stats()["hook_failures"])
    """,
    "pickles and collections": """
        import collections, enum, json, pickle, re
        class Colour(enum.Enum):
            RED = 1
        Point = collections.namedtuple("Point", "x y")
        def f(x, text):
            counted = collections.Counter(text)
            return json.loads(json.dumps({"n": [1, counted["a"]]})), Colour(1), Point(x, 2)._replace(y=3), re.sub("a", "b", text)
        f = toy.to_static(f)
        print([f(1, "aab") for _ in range(3)])
    """,
}


@pytest.mark.parametrize("how", [under_a_twin, under_sot])
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_a_framework_is_served_as_if_nobody_captured_the_program(tmp_path, name, how):
    expected = run(tmp_path, plain, PROGRAMS[name])
    assert expected[0] == 0 and expected[1] and not expected[2]
    assert run(tmp_path, how, PROGRAMS[name]) == expected


# Both have `to_static`: entries of the one below those of the other, in both orders.
ENTRIES = """
twin = sys.twin
class W: pass
def leaf(x):
    a = W()
    toy.show(t([1.0]))
    return weakref.ref(a)() is None, x + 1
def plain(x):
    return leaf(x)[1] + leaf(x)[1]
ours, theirs = toy.to_static(leaf), twin.to_static(leaf)
def calls(entry):
    def f(x):
        first = entry(x)
        return first, plain(first[1]), entry(x * 2)
    return f
both = [toy.to_static(calls(theirs)), twin.to_static(calls(ours)), toy.to_static(calls(ours)), twin.to_static(theirs)]
for f in both:
    print([f(1) for _ in range(3)])
print(twin.to_static(ours) is ours)
print([module.stats()["hook_failures"] for module in (toy, twin)])
print([module.stats()["reasons"].get("internal-error", 0) for module in (toy, twin)])
"""


@pytest.mark.parametrize("whole", [True, False])
def test_entries_of_one_below_entries_of_the_other(tmp_path, whole):
    stop = "" if whole else "sys.twin._capture_all(False)\n"
    code, out, err = run(tmp_path, under_a_twin, stop + ENTRIES)
    assert (code, err) == (0, "")
    *found, same, failures, defects = [line for line in out.splitlines() if not line.startswith("tensor")]
    triple = "[((False, 2), 6, (False, 3)), ((False, 2), 6, (False, 3)), ((False, 2), 6, (False, 3))]"
    assert [line for line in found if line.startswith("[(")] == [triple] * 3 + ["[(False, 2), (False, 2), (False, 2)]"]
    assert (same, failures, defects) == ("True", "[0, 0]", "[0, 0]")


def test_the_program_around_is_captured_and_what_the_framework_serves_is_not(tmp_path):
    program = """
        counts = sys.twin._capture_counts
        def below(x): return x + 1
        def f(x):
            toy._psdb.fallback()
            return below(below(x))
        served = toy.to_static(f)
        def around(): return below(1)
        before = counts()["entered"]
        print([served(1), served(1)], counts()["entered"] - before)
        before = counts()["rewritten"]
        print(around(), around(), counts()["rewritten"] - before)
    """
    code, out, err = run(tmp_path, under_a_twin, program)
    assert (code, err) == (0, "")
    assert out == "[3, 3] 0\n2 2 2\n"


def test_one_captures_the_program_and_the_other_says_so(tmp_path):
    program = """
        twin = sys.twin
        def f(n): return [i for i in range(n)]
        try:
            toy._capture_all(True)
        except RuntimeError as error:
            print(error)
        print(f(3), toy._capture_counts()["entered"], twin._capture_counts()["entered"] > 0)
        twin._capture_all(True)
        twin._capture_all(False)
        toy._capture_all(True)
        print(f(3), f(3), toy._capture_counts()["rewritten"] > 0)
        try:
            twin._capture_all(True)
        except RuntimeError as error:
            print(error)
        toy._capture_all(False)
        twin._capture_all(True)
        print(f(3))
    """
    code, out, err = run(tmp_path, under_a_twin, program)
    assert (code, err) == (0, "")
    first, served, second, other, last = out.splitlines()
    for line in (first, other):
        assert "cannot capture the whole program" in line and "_capture_all(False)" in line
        assert line.count("toy_backend") >= 2
    assert served == "[0, 1, 2] 0 True" and second == "[0, 1, 2] [0, 1, 2] True" and last == "[0, 1, 2]"


def test_both_hear_of_collections(tmp_path):
    program = """
        twin = sys.twin
        twin._capture_all(False)
        phases = []
        gc.callbacks.append(lambda phase, info: phases.append(phase))
        def captured(by):
            class Local:
                scale = 3
            def f(x):
                return x * Local.scale + 1
            translated = by.to_static(f)
            assert translated(by.tensor([1.0])).tolist() == [4.0]
            class Other:
                scale = 5
            gone = weakref.ref(Local)
            f.__closure__[0].cell_contents = Other
            return translated, gone
        held = [captured(by) for by in (toy, twin, toy)]
        del phases[:]
        gc.collect()
        print([gone() is None for _, gone in held], phases, toy.stats()["captures"], twin.stats()["captures"] > 0)
    """
    code, out, err = run(tmp_path, under_a_twin, program)
    assert (code, err) == (0, "")
    assert out == "[True, True, True] ['start', 'stop'] 2 True\n"


@pytest.mark.parametrize("first", ["sot", "toy"])
def test_of_two_that_the_environment_asks_the_first_captures(tmp_path, first):
    if importlib.util.find_spec("sot") is None:
        pytest.skip("sot is not built for this interpreter")
    program = """
        import dataclasses, enum, json, logging, re
        @dataclasses.dataclass
        class D:
            a: int
            b: int = 3
        class E(enum.Enum):
            A = 1
        class A:
            def __init__(self, x): self.x = x
            def g(self): return [y + 1 for y in range(self.x)]
        print(A(3).g(), D(1) == D(1, 3), E(1), re.sub("a+", lambda m: m.group().upper(), "baab"))
        print(json.dumps({"a": [1, {"b": None}]}), toy.to_static(lambda x: x + 1)(t([1.0])).tolist())
        import sot
        print(sot._sot._capture_counts()["entered"] > 0, toy._capture_counts()["entered"] > 0)
    """
    text = textwrap.dedent(program)
    prologue = "import sot\n" if first == "sot" else "import sys\nsys.path.insert(0, %r)\nfrom toy_framework import toy\n" % HERE
    (tmp_path / "start.py").write_text(prologue + PROLOGUE + text)
    code, out, err = run(tmp_path, lambda *_: ["start.py"], "", SOT_CAPTURE_ALL="1")
    assert (code, err) == (0, "")
    assert out == (
        '[1, 2, 3] True E.A bAAb\n{"a": [1, {"b": null}]} [2.0]\n%s %s\n' % (first == "sot", first == "toy")
    )
