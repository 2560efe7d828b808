"""Members of sets whose `__hash__` and `__eq__` are code of the program: each is asked as often as in plain Python, in the same order,
and may break; the order of a set is that of its table."""

from capture_cases.loud import Key, Point, speak
from observe import case
from toy_framework import toy

t = toy.tensor


class Apart(Key):
    """Hashes that lie apart."""

    def __hash__(self):
        self.log.append(("hash", self.n))
        if "hash" in self.loud:
            speak(self.n)
        return self.n * 7919


KINDS = {
    "keys": lambda log, loud: lambda n: Key(log, n, loud),
    "apart": lambda log, loud: lambda n: Apart(log, n, loud),
    "points": lambda log, loud: lambda n: Point(n),
    "tuples": lambda log, loud: lambda n: (Key(log, n, loud), "a", n),
}


def member_of_family(function, kind, loud):
    def build():
        def args():
            log = []
            return (t([1.0]), KINDS[kind](log, loud), log)

        return {"f": lambda x, key, log: function(x, key), "args": args}

    build.__name__ = f"members_{function.__name__}_of_{kind}" + (f"_loud_{loud.replace(' ', '_')}" if loud else "")
    if loud:
        case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)
    else:
        case()(build)


def family(*kinds, louds=("", "hash", "eq", "hash eq")):
    """Cases of `f(x, key)`, of each of these kinds of members."""

    def register(function):
        for kind in kinds or KINDS:
            for loud in louds:
                if not loud or kind != "points":
                    member_of_family(function, kind, loud)
        return function

    return register


def number(member):
    if isinstance(member, tuple):
        return member[-1]
    return getattr(member, "n", getattr(member, "x", member))


def shown(members):
    return [number(member) for member in members]


@family()
def displayed(x, key):
    s = {key(1), key(5), "a", key(1), 3, key(9)}
    return x + 1, s, shown(s), len(s)


@family()
def looked_up(x, key):
    s = {key(1), "a", 7, (1, 2)}
    return x + 1, key(1) in s, key(5) in s, key(2) not in s, "a" in s, 7 in s, 1 in s, s.__contains__(key(1))


@family("keys", "apart", "points")
def added(x, key):
    first = key(1)
    s = set()
    s.add(first)
    s.add(key(5))
    s.add(key(1))
    s.add(1)
    s.add(first)
    return x + 1, s, shown(s), [member is first for member in s]


@family()
def taken_out(x, key):
    s = {key(1), key(2), key(3), key(5)}
    s.discard(key(2))
    s.discard(key(2))
    s.remove(key(5))
    out = []
    try:
        s.remove(key(9))
    except KeyError as error:
        out.append(number(error.args[0]))
    s.add(key(9))
    return x + 1, out, s, shown(s)


@family()
def popped(x, key):
    s = {key(3), key(1), key(5)}
    out = [number(s.pop()), number(s.pop())]
    s.add(key(5))
    return x + 1, out, s, shown(s)


@family()
def made_of(x, key):
    a = [key(1), key(5), key(1), key(2)]
    s, f = set(a), frozenset(tuple(a))
    return x + 1, s, f, shown(s), shown(f), a[0] in f, key(2) in f


@family()
def made_by_a_comprehension(x, key):
    s = {key(n) for n in (1, 5, 2, 1, 9, 6, 10, 5)}
    return x + 1, s, shown(s)


@family()
def made_by_a_generator(x, key):
    s = set(key(n) for n in (1, 5, 2, 1))
    return x + 1, s, shown(s), frozenset(key(n) for n in (1, 5, 1))


@family()
def unpacked(x, key):
    a, b = [key(1), key(5)], {key(5), key(2)}
    s = {*a, key(1), *b, 3}
    return x + 1, s, shown(s)


@family()
def united(x, key):
    a, b = {key(1), key(5), key(2)}, {key(5), key(9), key(2)}
    out = [a | b, a & b, a - b, a ^ b]
    return x + 1, out, [shown(s) for s in out]


@family()
def united_by_methods(x, key):
    a, b = {key(1), key(5), key(2)}, frozenset({key(5), key(9), key(2)})
    out = [a.union(b), a.intersection(b), a.difference(b), a.symmetric_difference(b), b.union(a, [key(1), key(7)])]
    out += [a.union([key(5), key(3)]), a.intersection([key(9), key(5)]), a.difference((key(1),)), b.symmetric_difference([key(2)])]
    return x + 1, out, [shown(s) for s in out], [type(s) for s in out]


