"""Every function of Paddle that the differential tests know, on tensors all of whose extents vary: results, and the shapes that the
program reads of them, are eager's."""

import pathlib
import sys

import paddle
import pytest

import sot

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "paddle_backend"))

import api_cases  # noqa: E402

CASES = dict(api_cases.cases())
# One writes its argument, the others read what nobody has written: eager itself gives something else each time.
for name in ("increment", "gammainc_broadcast", "gammaincc_broadcast", "lstsq"):
    CASES.pop(name, None)


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for key in value for leaf in [key] + leaves(value[key])]
    if isinstance(value, paddle.Tensor):
        return [str(value.dtype), value.shape, value.numpy().tobytes()]
    return [repr(value)]


def outcome(function, tensors):
    paddle.seed(5)
    try:
        return leaves(function(*tensors))
    except Exception as error:
        return [type(error).__name__]


def on_its_tensors(call):
    """A function of the tensors among the arguments of a call, and those; it reads the shapes of what the call gives."""
    function, args, kwargs = call(api_cases.tensors())
    names = [key for key in list(range(len(args))) + list(kwargs)]
    given = {key: args[key] if isinstance(key, int) else kwargs[key] for key in names}
    tensors = {key: value for key, value in given.items() if isinstance(value, paddle.Tensor)}

    def of(*values):
        filled = dict(given)
        for key, value in zip(tensors, values):
            filled[key] = value
        result = function(*[filled[at] for at in range(len(args))], **{key: filled[key] for key in kwargs})
        if isinstance(result, (list, tuple)):
            return result, [item.shape for item in result], len(result)
        return result, result.shape, result.ndim

    return of, list(tensors.values())


@pytest.mark.parametrize("name", CASES)
def test_all_extents_vary(name):
    function, tensors = on_its_tensors(CASES[name])
    if not tensors:
        return
    with paddle.no_grad():
        eager = outcome(function, tensors)
        for tensor in tensors:
            sot.mark_dynamic(tensor, list(range(len(tensor.shape))))
        captured = sot.to_static(function)
        for _ in range(3):
            assert outcome(captured, tensors) == eager
