"""A process that ends with hooks, entries and threads alive ends cleanly."""

import os
import subprocess
import sys

import pytest

from eval_frame_helpers import native

SCRIPT = """
import atexit, importlib, sys, threading
sot = importlib.import_module({module!r})

def f(x):
    return x

class Keeper:
    def __del__(self):
        f(1)

def callback(frame):
    return None

entry = sot._probe_entry(f, f)
bound = sot._probe_entry(lambda self: 1, None, Keeper())
native = sot._probe_native(f)
native_cycle = [native]
keeper = Keeper()
keeper.entry = entry
keeper.me = keeper
atexit.register(lambda: f(2))
atexit.register(entry, 3)

def background():
    sot.set_eval_frame(callback)
    event.wait()

event = threading.Event()
thread = threading.Thread(target=background, daemon=True)
thread.start()
{hook}
print(entry(4))
"""


@pytest.mark.parametrize("hook", ["pass", "sot.set_eval_frame(callback)"])
def test_clean_exit(sot, hook):
    script = SCRIPT.format(module=native.__name__, hook=hook)
    # What the framework warns of at import is not what is tested here.
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), PYTHONWARNINGS="ignore")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"4", b"")
