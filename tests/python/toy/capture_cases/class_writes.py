"""Attributes of given classes that the code writes: each write is made by the class itself, when the graph has run.

Who reads the attribute afterwards, of the class, of one that extends it or of an instance, has what was written. Numbers that are
counted this way are found in the class once two captures have met different ones.
"""

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Given:
    def twice(self, y):
        return y * 2

    def told(self):
        return self.limit

    @classmethod
    def configure(cls, limit):
        cls.limit = limit


class Extended(Given):
    pass


class Shadowed(Given):
    count = 100


class Kept:
    def __init__(self):
        self.value = 2


class Meta(type):
    log = []

    def __setattr__(cls, name, value):
        Meta.log.append(name)
        super().__setattr__(name, value)


class Asked(metaclass=Meta):
    limit = 1


def begin():
    for name in ("more", "new"):
        if name in vars(Given):
            delattr(Given, name)
    Given.count, Given.limit, Given.items, Given.cache = 0, 3, (), None
    for name in ("limit", "items"):
        if name in vars(Extended):
            delattr(Extended, name)
    Kept.kept = Kept()
    Meta.log.clear()


@case(captures=1, breaks=0, reasons=())
def constant_that_is_set():
    begin()

    def f(x):
        Given.limit = 5
        return x * Given.limit

    return {"f": f, "args": x1, "watch": lambda: Given.limit}


@case(graphs=2, captures=2, breaks=0, reasons=())
def number_that_is_counted():
    begin()

    def f(x):
        Given.count += 1
        return x * 2, Given.count

    return {"f": f, "args": x1, "watch": lambda: Given.count}


# That the class has no descriptor of the name is known by what is there, which the first call changes.
@case(graphs=2, captures=2, breaks=0, reasons=())
def read_of_instances_and_classes_that_extend_it():
    begin()

    def f(x):
        given, extended, shadowed = Given(), Extended(), Shadowed()
        given.limit = 7
        Given.limit = 4
        Given.count = 2
        return (
            x * Extended.limit,
            given.limit,
            extended.limit,
            shadowed.count,
            Shadowed.count,
            extended.count,
            extended.twice(x),
        )

    return {"f": f, "args": x1, "watch": lambda: (Given.limit, Given.count, Shadowed.count)}


@case(captures=1, breaks=0, reasons=())
def written_by_setattr_and_by_a_class_method():
    begin()

    def f(x):
        Extended.configure(4)
        setattr(Given, "limit", 2)
        setattr(Given, "new", "text")
        return x * Given().told() * Extended().told(), Given.new, Extended.new

    return {"f": f, "args": x1, "watch": lambda: (Given.limit, Extended.limit, Given.new)}


@case(captures=1, breaks=0, reasons=())
def container_that_is_set():
    begin()

    def f(x):
        Given.items = [1, 2]
        Given.items.append(3)
        Extended.items = {"a": Given.items}
        return x * len(Given.items), Extended.items["a"] is Given.items

    return {"f": f, "args": x1, "watch": lambda: (Given.items, Extended.items)}


@case(captures=2, breaks=1, reasons=("builtin-with-output",))
def written_before_a_break():
    begin()

    def f(x):
        Given.limit = 8
        print(Given.limit)
        return x * Given.limit

    return {"f": f, "args": x1, "watch": lambda: Given.limit}


@case(captures=1, breaks=0, reasons=())
def written_before_an_exception_that_is_handled():
    begin()

    def f(x):
        try:
            Given.limit = 6
            raise ValueError("after")
        except ValueError:
            return x * Given.limit

    return {"f": f, "args": x1, "watch": lambda: Given.limit}


@case(captures=1, breaks=0, reasons=())
def object_that_is_kept_once():
    begin()

    def f(x):
        if Kept.kept is None:
            Kept.kept = Kept()
        return x * Kept.kept.value

    return {"f": f, "args": x1}


# It is another function each time.
@case(graphs=3, captures=4, breaks=1, reasons=("mutation",))
def method_that_is_set():
    begin()

    def f(x):
        Given.more = lambda self, y: y + 3
        return Given().more(x)

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("user-code",))
def metaclass_that_is_asked():
    begin()

    def f(x):
        Asked.limit = 3
        return x * Asked.limit

    return {"f": f, "args": x1, "watch": lambda: (Meta.log, Asked.limit)}


@case(captures=2, breaks=1, reasons=("mutation",))
def class_that_a_cell_has():
    class Own:
        limit = 1

    def f(x):
        Own.limit = 3
        return x * Own.limit

    return {"f": f, "args": x1, "watch": lambda: Own.limit}
