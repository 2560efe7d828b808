"""Threads that call captured functions in a process where nothing was captured yet: each run is a process of its own."""

import subprocess
import sys

import pytest

SCRIPT = """
import threading, warnings
warnings.simplefilter("ignore")
import paddle, sot

@sot.to_static
def f(x):
    y = x * 2
    if y.sum() > 8:
        return y - 1
    return y + 1

results = {}
start = threading.Barrier(4)

def work(n):
    start.wait()
    results[n] = [f(paddle.full([2], float(n))).tolist() for _ in range(20)]

threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
expected = {0: [1.0, 1.0], 1: [3.0, 3.0], 2: [5.0, 5.0], 3: [5.0, 5.0]}
assert results == {n: [value] * 20 for n, value in expected.items()}, results
print("done", sot.stats()["fallbacks"])
"""


@pytest.mark.parametrize("attempt", range(4))
def test_cold_start_in_four_threads(attempt):
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "done 0", done.stderr[-2000:]
