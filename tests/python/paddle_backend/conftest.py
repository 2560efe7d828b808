"""The backend without a translator: programs are built by calling what a translator would call.

They see it through `sot._sot._probe` (`sot_paddle::probe::register`).
"""

import importlib

import pytest

paddle = pytest.importorskip("paddle")


@pytest.fixture(scope="session")
def backend():
    return importlib.import_module("sot._sot")._probe.Backend()


@pytest.fixture(autouse=True)
def stays_eager():
    """No test may leave Paddle in another mode than it found it."""
    import traceback

    stack = traceback.extract_stack
    yield
    assert paddle.in_dynamic_mode()
    assert traceback.extract_stack is stack
    assert not paddle.base.framework.global_var._in_to_static_mode_


class Built:
    """A function of tensors, built as one graph: `fn` gets a `Build` and symbolic values."""

    def __init__(self, backend, fn, *tensors):
        builder = backend.begin()
        try:
            self.build = Build(backend, builder)
            values = [builder.input(t) for t in tensors]
            result = fn(self.build, *values)
            self.many = isinstance(result, (list, tuple))
            outputs = list(result) if self.many else [result]
            self.graph = builder.finish(list(range(len(tensors))), outputs)
        except BaseException:
            builder.abandon()
            raise

    def __call__(self, *tensors):
        out = self.graph.run(list(tensors))
        return out if self.many else out[0]


class Build:
    """Calls as a translator makes them."""

    def __init__(self, backend, builder):
        self.backend, self.builder = backend, builder

    def api(self, fn, *args, **kwargs):
        kind = self.backend.classify(fn)
        if kind != "Api":
            raise RuntimeError(f"not built: {kind}")
        return self.builder.call("api", fn.__name__, fn, args, kwargs)

    def method(self, name, *args, **kwargs):
        what, _ = self.builder.getattr(args[0], name)
        if what != "method":
            raise RuntimeError(f"not a method: {what} {_}")
        return self.builder.call("method", name, None, args, kwargs)

    def operator(self, fn, *args):
        return self.builder.call("method", fn.__name__, fn, args)

    def layer(self, layer, *args, **kwargs):
        return self.builder.call("layer", type(layer).__name__, layer, args, kwargs)


@pytest.fixture
def build(backend):
    return lambda fn, *tensors: Built(backend, fn, *tensors)
