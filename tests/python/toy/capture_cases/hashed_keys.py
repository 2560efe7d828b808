"""Keys whose `__hash__` and `__eq__` are code of the program: each is asked as often as in plain Python, in the same order,
and may break."""

import collections
import sys

from capture_cases.loud import Key, Point, speak
from capture_cases.loud_keys import DECISIONS
from observe import case
from toy_framework import toy

t = toy.tensor


class Name(collections.namedtuple("Name", "first last")):
    __slots__ = ()


KINDS = {
    "keys": lambda log, loud: lambda n: Key(log, n, loud),
    "points": lambda log, loud: lambda n: Point(n),
    "tuples": lambda log, loud: lambda n: (Key(log, n, loud), "a", n),
    "names": lambda log, loud: lambda n: Name(Key(log, n % 3, loud), Point(n)),
}


def member_of_family(function, kind, loud):
    def build():
        def args():
            log = []
            return (t([1.0]), KINDS[kind](log, loud), log)

        return {"f": lambda x, key, log: function(x, key), "args": args}

    build.__name__ = f"{function.__name__}_of_{kind}" + (f"_loud_{loud.replace(' ', '_')}" if loud else "")
    decisions = DECISIONS[f"{function.__name__}_of_{kind}", loud] if loud else {}
    case(**decisions)(build)


def family(*kinds, louds=("", "hash", "eq", "hash eq")):
    """Cases of `f(x, key)`, of each of these kinds of keys."""

    def register(function):
        for kind in kinds or KINDS:
            for loud in louds:
                if not loud or kind != "points":
                    member_of_family(function, kind, loud)
        return function

    return register


@family()
def read(x, key):
    d = {key(1): x, key(5): x + 1}
    return d[key(5)] + d[key(1)]


@family()
def asked_for(x, key):
    d = {key(1): x, "a": 1, 7: 2, (1, 2): 3}
    return x + 1, key(1) in d, key(5) in d, key(2) not in d, d.get(key(1)), d.get(key(2)), d.get(key(5), 4), "a" in d, d[7], 1 in d


@family()
def stored(x, key):
    first = key(1)
    d = {}
    d[first] = x
    d[key(5)] = 2
    d[key(1)] = 3
    d[key(9)] = 4
    d[key(5)] = 5
    d[first] = 6
    return x + 1, d, list(d)[0] is first


@family()
def taken_out(x, key):
    d = {key(1): x, key(2): 2, key(3): 3}
    out = [d.pop(key(2)), d.pop(key(2), None), d.pop(key(6), 5)]
    del d[key(3)]
    try:
        d.pop(key(3))
    except KeyError as error:
        out.append(len(error.args))
    try:
        del d[key(5)]
    except KeyError as error:
        out.append(len(error.args))
    return x + 1, out, d, {}.pop(key(1), 7)


@family()
def set_by_default(x, key):
    d = {}
    return x + 1, d.setdefault(key(1), x), d.setdefault(key(1), 2), d.setdefault(key(5)), d.setdefault(key(5), 3), d


@family()
def missing(x, key):
    d = {key(1): x}
    try:
        return d[key(5)]
    except KeyError as error:
        return len(error.args), type(error.args[0]).__name__, x + 1


@family()
def in_a_loop(x, key):
    d = {}
    for n in (1, 5, 1, 2, 5, 9):
        k = key(n)
        if k in d:
            d[k] += 1
        else:
            d[k] = 1
        x = x + d[k]
    return x, d


@family()
def comprehended(x, key):
    d = {key(n): n for n in (1, 2, 5, 1)}
    return x + len(d), d, {n: key(n) for n in range(2)}


def deeper(d, k, value):
    def store(table):
        table[k] = value
        return table[k]

    return store(d)


@family()
def two_calls_deep(x, key):
    d = {}
    y = deeper(d, key(1), x + 1)
    z = deeper(d, key(1), y + 1)
    return y + z, d


@family()
def in_a_generator(x, key):
    d = {}

    def keys():
        for n in (1, 5, 1):
            d[key(n)] = n
            yield d[key(n)]

    for n in keys():
        x = x + n
    return x, d


