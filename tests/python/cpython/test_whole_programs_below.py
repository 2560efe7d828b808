"""What is below a whole program: functions that C code calls, `import`, lives of classes, captures that no call meets."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

if importlib.util.find_spec("sot") is None:
    pytest.skip("sot is not built for this interpreter", allow_module_level=True)

HEAD = """
import gc, sys, weakref
import sot._sot as sot

def counts():
    return sot._capture_counts()
"""


def run(tmp_path, program, *, plain=False):
    path = tmp_path / "program.py"
    path.write_text(HEAD + textwrap.dedent(program))
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), PYTHONWARNINGS="ignore")
    how = [] if plain else ["-m", "sot"]
    done = subprocess.run([sys.executable, *how, str(path)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


BY_C_CODE = {
    "exec": "exec(compile('f(1)', 'x', 'exec'), {'f': f})",
    "of another statement": "l = []\n    exec(compile('f(1)', 'x', 'exec'), {'f': f})\n    l.append(2)",
    "in a container": "sorted([3, 1, 2], **{'key': f})\n    list(map(*[f, [1, 2]]))",
    "a module": "import types\n    exec('f(1)', types.ModuleType('m').__dict__, {'f': f})",
}


@pytest.mark.parametrize("statements", BY_C_CODE.values(), ids=BY_C_CODE)
def test_what_c_code_calls_is_captured(tmp_path, statements):
    """By its own frame or inside its caller's: it is met."""
    program = """
        class Marked(Exception):
            pass

        def f(x):
            sys.exc_info()
            return x

        def g():
            %s

        for n in range(3):
            g()
        before = counts()["functions"]
        g()
        print(before > 1, counts()["plain"].get("internal-error"))
    """
    assert run(tmp_path, textwrap.dedent(program) % statements.replace("\n", "\n")) == "True None\n"


def test_functions_of_a_module_that_is_run(tmp_path):
    (tmp_path / "part.py").write_text("def f(x):\n    return g(x) + 1\ndef g(x):\n    return x\nfor n in range(3):\n    f(n)\n")
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path)] + sys.path))
    command = [sys.executable, "-m", "sot", "--stats", "--only", "part.py", "-m", "part"]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "the last function captured is f (" in done.stderr.decode()


def test_captures_import_nothing_by_way_of_the_program(tmp_path):
    program = """
        import builtins

        names, real = [], builtins.__import__

        def own(name, *args, **kwargs):
            names.append(name)
            return real(name, *args, **kwargs)

        class Patched:
            def __enter__(self):
                builtins.__import__ = own
            def __exit__(self, *error):
                builtins.__import__ = real

        def g(held):
            held.append(1)
            try:
                raise TypeError(str(held))
            except TypeError as error:
                return str(error)

        def f():
            with Patched():
                return g([]), g([2])

        print(f(), f(), names)
    """
    assert run(tmp_path, program) == run(tmp_path, program, plain=True)


@pytest.mark.parametrize("content", ["x = 1", "x = []", "x = {}", "def m(self): return 1", "__slots__ = ('a',)"])
def test_a_class_in_a_cycle_dies_in_a_collection(tmp_path, content):
    program = """
        def made():
            class A:
                %s
            held = getattr(A, "x", None)
            if isinstance(held, list):
                held.append(A)
            if isinstance(held, dict):
                held[A] = A()
            a = A()
            print(type(a) is A, isinstance(a, A), a.m() if hasattr(a, "m") else 0)
            alive = weakref.ref(A)
            del A, a, held
            gc.collect()
            print(alive() is None)

        for n in range(3):
            made()
    """ % content
    assert run(tmp_path, program) == run(tmp_path, program, plain=True)


def test_captures_that_no_call_meets_come_to_an_end(tmp_path):
    program = """
        class Thing:
            pass

        held = []

        def grows(thing):
            held.append(thing)
            total = 0
            for n in range(len(held)):
                total += n
            sys.stdout.flush()
            return total

        def again(n):
            return n + 1

        seen = [again(1) for n in range(300)]
        for n in range(300):
            seen.append(grows(n))
        print(sum(seen))
        print("captured", counts()["in_general"] > 200, sot.stats()["captures"] < 200)
    """
    out = run(tmp_path, program).splitlines()
    assert out == run(tmp_path, program, plain=True).splitlines()[:1] + ["captured True True"]


def test_a_collection_takes_what_an_iterator_has_passed(tmp_path):
    """A weak set that is iterated is read at the call; its members may be collected before the new code comes to them."""
    program = """
        import os

        class Node:
            def __init__(self):
                self.me = self

        def alive(nodes):
            found = []
            for node in nodes:
                found.append(node is None)
                os.getpid()
            return len(found)

        for threshold in list(range(1, 31)) * 5:
            nodes = weakref.WeakSet()
            gc.disable()
            nodes.add(Node())
            gc.enable()
            gc.set_threshold(threshold)
            if alive(nodes) > 1:
                print("too many")
        print("end")
    """
    assert run(tmp_path, program) == "end\n"
