"""Containers and instances that somebody exchanges for others between calls, or behind a break."""

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


class Plain:
    pass


class Scale:
    def __init__(self, by):
        self.by = by
        self.weight = t([3.0, 4.0])

    def __call__(self, x):
        return x * self.weight * self.by


def list_of(i):
    return [2.0, 3.0]


def list_that_differs(i):
    return [float(i % 2), 3.0]


def dict_of(i):
    return {"a": 2.0, "b": [1.0, 2.0]}


def dict_with_another_key(i):
    return {"a": 2.0, f"other{i}": i}


def tuple_of(i):
    return (2.0, [3.0])


def set_of(i):
    return {2.0, 3.0}


def instance_of(i):
    return Scale(2.0)


def nested_in(i):
    held = Plain()
    held.inner = Plain()
    held.inner.by = [2.0]
    return held


READS = {
    list_of: lambda value, x: x * value[1] + len(value),
    list_that_differs: lambda value, x: x * value[1] + len(value),
    dict_of: lambda value, x: x * value["a"] + value["b"][0],
    dict_with_another_key: lambda value, x: x * value["a"],
    tuple_of: lambda value, x: x * value[0] + value[1][0],
    set_of: lambda value, x: x * len(value) + (2.0 in value),
    instance_of: lambda value, x: value(x),
    nested_in: lambda value, x: x * value.inner.by[0],
}


def attribute(holder, value):
    holder.value = value


def item(holder, value):
    holder.table["value"] = value


def place(holder, value):
    holder.list[0] = value


def found(holder):
    return [getattr(holder, "value", None), holder.table.get("value"), holder.list[0]]


PLACES = {
    attribute: lambda holder: holder.value,
    item: lambda holder: holder.table["value"],
    place: lambda holder: holder.list[0],
}

# Known to the functions by name: what a cell holds is found by its path from the first call on.
HOLDER = Plain()


def begin():
    HOLDER.__dict__.clear()
    HOLDER.table, HOLDER.list, HOLDER.calls = {}, [None], 0


def count():
    HOLDER.calls += 1
    return HOLDER.calls - 1


# What else is guarded of it: the whole of a dict that is looked at, members of a set.
MORE = {dict_with_another_key: None, set_of: None}


def exchanged(make, put):
    read, get = READS[make], PLACES[put]

    def build():
        begin()

        def f(x):
            return read(get(HOLDER), x)

        def args():
            put(HOLDER, make(count()))
            return (t([1.0, 2.0]),)

        return {"f": f, "args": args, "watch": lambda: found(HOLDER)}

    build.__name__ = f"{make.__name__}_exchanged_as_{put.__name__}"
    case(graphs=MORE.get(make, 2), captures=MORE.get(make, 2))(build)


for make in READS:
    for put in PLACES:
        exchanged(make, put)


@case(graphs=2, captures=2)
def a_cache_that_begins_anew():
    begin()

    def f(x):
        HOLDER.cache.append(x)
        return HOLDER.cache[-1] * 2

    def args():
        if count() % 2 == 0:
            HOLDER.cache = []
        return (t([1.0, 2.0]),)

    return {"f": f, "args": args, "watch": lambda: [HOLDER.cache]}


# A list that is written before the break is another one behind it from the first call on.
@case(graphs=1, captures=2, breaks=1, reasons=("builtin-with-output",))
def exchanged_before_a_break():
    begin()
    HOLDER.state = [1.0]

    def f(x):
        HOLDER.state = [2.0, 3.0]
        toy.show(x)
        return x * HOLDER.state[1]

    return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [HOLDER.state]}


@open_case
def one_of_two_in_turn():
    begin()
    scales = [Scale(1.0), Scale(2.0)]

    def f(x):
        return HOLDER.scale(x)

    def args():
        HOLDER.scale = scales[count() % 2]
        return (t([1.0, 2.0]),)

    return {"f": f, "args": args}


@open_case
def exchanged_and_alias():
    begin()

    def f(x):
        HOLDER.a.append(x)
        return x * len(HOLDER.b) + len(HOLDER.a)

    def args():
        HOLDER.a = [1.0]
        HOLDER.b = HOLDER.a if count() % 3 == 2 else [1.0]
        return (t([1.0, 2.0]),)

    return {"f": f, "args": args, "watch": lambda: [HOLDER.a, HOLDER.b]}


class Shared:
    held = None

    @property
    def by_property(self):
        return type(self).held


SHARED = Shared()

OF_A_CLASS = {
    "class": lambda: Shared.held,
    "instance": lambda: SHARED.held,
    "property": lambda: SHARED.by_property,
    "getattr": lambda: getattr(Shared, "held"),
}


def held_by_a_class_too(make, how):
    """A class holds what somebody exchanges elsewhere, and keeps it when that is exchanged again."""
    read, ask = READS[make], OF_A_CLASS[how]

    def build():
        begin()

        def f(x):
            y = read(HOLDER.value, x)
            return y + read(ask(), x), HOLDER.value is ask()

        def args():
            n = count()
            HOLDER.value = make(n % 2)
            if n in (0, 2):
                Shared.held = HOLDER.value
            if n > 2 and isinstance(Shared.held, list):
                Shared.held.append(5.0)
            return (t([1.0, 2.0]),)

        return {"f": f, "args": args, "watch": lambda: [HOLDER.value, Shared.held]}

    build.__name__ = f"{make.__name__}_exchanged_and_held_by_a_class_read_by_{how}"
    open_case(build)


for make in READS:
    for how in OF_A_CLASS:
        held_by_a_class_too(make, how)


def written_by_a_class(make):
    def build():
        begin()
        Shared.held = make(0)

        def f(x):
            y = read_of(x)
            toy.show(x)
            Shared.held = HOLDER.value
            return y

        def read_of(x):
            HOLDER.cell = Shared.held
            return READS[make](HOLDER.value, x)

        def args():
            HOLDER.value = make(count())
            return (t([1.0, 2.0]),)

        return {"f": f, "args": args, "watch": lambda: [HOLDER.value, HOLDER.cell, Shared.held]}

    build.__name__ = f"{make.__name__}_exchanged_and_given_to_a_class"
    open_case(build)


for make in READS:
    written_by_a_class(make)


def exchanged_in_a_class(make, **expect):
    def build():
        begin()

        def f(x):
            return READS[make](Shared.held, x) + READS[make](SHARED.held, x)

        def args():
            Shared.held = make(count())
            return (t([1.0, 2.0]),)

        return {"f": f, "args": args, "watch": lambda: [Shared.held]}

    build.__name__ = f"{make.__name__}_exchanged_in_a_class"
    case(**expect)(build)


for make in (list_of, dict_of, tuple_of, instance_of, nested_in):
    exchanged_in_a_class(make, graphs=2, captures=2)