@family()
def merged(x, key):
    d = {key(1): x, key(2): 2}
    e = {**d, key(1): 3, **{key(6): 4, key(2): 5}}
    e.update(d)
    e.update({key(5): 6})
    d.copy()[key(5)] = 7
    return x + 1, d, e, dict(d), d.copy(), dict(d, a=1)


@family()
def from_pairs(x, key):
    d = dict([(key(1), x), (key(5), 2), (key(1), 3)])
    d.update([(key(5), 4)], a=1)
    return x + 1, d, dict(zip([key(1), key(2), key(1)], "abc")), dict.fromkeys([key(1), key(5), key(1)], 2)


@family()
def compared(x, key):
    d, e = {key(1): 1, key(2): 2}, {key(2): 2, key(1): 1}
    return d == e, d != {key(1): 1}, d == {key(1): 1, key(6): 2}, x + 1


@family()
def made_up_for(x, key):
    d = collections.defaultdict(list)
    d[key(1)].append(x)
    d[key(1)].append(2)
    d[key(5)].append(3)
    return x + 1, d, d.get(key(2))


class Extended(dict):
    pass


class MakingUp(dict):
    def __missing__(self, key):
        return "missing"


@family()
def extended(x, key):
    d, e = Extended(), MakingUp()
    d[key(1)] = x
    d[key(5)] = 2
    e[key(1)] = 3
    return x + 1, d[key(1)], key(5) in d, d.get(key(2)), d.pop(key(5)), d, e[key(1)], e[key(2)]


@family()
def counted(x, key):
    c = collections.Counter([key(1), key(5), key(1)])
    c[key(1)] += 1
    c[key(2)] += 1
    return list(c.values()), x + 1


@family()
def asked_by_name(x, key):
    d = {}
    d.__setitem__(key(1), x)
    d.__setitem__(key(5), 2)
    d.__delitem__(key(5))
    return x + 1, d.__getitem__(key(1)), d.__contains__(key(5)), d


if sys.version_info >= (3, 9):

    @family()
    def united(x, key):
        d = {key(1): x, key(2): 2} | {key(1): 3}
        d |= {key(5): 4, key(2): 5}
        return x + 1, d


def kept_over_breaks(kind):
    """What holds such keys lives on over a break, under several names."""

    def build():
        def f(x, key, log):
            d = {key(1): x, key(5): 2}
            e = d
            speak("a break")
            e[key(1)] = 3
            e[key(9)] = x + 1
            speak("another one")
            return d[key(9)] + d[key(5)], d is e, e

        def args():
            log = []
            return (t([1.0]), KINDS[kind](log, ""), log)

        return {"f": f, "args": args}

    build.__name__ = f"kept_over_breaks_{kind}"
    case(graphs=2, breaks=2, captures=3, reasons=("builtin-with-output",))(build)


for kind in KINDS:
    kept_over_breaks(kind)


def given_loudly(function, loud, decisions):
    def build():
        def args():
            log = []

            def key(n):
                return Key(log, n, loud)

            d = {}
            for k in (key(1), key(2), "a", key(3)):
                d[k] = len(d)
            del log[:]
            return (t([1.0]), d, key, log)

        return {"f": function, "args": args}

    build.__name__ = function.__name__ + (f"_loud_{loud}" if loud else "")
    if loud:
        decisions = DECISIONS[function.__name__, loud]
    case(**decisions)(build)


def given(function, **decisions):
    """A case of `f(x, d, key, log)`: the dict was there before."""

    for loud in ("", "hash", "eq"):
        given_loudly(function, loud, decisions)


def given_and_read(x, d, key, log):
    return x + d[key(2)], key(1) in d, key(4) in d, d.get("a"), len(d), [k if type(k) is str else k.n for k in d]


def given_and_written(x, d, key, log):
    d[key(2)] = x
    d[key(3)] = x + 1
    d[key(13)] = 4
    d["b"] = 1
    d.setdefault(key(3), 8)
    return len(d)


def given_and_taken_out(x, d, key, log):
    out = d.pop(key(2)), d.pop(key(6), None)
    del d[key(1)]
    return out, x + 1


def given_and_popped(x, d, key, log):
    last, value = d.popitem()
    return x + 1, last.n, value, d.popitem(), len(d)


