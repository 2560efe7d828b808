"""Other tools in the same slot: chained to, put back, and never run in circles.

The other tool is a second copy of the module, loaded from another file: it has a state of its own.
"""

import importlib.machinery
import importlib.util
import shutil

import pytest

from eval_frame_helpers import native


@pytest.fixture
def other(tmp_path):
    path = str(tmp_path / "toy_backend.so")
    shutil.copy(native.__file__, path)
    loader = importlib.machinery.ExtensionFileLoader("toy_backend", path)
    spec = importlib.util.spec_from_loader("toy_backend", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert module is not native
    yield module
    module.set_eval_frame(None)


def target(x):
    return x + 1


def recorder(seen):
    return lambda frame: seen.append(1) if frame.f_code is target.__code__ else None


def test_nested_tools(sot, other):
    ours, theirs = [], []
    other.set_eval_frame(recorder(theirs))
    sot.set_eval_frame(recorder(ours))
    assert target(1) == 2
    assert (ours, theirs) == ([1], [1])
    sot.set_eval_frame(None)
    assert target(1) == 2
    assert (ours, theirs) == ([1], [1, 1])
    assert not sot._probe_slot_is_default()
    other.set_eval_frame(None)
    assert sot._probe_slot_is_default()


def test_tools_that_leave_in_the_wrong_order(sot, other):
    ours, theirs = [], []
    sot.set_eval_frame(recorder(ours))
    other.set_eval_frame(recorder(theirs))
    sot.set_eval_frame(None)
    assert target(1) == 2
    assert (ours, theirs) == ([], [1])
    other.set_eval_frame(None)  # puts our evaluator back, which nobody wants by now
    assert target(1) == 2
    assert sot._probe_slot_is_default()


def test_arming_again_over_another_tool(sot, other):
    ours, theirs = [], []
    sot.set_eval_frame(recorder([]))
    other.set_eval_frame(recorder(theirs))
    sot.set_eval_frame(recorder(ours))  # takes the slot again: each now chains to the other
    for _ in range(3):
        assert target(1) == 2
    assert (len(ours), len(theirs)) == (3, 3)
    sot.set_eval_frame(None)
    other.set_eval_frame(None)
    assert target(1) == 2
    assert sot._probe_slot_is_default()


def test_slot_reset_by_another_tool_is_taken_again(sot, other):
    """As Paddle's own SOT does: it puts the default evaluator into the slot when it is done."""
    seen = []
    sot.set_eval_frame(lambda frame: None)
    sot._probe_reset_slot()
    assert sot._probe_slot_is_default()

    def body():
        return target(1)

    assert sot._probe_with_hook(body, target.__code__, target.__code__, seen) == (7, 2)
    assert sot.set_eval_frame(None) is not None
