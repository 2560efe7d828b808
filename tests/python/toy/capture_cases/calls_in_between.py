"""Calls that Python makes in the middle of an instruction, and breaks inside them: one more graph, wherever that happens.

Each way of calling is tried at each place. A break is one `print` in the middle of what is asked for.
"""

import functools
import itertools
import sys
import types

from observe import CASES, Case
from toy_framework import toy

t = toy.tensor


class Counting:
    """An iterator of the program, which says something before its second item."""

    def __init__(self, x, last=3):
        self.x, self.last, self.at = x, last, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == self.last:
            raise StopIteration("over")
        self.at += 1
        if self.at == 2:
            print("second")
        return self.x + self.at


class Given:
    """Iterable, by an iterator that nobody can ask for one."""

    class Iterator:
        def __init__(self, items):
            self.items = items

        def __next__(self):
            if not self.items:
                raise StopIteration
            return self.items.pop(0)

    def __init__(self, *items):
        self.items = list(items)

    def __iter__(self):
        print("iter")
        return Given.Iterator(list(self.items))


class Couple(Given):
    def __iter__(self):
        print("iter")
        return iter(self.items)


class Sized(list):
    def __len__(self):
        print("len")
        return list.__len__(self)


class Table(dict):
    def __setitem__(self, key, value):
        print("set", key)
        dict.__setitem__(self, key, value)

    def __delitem__(self, key):
        print("del", key)
        dict.__delitem__(self, key)


class Row(list):
    def __setitem__(self, key, value):
        if isinstance(key, slice):
            print("set", key)
        list.__setitem__(self, key, value)

    def __delitem__(self, key):
        print("del", key)
        list.__delitem__(self, key)


class Plain:
    def __init__(self, x):
        self.items = {0: x}

    def __getitem__(self, key):
        return self.items[key]

    def __setitem__(self, key, value):
        print("set", key)
        self.items[key] = value

    def __delitem__(self, key):
        print("del", key)
        del self.items[key]


class Hashed:
    """A key that the program hashes."""

    def __init__(self, number, loud=False):
        self.number, self.loud = number, loud

    def __hash__(self):
        if self.loud:
            print("hash", self.number)
        return 7

    def __eq__(self, other):
        return self.number == other.number


class Missing:
    """Answers for what its properties do not know."""

    def __init__(self, x):
        self.x = x

    @property
    def known(self):
        print("known")
        return self.x * 2

    @property
    def unknown(self):
        print("unknown")
        raise AttributeError("unknown")

    @functools.cached_property
    def kept(self):
        print("kept")
        return self.x * 4

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self.x * 3


class Extended(dict):
    pass


class Items(list):
    def append(self, item):
        raise RuntimeError


class Text:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        if self.text == "b":
            print("text")
        return self.text


def numbers(x, last=3):
    for i in range(last):
        if i == 1:
            print("second")
        yield x + i


def named(name):
    if name == "missing":
        raise AttributeError(name)
    print("asked for", name)
    return 5


lazy = types.ModuleType("sot_test_lazy")
lazy.__getattr__ = named
sys.modules["sot_test_lazy"] = lazy


WAYS = {}


def way(breaks, *reasons):
    """A way of calling, the breaks that it has, and what others of them are than the `print`. `None`: iterators of C that are half
    used are carried over the break as they are, and nobody simulates what they do from there on."""

    def register(function):
        WAYS[function.__name__] = (function, breaks, ("builtin-with-output",) + reasons)
        return function

    return register


# Up to 3.10 a `yield from` that asks a `__next__` runs as Python as a whole.
delegations = way(1 if sys.version_info >= (3, 11) else None)


@way(1)
def unpacked(x):
    a, *b = Counting(x)
    return a, b


@way(1)
def unpacked_exactly(x):
    a, b, c = Counting(x)
    return a + b + c


@way(1)
def as_arguments(x):
    return (lambda *args: args)(*Counting(x))


