"""The vocabulary in which the conformance suite speaks to a framework. Add a class for yours, and it is asked the same.

`SOT_CONFORMANCE` picks one: `toy` (the default) or `paddle`. One framework for a process, as `register` has it.
"""

import contextlib
import importlib
import os


class Toy:
    """The made-up framework."""

    name = "toy"

    def __init__(self):
        from toy_framework import toy

        self.sot = self.toy = toy
        self.Tensor, self.Layer = toy.Tensor, toy.Layer
        self.add, self.matmul, self.relu, self.concat = toy.add, toy.matmul, toy.relu, toy.concat
        self.is_tensor = toy.is_tensor
        self.float64, self.int64 = toy.float64, toy.int64
        # A function and arguments for which it raises, but only when it runs.
        self.fails_when_run, self.fails_on = toy.log, -1.0
        # A function that asks to run eagerly, and the reason it gives.
        self.eager_only, self.eager_only_reason = toy.show, "builtin-with-output"
        self.fresh_attribute = "extents"
        # Whether `x += y` writes to the tensor, or is `x = x + y`.
        self.augmented_assignment_writes = True
        self.flag = "requires_grad"

    def tensor(self, data, dtype=None, requires_grad=False):
        made = self.toy.tensor(data)
        if dtype is not None:
            made = made.astype(dtype)
        made.requires_grad = requires_grad
        return made

    def facts(self, x):
        """Everything that a program can ask of a tensor."""
        return list(x.shape), str(x.dtype), x.requires_grad, x.tolist()

    def meta(self, x):
        return list(x.shape), x.dtype, x.requires_grad

    def set_requires_grad(self, x, on):
        x.requires_grad = on

    def linear(self, requires_grad=False):
        weight = self.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=requires_grad)
        return self.toy.Linear(weight, self.tensor([0.5, 0.5]))

    def sequence(self, *layers):
        return self.toy.Sequential(*layers)

    def replace_weight(self, layer):
        layer._parameters["weight"] = self.tensor([[9.0, 0.0], [0.0, 9.0]])

    def add_hook(self, layer, change):
        layer.register_hook(lambda layer, output: change(output))

    def shares_memory(self, x, y):
        return self.toy.shares_memory(x, y)

    def grad_enabled(self):
        return self.toy.is_grad_enabled()

    def set_grad_enabled(self, on):
        self.toy.set_grad_enabled(on)

    @contextlib.contextmanager
    def no_grad(self):
        before = self.toy.set_grad_enabled(False)
        try:
            yield
        finally:
            self.toy.set_grad_enabled(before)

    @contextlib.contextmanager
    def nothing_can_be_captured(self):
        self.toy.set_debug_mode(True)
        try:
            yield
        finally:
            self.toy.set_debug_mode(False)


class Paddle:
    """PaddlePaddle with `sot`."""

    name = "paddle"

    def __init__(self):
        import paddle
        import sot

        self.sot, self.paddle = sot, paddle
        self.Tensor, self.Layer = paddle.Tensor, paddle.nn.Layer
        self.add, self.matmul, self.relu, self.concat = paddle.add, paddle.matmul, paddle.nn.functional.relu, paddle.concat
        self.is_tensor = paddle.is_tensor
        self.float64, self.int64 = paddle.float64, paddle.int64
        self.fails_when_run = lambda x: paddle.nn.functional.embedding(x.astype("int64"), paddle.ones([2, 2]))
        self.fails_on = 7.0
        self.eager_only, self.eager_only_reason = paddle.seed, "framework-function"
        self.fresh_attribute = "shape"
        self.augmented_assignment_writes = False
        self.flag = "stop_gradient"

    def tensor(self, data, dtype=None, requires_grad=False):
        return self.paddle.to_tensor(data, dtype=dtype or self.float64, stop_gradient=not requires_grad)

    def facts(self, x):
        return list(x.shape), str(x.dtype), not x.stop_gradient, x.tolist()

    def meta(self, x):
        return list(x.shape), x.dtype, not x.stop_gradient

    def set_requires_grad(self, x, on):
        x.stop_gradient = not on

    def linear(self, requires_grad=False):
        with self.paddle.utils.unique_name.guard():
            layer = self.paddle.nn.Linear(2, 2)
        layer.to(dtype="float64")
        layer.weight.set_value(self.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.bias.stop_gradient = True
        layer.weight.stop_gradient = not requires_grad
        return layer

    def sequence(self, *layers):
        return self.paddle.nn.Sequential(*layers)

    def replace_weight(self, layer):
        layer.weight = self.paddle.create_parameter([2, 2], "float64")

    def add_hook(self, layer, change):
        layer.register_forward_post_hook(lambda layer, inputs, output: change(output))

    def shares_memory(self, x, y):
        return x.data_ptr() == y.data_ptr()

    def grad_enabled(self):
        return self.paddle.is_grad_enabled()

    def set_grad_enabled(self, on):
        self.paddle.set_grad_enabled(on)

    def no_grad(self):
        return self.paddle.no_grad()

    @contextlib.contextmanager
    def nothing_can_be_captured(self):
        self.paddle.enable_static()
        try:
            yield
        finally:
            self.paddle.disable_static()


CHOICES = {"toy": Toy, "paddle": Paddle}


def chosen():
    name = os.environ.get("SOT_CONFORMANCE", "toy")
    if name == "paddle":
        import pytest

        pytest.importorskip("paddle")
        importlib.import_module("sot")
    return CHOICES[name]()
