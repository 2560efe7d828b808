"""Tests of the translator on Paddle: each starts with nothing captured, and leaves Paddle as it found it."""

import os
import warnings

os.environ.setdefault("GLOG_minloglevel", "3")
warnings.filterwarnings("ignore", message="No ccache found")

import pytest  # noqa: E402

paddle = pytest.importorskip("paddle")
sot = pytest.importorskip("sot")


@pytest.fixture(autouse=True)
def fresh():
    sot.reset()
    paddle.seed(11)
    yield
    assert paddle.in_dynamic_mode()
    assert paddle.is_grad_enabled()
    assert paddle.get_default_dtype() == "float32"
    assert sot.stats()["hook_failures"] == 0
    sot.reset()


class Counts:
    """How much a block added to each counter."""

    def __enter__(self):
        self.before = sot.stats()
        return self

    def __exit__(self, *_):
        after = sot.stats()
        self.added = {k: after[k] - v for k, v in self.before.items() if isinstance(v, int)}

    def __getattr__(self, name):
        return self.added[name]


@pytest.fixture
def counting():
    return Counts
