"""Mapping proxies: what is asked of one is asked of the dict that it shows, as that is now."""

import collections
import inspect
import types
from types import MappingProxyType

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def keywords(x, a=0, b=0, **rest):
    return x * a + b + sum(rest.values())


TABLE = {"a": 2, "b": 3}
PROXY = MappingProxyType(TABLE)


@case()
def asked_for_all_it_has():
    def f(x):
        total = x * PROXY["a"] + PROXY.get("b") + PROXY.get("c", 7)
        names = [name for name in PROXY], list(PROXY.keys()), list(PROXY.values()), list(PROXY.items()), sorted(PROXY)
        facts = len(PROXY), bool(PROXY), "a" in PROXY, "c" not in PROXY, PROXY.get("c"), isinstance(PROXY, dict)
        copy, own = PROXY.copy(), dict(PROXY)
        copy["c"] = 1
        return total, names, facts, copy, own, {**PROXY, "d": 4}, keywords(x, **PROXY), type(PROXY) is types.MappingProxyType

    return {"f": f, "args": x1}


@case()
def a_proxy_made_in_the_frame():
    def f(x):
        table = {"a": x}
        proxy = MappingProxyType(table)
        before = len(proxy), "b" in proxy
        table["b"] = x + 1
        values = proxy.values()
        table["c"] = proxy["b"] * 2
        missing = None
        try:
            proxy["d"]
        except KeyError as error:
            missing = error.args
        return before, list(values), list(proxy), dict(proxy.items()), missing, hasattr(proxy, "pop"), bool(MappingProxyType({}))

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def over_a_break():
    def f(x):
        table = {"a": x}
        proxy = MappingProxyType(table)
        other = proxy
        y = x + 1
        print("break")
        table["b"] = y * 2
        return proxy["b"] + proxy["a"], other is proxy, list(proxy), type(proxy).__name__

    return {"f": f, "args": x1}


@case()
def that_it_returns():
    def f(x):
        table = {"a": x + 1}
        return MappingProxyType(table), table, [PROXY, PROXY]

    return {"f": f, "args": x1}


@case()
def given():
    def f(x, proxy, table):
        table["c"] = 5
        return x * proxy["a"] + proxy["c"], list(proxy), proxy.get("b"), "c" in proxy

    def args():
        table = {"a": 2, "b": 3}
        return t([1.0]), MappingProxyType(table), table

    return {"f": f, "args": args}


@case()
def of_dicts_of_c():
    ordered = MappingProxyType(collections.OrderedDict([("b", 1), ("a", 2)]))

    def f(x):
        default = collections.defaultdict(list)
        proxy = MappingProxyType(default)
        proxy["new"].append(x)
        return list(ordered), list(ordered.items()), ordered.copy(), default, len(proxy), x * ordered["a"]

    return {"f": f, "args": x1}


class Holder:
    def __init__(self):
        self.table = {"k": 1}
        self.proxy = MappingProxyType(self.table)


@case(graphs=2, captures=2)
def that_changes_between_calls():
    holder = Holder()

    def f(x):
        return x * holder.proxy["k"], list(holder.proxy)

    def args():
        if len(holder.table) == 1:
            holder.table["l"] = 2
        else:
            holder.table.pop("l")
        return (t([1.0]),)

    return {"f": f, "args": args}


class Config:
    rate = 2


@open_case
def that_of_a_class():
    held = Config.__dict__

    def f(x):
        Config.rate += 1
        return x * held["rate"], "rate" in held, len([name for name in held if name == "rate"])

    def args():
        Config.rate = 2
        return (t([1.0]),)

    return {"f": f, "args": args, "watch": lambda: Config.rate}


@open_case
def refused():
    def f(x):
        seen = []
        for act in (
            lambda: PROXY.__setitem__("a", 1),
            lambda: PROXY.pop("a"),
            lambda: PROXY.get(),
            lambda: PROXY[[]],
            lambda: PROXY(),
            lambda: keywords(x, **MappingProxyType({1: 2})),
            lambda: keywords(x, a=1, **PROXY),
            lambda: MappingProxyType(3),
            lambda: MappingProxyType([1]),
        ):
            try:
                act()
            except (TypeError, AttributeError, KeyError) as error:
                seen.append((type(error).__name__, str(error)))
        return seen, x + 1

    return {"f": f, "args": x1}


@open_case
def compared_and_written():
    other = MappingProxyType({"a": 2, "b": 3})

    def f(x):
        return PROXY == other, PROXY == TABLE, PROXY != {}, PROXY is other, repr(other), str(PROXY), list(reversed(list(PROXY))), x + 1

    return {"f": f, "args": x1}


class Loud:
    def __init__(self, name, log):
        self.name, self.log = name, log

    def __hash__(self):
        self.log.append("hash " + self.name)
        return hash(self.name)

    def __eq__(self, other):
        self.log.append("eq " + self.name)
        return self.name == other.name


@open_case
def with_keys_that_notice():
    def f(x):
        log = []
        first, second = Loud("a", log), Loud("b", log)
        table = {first: 1, second: 2}
        proxy = MappingProxyType(table)
        log.append("made")
        found = proxy[Loud("a", log)], Loud("b", log) in proxy, proxy.get(Loud("c", log))
        log.append("found")
        copy = dict(proxy)
        log.append("copied")
        return found, len(copy), len({**proxy}), log, x + 1

    return {"f": f, "args": x1}


def bound(x, scale=2, *rest, shift=1, **more):
    return x


SIGNATURE = inspect.signature(bound)


@case()
def arguments_bound_by_a_signature():
    def f(x):
        found = SIGNATURE.bind(x, 3, 4, shift=5, other=6)
        found.apply_defaults()
        less = SIGNATURE.bind(x)
        less.apply_defaults()
        return found.args, found.kwargs, less.args, less.kwargs, found.args[0] * found.args[1]

    return {"f": f, "args": x1}
