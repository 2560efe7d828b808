"""Layers of the made-up framework: containers of parameters, sub-layers and buffers."""

import warnings

import toy_backend as toy


class Layer:
    """Tensors and layers that are set as attributes go to dicts of their own, as in the big frameworks."""

    def __init__(self):
        self.__dict__.update(_parameters={}, _sub_layers={}, _buffers={}, _hooks={}, training=True)

    def __setattr__(self, name, value):
        if isinstance(value, Layer):
            self._sub_layers[name] = value
        elif isinstance(value, toy.Tensor):
            self._parameters[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for kind in ("_parameters", "_sub_layers", "_buffers"):
            if name in self.__dict__[kind]:
                return self.__dict__[kind][name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def register_buffer(self, name, value):
        self._buffers[name] = value

    def register_hook(self, hook):
        """`hook(layer, output)` gives what a call gives instead."""
        self._hooks[len(self._hooks)] = hook

    def __call__(self, *args, **kwargs):
        output = self.forward(*args, **kwargs)
        for hook in self._hooks.values():
            output = hook(self, output)
        return output


class Linear(Layer):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight = weight
        self.bias = bias

    def forward(self, x):
        return toy.matmul(x, self.weight) + self.bias


class Sequential(Layer):
    def __init__(self, *layers):
        super().__init__()
        for number, layer in enumerate(layers):
            self._sub_layers[str(number)] = layer

    def __getitem__(self, number):
        return self._sub_layers[str(number)]

    def forward(self, x):
        for layer in self._sub_layers.values():
            x = layer(x)
        return x


class Verbose(Layer):
    """Warns when it runs, not when it is traced."""

    text = "verbose"

    def forward(self, x):
        if not isinstance(x, toy.Value):
            warnings.warn(self.text, RuntimeWarning, stacklevel=1)
        return x * 2


class Board:
    """What is kept of values that were published, and who hears of them."""

    def __init__(self):
        self.values, self.listeners = [], []

    def publish(self, value):
        self.values.append(value)
        for listener in self.listeners:
            listener(value)


def sum_of_squares(self):
    """A method of tensors written in Python."""
    return (self * self).sum()
