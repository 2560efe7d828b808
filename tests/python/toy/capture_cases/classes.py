"""Classes, properties, super, protocols and layers."""

import dataclasses
import enum
import functools

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


class Base:
    kind = "base"

    def __init__(self, scale):
        self.scale = scale

    @property
    def doubled(self):
        return self.scale * 2

    @doubled.setter
    def doubled(self, value):
        self.scale = value / 2

    @staticmethod
    def helper(n):
        return n + 1

    @classmethod
    def made(cls, n):
        return cls(n)

    def apply(self, x):
        return x * self.scale

    def __add__(self, other):
        return Base(self.scale + other.scale)

    def __len__(self):
        return 3

    def __getitem__(self, key):
        return self.scale + key

    def __contains__(self, key):
        return key == self.scale

    def __call__(self, x):
        return self.apply(x) + 1

    def __eq__(self, other):
        return isinstance(other, Base) and self.scale == other.scale

    __hash__ = None


class Derived(Base):
    kind = "derived"

    def __init__(self, scale, bias):
        super().__init__(scale)
        self.bias = bias

    def apply(self, x):
        return super().apply(x) + self.bias

    @property
    def doubled(self):
        return super().doubled + 1


def x_and(make):
    return lambda: (t([1.0]), make())


@case()
def methods_and_attributes():
    def f(x, b):
        return b.apply(x), b.kind, b.doubled, Base.helper(2), b.helper(3), type(b).__name__

    return {"f": f, "args": x_and(lambda: Base(3))}


@case()
def inheritance_and_super():
    def f(x, d):
        return d.apply(x), d.doubled, isinstance(d, Base), Base.apply(d, x), d.kind

    return {"f": f, "args": x_and(lambda: Derived(3, 4))}


@case()
def instances_are_made():
    def f(x):
        b = Base(2)
        d = Derived.made if False else Derived(5, 6)
        b.scale = 7
        return b.apply(x) + d.apply(x), b, d

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def classmethod_makes_an_instance():
    def f(x):
        return Base.made(4).apply(x)

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def property_setter():
    def f(x, b):
        b.doubled = 10
        return x * b.scale

    return {"f": f, "args": x_and(lambda: Base(3))}


@case()
def operator_protocols():
    def f(x, b):
        c = b + Base(10)
        return c.scale * x, len(b), b[2], 3 in b, b(x), b == Base(3), bool(b)

    return {"f": f, "args": x_and(lambda: Base(3))}


@case()
def bound_method_argument():
    def f(x, method):
        return method(x)

    return {"f": f, "args": x_and(lambda: Base(3).apply)}


@case(graphs=None, captures=None)
def translated_method(translate):
    class Model:
        def __init__(self):
            self.calls = 0

        @translate
        def run(self, x):
            self.calls += 1
            return x * 2

    model = Model()

    def call(x):
        return model.run(x)

    return {"f": call, "args": lambda: (t([1.0]),), "watch": lambda: model}


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


@case()
def slots():
    def f(x, s):
        s.b = s.a + 1
        return x * s.b

    return {"f": f, "args": x_and(lambda: Slotted(3))}


@dataclasses.dataclass
class Config:
    size: int
    rate: float = 0.5


@case()
def dataclass():
    def f(x, config):
        other = Config(config.size + 1)
        return x * config.rate + other.size, other == config

    return {"f": f, "args": x_and(lambda: Config(3))}


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@case(graphs=0, reasons=("no-tensor",))
def enums():
    def f(x, color):
        if color is Color.RED:
            return x * color.value
        return x, color == Color.BLUE, color.name

    return {"f": f, "args": x_and(lambda: Color.BLUE)}


class Lazy:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)


@case()
def getattr_hook():
    def f(x, lazy):
        return x * lazy.four, hasattr(lazy, "_no")

    return {"f": f, "args": x_and(Lazy)}


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


@case()
def iterator_class():
    def f(x, c):
        for n in c:
            x = x + n
        return x

    return {"f": f, "args": x_and(lambda: Countdown(3))}


class Doubler:
    def __get__(self, obj, owner):
        return obj.scale * 2 if obj is not None else self


class WithDescriptor(Base):
    twice = Doubler()


@case()
def descriptor():
    def f(x, b):
        return x * b.twice

    return {"f": f, "args": x_and(lambda: WithDescriptor(3))}


# The class is another one at each call, and made by the simulation.
@case(captures=1, breaks=0, reasons=())
def class_in_the_frame():
    def f(x):
        class Local:
            factor = 3

            def go(self, y):
                return y * self.factor

        return Local().go(x)

    return {"f": f, "args": lambda: (t([1.0]),)}


def eye(scale=1.0):
    return toy.Linear(t([[scale, 0.0], [0.0, scale]]), t([1.0, 2.0]))


