"""A debugger that is called from captured code stops in the user's frames, with their variables; and processes that are forked off go on with
what was captured."""

import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import bdb, code, os, pdb, sys
import toy_backend as toy
t = toy.tensor


class Net:
    scale = 4

    def forward(self, x, n):
        m = n + 1
        {stop}
        return x * m * self.scale


def between(net, x, depth):
    local = [depth]
    y = net.forward(x, depth)
    return y + local[0]


def f(x, k):
    before = x + 1
    y = between(Net(), before, k * 2)
    return y


captured = toy.to_static(f)
"""
STOPS = ["breakpoint()", "pdb.set_trace()", "pdb.Pdb().set_trace()", "import pdb; pdb.set_trace()", "sys.breakpointhook()"]


def run(program, typed=""):
    env = dict(os.environ, PYTHONBREAKPOINT="", NO_COLOR="1", SOT_MEASURE="0")
    env.pop("PYTHONBREAKPOINT")
    command = [sys.executable, "-c", textwrap.dedent(program)]
    ran = subprocess.run(command, input=typed, env=env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("stop", STOPS)
def test_the_variables_are_the_users(stop):
    typed = "n\np ('inner', n, m, self.scale, x is not None)\nup\np ('between', local, depth, y if 'y' in locals() else None)\nup\np ('outer', k, before)\nc\n"
    calls = "for k in (3, 3, 3):\n    print('result', captured(t([1.0]), k).tolist())\n"
    plain = calls.replace("captured(", "f(")
    seen = [run(HEAD.format(stop=stop) + which, typed * 3) for which in (plain, calls)]
    assert seen[0] == seen[1]
    assert seen[1].count("('inner', 6, 7, 4, True)") == 3
    assert seen[1].count("('between', [6], 6, None)") == 3
    assert seen[1].count("('outer', 3, tensor([2.0]") == 3
    assert seen[1].count("result [62.0]") == 3


def test_a_hook_of_the_program_sees_them_too():
    program = HEAD.format(stop="breakpoint()") + textwrap.dedent(
        """
        def look(*args, **named):
            frame = sys._getframe(1)
            print(frame.f_code.co_name, sorted(frame.f_locals), frame.f_back.f_locals["local"])
        sys.breakpointhook = look
        for k in (1, 2, 2):
            captured(t([1.0]), k)
        """
    )
    lines = ["forward ['m', 'n', 'self', 'x'] [%d]" % (2 * k) for k in (1, 2, 2)]
    assert run(program).split("\n")[:-1] == lines


def test_behind_other_breaks():
    program = HEAD.format(stop="print('first')\n        print('second')\n        breakpoint()") + textwrap.dedent(
        """
        def look(*args, **named):
            frame, seen = sys._getframe(1), []
            for _ in range(3):
                seen.append((frame.f_code.co_name, sorted(frame.f_locals)))
                frame = frame.f_back
            print(seen)
        sys.breakpointhook = look
        for k in (1, 2, 2):
            print(captured(t([1.0]), k).tolist())
        """
    )
    plain = run(program.replace("captured(t", "f(t"))
    assert run(program) == plain
    assert plain.count("[('forward', ['m', 'n', 'self', 'x']), ('between', ['depth', 'local', 'net', 'x']), ('f', ['before', 'k', 'x'])]") == 3


def test_a_debugger_that_does_nothing_costs_no_result():
    program = HEAD.format(stop="breakpoint()") + "print([captured(t([1.0]), 3).tolist() for _ in range(3)])\n"
    env = dict(os.environ, PYTHONBREAKPOINT="0")
    ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "[[62.0], [62.0], [62.0]]\n", ran.stderr


def test_a_tracer_and_a_profiler_come_and_go():
    program = HEAD.format(stop="pass") + textwrap.dedent(
        """
        def counted(install):
            seen = []
            def see(frame, event, arg):
                if frame.f_code.co_filename == "<string>" and event in ("call", "return"):
                    seen.append((event, frame.f_code.co_name))
                return see
            install(see)
            result = captured(t([1.0]), 3).tolist()
            install(None)
            return result, seen

        captured(t([1.0]), 3)
        first = counted(sys.settrace)
        hits = toy.stats()["hits"]
        captured(t([1.0]), 3)
        second = counted(sys.setprofile)
        captured(t([1.0]), 3)
        names = ["f", "between", "forward"]
        for result, seen in (first, second):
            print(result, [name for event, name in seen if event == "call" and name in names])
        print(toy.stats()["hits"] > hits, toy.stats()["captures"])
        """
    )
    line = "[62.0] ['f', 'between', 'forward']\n"
    assert run(program) == line + line + "True 1\n"


def test_processes_that_are_forked_off_go_on():
    program = HEAD.format(stop="pass") + textwrap.dedent(
        """
        captured(t([1.0]), 3)
        sys.stdout.flush()
        for child in range(4):
            if os.fork() == 0:
                same, other = captured(t([1.0]), 3).tolist(), captured(t([1.0, 2.0]), 5).tolist()
                new = toy.to_static(lambda x: x * child)(t([1.0])).tolist()
                sys.stdout.write("child %d %s %s %s %d\\n" % (child, same, other, new, toy.stats()["hits"]))
                sys.stdout.flush()
                os._exit(0)
            os.wait()
        print("parent", captured(t([1.0]), 3).tolist(), toy.stats()["hits"])
        """
    )
    found = run(program).split("\n")[:-1]
    assert found == ["child %d [62.0] [98.0, 142.0] [%.1f] 1" % (n, n) for n in range(4)] + ["parent [62.0] 1"]