@way(1)
def a_list_of_it(x):
    return [*Counting(x)], len([0])


@way(1)
def extended(x):
    items = [x]
    items.extend(numbers(x))
    items += Given.Iterator([]) and [1]
    return items


@delegations
def delegated(x):
    def outer():
        result = yield from Counting(x)
        yield result

    return list(outer())


@delegations
def delegated_twice(x):
    def inner():
        yield x
        return (yield from Counting(x, 2))

    def outer():
        yield (yield from inner())

    return list(outer())


@way(None)
def delegated_to_a_combination(x):
    def outer():
        yield from zip(numbers(x), Counting(x, 1))

    return list(outer())


@way(1)
def expressions_in_a_generator(x):
    def outer():
        yield sum(v * 2 for v in (w + 1 for w in Counting(x)))

    return next(outer())


@way(1)
def half_used_map(x):
    mapped = map(lambda v: v * 2, Counting(x))
    return next(mapped), next(mapped), list(mapped)


@way(None)
def half_used_zip(x):
    zipped = zip(itertools.count(), Counting(x), [7, 8, 9, 10])
    first = next(zipped)
    for second in zipped:
        break
    return first, second, [*zipped]


@way(None)
def half_used_filter(x):
    filtered = filter(None, (bool(i) and v for i, v in enumerate(Counting(x))))
    return next(filtered), list(filtered)


@way(None)
def half_used_enumeration(x):
    enumerated = enumerate(Counting(x), 5)
    return next(enumerated), next(enumerated), tuple(enumerated)


@way(None)
def half_used_islice(x):
    some = itertools.islice(Counting(x, 5), 1, 4)
    return next(some), list(some)


@way(None)
def half_used_chain(x):
    some = itertools.chain([x], Counting(x), [x])
    return next(some), next(some), next(some), list(some)


@way(None)
def half_used_calls(x):
    source = Counting(x, 9)
    some = iter(source.__next__, 0) if False else iter(lambda: next(source).tolist()[0] and source.at, 3)
    return [*some], source.at


@way(2)
def asked_for_iterators(x):
    return list(zip(Given(x, 1), Given(2, x)))


@way(1)
def asked_by_map(x):
    return list(map(lambda v: v + x, Given(x, 2)))


@way(1)
def asked_by_itertools(x):
    return list(itertools.takewhile(lambda v: True, Given(x, 2)))


@way(1)
def product_of_generators(x):
    return list(itertools.product([x], numbers(1)))


# A method of sets that draws its items where an item stops it runs as Python as a whole.
@way(None)
def set_of_a_generator(x):
    return {1, 2, 9} & {1, 2}, {1, 2, 9}.intersection(range(3), numbers(1)), x + 1


@way(1 if sys.version_info >= (3, 10) else None)
def sized(x):
    return list(Sized([x, x + 1]))[0]


@way(1)
def pairs(x):
    return dict([Couple("k", x), ("l", 2)])


@way(1)
def written_to_an_instance(x):
    o = Plain(2)
    o[0] += 3
    return o[0], x + 1


@way(2)
def deleted_from_an_instance(x):
    o = Plain(x)
    o[1] = x
    del o[1]
    return o.items


@way(3)
def written_to_a_subclass(x):
    o = Table(a=1)
    o["a"] += 2
    o["b"] = x
    del o["b"]
    return o


@way(2)
def slices_of_a_subclass(x):
    o = Row([0, 1, 2, 3])
    o[0] += 1
    o[1:3] = [x]
    del o[:1]
    return o


@way(3, "mutation")
def hashed_by_a_subclass(x):
    o = Extended()
    o[Hashed(1)] = 1
    o[Hashed(2, loud=True)] = x
    o[Hashed(1)] += 2
    return o[Hashed(1)], Hashed(2) in o, len(o)


@way(1)
def property_beside_a_hook(x):
    return Missing(x).known


