"""Code of the program that builtins call: key functions, mapped functions, comparisons, lengths, items.

`speak` prints, so it breaks: one more graph, or none where nothing was computed since the last break, and never the
whole call of the builtin.
"""

import functools
import sys
import traceback
import warnings

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


def speak(value):
    print("speak", value)
    return value


def x1():
    return (t([1.0, 2.0]),)


def x3():
    return ([t([3.0]), t([1.0]), t([2.0])],)


def breaking(graphs, breaks, reasons=("builtin-with-output",), **more):
    return case(graphs=graphs, captures=None, breaks=breaks, reasons=reasons, **more)


# ----- without a break: one graph


@case()
def python_functions_everywhere():
    def f(x):
        def double(v):
            return v * 2

        items = [x, x + 1, x + 2]
        total = functools.reduce(lambda a, b: a + double(b), items)
        chosen = max([1, 5, 3], key=lambda v: -v), min(4, 2, key=lambda v: -v), max([], key=double, default=7)
        mapped = list(map(double, items)), tuple(map(lambda a, b: a * b, items, items)), [*map(double, items)]
        kept = list(filter(lambda n: n % 2, range(5))), sorted("bca", key=lambda c: -ord(c), reverse=True)
        first, *rest = map(double, items)
        table = dict((str(i), x * i) for i in range(2))
        flags = any(map(lambda n: n > 1, (1, 2))), all(n > 1 for n in (1, 2)), 3 in (n for n in range(5))
        return total, chosen, mapped, kept, first, rest, table, flags, sum(map(double, items), x), len(rest)

    return {"f": f, "args": x1}


@case()
def sorted_is_stable_both_ways():
    def f(x):
        pairs = [(2, "a"), (1, "b"), (2, "c"), (1, "d")]
        key = lambda pair: pair[0]  # noqa: E731
        return sorted(pairs, key=key), sorted(pairs, key=key, reverse=True), sorted(iter(pairs), key=key), x + 1

    return {"f": f, "args": x1}


@case()
def sums_of_numbers_are_pythons_own():
    def f(x):
        numbers = (0.1 for _ in range(10))
        return sum(numbers), sum([0.1] * 10), sum(n for n in (1e16, 1.0, -1e16)), sum((True for _ in "ab"), 0.5), x + 1

    return {"f": f, "args": x1}


class Number:
    """Counts what it is asked."""

    def __init__(self, n, log):
        self.n, self.log = n, log

    def __eq__(self, other):
        self.log.append(("eq", self.n))
        return self.n == other.n if isinstance(other, Number) else NotImplemented

    def __lt__(self, other):
        self.log.append(("lt", self.n))
        return self.n < other.n if isinstance(other, Number) else NotImplemented

    def __contains__(self, item):
        self.log.append(("contains", item))
        return item

    def __len__(self):
        self.log.append(("len", self.n))
        return self.n

    def __iter__(self):
        self.log.append(("iter", self.n))
        return iter(range(self.n))

    def __bool__(self):
        self.log.append(("bool", self.n))
        return self.n > 1


class Other(Number):
    """Its methods come first on the right side."""

    def __eq__(self, other):
        self.log.append(("other eq", self.n))
        return super().__eq__(other)

    def __gt__(self, other):
        self.log.append(("other gt", self.n))
        return NotImplemented


@log_case()
def comparisons_ask_in_order():
    def f(x, log):
        one, two, other = Number(1, log), Number(2, log), Other(1, log)
        log.append((one == two, one != two, one == other, one != other, other == one, one == 3, 3 == one, 3 != one))
        log.append((one < two, two < one, one < other, min(two, one) is one, max([one, two]) is two))
        try:
            log.append(one < 3)
        except TypeError as error:
            log.append(str(error))
        if one == other and not one == two:
            log.append("equal")
        return x + 1

    return f


@log_case()
def membership_asks_in_order():
    def f(x, log):
        one, two = Number(1, log), Number(2, log)
        log.append((one in [two, one], one in (two, two), 5 in [one, 5], one in (n for n in [two, one])))
        log.append((5 in one, 0 in one, 0 not in one, one not in [two]))
        return x + 1

    return f