@family()
def changed_in_place(x, key):
    a = {key(1), key(5), key(2)}
    out = []
    a |= {key(5), key(9)}
    out.append(shown(a))
    a -= {key(1), key(7)}
    out.append(shown(a))
    a ^= {key(9), key(3)}
    out.append(shown(a))
    a &= {key(5), key(3), key(4)}
    return x + 1, a, shown(a), out


@family()
def changed_by_methods(x, key):
    a = {key(1), key(5), key(2)}
    a.update([key(5), key(9)], {key(2), key(6)})
    a.difference_update({key(1), key(7)})
    a.symmetric_difference_update({key(9), key(3)})
    a.intersection_update([key(5), key(3), key(4), key(6)])
    a.update(key(n) for n in (1, 5))
    return x + 1, a, shown(a)


@family()
def compared(x, key):
    a, b, c = {key(1), key(5)}, {key(5), key(1)}, frozenset({key(1), key(2)})
    return x + 1, a == b, a != c, a <= b, a < b, a >= c, a > b, a.issubset(b), a.issuperset(c), a.isdisjoint(c), a == 3


@family()
def copied(x, key):
    a = {key(1), key(5), key(2)}
    b, c, d = a.copy(), set(a), frozenset(a)
    b.add(key(9))
    return x + 1, a, b, c, d, shown(b), frozenset(d) is d, a | set()


@family()
def grown(x, key):
    s = set()
    for n in range(12):
        s.add(key(n))
    for n in range(0, 12, 3):
        s.discard(key(n))
    s.add(key(20))
    return x + len(s), s, shown(s)


@family()
def kept(x, key):
    members = [key(n) for n in (1, 5, 2)]
    s = set(members)
    seen = [member in s for member in members]
    s.clear()
    return x + 1, seen, s, [member in s for member in members]


@family("keys", "points")
def of_dicts(x, key):
    d = {key(1): 1, key(5): 2}
    s = set(d)
    s.update({key(2): 1, key(5): 3})
    return x + 1, s, shown(s), s.union(d), s - set(d.keys())


@family()
def unions_in_a_loop(x, key):
    s, out = frozenset(), []
    for n in (1, 5, 1, 2):
        s = s | {key(n)}
        out.append(key(5) in s)
    return x + 1, s, out, shown(s)


@family("keys", "points", "apart")
def keyed_by(x, key):
    s = {key(1), key(5), "a", key(2)}
    d = dict.fromkeys(s)
    return x + 1, d, dict.fromkeys(d, 1), dict.fromkeys(frozenset(s), 2), shown(d)


class Graph:
    def __init__(self):
        self.seen = set()

    def visit(self, node):
        if node in self.seen:
            return 0
        self.seen.add(node)
        return 1


@family()
def held_by_an_object(x, key):
    g = Graph()
    count = sum([g.visit(key(n)) for n in (1, 5, 1, 2)])
    return x * count, g.seen, shown(g.seen)


GIVEN = {}


def set_from_before(function, kind):
    def build():
        log = []
        key = KINDS[kind](log, "")
        name = function.__name__
        members, GIVEN[name, kind] = [key(1), key(5), key(2), "a", 3], set()

        def args():
            GIVEN[name, kind].clear()
            GIVEN[name, kind].update(members)
            log.clear()
            return (t([1.0]), key, log)

        return {"f": lambda x, key, log: function(x, key, GIVEN[name, kind]), "args": args}

    build.__name__ = f"members_{function.__name__}_of_given_{kind}"
    case()(build)


def given_family(function):
    for kind in ("keys", "points", "apart"):
        set_from_before(function, kind)
    return function


@given_family
def found_in(x, key, s):
    return x + 1, key(1) in s, key(9) in s, 3 in s, 1 in s, len(s), shown(s)


@given_family
def put_into(x, key, s):
    s.add(key(1))
    s.add(key(9))
    s.discard(key(5))
    s.discard(key(9))
    s.add(key(5))
    return x + 1, shown(s)


@given_family
def united_with(x, key, s):
    s |= {key(1), key(6)}
    s.difference_update({key(6), key(7)})
    return x + 1, shown(s), s | {key(5)}, s & {key(5), key(2)}


