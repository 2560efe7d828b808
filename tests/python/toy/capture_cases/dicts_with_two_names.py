"""One dict under two names: as a dict, and as the attributes of an instance, the globals of a function or the values of a thread."""

import collections
import threading
import types

from observe import open_case
from toy_framework import toy

t = toy.tensor


class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class OrderedAttrDict(collections.OrderedDict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class DefaultAttrDict(collections.defaultdict):
    def __init__(self, *args, **kwargs):
        super().__init__(int, *args, **kwargs)
        self.__dict__ = self


class Plain:
    pass


class Table(dict):
    pass


class Answering(dict):
    def __getitem__(self, key):
        return "answered"


def itself(kind):
    def make():
        value = kind(n=1)
        return value, value, lambda: value.n

    return make


def lent(kind):
    """Somebody else has the dict that an instance has its attributes in."""

    def make():
        table, owner = kind(n=1), Plain()
        owner.__dict__ = table
        return table, owner, lambda: owner.n

    return make


def shared_by_two():
    first, second = Plain(), Plain()
    first.__dict__ = second.__dict__
    first.n = 1
    return first.__dict__, second, lambda: first.n


def globals_of_a_function():
    module, owner = types.ModuleType("lent"), Plain()
    module.n = 1
    exec("def q():\n    return n\ndef w():\n    global n\n    n += 100", module.__dict__)
    owner.__dict__ = module.__dict__
    return module.__dict__, owner, module.q


def written_by_a_function():
    table, owner, q = globals_of_a_function()
    w = table["w"]

    def ask():
        w()
        return q()

    return table, owner, ask


def of_a_thread():
    local = threading.local()
    local.n = 1
    return local.__dict__, local, lambda: local.n


PLACES = {
    "itself": itself(AttrDict),
    "itself_ordered": itself(OrderedAttrDict),
    "itself_with_defaults": itself(DefaultAttrDict),
    "lent": lent(dict),
    "lent_table": lent(Table),
    "lent_counter": lent(collections.Counter),
    "lent_answering": lent(Answering),
    "shared": shared_by_two,
    "globals": globals_of_a_function,
    "globals_written": written_by_a_function,
    "thread": of_a_thread,
}


def item(table, owner):
    table["n"] += 1


def attribute(owner, table):
    table.n += 1


def item_and_attribute(table, owner):
    table["n"] += 1
    owner.n *= 2


def attribute_and_item(table, owner):
    owner.n += 3
    table["n"] *= 2


def updated(table, owner):
    table.update(n=9, new=owner.n)


def named(table, owner):
    vars(owner)["n"] = 77


def added_as_item(table, owner):
    table["more"] = owner.n


def added_as_attribute(table, owner):
    owner.more = table["n"]


def deleted_as_item(table, owner):
    owner.more = 1
    del table["more"]


def deleted_as_attribute(table, owner):
    table["more"] = 1
    del owner.more


WRITES = [
    item,
    lambda table, owner: attribute(owner, owner),
    item_and_attribute,
    attribute_and_item,
    updated,
    named,
    added_as_item,
    added_as_attribute,
    deleted_as_item,
    deleted_as_attribute,
]
WRITES[1].__name__ = "attribute"


def written(place, write, breaks):
    def build():
        table, owner, ask = PLACES[place]()

        def f(x):
            seen = owner.n
            write(table, owner)
            if breaks:
                toy.show(x)
            after = owner.n, dict.get(table, "n"), hasattr(owner, "more"), "more" in table, ask(), len(table)
            write(table, owner)
            return x * owner.n if place != "lent_answering" else x, seen, after, ask()

        watch = lambda: [dict.get(table, "n"), sorted(key for key in table if not key.startswith("__"))]  # noqa: E731
        return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": watch}

    build.__name__ = f"{write.__name__}_of_a_dict_with_two_names_{place}{'_over_a_break' * breaks}"
    return open_case(build)


for place in PLACES:
    for write in WRITES:
        # An ordered dict loses its order where somebody writes past it.
        if place != "itself_ordered" or write not in (added_as_attribute, deleted_as_attribute):
            written(place, write, False)
            written(place, write, True)


@open_case
def made_with_itself_for_attributes():
    def f(x):
        config = AttrDict(a=1)
        config["a"] += 1
        config.b = 5
        config["d"] = x
        del config["b"]
        return config.a, config.d, hasattr(config, "b"), sorted(config)

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@open_case
def many_configs_with_themselves_for_attributes():
    def f(x, config):
        config["n"] += 1
        y = x * config.n
        config.n += 1
        return y * config["n"], config

    return {"f": f, "args": lambda: (t([1.0, 2.0]), AttrDict(n=5, inner=AttrDict(n=1)))}


@open_case
def state_that_all_instances_share():
    class Borg:
        state = {}

        def __init__(self):
            self.__dict__ = Borg.state

    def f(x):
        a, b = Borg(), Borg()
        a.n = getattr(a, "n", 0) + 1
        b.n *= 2
        Borg.state["n"] += 1
        return x * a.n, b.n, Borg.state["n"], a.__dict__ is b.__dict__

    return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: dict(Borg.state)}


class Counter:
    def __init__(self, shared=None):
        if shared is not None:
            self.__dict__ = shared
        self.n = 0

    def tick(self):
        self.n += 1
        return self.n


def one_dict_from_the_third_call_on(write):
    def build():
        calls = iter(range(100))

        def f(x, a, b):
            return x * write(a, b), a.n, b.n

        def args():
            shared = {} if next(calls) > 1 else None
            return t([1.0, 2.0]), Counter(shared), Counter(shared)

        return {"f": f, "args": args}

    build.__name__ = f"{write.__name__}_of_instances_that_come_to_share_a_dict"
    open_case(build)


def ticks(a, b):
    return a.tick() * 10 + b.tick()


def written_and_read(a, b):
    a.n = 5
    return b.n


def read_written_read(a, b):
    before = b.n
    a.n = 5
    return b.n * 10 + before


for write in (ticks, written_and_read, read_written_read):
    one_dict_from_the_third_call_on(write)


@open_case
def parts_that_come_to_share_a_dict():
    calls = iter(range(100))

    def f(x, whole):
        before = whole.b.v
        whole.a.v = 5.0
        return x * whole.b.v, before

    def args():
        whole = Plain()
        whole.a, whole.b = Plain(), Plain()
        whole.a.v = whole.b.v = 1.0
        if next(calls) > 1:
            whole.b.__dict__ = whole.a.__dict__
        return t([1.0, 2.0]), whole

    return {"f": f, "args": args}
