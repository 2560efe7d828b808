"""Attributes of layers that the captured code sets: where the framework keeps them, and what is read afterwards.

Places that the code reads and then writes hold another value at each call: such a place is one capture, not one a call.
"""

from observe import case
from toy_framework import toy

t = toy.tensor


class Net(toy.Layer):
    limit = 3
    kept = None

    def __init__(self):
        super().__init__()
        self.inner = toy.Linear(t([[1.0, 2.0], [3.0, 4.0]]), t([0.5, 0.5]))
        self.counter = 1
        self.register_buffer("seen", t([0.0]))

    @property
    def told(self):
        return self._told

    @told.setter
    def told(self, value):
        self.__dict__["_told"] = [value]

    def forward(self, x):
        return self.inner(x)


class Careful(Net):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)


def picture(net):
    """What the framework has where, in order."""
    parts = {name: list(net.__dict__[name].items()) for name in ("_parameters", "_sub_layers", "_buffers")}
    own = [(name, value) for name, value in net.__dict__.items() if name not in parts and name != "_hooks"]
    return parts, own


def register(name, change, make=Net, **decisions):
    def build():
        net = make()

        def f(x):
            return change(net, x)

        return {"f": f, "args": lambda: (t([[1.0, 2.0]]),), "watch": lambda: picture(net)}

    build.__name__ = f"layer_attribute_{name}"
    case(**decisions)(build)


def a_number(net, x):
    net.scale = 5
    return net(x) * net.scale


def a_list(net, x):
    y = net(x)
    net.outputs = [y, x]
    return net.outputs[0] + 1, net.outputs


def a_tensor(net, x):
    net.last = net(x)
    return net.last * 2


def a_tensor_twice(net, x):
    net.last = net(x)
    net.last = net.last * 2
    return net.last, hasattr(net, "last"), getattr(net, "first", None)


def a_layer(net, x):
    net.other = net.inner
    return net.other(x)


def over_a_class_attribute(net, x):
    net.limit = net.limit
    return x * net.limit


def deleted_again(net, x):
    net.passing = 3
    y = x * net.passing
    del net.passing
    return y, hasattr(net, "passing")


register("number", a_number)
register("list", a_list)
register("tensor", a_tensor)
register("tensor_twice", a_tensor_twice)
register("layer", a_layer)
# The class has it at first, then the instance.
register("over_a_class_attribute", over_a_class_attribute, captures=2, graphs=2)
register("deleted_again", deleted_again, graphs=None, captures=None, breaks=None, reasons=None)
register("with_own_setattr", a_number, Careful, graphs=None, captures=None, breaks=None, reasons=None)


def a_tensor_behind_a_class_attribute(net, x):
    """The dict of tensors is asked only where the class has nothing."""
    net.kept = x + 1
    return net.kept is None, x * 2


register("tensor_behind_a_class_attribute", a_tensor_behind_a_class_attribute, graphs=None, captures=None, breaks=None, reasons=None)


def over_a_tensor(net, x):
    net.last = x + 1
    net.last = 3
    return x * net.last


def over_a_buffer(net, x):
    net.seen = 4
    return x * net.seen


def a_property(net, x):
    net.told = 4
    return x * net.told[0]


def read_as_dicts(net, x):
    net.last = x + 1
    names = list(net._parameters)
    net.number = 3
    return x * len(names), list(net.__dict__), sorted(vars(net)), net.__dict__["number"]


def read_as_dicts_before(net, x):
    names = list(net._parameters) + list(net._buffers)
    net.last = x + 1
    names += list(net._parameters)
    return x * len(names), names


def of_a_leaf(net, x):
    net.inner.bias = x
    y = net.inner(x)
    net.inner.training = not net.inner.training
    return y + net.inner(x), net.inner.training


def behind_a_hook(net, x):
    net._hooks = {0: lambda layer, output: output * 3}
    return net(x)


def a_tensor_over_a_number(net, x):
    net.k = 3
    net.k = x + 1
    return net.k


def a_layer_over_a_tensor(net, x):
    net.k = x + 1
    net.k = net.inner
    return net.k if isinstance(net.k, toy.Tensor) else 1


class Deaf(Net):
    def __getattr__(self, name):
        value = super().__getattr__(name)
        return value * 100 if name == "last" else value


class Strict(Net):
    """Refuses what the framework lets pass."""

    def __setattr__(self, name, value):
        if name in self._parameters and not isinstance(value, toy.Tensor):
            raise TypeError(name)
        super().__setattr__(name, value)


def and_refused(net, x):
    net.k = x + 1
    try:
        net.k = 3
    except TypeError as error:
        return x * 2, str(error)
    return x


def beside_a_dict_of_its_own(net, x):
    net.last = x + 1
    return net.last * net.settings["scale"]


class Set(Net):
    def __init__(self):
        super().__init__()
        self.settings = {"scale": 3}


register("with_own_getattr", a_tensor, Deaf, graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
register("with_own_setattr_that_refuses", and_refused, Strict, graphs=None, captures=None, breaks=None, reasons=None)
register("beside_a_dict_of_its_own", beside_a_dict_of_its_own, Set)
for _change in (a_tensor_over_a_number, a_layer_over_a_tensor, over_a_tensor, over_a_buffer, a_property, read_as_dicts, read_as_dicts_before, of_a_leaf, behind_a_hook):
    register(_change.__name__, _change, graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)


def a_number_and_a_break(net, x):
    net.scale = 5
    print("between")
    net.last = net(x)
    print(net.scale, net.last.shape)
    return net.last * net.scale


# What comes after the last break finds another tensor each time: it did not write it itself.
register("and_breaks", a_number_and_a_break, captures=4, breaks=2, graphs=3, reasons=("builtin-with-output",))


# ----- places that are read and written


class Box:
    def __init__(self, value):
        self.value = value


CARRIED = t([1.0, 1.0])
BOX = Box(t([1.0, 1.0]))
STATE = Box(Box(1.5))


def of_a_layer(x):
    NET.total = NET.total + x
    return NET.total * 2


def of_an_object(x):
    BOX.value = BOX.value * 0.5 + x
    return BOX.value + 1


def of_a_global(x):
    global CARRIED
    CARRIED = CARRIED + x
    return CARRIED * 2


def of_an_object_in_an_object(x):
    before = STATE.value
    STATE.value = Box(before.value)
    return x * STATE.value.value, STATE.value is before


def a_list_of_tensors(x):
    BOX.value = [BOX.value[-1] + x]
    return BOX.value[0] * 2


def carried(function, prepare, watch):
    def build():
        prepare()
        return {"f": function, "args": lambda: (t([1.0, 2.0]),), "watch": watch}

    build.__name__ = f"carried_from_call_to_call_{function.__name__}"
    case(captures=1)(build)


NET = Net()


def anew_in_net():
    global NET
    NET = Net()
    NET.total = t([0.0, 0.0])


def anew_in_globals():
    global CARRIED
    CARRIED = t([1.0, 1.0])


def anew_in_box(value):
    def anew():
        global BOX, STATE
        BOX, STATE = Box(value), Box(Box(1.5))

    return anew


carried(of_a_layer, anew_in_net, lambda: picture(NET))
carried(of_an_object, anew_in_box(t([1.0, 1.0])), lambda: BOX)
carried(of_a_global, anew_in_globals, lambda: CARRIED)
carried(of_an_object_in_an_object, anew_in_box(None), lambda: STATE)
carried(a_list_of_tensors, anew_in_box([t([3.0, 3.0])]), lambda: BOX)
