"""Recursion so deep that only a limit which the program has raised bounds it: it ends as in plain Python, or in
`RecursionError`, and never for want of native stack.

In processes of their own: what would go wrong ends them.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from toy_framework import toy

def below(n):
    return 0 if n == 0 else below(n - 1) + 1

def endless(n):
    return endless(n + 1)

def through_entries(n):
    return 0 if n == 0 else entry(n - 1) + 1

entry = toy.to_static(through_entries)

def told(function, n):
    try:
        return function(n)
    except RecursionError:
        return "RecursionError"

def run():
    print(told(toy.to_static(below), DEPTH), told(toy.to_static(endless), 0), told(entry, 300), told(entry, DEPTH), flush=True)

DEPTH = int(sys.argv[1])
sys.setrecursionlimit(DEPTH + 500)
if sys.argv[2] == "thread":
    threading.stack_size(512 << 10)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
else:
    run()
"""


def run(depth, where):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(depth), where], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split()


@pytest.mark.parametrize("depth", [3_000, 30_000])
@pytest.mark.parametrize("where", ["main", "thread"])
def test_deep_recursion(depth, where):
    if sys.version_info < (3, 11):
        # Plain Python needs native stack for each frame.
        depth = 3_000 if where == "main" else 300
    below, endless, few, through_entries = run(depth, where)
    assert endless == "RecursionError"
    assert few == "300"
    assert below == str(depth)
    if depth == 300:
        assert through_entries == "300"
    else:
        # Where the native stack ends first, plain Python goes on, at a depth that the build decides about; else a call through an
        # entry is more than one to the interpreter's limit, which is not much more than the depth.
        assert through_entries in (str(depth), "RecursionError")
