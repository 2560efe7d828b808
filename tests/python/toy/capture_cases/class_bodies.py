"""Classes that statements make: metaclasses, what their bodies read and say, and instances that are asked and compared."""

import typing

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
simulated = case(captures=1, breaks=0, reasons=())


def x1():
    return (t([1.0, 2.0]),)


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.called = len(args)
        return made


@case(captures=1, breaks=0, reasons=())
def class_of_a_metaclass_that_calls():
    def f(x):
        class Local(metaclass=Meta):
            def __init__(self, value):
                self.value = value

        return Local(x).value + Local(x).called

    return {"f": f, "args": x1}


@open_case
def bases_that_are_resolved():
    class Stand:
        def __mro_entries__(self, bases):
            return (Module,)

    def f(x):
        class Local(Stand()):
            pass

        return Local(x).go(), Local.__bases__ == (Module,), hasattr(Local, "__orig_bases__")

    return {"f": f, "args": x1}


@open_case
def generic_class():
    T = typing.TypeVar("T")

    def f(x):
        class Box(typing.Generic[T]):
            def __init__(self, value: T):
                self.value = value

        return Box(x).value + 1, Box[int](x).value, Box.__parameters__ == (T,)

    return {"f": f, "args": x1}


@simulated
def class_that_compares_and_hashes():
    def f(x):
        class Key:
            def __init__(self, k):
                self.k = k

            def __eq__(self, other):
                return self.k == other.k

            def __hash__(self):
                return hash(self.k)

        table = {Key(1): x, Key(2): x * 2}
        return table[Key(2)] + 1, Key(1) in table, len({Key(1), Key(1)})

    return {"f": f, "args": x1}


@case()
def class_with_eq_alone_is_unhashable():
    def f(x):
        class Key:
            def __eq__(self, other):
                return True

        try:
            hash(Key())
        except TypeError as error:
            return x + 1, str(error), Key.__hash__

    return {"f": f, "args": x1}


@case()
def context_manager_of_a_local_class():
    log = []

    def f(x):
        class Manager:
            def __enter__(self):
                log.append("in")
                return x * 2

            def __exit__(self, kind, value, trace):
                log.append(kind.__name__ if kind else None)
                return True

        with Manager() as y:
            raise ValueError("caught")
        return y + 1

    return {"f": f, "args": x1, "watch": lambda: log}


@open_case
def finalizer_of_a_local_class():
    log = []

    def f(x):
        class Local:
            def __del__(self):
                log.append("gone")

        local = Local()
        del local
        log.append("after")
        return x + 1

    return {"f": f, "args": x1, "watch": lambda: log}


@simulated
def generator_method_of_a_local_class():
    def f(x):
        class Tree:
            def __init__(self, value, *below):
                self.value, self.below = value, below

            def __iter__(self):
                yield self.value
                for child in self.below:
                    yield from child

        return sum(Tree(x, Tree(x * 2), Tree(x * 3, Tree(x))))

    return {"f": f, "args": x1}


@simulated
def new_of_a_local_class():
    def f(x):
        class One:
            made = None

            def __new__(cls):
                if cls.made is None:
                    cls.made = super().__new__(cls)
                return cls.made

        return One() is One(), x + 1

    return {"f": f, "args": x1}


@simulated
def class_body_that_reads_its_surroundings():
    k = 3

    def f(x):
        y = x * k
        name = "outer"

        class Local:
            name = name + "!" if False else "own"
            factor = k
            kept = y

        return Local.kept * Local.factor, Local.name

    return {"f": f, "args": x1}


@simulated
def class_body_that_writes_around_itself():
    def f(x):
        count = 0

        class Local:
            nonlocal count
            count = 5
            other = count + 1

        return x * count, Local.other, hasattr(Local, "count")

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("frame-inspection",))
def class_that_asks_for_locals():
    def f(x):
        class Local:
            a = 1
            b = sorted(n for n in locals() if not n.startswith("__"))

        return x + Local.a, Local.b

    return {"f": f, "args": x1}


@simulated
def methods_with_decorators():
    def twice(method):
        def wrapped(self, y):
            return method(self, method(self, y))

        return wrapped

    def f(x):
        class Local:
            @twice
            def go(self, y):
                return y + 1

            @property
            def value(self):
                return 3

            @value.setter
            def value(self, new):
                self.set = new

        local = Local()
        local.value = x
        return local.go(local.set) * local.value

    return {"f": f, "args": x1}


@simulated
def private_names():
    def f(x):
        class Local:
            __secret = 2

            def go(self):
                return x * self.__secret

        return Local().go(), Local._Local__secret

    return {"f": f, "args": x1}


@simulated
def instances_of_a_local_class_that_are_shown():
    def f(x):
        class Local:
            def __init__(self):
                self.a = 1

            def __repr__(self):
                return f"Local({self.a})"

        return repr([Local(), Local()]), str(Local()), f"{Local()!r:>12}", x + 1

    return {"f": f, "args": x1}


@open_case
def class_annotations_of_the_future():
    def f(x):
        class Local:
            a: typing.List[int]
            b: x.shape = 3
            c: int

        return x * Local.b, list(Local.__annotations__), Local.__annotations__["c"] is int

    return {"f": f, "args": x1}


@open_case
def class_cells_that_bodies_name_themselves():
    def f(x):
        seen = []
        try:

            class Local:
                __classcell__ = 42

        except TypeError as error:
            seen.append(str(error)[:30])
        try:

            class Slotted:
                __classcell__ = 42
                __slots__ = ["__classcell__"]

        except TypeError as error:
            seen.append(str(error)[:30])

        class Own:
            def go(self):
                return __class__

        return x + 1, seen, Own().go() is Own

    return {"f": f, "args": x1}


@simulated
def class_body_with_sets():
    def f(x):
        class Local:
            names = {"a", "b"}
            empty = set()

            def has(self, name):
                return name in self.names

        made = Local()
        made.names.add("c")
        return x + 1, made.has("a"), made.has("z"), len(Local.names), Local.empty, sorted(made.names)

    return {"f": f, "args": x1}


@open_case
def class_body_with_sets_that_are_kept():
    kept = []

    def f(x):
        names = {x.shape[0]}

        class Local:
            own = names

        kept.append(Local)
        names.add(7)
        return x + 1, Local.own is names, sorted(Local.own)

    def watch():
        return [sorted(one.own) for one in kept]

    return {"f": f, "args": x1, "watch": watch}
