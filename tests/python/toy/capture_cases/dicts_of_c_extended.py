"""Classes of the program that extend `collections.OrderedDict` and `defaultdict`: outputs of models, registries, counters."""

import collections
import dataclasses
from collections import OrderedDict, defaultdict

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def tried(function, *args):
    try:
        return function(*args)
    except Exception as e:
        return type(e).__name__, str(e)


class Plain(OrderedDict):
    pass


class Output(OrderedDict):
    """As libraries of models write them: attributes and items are one."""

    def __getitem__(self, key):
        if isinstance(key, str):
            return dict(self.items())[key]
        return self.to_tuple()[key]

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def to_tuple(self):
        return tuple(self[k] for k in self.keys())


@dataclasses.dataclass
class Typed(Output):
    loss: object = None
    logits: object = None
    hidden: object = None

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                self[field.name] = value


class Loud(OrderedDict):
    log = []

    def __setitem__(self, key, value):
        self.log.append(("set", key))
        super().__setitem__(key, value)

    def __delitem__(self, key):
        self.log.append(("del", key))
        super().__delitem__(key)

    def __iter__(self):
        self.log.append("iter")
        return super().__iter__()

    def __contains__(self, key):
        self.log.append(("in", key))
        return super().__contains__(key)


class Groups(defaultdict):
    def total(self):
        return sum(len(v) for v in self.values())


class Named(defaultdict):
    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError("no " + key)
        value = self[key] = self.default_factory()
        return value


class Tracked(defaultdict):
    log = []

    def __setitem__(self, key, value):
        self.log.append(key)
        super().__setitem__(key, value)


@case()
def an_ordered_dict_of_the_program():
    def f(x):
        a = Plain(u=x, v=2)
        b = Plain([("p", x * 2), ("q", 3)])
        c = Plain()
        c["z"], c["y"] = x + 1, 4
        c.move_to_end("z")
        a.update(w=x * 3)
        del b["q"]
        texts = tried(lambda: a["none"]), "u" in a, a.get("none", 7), a.pop("v"), a.setdefault("s", 5)
        order = list(a), list(b.items()), list(reversed(c)), list(c.values()), len(c), bool(Plain())
        return a, b, c, texts, order, a["u"] + c["z"], type(a) is Plain, isinstance(a, dict)

    return {"f": f, "args": x1}


@case()
def an_output_whose_items_are_attributes():
    def f(x):
        out = Output()
        out["loss"] = x * 2
        out["hidden"] = x + 1
        out.loss = out.loss * 3
        return out, out[0] + out["hidden"], out[:1], out.to_tuple(), list(out), out.loss is out["loss"]

    return {"f": f, "args": x1}


@case()
def an_output_that_is_a_dataclass():
    def f(x):
        out = Typed(loss=x * 2, logits=x + 1)
        loss, logits = out.to_tuple()
        return out, loss + logits, out[0], out["logits"], out.hidden, len(out), list(out.keys()), {**dict(out)}

    return {"f": f, "args": x1}


@case(breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))
def an_output_lives_on_behind_a_break():
    def f(x):
        out = Typed(loss=x * 2, logits=x + 1)
        print("between", list(out))
        out["hidden"] = out.loss + 1
        return out, out[2] * out["loss"]

    return {"f": f, "args": x1}


@case(breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))
def an_ordered_dict_of_the_program_lives_on_behind_a_break():
    def f(x):
        a = Plain(b=x * 2, a=x + 1)
        a.note = "n"
        print("between", len(a))
        return a, list(a), a["b"] + a["a"], a.note

    return {"f": f, "args": x1}


@case(reasons=None, breaks=None, captures=None, graphs=None)
def methods_that_ask_the_class():
    def f(x):
        del Loud.log[:]
        a = Loud()
        a["u"] = x
        a["v"] = 1
        a.update(w=2)
        a.setdefault("w", 3)
        a.setdefault("s", 4)
        a.pop("v")
        a.popitem()
        "u" in a
        return a, list(a.items()), [*a], dict(a), a == Loud(a), Loud.log[:], a["u"] * 2

    return {"f": f, "args": x1}


@case()
def a_default_dict_of_the_program():
    def f(x):
        groups = Groups(list)
        for i in range(4):
            groups[i % 2].append(x * i)
        plain = Groups(None, a=1)
        return groups, groups.total(), tried(lambda: plain["b"]), plain, groups.get(7), 7 in groups, groups[1][1] + x

    return {"f": f, "args": x1}


@case()
def a_default_dict_with_a_missing_of_its_own():
    def f(x):
        named = Named(list)
        named["a"].append(x * 2)
        return named, tried(lambda: Named()["b"]), named["a"][0] + 1

    return {"f": f, "args": x1}


@case(reasons=None, breaks=None, captures=None, graphs=None)
def a_default_dict_that_sets_by_itself():
    def f(x):
        del Tracked.log[:]
        table = Tracked(int)
        table["a"] += 1
        table["b"]
        table.setdefault("c", 2)
        table.update(d=3)
        return table, Tracked.log[:], x * table["a"]

    return {"f": f, "args": x1}