def member_that_changes_its_set(method):
    def build():
        class Wild(Key):
            def __eq__(self, other):
                self.log.append(("eq", self.n, other.n))
                if self.n == 1:
                    self.into.add(Apart(self.log, 100 + len(self.log)))
                return self.n == other.n

        def f(x, key, log):
            s = set()
            Wild.into = s
            s.add(Wild(log, 1))
            s.add(Wild(log, 5))
            getattr(s, method)(Wild(log, 9))
            return x + 1, shown(s), len(log)

        return {"f": f, "args": lambda: (t([1.0]), None, [])}

    build.__name__ = f"members_that_change_their_set_in_{method}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for method in ("add", "discard"):
    member_that_changes_its_set(method)


def member_that_looks_at_its_set(way):
    def build():
        class Looking(Key):
            def __eq__(self, other):
                self.log.append(("eq", self.n, other.n, [m.n for m in self.into], len(self.into)))
                return self.n == other.n

        def f(x, key, log):
            s = set()
            Looking.into = s
            s.add(Looking(log, 1))
            s.add(Looking(log, 5))
            t = {Looking(log, 2), Looking(log, 9)}
            if way == "or":
                s |= t
            elif way == "xor":
                s.symmetric_difference_update(t)
            elif way == "list":
                s.update([Looking(log, 3), Looking(log, 9), Looking(log, 5)])
            else:
                t = s | {Looking(log, 9)}
            return x + 1, shown(s), shown(t)

        return {"f": f, "args": lambda: (t([1.0]), None, [])}

    build.__name__ = f"members_that_look_at_their_set_in_{way}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for way in ("or", "xor", "list", "union"):
    member_that_looks_at_its_set(way)


def failing_family(what):
    def build():
        class Failing(Key):
            def __hash__(self):
                if what == "hash" and self.n == 5:
                    raise ValueError("no hash")
                return self.n % 4

            def __eq__(self, other):
                if self.n == 1 and what == "eq":
                    raise ValueError("no comparison")
                return self.n == other.n

        def f(x, key, log):
            out = []
            s = {Failing(log, 1)}
            for run in (
                lambda: s.add(Failing(log, 5)),
                lambda: Failing(log, 5) in s,
                lambda: s | {Failing(log, 5)},
                lambda: {Failing(log, 1), Failing(log, 5)},
                lambda: s.update([Failing(log, 2), Failing(log, 5), Failing(log, 3)]),
                lambda: s.update({Failing(log, 6), Failing(log, 5)}),
                lambda: s.symmetric_difference_update({Failing(log, 7), Failing(log, 9)}),
                lambda: s.difference_update([Failing(log, 2), Failing(log, 5), Failing(log, 3)]),
            ):
                try:
                    run()
                except ValueError as error:
                    out.append(str(error))
            return x + 1, out, shown(s)

        return {"f": f, "args": lambda: (t([1.0]), None, [])}

    build.__name__ = f"members_that_fail_in_{what}"
    case(graphs=None, captures=None, breaks=None, reasons=None)(build)


for what in ("hash", "eq"):
    failing_family(what)


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def members_unhashable():
    class NoHash:
        __hash__ = None

        def __eq__(self, other):
            return True

    def f(x):
        out = []
        for run in (lambda: {NoHash()}, lambda: set([1, NoHash()]), lambda: {1}.add(NoHash()), lambda: NoHash() in {1}):
            try:
                run()
            except TypeError as error:
                out.append(str(error))
        return x + 1, out

    return {"f": f, "args": lambda: (t([1.0]),)}


def set_that_lives_on(kind):
    def build():
        def f(x, key, log):
            s, kept = {key(1), key(2), "a"}, key(9)
            y = x + 1
            speak("a break")
            s.add(key(5))
            s.add(kept)
            s.discard(key(2))
            out = key(1) in s, shown(s), shown(s | {key(1), key(6)}), len(s), kept in s
            s |= {key(1), key(7)}
            return y * 2, out, s, shown(s)

        def args():
            log = []
            return (t([1.0]), KINDS[kind](log, ""), log)

        return {"f": f, "args": args}

    build.__name__ = f"members_that_live_on_of_{kind}"
    case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))(build)


for kind in KINDS:
    set_that_lives_on(kind)


def set_that_is_given(kind):
    def build():
        def f(x, s, key, log):
            s.add(key(1))
            s.discard(key(5))
            s.add(key(9))
            return x + 1, key(2) in s, shown(s), shown(s & {key(9), key(2)})

        def args():
            log = []
            key = KINDS[kind](log, "")
            s = {key(1), key(5), key(2)}
            log.clear()
            return (t([1.0]), s, key, log)

        return {"f": f, "args": args}

    build.__name__ = f"members_that_are_given_of_{kind}"
    case()(build)


for kind in KINDS:
    set_that_is_given(kind)
