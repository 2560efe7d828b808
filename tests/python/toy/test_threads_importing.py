"""A module that another thread is importing is waited for, as Python does."""

import itertools
import sys
import threading

import pytest

from toy_framework import toy

t = toy.tensor
names = itertools.count()

SLOW = """
import slow_imports
slow_imports.begun.set()
slow_imports.go_on.wait(20)
VALUE = 7
"""


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """The name of a module that another thread has begun to import, and the event that lets it go on."""
    name = f"slow_module_{next(names)}"
    (tmp_path / f"{name}.py").write_text(SLOW)
    monkeypatch.syspath_prepend(str(tmp_path))
    events = type(sys)("slow_imports")
    events.begun, events.go_on = threading.Event(), threading.Event()
    monkeypatch.setitem(sys.modules, "slow_imports", events)
    thread = threading.Thread(target=__import__, args=(name,))
    thread.start()
    assert events.begun.wait(20)
    yield name, events.go_on
    events.go_on.set()
    thread.join()
    sys.modules.pop(name, None)


FORMS = {
    "import": "import {} as module\n    return x + 1.0, module.VALUE",
    "from": "from {} import VALUE\n    return x + 1.0, VALUE",
    "inside": "def read():\n        from {} import VALUE\n        return VALUE\n    return x + 1.0, read()",
}


@pytest.mark.parametrize("form", FORMS)
def test_an_import_waits(slow, form):
    name, go_on = slow
    world = {}
    exec(f"def f(x):\n    {FORMS[form].format(name)}\n", world)
    captured = toy.to_static(world["f"])
    threading.Timer(0.2, go_on.set).start()
    for _ in range(3):
        y, value = captured(t([1.0]))
        assert (y.tolist(), value) == ([2.0], 7)
    # Once it is loaded, an import is a look-up.
    toy.reset()
    captured(t([1.0]))
    assert toy.stats()["breaks"] == 0