def given_under_two_names(x, d, key, log):
    e = {"d": d}
    k = list(d)[1]
    e["d"][k] = x
    return x + 1, d[k] is x, e["d"][key(2)] is x


given(given_and_read)
given(given_and_written)
given(given_and_taken_out)
given(given_and_popped)
given(given_under_two_names)


CACHE = {}


@case(graphs=None, captures=None, breaks=0, reasons=())
def a_global_cache():
    def f(x):
        k = Point(1), "a"
        if k not in CACHE:
            CACHE[k] = 5
        return x + CACHE[k]

    CACHE.clear()
    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: dict(CACHE)}


@case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def copies_of_keys_of_one_hash():
    def f(x, log):
        d = {Key(log, 1): 1, Key(log, 5): 2, Key(log, 2): 3}
        e = d.copy()
        e[Key(log, 9)] = 5
        g = dict(d)
        h = {**e}
        del e[Key(log, 1)]
        return d, e, g, h, e.copy(), x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def __hash__(self):
        return self.answer


class Number(int):
    pass


@case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def keys_that_are_met_twice():
    """A search for a large hash may come by one place twice: how often it compares is known by the real table alone."""

    def f(x, log):
        d = {}
        for n in (1, 5, 9, 1):
            d[Large(log, n)] = n
        return x + 1, Large(log, 13) in d, d.get(Large(log, 5)), d

    return {"f": f, "args": lambda: (t([1.0]), [])}


class Large(Key):
    def __hash__(self):
        self.log.append("hash")
        return -(2**62) + 12345678901


@case()
def odd_hashes():
    def f(x):
        d, out = {}, []
        for answer in (-1, 2**61 - 1, 2**70, -(2**63), True, Number(4), "no", None, 1.5):
            k = Odd(answer)
            try:
                d[k] = answer
                out.append((hash(k), d[k]))
            except TypeError as error:
                out.append(str(error))
        return out, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


class Equal:
    def __eq__(self, other):
        return True


@case()
def without_a_hash():
    def f(x):
        d, out = {}, []
        for make in (Equal, lambda: (1, Equal()), lambda: (Point(1), []), lambda: (Point(1), {})):
            try:
                d[make()] = 1
            except TypeError as error:
                out.append("unhashable" in str(error))
            try:
                make() in d
            except TypeError as error:
                out.append("unhashable" in str(error))
        return out, d, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


class Failing:
    def __init__(self, log, where):
        self.log, self.where = log, where

    def __hash__(self):
        self.log.append("hash")
        if self.where == "hash":
            raise ValueError("hash")
        return 3

    def __eq__(self, other):
        self.log.append("eq")
        if self.where == "eq":
            raise LookupError("eq")
        return NotImplemented


@case()
def failing():
    def f(x, log):
        d, out = {Failing(log, ""): x}, []
        for where in ("hash", "eq", ""):
            for do in (d.get, d.pop, d.__getitem__, d.setdefault, lambda k: k in d):
                try:
                    do(Failing(log, where))
                    out.append(len(d))
                except (ValueError, LookupError) as error:
                    out.append(type(error).__name__)
        return out, len(d), x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=0, captures=None, breaks=1, reasons=("would-raise",))
def failing_for_good():
    def f(x, log):
        d = {Failing(log, ""): x}
        d[Failing(log, "eq")] = 2

    return {"f": f, "args": lambda: (t([1.0]), [])}


class Reflected:
    """It hashes as a text, and equals it by its own word."""

    def __init__(self, log, text):
        self.log, self.text = log, text

    def __hash__(self):
        self.log.append("hash")
        return hash(self.text)

    def __eq__(self, other):
        self.log.append(("eq", type(other).__name__))
        return self.text == getattr(other, "text", other)


@case()
def reflected():
    def f(x, log):
        d = {"a": x, "b": 2}
        k = Reflected(log, "a")
        d[k] = 3
        e = {Reflected(log, "a"): 4, "b": 5}
        e["a"] = 6
        return k in d, Reflected(log, "c") in d, d, "a" in e, e.get("b"), e.get("c"), list(e.values()), x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