@log_case()
def lengths_and_items_are_asked_for_as_ever():
    def f(x, log):
        two = Number(2, log)
        log.append((list(two), tuple(two), [*two], (*two, 5), len(two), bool(two), not two, sum(two), any([two])))
        items = [9]
        items.extend(two)
        items += two
        a, b = two
        log.append((items, a, b, ",".join(map(str, two)), sorted(two), max(two), (lambda *rest: rest)(*two)))
        return x + 1

    return f


@log_case()
def items_are_taken_one_by_one():
    def source(log, n):
        for i in range(n):
            log.append(("give", i))
            yield i

    def f(x, log):
        def see(what):
            return lambda v: log.append((what, v)) or v

        log.append((any(map(see("any"), source(log, 4))), all(map(see("all"), source(log, 4)))))
        log.append((max(source(log, 3), key=see("max")), sorted(source(log, 3), key=see("sorted"))))
        log.append(functools.reduce(lambda a, b: see("reduce")(a + b), source(log, 3)))
        for v in map(lambda a, b: see("map")(a + b), source(log, 2), source(log, 3)):
            log.append(v)
        for v in filter(see("filter"), source(log, 3)):
            log.append(v)
        log.append((2 in source(log, 5), dict(zip("ab", source(log, 5)))))
        a, b = map(see("unpack"), source(log, 2))
        first = next(map(see("next"), source(log, 3)))
        return x + a + b + first + next(filter(None, source(log, 1)), 5)

    return f


@log_case()
def a_list_is_sorted_in_place():
    def f(x, log):
        numbers, names, pairs = [3, 1, 2], ["b", "a"], [(1, x), (0, x + 1)]
        numbers.sort()
        names.sort(reverse=True)
        pairs.sort(key=lambda pair: pair[0])

        def see(v):
            log.append((v, list(numbers)))
            return -v

        numbers.sort(key=see)
        log.append(list(numbers))
        for some in ([3, 1, "a"], [5, 4, 3, 2, 1, 6, "a", 7, 0], [1, 5, 2, 4, "b", 0]):
            some = list(some)
            try:
                some.sort(key=lambda v: v)
            except TypeError as error:
                log.append((some, str(error)))
        try:
            numbers.sort(key=lambda v: numbers.append(v) or v)
        except ValueError as error:
            log.append((numbers, str(error)))
        return pairs, names

    return f


# ----- a break inside: the builtin goes on


@breaking(graphs=1, breaks=3)
def in_a_key_of_a_list_that_is_sorted():
    def f(x, items):
        items.sort(key=speak, reverse=True)
        return items, x + 1

    return {"f": f, "args": lambda: (t([1.0]), [2, 3, 1])}


@breaking(graphs=4, breaks=3)
def in_a_key_of_sorted():
    def f(items):
        def key(item):
            y = item * 2
            return speak(len(items)) + y.ndim

        return sorted(items, key=key)[0] + 1

    return {"f": f, "args": x3}


@breaking(graphs=3, breaks=3)
def in_a_mapped_function():
    def f(items):
        total = 0
        for y in map(lambda item: item * speak(2), items):
            total = y + total
        return total + 1

    return {"f": f, "args": x3}


@breaking(graphs=3, breaks=3)
def in_a_mapped_function_two_calls_deep():
    def f(items):
        def inner(items):
            return sum(map(lambda item: item * speak(2), items))

        return inner(items) + 1

    return {"f": f, "args": x3}


@breaking(graphs=3, breaks=2)
def in_a_reduced_function():
    def f(items):
        return functools.reduce(lambda a, b: (a + 1) * b + speak(2), items) * 2

    return {"f": f, "args": x3}


@breaking(graphs=2, breaks=2, reasons=("branch-on-tensor",))
def in_the_truth_of_a_predicate():
    def f(items):
        return any(map(lambda item: item < 2, items)), len(items)

    return {"f": f, "args": x3}


@breaking(graphs=1, breaks=3)
def in_a_filter():
    def f(x):
        return list(filter(lambda n: speak(n) != 1, range(3))), x + 1

    return {"f": f, "args": x1}