@way(1)
def property_that_is_missing(x):
    o = Missing(x)
    return o.unknown, o.other


@way(1)
def kept_beside_a_hook(x):
    o = Missing(x)
    return o.kept, o.kept


@way(None)
def imported_from_what_answers(x):
    # The module is asked for its `__path__`, too, by C.
    from sot_test_lazy import number

    return x + number


@way(1)
def list_that_a_generator_fills(x):
    return Items(numbers(x))


@way(1)
def mapped_by_a_builtin(x):
    return list(map(str, [Text("a"), Text("b"), Text("c")])), x + 1


class Made:
    def __init__(self, use, x):
        self.seen = use(x)
        self.x = x + 1

    def later(self, use, x):
        self.use, self.given = use, x
        return self

    @property
    def seen_later(self):
        return self.use(self.given + 1), 3


class Manager:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x + 1

    def __exit__(self, *_):
        return False


def at_top(use, x):
    return use(x + 1)


def in_a_loop(use, x):
    for _ in range(2):
        x = x + 1
        seen = use(x)
    return seen, x


def two_deep(use, x):
    def one(x):
        return two(x * 2), x

    def two(x):
        return use(x + 1), x

    return one(x)


def in_init(use, x):
    made = Made(use, x)
    return made.seen, made.x


def in_a_property(use, x):
    return Made(lambda x: x, 1).later(use, x).seen_later


def in_a_generator(use, x):
    def items():
        yield x
        yield use(x)
        yield x + 1

    return list(items())


def in_with(use, x):
    with Manager(x) as y:
        seen = use(y)
    return seen, y


PLACES = [at_top, in_a_loop, two_deep, in_init, in_a_property, in_a_generator, in_with]


def _case(name, use, place, expect):
    def build():
        def f(x):
            y = x * 2
            seen = place(use, y)
            return seen, y + 1

        return {"f": f, "args": lambda: (t([1.0, 2.0]),)}

    build.__name__ = name
    CASES.append(Case(build, expect))


for _name, (_use, _breaks, _reasons) in WAYS.items():
    for _place in PLACES:
        _times = 2 if _place is in_a_loop else 1
        _expect = {}
        if _breaks is not None:
            # Nothing but `x` is computed between breaks of one way.
            _expect = {"graphs": 1 + _times, "breaks": _breaks * _times, "fallbacks": 0, "reasons": _reasons}
        _case(f"{_name}_{_place.__name__}", _use, _place, _expect)


def _deep(name, use):
    def build():
        def f(x):
            y = x + 1
            try:
                seen = use(y)
            except RecursionError:
                seen = "too deep"
            return seen, y * 2

        return {"f": f, "args": lambda: (t([1.0, 2.0]),)}

    build.__name__ = name
    CASES.append(Case(build, {}))


def generators_over_generators(x):
    items = iter([x])
    for _ in range(500):
        items = (v + 1 for v in items)
    return list(items)


def generators_that_delegate(x):
    def items(depth):
        if depth == 0:
            print("bottom")
            yield x
        else:
            yield from items(depth - 1)

    return list(items(150))


def maps_over_maps(x):
    items = Counting(x)
    for _ in range(150):
        items = map(lambda v: v + 1, items)
    return list(items)


def combinations_of_combinations(x):
    items = Counting(x)
    for _ in range(150):
        items = zip(items)
    items = list(items)
    return len(items)


class Deeper:
    """An iterator that asks another one without end."""

    def __iter__(self):
        return self

    def __next__(self):
        a, *_ = Deeper()
        return a


def without_end(x):
    return list(Deeper())


def written_without_end(x):
    class Own:
        def __setitem__(self, key, value):
            self[key] = value

    Own()[0] = x


for _use in (
    generators_over_generators,
    generators_that_delegate,
    maps_over_maps,
    combinations_of_combinations,
    without_end,
    written_without_end,
):
    _deep(_use.__name__, _use)
