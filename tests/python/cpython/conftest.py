"""Fixtures for the tests of `sot-core/src/cpython`."""

import pytest

from eval_frame_helpers import native


@pytest.fixture
def sot():
    """The extension module; no test may leave a hook behind."""
    assert native.set_eval_frame(None) is None
    yield native
    assert native.set_eval_frame(None) is None
    assert native._probe_slot_is_default()