@breaking(graphs=1, breaks=4)
def in_keys_of_max_and_min():
    def f(x):
        return max([1, 3], key=speak), min(5, 4, key=speak), max([], key=speak, default=2), x + 1

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def in_what_takes_the_items_of_a_generator():
    def f(items):
        def give():
            for item in items:
                yield item * speak(2)

        flags = any(item > 2 for item in items), all(speak(item) is not None for item in items)
        best = max((item.ndim for item in items), key=speak), 2 in (speak(n) for n in (1, 2, 3))
        for y in map(lambda item: item * speak(2), (item + 1 for item in items)):
            items = [*items, y]
        return flags, best, list(give()), sum(give()), tuple(speak(y) for y in give()), dict(zip("ab", give())), items

    return {"f": f, "args": x3}


class Loud:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return speak(self.n) == getattr(other, "n", other)

    def __contains__(self, item):
        return speak(item)

    def __iter__(self):
        speak("iter")
        return iter((self.n, self.n))

    def __len__(self):
        return speak(2)

    def __bool__(self):
        return speak(True)


@breaking(graphs=1, breaks=7)
def in_eq_and_contains():
    def f(x):
        one, two = Loud(1), Loud(2)
        if one != two and 0 not in one:
            x = x + 1
        return one == 1, two in [1, two, 2], 1 in iter([one]), one in [two, one, two], 1 in two, x

    return {"f": f, "args": x1}


@case(graphs=1, captures=None, breaks=None, reasons=("builtin-with-output",))
def in_iter_len_and_bool():
    def f(x):
        loud = Loud(1)
        a, b = loud
        items = [0]
        items.extend(loud)
        items += loud
        flags = bool(loud), not loud, all([loud, 1]), len(loud)
        return list(loud), tuple(loud), [*loud], a, b, items, flags, sum(loud), max(loud), iter(loud) is loud, x + 1

    return {"f": f, "args": x1}


class Meta(type):
    def __instancecheck__(cls, value):
        return speak(isinstance(value, int))

    def __subclasscheck__(cls, other):
        return speak([])


class Judged(metaclass=Meta):
    pass


@breaking(graphs=1, breaks=3)
def in_instance_and_subclass_checks():
    def f(x):
        if isinstance(3, Judged):
            x = x + 1
        return isinstance("a", Judged), issubclass(int, Judged), isinstance(3, (str, int)), x

    return {"f": f, "args": x1}


class Asked:
    kept = 1

    @property
    def value(self):
        return speak(5)

    @property
    def missing(self):
        speak("missing")
        raise AttributeError("nothing")

    @property
    def wrong(self):
        speak("wrong")
        raise KeyError("wrong")


class Answering(Asked):
    def __getattr__(self, name):
        speak(name)
        if name.startswith("no"):
            raise AttributeError(name)
        return name


@breaking(graphs=1, breaks=None, reasons=None)
def in_attributes_asked_for_by_name():
    def f(x):
        asked, answering = Asked(), Answering()
        seen = [getattr(asked, "value"), getattr(asked, "value", 1), getattr(asked, "missing", 2)]
        seen += [hasattr(asked, "value"), hasattr(asked, "missing"), hasattr(asked, "kept"), hasattr(asked, "other")]
        seen += [hasattr(answering, "a"), hasattr(answering, "no"), getattr(answering, "no", 3)]
        seen += [getattr(answering, "b", 4), getattr(answering, "missing", 5), getattr(answering, "kept", 6)]
        for way in (lambda: hasattr(asked, "wrong"), lambda: getattr(asked, "wrong", 1)):
            try:
                way()
            except KeyError as error:
                seen.append(str(error))
        try:
            getattr(asked, "missing")
        except AttributeError as error:
            seen.append(str(error))
        return seen, x + 1

    return {"f": f, "args": x1}


# ----- exceptions that pass a builtin


def calls_of_the_program(error):
    shown = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == __file__:
            shown.append((frame.f_code.co_name, line - frame.f_code.co_firstlineno))
        else:
            shown.append(frame.f_code.co_filename.rsplit("/", 1)[-1])
    return shown


def refuse(value):
    raise ValueError(value)


def refuse_aloud(value):
    speak(value)
    raise ValueError(value)


