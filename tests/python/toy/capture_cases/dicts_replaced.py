"""Instances that are given another `__dict__`: what was known of their attributes holds of the new one, or does not."""

from observe import case
from toy_framework import toy

t = toy.tensor


class Plain:
    pass


def replacing(name, before):
    def build():
        instance, calls = Plain(), [0]
        instance.__dict__ = {"n": 1, "other": 2}

        def f(x):
            return x + instance.n, hasattr(instance, "missing")

        def args():
            before(instance, calls[0])
            calls[0] += 1
            return (t([1.0]),)

        return {"f": f, "args": args, "watch": lambda: dict(vars(instance))}

    build.__name__ = build.__qualname__ = name
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


def same_items(instance, call):
    instance.__dict__ = {"n": 1, "other": 2}


def another_order(instance, call):
    instance.__dict__ = {"other": call, "n": 1}


def another_value(instance, call):
    instance.__dict__ = {"n": call}


def an_attribute_more(instance, call):
    instance.__dict__ = {"n": 1, "missing": 2} if call == 1 else {"n": 1}


def of_another_instance(instance, call):
    other = Plain()
    other.n = 1
    instance.__dict__ = other.__dict__
    if call == 1:
        del other.n
        other.n = 5


for change in (same_items, another_order, another_value, an_attribute_more, of_another_instance):
    replacing("dict_replaced_by_" + change.__name__, change)


@case(graphs=None, breaks=None, captures=None, reasons=None)
def dict_replaced_in_the_frame():
    instance = Plain()

    def f(x):
        instance.__dict__ = {"n": 1}
        first = instance.n
        instance.n += 1
        kept = instance.__dict__
        instance.__dict__ = {}
        return x + first, kept, hasattr(instance, "n")

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: dict(vars(instance))}


def by_attribute(instance, items):
    del instance.n
    return len(items)


def by_item(instance, items):
    del items["n"]
    return hasattr(instance, "n")


def by_its_dict(instance, items):
    del instance.__dict__["n"]
    return hasattr(instance, "n"), len(items)


def by_update(instance, items):
    items.update(n=7, m=8)
    return instance.n, instance.m


def by_clear(instance, items):
    vars(instance).clear()
    return items, hasattr(instance, "n")


def given(write):
    """A dict that the program has a name for, written to by one name and read by the other."""

    def build():
        def f(x, instance, items):
            instance.__dict__ = items
            instance.n = 5
            return x + 1.0, write(instance, items), len(items)

        return {"f": f, "args": lambda: (t([1.0]), Plain(), {"old": 1})}

    build.__name__ = build.__qualname__ = "dict_given_and_written_" + write.__name__
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


for write in (by_attribute, by_item, by_its_dict, by_update, by_clear):
    given(write)