class Net(toy.Layer):
    def __init__(self):
        super().__init__()
        self.first = eye()
        self.rest = toy.Sequential(eye(2.0), eye(3.0))
        self.scale = t([2.0, 2.0])
        self.factor = 3
        self.steps = 0
        self.register_buffer("seen", t([0.0, 0.0]))

    def forward(self, x):
        self.steps += 1
        y = self.first(x) * self.scale + self.factor
        for layer in self.rest._sub_layers.values():
            y = layer(y)
        return (self.rest(y) + self.seen).relu()


def batch():
    return (t([[1.0, 2.0], [3.0, 4.0]]),)


@case()
def leaf_layer():
    layer = eye()

    def f(x):
        return layer(x) * 2

    return {"f": f, "args": batch}


@case(graphs=None, captures=None)
def layer_with_state():
    net = Net()

    def f(x):
        return net(x)

    return {"f": f, "args": batch, "watch": lambda: net.steps}


@case(graphs=None, captures=None)
def translated_layer(translate):
    net = translate(Net())

    def call(x):
        return net(x)

    return {"f": call, "args": batch, "watch": lambda: net.steps}


@case(graphs=None, captures=None)
def layer_with_a_hook():
    layer = eye()
    seen = []

    def hook(layer, output):
        seen.append(len(seen))
        return output + 1

    layer.register_hook(hook)

    def f(x):
        return layer(x) * 2

    return {"f": f, "args": batch, "watch": lambda: seen}


class Chatty(toy.Layer):
    def __init__(self):
        super().__init__()
        self.inner = eye()

    def forward(self, x):
        y = self.inner(x)
        print("forward", y.shape)
        return y * 2


@case(graphs=3, captures=3, breaks=2, reasons=("builtin-with-output",))
def layer_that_breaks():
    net = toy.Sequential(Chatty(), eye(), Chatty())

    def f(x):
        return net(x) + 1

    return {"f": f, "args": batch}


@case(graphs=None)
def hooks_come_and_go_in_the_frame():
    shared, inside, hooked = eye(), toy.Sequential(eye(2.0), eye(3.0)), eye()
    hooked.register_hook(lambda layer, output: output + 5)

    def f(x):
        plain = shared(x)
        shared.register_hook(lambda layer, output: output * 10)
        inside[1].register_hook(lambda layer, output: output - 1)
        gone = hooked._hooks.pop(0, None)
        results = [plain, shared(x), inside(x), hooked(x)]
        shared._hooks.pop(0)
        inside[1]._hooks.pop(0)
        hooked._hooks[0] = gone
        return results, shared(x), inside(x), hooked(x)

    def watch():
        return [len(layer._hooks) for layer in (shared, inside, inside[1], hooked)]

    return {"f": f, "args": batch, "watch": watch}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def hook_of_a_layer_made_in_the_frame():
    def f(x):
        layer = toy.Linear(x, x)
        before = layer(x)
        layer.register_hook(lambda layer, output: output * 10)
        return before, layer(x)

    return {"f": f, "args": batch}


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def who_makes_the_instances():
    class Refuses:
        def __new__(cls, *args):
            raise AssertionError("refused")

    class Restored(Refuses):
        __new__ = object.__new__

        def __init__(self, n):
            self.n = n

    key = type(functools.cmp_to_key(None))

    def tried(log, make, *args):
        try:
            log.append(make(*args).n)
        except (TypeError, AssertionError) as error:
            log.append(str(error))

    def f(x, log):
        tried(log, key)
        tried(log, Restored, 3)
        own, inherited = Restored.__new__, Refuses.__new__
        del Restored.__new__
        tried(log, Restored, 3)
        del Refuses.__new__
        tried(log, Restored, 3)
        Refuses.__new__, Restored.__new__ = inherited, own
        tried(log, Restored, 3)
        return x + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_key_that_takes_the_attribute_away():
    class Descriptor:
        def __get__(self, instance, owner=None):
            return 1

    def f(x, log):
        class Target:
            attr = Descriptor()

        class Evil:
            def __hash__(self):
                return hash("attr")

            def __eq__(self, other):
                log.append("compared")
                if "attr" in Target.__dict__:
                    del Target.attr
                return False

        target = Target()
        target.__dict__[Evil()] = 0
        log.append(target.attr)
        log.append(hasattr(target, "attr"))
        return x + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_class_that_is_still_being_made():
    class Meta(type):
        def mro(cls):
            cls.__dict__["early"](cls)
            return super().mro()

    def f(x, log):
        def look(cls):
            log.append((cls.__mro__, isinstance(cls, type)))
            try:
                log.append(cls().__class__ is cls)
            except (TypeError, AttributeError) as error:
                log.append(type(error))

        class Made(metaclass=Meta):
            def early(cls):
                look(cls)

        log.append(Made.__mro__[1:])
        return x + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def super_of_what_is_no_instance():
    class Alone:
        def method(self):
            return super()

    def call(function, *args):
        return function(*args)

    def f(x, log):
        for receiver in (3, log, None, Alone):
            try:
                log.append(call(Alone.method, receiver) is None)
            except TypeError as error:
                log.append(str(error)[:20])
        return x + 1

    return f