class Text(str):
    def __hash__(self):
        return hash(len(self))

    def __eq__(self, other):
        return len(self) == len(other)


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def of_a_class_that_extends_str():
    def f(x):
        d = {Text("ab"): x}
        d[Text("cd")] = 2
        d["xy"] = 3
        return d[Text("ef")], Text("a") in d, len(d)

    return {"f": f, "args": lambda: (t([1.0]),)}


class Adding:
    """Its comparisons change the dict."""

    def __init__(self, d, do):
        self.d, self.do = d, do

    def __hash__(self):
        return 3

    def __eq__(self, other):
        self.do(self.d)
        return False


def growing(d):
    d[len(d)] = 1


def clearing(d):
    d.clear()


def changing(do):
    def build():
        def f(x):
            d = {}
            d[Adding(d, do)] = 1
            d[Adding(d, do)] = 2
            return x + 1, len(d), [type(k).__name__ for k in d]

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = f"changing_dict_{do.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


changing(growing)
changing(clearing)


class Fickle:
    def __init__(self):
        self.n = 1

    def __hash__(self):
        return self.n

    def __eq__(self, other):
        return self is other


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def with_another_hash_meanwhile():
    def f(x):
        k, d = Fickle(), {}
        d[k] = 1
        out = []
        for n in (1, 9, 2, 17):
            k.n = n
            out.append(k in d)
        k.n = 2
        d[k] = 2
        return out, len(d), x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def gaps_are_taken_again():
    def f(x, log):
        d = {Key(log, 1): 1, Key(log, 5): 2, Key(log, 2): 3}
        del d[Key(log, 1)]
        return d.get(Key(log, 5)), d.get(Key(log, 9)), d, x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def gaps_are_taken_by_keys_of_the_same_hash():
    def f(x, log):
        d = {Key(log, 1): 1, Key(log, 5): 2, Key(log, 2): 3}
        del d[Key(log, 1)]
        d[Key(log, 9)] = 4
        return d.get(Key(log, 13)), d.get(Key(log, 5)), d, x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


class Alike:
    """Equals a text, and is hashed like it."""

    def __init__(self, text):
        self.text = text

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        return other == self.text


class Owner:
    def __init__(self):
        self.a, self.b, self.c = 1, 2, 3


@case(graphs=None, captures=None, breaks=None, reasons=None)
def texts_that_a_key_of_the_program_equals():
    def f(x, table, owner):
        own = owner.__dict__
        for there in (table, own):
            del there[Alike("a")]
            there[Alike("c")] = x * 2
        return table.pop(Alike("b")), own.pop(Alike("b")), list(table), list(own), own["c"] + 1

    return {"f": f, "args": lambda: (t([1.0]), {"a": 1, "b": 2, "c": 3}, Owner())}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_large_dict_with_keys_of_one_hash():
    table = {(n, Alike(str(n % 700))): n for n in range(1400)}

    def f(x):
        return x * table[(3, Alike("3"))], len(table)

    return {"f": f, "args": lambda: (t([1.0]),)}


class Dying:
    """A key, or a value, whose end is heard of."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return self.name[0] == other.name[0]

    def __del__(self):
        self.log.append(self.name)


def dying(function):
    def build():
        table = {}

        def f(x):
            log = []
            for there in ({}, table):
                there[Dying("z", log)] = Dying("v", log)
                function(there, log)
                log.append("end")
                there.clear()
            return x * 2, log

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "dying_" + function.__name__
    return case(graphs=None, captures=None, breaks=None, reasons=None)(build)


@dying
def cleared(there, log):
    there.clear()


@dying
def deleted(there, log):
    del there[Dying("z2", log)]


@dying
def popped(there, log):
    there.pop(Dying("z2", log))


@dying
def popped_last(there, log):
    there.popitem()


@dying
def replaced(there, log):
    there[Dying("z2", log)] = Dying("w", log)


@dying
def left_alone(there, log):
    pass


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def one_that_is_met_twice_and_breaks():
    class Met:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return 97

        def __eq__(self, other):
            print("asked", self.n)
            return False

    table = {Met(0): 1, (Met(1), 1): 2}

    def f(x):
        return x * 2, table.get(Met(2)), table.get((Met(3), 1)), {Met(4): 1}.get(Met(5))

    return {"f": f, "args": lambda: (t([1.0]),)}