@case()
def one_that_was_there_before_is_read():
    table, default = Plain(b=1, a=2), Groups(list, k=[1, 2])

    def f(x, given):
        order = list(table), list(given.items()), given["n"], "b" in table, table.get("zz", 3), len(given)
        return x * table["a"] * given["n"], order, default["k"], default.total()

    return {"f": f, "args": lambda: (t([1.0]), Plain(n=3, m=t([2.0])))}


@case(reasons=None, breaks=None, captures=None, graphs=None)
def one_that_was_there_before_is_written():
    table, default = Plain(b=1, a=2), Groups(list, k=[1, 2])

    def f(x):
        table["c"] = x
        table.move_to_end("b")
        default["new"].append(x * 2)
        return x * len(table), list(table), default, table

    return {"f": f, "args": x1}


@case(reasons=None, breaks=None, captures=None, graphs=None)
def copies_and_comparisons():
    def f(x):
        a, b = Plain(u=1, v=2), Plain(v=2, u=1)
        c = a.copy()
        return a == b, a == dict(b), c, type(c) is Plain, a != c, Plain.fromkeys("ab", 1), Groups(int).copy(), x * 2

    return {"f": f, "args": x1}


class Noted(list):
    log = []

    def append(self, item):
        self.log.append(item)
        super().append(item * 2)

    def __getitem__(self, at):
        self.log.append(("get", at))
        return super().__getitem__(at)

    def __setitem__(self, at, item):
        self.log.append(("set", at))
        super().__setitem__(at, item)


class Table(dict):
    log = []

    def __getitem__(self, key):
        self.log.append(("get", key))
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        self.log.append(("set", key))
        super().__setitem__(key, value)

    def __iter__(self):
        self.log.append("iter")
        return super().__iter__()


# The logs are as long as the call before has left them.
@case(captures=2, graphs=2)
def what_extends_a_builtin_and_was_there_before_is_written():
    notes, table, output = Noted([1, 2]), Table(a=1), Output(a=1)

    def f(x):
        del Noted.log[:], Table.log[:]
        notes.append(3)
        notes[0] = 7
        notes.insert(1, 5)
        notes.extend([8, 9])
        del notes[-1]
        notes.reverse()
        table["b"] = x * 2
        table["a"] += 1
        del table["a"]
        table.setdefault("c", 4)
        output["h"] = x + 1
        output.a = 5
        got = notes[1], table["b"] * 3, list(table), dict(table), output[0], output["h"] + x
        kept = Noted.log[:], Table.log[:], list(notes), len(table), len(output)
        notes[:] = [1, 2]
        table.clear()
        table["a"] = 1
        return got, kept, x * 2

    return {"f": f, "args": x1}


@case()
def what_extends_a_builtin_and_is_given_is_written():
    def f(x, notes, table, other):
        notes.append(1)
        table["k"] = x * 2
        other["z"] = 3
        return notes, table, len(other), table["k"] + 1

    return {"f": f, "args": lambda: (t([1.0]), Noted([1]), Table(a=1), Output(u=1))}


@case(captures=2, graphs=2)
def one_of_the_program_under_two_names():
    table = Table(a=1)
    turns = []

    def f(x, given):
        given["n"] = 5
        turns.append(1)
        return x * len(table), "n" in table, dict.get(table, "n")

    def args():
        table.pop("n", None)
        return t([1.0]), (Table(b=2) if len(turns) % 2 == 0 else table)

    return {"f": f, "args": args}


class Filled(OrderedDict):
    """As libraries of models give their results back: items are attributes as well."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__post_init__()

    def __post_init__(self):
        self.known = len(self)

    def __getitem__(self, key):
        if isinstance(key, str):
            return dict(self.items())[key]
        return self.to_tuple()[key]

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def to_tuple(self):
        return tuple(self[key] for key in self.keys())


@case()
def output_of_keywords():
    def f(x):
        out = Filled(loss=x + 1.0, logits=x * 2.0)
        out["hidden"] = x
        out.loss = out.loss * 3.0
        return out, out.loss + out["logits"], out[0], out.to_tuple(), list(out), out.known, sorted(vars(out))

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def output_of_items():
    def f(x):
        first, second = Filled({"a": x}, b=x * 2.0), Filled([("q", x + 1.0), ["r", 2]])
        third = Filled()
        third.update({"y": 1}, z=x)
        third.update((("w", 3), ("y", 4)))
        return first, second, third, third.y, second[1], [vars(one) for one in (first, second, third)]

    return {"f": f, "args": lambda: (t([1.0]),)}


class Asking(OrderedDict):
    def __getitem__(self, key):
        return "asked", key


@case()
def items_that_are_only_read_in_another_way():
    def f(x):
        one = Asking(a=x, b=1)
        one.update(c=2)
        return x + 1.0, one["a"], list(one), len(one)

    return {"f": f, "args": lambda: (t([1.0]),)}


class Refusing(OrderedDict):
    def __setitem__(self, key, value):
        if key == "bad":
            raise ValueError(key, list(self))
        super().__setitem__(key, value)


@open_case
def items_that_are_refused():
    def f(x):
        try:
            return x, Refusing([("a", 1)], bad=2, c=3)
        except ValueError as error:
            pass
        try:
            Refusing([("a", 1), ("b",)])
        except ValueError as short:
            return x + 1.0, error_text(short), Refusing(a=1)

    def error_text(error):
        return str(error)

    return {"f": f, "args": lambda: (t([1.0]),)}
