"""The modules beside the tests are importable, and every test starts and ends with the framework as it was and with nothing
captured."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
# Each check of a guard is compared with its reference; a difference counts as `internal-error`.
os.environ.setdefault("SOT_VERIFY_GUARDS", "1")


@pytest.fixture
def switching():
    """Threads take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def quiet_framework():
    toy = sys.modules.get("toy_backend")
    if toy is None:
        yield
        return
    toy.set_eval_frame(None)
    toy.reset()
    yield
    toy.reset()
    assert toy.is_grad_enabled(), "the test left the grad mode off"
    assert toy.set_eval_frame(None) is None, "the test left a hook behind"
    assert not isinstance(toy.zeros([1]), toy.Value), "the test left building mode on"