class Odd:
    """Gives what is no truth, and what is no length."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return speak(self.value)


class OddlyLong:
    def __init__(self, value):
        self.value = value

    def __len__(self):
        return speak(self.value)


class Refusing:
    def __eq__(self, other):
        return refuse_aloud("eq")

    def __len__(self):
        return refuse_aloud("len")


WAYS = {
    "sorted": lambda g: sorted([1, 2], key=g),
    "sort": lambda g: [1, 2].sort(key=g),
    "max": lambda g: max([1, 2], key=g),
    "map": lambda g: [v for v in map(g, [1, 2])],
    "list": lambda g: list(map(g, [1, 2])),
    "filter": lambda g: list(filter(g, [1, 2])),
    "reduce": lambda g: functools.reduce(lambda a, b: g(b), [1, 2]),
    "sum": lambda g: sum(map(g, [1, 2])),
    "any": lambda g: any(g(v) for v in [1, 2]),
    "unpack": lambda g: (lambda *a: a)(*map(g, [1, 2])),
    "eq": lambda g: Refusing() == g,
    "in": lambda g: g in [1, Refusing()],
    "len": lambda g: len(Refusing()),
    "bool of 2": lambda g: bool(Odd(2)),
    "not 2": lambda g: not Odd(2),
    "if 2": lambda g: 1 if Odd(2) else 0,
    "any 2": lambda g: any([Odd(2)]),
    "len of text": lambda g: len(OddlyLong("a")),
    "len of -1": lambda g: len(OddlyLong(-1)),
    "if long as text": lambda g: 1 if OddlyLong("a") else 0,
    "not long as -1": lambda g: not OddlyLong(-1),
    "list as long as text": lambda g: list(OddlyLong("a")),
    "min of nothing": lambda g: min(v for v in ()),
    "sum of text": lambda g: sum((v for v in "ab"), ""),
    "sum of anything": lambda g: sum(v for v in (1, "a")),
    "dict of numbers": lambda g: dict(v for v in [(1, 2), 3]),
    "dict of triples": lambda g: dict(v for v in [(1, 2), (1, 2, 3)]),
    "reduce of nothing": lambda g: functools.reduce(g, (v for v in ())),
    "sorted of anything": lambda g: sorted([1, "a"], key=lambda v: v),
    "join of numbers": lambda g: ",".join(v for v in (1, 2)),
    "too many": lambda g: (lambda a, b: a)(*(v for v in (1, 2, 3))),
    "next of nothing": lambda g: next(filter(None, [0])),
}


def raising_case(way, function, caught):
    name = f"raised_in_{way.replace(' ', '_').replace('-', 'minus_')}_{function.__name__}_{'caught' if caught else 'shown'}"

    def build():
        run, seen = WAYS[way], []

        def catching(x):
            try:
                return run(function), x
            except Exception as error:
                seen.append((type(error).__name__, str(error), calls_of_the_program(error)))
                return x + 1

        def leaving(x):
            return run(function), x + 1

        def outside(translate):
            translated = translate(leaving)

            def f(x):
                try:
                    return translated(x)
                except Exception as error:
                    seen.append((type(error).__name__, str(error), calls_of_the_program(error)))
                    return None

            return f

        return catching, outside, seen

    if caught:

        def world():
            catching, _, seen = build()
            return {"f": catching, "args": x1, "watch": lambda: list(seen)}

    else:

        def world(translate):
            _, outside, seen = build()
            return {"f": outside(translate), "args": x1, "watch": lambda: list(seen)}

    world.__name__ = name
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(world)


for _way in WAYS:
    for _function in (refuse, refuse_aloud):
        for _caught in (True, False):
            raising_case(_way, _function, _caught)


@case(graphs=None, captures=None, breaks=None, reasons=None)
def stop_iteration_ends_what_it_ends_in_eager():
    def f(x):
        def stop(v):
            if v == 2:
                raise StopIteration
            return speak(v)

        seen = [list(map(stop, [1, 2, 3])), [v for v in map(stop, [1, 2, 3])], list(filter(stop, [1, 2, 3]))]
        for way in (lambda: sorted([1, 2], key=stop), lambda: functools.reduce(lambda a, b: stop(b), [1, 2])):
            try:
                way()
            except StopIteration:
                seen.append("stopped")
        return seen, x + 1

    return {"f": f, "args": x1}


# ----- who sees whom


def callers():
    frame, seen = sys._getframe(1), []
    while frame is not None and frame.f_code.co_filename == __file__:
        seen.append((frame.f_code.co_name, frame.f_lineno, frame.f_globals is globals()))
        frame = frame.f_back
    return seen


class Seeing:
    def __init__(self, log):
        self.log = log

    def __eq__(self, other):
        self.log.append(callers())
        return True

    def __len__(self):
        self.log.append(callers())
        return 1

    def __iter__(self):
        speak("iter")
        self.log.append(callers())
        return iter([1])


def seeing_case(name, before):
    def build():
        def f(x):
            log = []

            def see(v):
                before(v)
                log.append(callers())
                return v

            def inner():
                return max([1, 2], key=see), sum(map(see, [1, 2]))

            seeing = Seeing(log)
            found = sorted([1, 2], key=see), functools.reduce(lambda a, b: see(a) + b, [1, 2, 3]), inner()
            more = seeing == 1, 1 in [seeing], len(seeing), list(seeing), [v for v in map(see, [1])]
            return found, more, log, x + 1

        return {"f": f, "args": x1}

    build.__name__ = name
    case(graphs=None, captures=None, breaks=None, reasons=None)(build)


def nothing(value):
    pass


def turn_capture_off(value):
    """What goes on from here runs as plain Python."""
    toy.set_debug_mode(True)


seeing_case("callers_as_in_eager", nothing)
seeing_case("callers_after_a_break", speak)


@case(graphs=None, captures=None, breaks=None, reasons=None)
def callers_while_all_runs_as_python():
    def f(x):
        log = []

        def see(v):
            turn_capture_off(v)
            log.append(callers())
            return v

        def inner():
            return max([1, 2], key=see), sum(map(see, [1, 2]))

        found = sorted([1, 2], key=see), functools.reduce(lambda a, b: see(a) + b, [1, 2, 3]), inner()
        more = [v for v in map(see, [1])], list(filter(see, [1])), any(map(see, [0, 1]))
        toy.set_debug_mode(False)
        return found, more, log, x + 1

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def warnings_name_the_callers_line():
    def f(x):
        def warn(v):
            speak(v)
            warnings.warn("look", stacklevel=2)
            return v

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = sorted([1, 2], key=warn), list(map(warn, [1]))
        return result, [(str(w.message), w.lineno, w.filename == __file__) for w in caught], x + 1

    return {"f": f, "args": x1}


class ItemsOnly:
    """What an `__iter__` may give: it has no `__iter__` itself."""

    def __init__(self, items):
        self.items = list(items)

    def __next__(self):
        if not self.items:
            raise StopIteration
        return speak(self.items.pop(0))


class AskedForItself(ItemsOnly):
    def __iter__(self):
        speak("asked for an iterator")
        return self


class Gives:
    def __init__(self, iterator):
        self.iterator = iterator

    def __iter__(self):
        return self.iterator


class Unsized(Gives):
    def __len__(self):
        speak("asked for a length")
        raise TypeError("no length")


class Worded(Gives):
    def __len__(self):
        return "three"


USES = {
    "next": lambda made: next(made.iterator, 7),
    "sum": sum,
    "min": min,
    "max": max,
    "reduce": lambda made: functools.reduce(lambda a, b: a + b, made),
    "map": lambda made: list(map(lambda n: n + 1, made)),
    "zip": lambda made: list(zip(made, (1, 2))),
    "filter": lambda made: list(filter(None, made)),
    "list": list,
    "tuple": tuple,
    "extend": lambda made: [0].extend(made),
    "starred": lambda made: [0, *made],
    "sorted": sorted,
    "any": any,
    "dict": lambda made: dict((n, n) for n in made),
    "pairs": lambda made: dict([made]),
}


def _register_use(name, use, gives, iterator):
    def build():
        def f(x):
            return use(gives(iterator([2, 1, 3]))), x + 1

        return {"f": f, "args": x1}

    build.__name__ = f"{name}_of_{gives.__name__}_{iterator.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _name, _use in USES.items():
    for _gives in (Gives, Unsized, Worded):
        for _iterator in (ItemsOnly, AskedForItself):
            _register_use(_name, _use, _gives, _iterator)
