"""Collections of garbage: what only captures hold dies in them, and the program's list of callbacks stays its own."""

import gc
import subprocess
import sys
import weakref

import pytest

from doors import opaque
from toy_framework import toy

t = toy.tensor


@pytest.fixture(autouse=True)
def as_it_was():
    before = list(gc.callbacks)
    yield
    gc.callbacks[:] = before


def captured():
    """A captured function, and a weak reference to a class that nothing but its guards will hold."""

    class Local:
        scale = 3

    def f(x):
        return x * Local.scale + 1

    translated = toy.to_static(f)
    assert translated(t([1.0])).tolist() == [4.0]
    assert toy.stats()["captures"] > 0
    cell = f.__closure__[0]
    gone = weakref.ref(Local)
    del Local
    return translated, cell, gone


def let_go(cell):
    class Other:
        scale = 5

    cell.cell_contents = Other


def dies(change=lambda: None):
    translated, cell, gone = captured()
    change()
    let_go(cell)
    gc.collect()
    assert gone() is None
    assert translated(t([1.0])).tolist() == [6.0]


def test_no_entry_is_seen():
    before = list(gc.callbacks)
    dies()
    assert gc.callbacks == before
    assert not any("callback" in str(type(o)).lower() for o in gc.get_referrers(gc.callbacks))
    hears = [o for o in gc.get_objects() if "NativeFunction" in type(o).__name__ and o.__name__ == "collections"]
    assert hears == []


@pytest.mark.parametrize("change", ["clear", "slice", "pop", "delete"])
def test_a_list_that_the_program_empties(change):
    changes = {
        "clear": gc.callbacks.clear,
        "slice": lambda: gc.callbacks.__setitem__(slice(None), []),
        "pop": lambda: [gc.callbacks.pop() for _ in list(gc.callbacks)],
        "delete": lambda: gc.callbacks.__delitem__(slice(None)),
    }
    dies(changes[change])
    assert gc.callbacks == []


def test_a_list_that_the_program_replaces(monkeypatch):
    captured()
    calls = []
    gc.callbacks.append(lambda phase, info: calls.append(phase))
    monkeypatch.setattr(gc, "callbacks", [lambda phase, info: calls.append("not asked")])
    gc.collect()
    dies()
    assert calls == ["start", "stop"] * 2


def test_callbacks_are_called_as_the_collector_does():
    captured()
    calls = []

    def first(*args):
        calls.append(("first", args))

    def second(*args):
        calls.append(("second", args))

    gc.callbacks.extend([first, second])
    gc.collect(1)
    assert [(name, phase) for name, (phase, _) in calls] == [
        ("first", "start"),
        ("second", "start"),
        ("first", "stop"),
        ("second", "stop"),
    ]
    infos = [info for _, (_, info) in calls]
    assert infos[0] is infos[1] and infos[2] is infos[3]
    assert infos[0] == {"generation": 1, "collected": 0, "uncollectable": 0}
    gc.callbacks.remove(first)
    gc.collect()
    assert [name for name, _ in calls[4:]] == ["second", "second"]
    assert calls[-1][1][1]["generation"] == 2


def test_a_list_that_its_callbacks_change():
    captured()
    calls = []

    def once(phase, info):
        calls.append("once")
        gc.callbacks.remove(once)

    def more(phase, info):
        calls.append("more")
        if len(gc.callbacks) < 4:
            gc.callbacks.append(lambda phase, info: calls.append("added"))

    gc.callbacks.extend([once, more, more])
    gc.collect()
    # Who removes itself has its successor skipped; who is added is called at once.
    assert calls == ["once", "more", "added"] + ["more", "more", "added", "added"]


def test_an_error_goes_where_the_collector_has_it_go(monkeypatch):
    captured()
    told, calls = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append((args.exc_type, str(args.exc_value), args.object)))

    def fails(phase, info):
        raise ValueError(phase)

    gc.callbacks.extend([fails, lambda phase, info: calls.append(phase)])
    gc.collect()
    assert told == [(ValueError, "start", fails), (ValueError, "stop", fails)]
    assert calls == ["start", "stop"]


def test_a_first_capture_in_a_callback():
    # Another process, where nothing was captured yet.
    program = """
import gc, toy_backend as toy
calls = []
f = toy.to_static(lambda x: x + 1)

def first(phase, info):
    calls.append(("first", phase, f(toy.tensor([1.0])).tolist()))

def second(phase, info):
    calls.append(("second", phase))

gc.callbacks.extend([first, second])
gc.collect()
assert calls == [("first", "start", [2.0]), ("second", "start"), ("first", "stop", [2.0]), ("second", "stop")], calls
g = toy.to_static(lambda x: x + 2)
g(toy.tensor([1.0]))
calls.clear()
gc.collect()
assert calls == [("first", "start", [2.0]), ("second", "start"), ("first", "stop", [2.0]), ("second", "stop")], calls
assert gc.callbacks == [first, second]
"""
    ran = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert ran.returncode == 0, ran.stdout.decode()


def test_the_collector_itself_begins():
    translated, cell, gone = captured()
    let_go(cell)
    opaque(translated)
    threshold = gc.get_threshold()
    before = gc.get_stats()[2]["collections"]
    gc.set_threshold(100, 1, 1)
    try:
        # A collection of all that is old asks for many new objects among them.
        kept = []
        while gc.get_stats()[2]["collections"] == before:
            kept.append([kept])
    finally:
        gc.set_threshold(*threshold)
    assert gone() is None


AT_THE_LIMIT = """
import gc
import toy_backend as toy

assert toy.to_static(lambda x: x + 1)(toy.tensor([1.0])).tolist() == [2.0]


def down():
    here = [[], {}, []]
    return down(), here


def at(depth):
    if depth:
        return at(depth - 1)
    for _ in range(3):
        try:
            down()
        except RecursionError:
            pass


gc.set_threshold(1, 1, 1)
for depth in range(30):
    at(depth)
print("ended")
"""


def test_collections_where_no_frame_is_left():
    # Up to 3.9 an overflow that nobody hears of ends the process: the collector calls what is ours wherever the program is.
    ran = subprocess.run([sys.executable, "-c", AT_THE_LIMIT], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert (ran.stdout[-300:], ran.returncode) == ("ended\n", 0)
