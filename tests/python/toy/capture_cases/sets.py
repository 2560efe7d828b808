"""Sets and frozen sets: what they hold, in which order, what changes them, and what they are made of."""

import copy
import enum
import weakref

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def simulated(function):
    """A case of one function of a tensor, with a graph and no break."""

    def build():
        return {"f": function, "args": x1}

    build.__name__ = function.__name__
    return case()(build)


class Plain:
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = 2
    GREEN = 3


@simulated
def displays_and_comprehensions(x):
    words = {word for word in "one two three two".split()}
    mixed = {1, "a", (1, 2), None, 2.5, b"c", True, frozenset([1, 2])}
    nested = {*[1, 2], *{3, 4}, *range(3), 9}
    return words, len(mixed), nested, set(), frozenset(), {i % 3 for i in range(10)}, x + len(nested)


@simulated
def order_tells_the_history(x):
    grown = set()
    for i in range(50):
        grown.add(i * 7 % 53)
    for i in range(0, 50, 2):
        grown.discard(i)
    shrunk = list(grown)
    collided = [list({8, 0, 16}), list({0, 8, 16}), list({16, 8, 0})]
    merged = list(set({1: 0, 9: 0, 17: 0, 25: 0, 33: 0, 41: 0}))
    taken = []
    while len(grown) > 20:
        taken.append(grown.pop())
    return shrunk, collided, merged, taken, grown, x + 1


@simulated
def copies_are_laid_out_anew(x):
    first = set(range(0, 64, 8))
    for i in range(0, 40, 8):
        first.discard(i)
    first.add(3)
    others = [first.copy(), set(first), first | set(), first & set(range(100)), copy.copy(first), frozenset(first)]
    first -= {48}
    return first, [list(other) for other in others], others, x + 1


@simulated
def methods_that_change(x):
    a = {1, 2, 3, 4}
    a.add(1)
    a.remove(2)
    a.discard(17)
    a.update([5, 6], {7: "seven"}, "ab", {8}, (i for i in range(9, 11)))
    a.difference_update({5}, [6])
    b = a.copy()
    b.intersection_update([1, 7, 8, "a"])
    b.symmetric_difference_update({1, 99})
    c = {1}
    c.clear()
    return a, b, c, a.pop() in a, bool(c), not a, x + len(b)


@simulated
def methods_that_ask(x):
    a, b = {1, 2, 3}, frozenset([2, 3])
    asked = [a.issubset([1, 2, 3, 4]), a.issuperset(b), a.isdisjoint("ab"), 2 in b, 5 not in a, len(b)]
    made = [a.union([9], (8,)), a.difference(b), a.intersection([3, 1], {1, 2}), b.symmetric_difference({3, 7}), b.copy() is b]
    return asked, made, [type(m).__name__ for m in made], x + 1


@simulated
def operators_of_sets(x):
    a, b = {1, 2, 3}, frozenset([2, 3, 4])
    both = [a | b, b | a, a & b, b & a, a - b, b - a, a ^ b, b ^ a]
    order = [a < b, a <= a, a == {3, 2, 1}, b == set(b), a != b, a > {1}, a >= b, a == [1, 2, 3], a != 1]
    kept = a
    a |= {7}
    a &= {1, 7, 3}
    a ^= {1, 8}
    a -= {3}
    frozen = b
    frozen |= {5}
    return both, [type(s).__name__ for s in both], order, a, kept is a, frozen, b, x + 1


@simulated
def with_views_of_keys(x):
    d, e = {"a": 1, "b": 2, "c": 3}, {"c": 0, "d": 1}
    made = [d.keys() & {"a", "z"}, {"a", "z"} | d.keys(), d.keys() - e.keys(), d.keys() ^ e.keys(), d.keys() & e.keys()]
    asked = [d.keys() == {"a", "b", "c"}, d.keys() <= set("abcd"), e.keys() > {"c"}, set(d) == set(d.keys())]
    return [sorted(m) for m in made], asked, x + 1


@simulated
def the_one_that_was_there_first_stays(x):
    a = {1, 2.0}
    a.add(True)
    a.add(2)
    return [type(m).__name__ for m in sorted(a)], [type(m).__name__ for m in {True} | {1}], len({0, False, 0.0}), x + 1


@simulated
def what_takes_items(x):
    s = {3, 1, 2}
    head, *tail = sorted(s)
    sums = sum(s), max(s), min(s), any(s), all(s), "".join(sorted({"b", "a"}))
    pairs = list(zip(sorted(s), s)), list(enumerate({5})), list(map(str, s)), list(filter(None, {0, 1})), [*s], dict.fromkeys(s)
    return head, tail, sums, pairs, tuple(s), list(reversed(sorted(s))), x + sum(s)


@simulated
def texts_and_types(x):
    s = {3}
    kinds = type(s).__name__, isinstance(s, set), isinstance(frozenset(s), (set, frozenset)), isinstance(s, frozenset)
    return repr(s), f"{s} {frozenset([1])}", str(set()), repr(set("a")), kinds, hash(frozenset([1, 2])), callable(s.add), x + 1


@simulated
def of_classes_functions_and_members_of_enums(x):
    s = {int, len, Plain, x1, Color.RED, Color.BLUE, copy}
    table = {int: 1, len: 2, Plain: 3, x1: 4, Color.RED: 5, (Color.BLUE, int): 6, b"k": 7, 2.5: 8}
    asked = [int in s, str in s, Color.RED in s, Color.GREEN in s, x1 in s, copy in s, Plain in {Plain}]
    found = table[int], table[len], table[x1], table[Color.RED], table[Color.BLUE, int], table[b"k"], table[2.5]
    return asked, found, len(s - {int, len}), Color.GREEN in table, [c is Color.RED for c in {Color.RED}], x + 1


@simulated
def of_instances_of_the_call(x):
    a, b = Plain(), Plain()
    s = {a, b, a}
    table = {a: 1, b: 2, (a, 1): 3}
    table[a] += 10
    s.discard(b)
    return a in s, b in s, Plain() in s, len(s), next(iter(s)) is a, table[a], table[a, 1], b in table, x + len(table)


@case()
def of_given_instances():
    known = Plain()

    def f(x, thing, other):
        seen = {thing}
        table = {thing: x}
        return thing in seen, other in seen, known in seen, len({thing, other, known}), table[thing], other in table, x + 1

    return {"f": f, "args": lambda: (t([1.0]), Plain(), Plain())}


@case(graphs=2, captures=2, breaks=1, reasons=("opaque-value",))
def the_order_of_instances_is_asked_for():
    def f(x):
        things = {Plain(), Plain(), Plain()}
        y = x + len(things)
        return y * len(list(things))

    return {"f": f, "args": x1}


@case()
def a_member_of_an_enum_is_given():
    def f(x, color):
        table = {Color.RED: 1, Color.BLUE: 2}
        return x + table[color], color in {Color.RED, Color.GREEN}, {color} == {Color.RED}

    return {"f": f, "args": lambda: (t([1.0]), Color.RED)}


@case()
def arguments():
    def f(x, s, frozen):
        s.add(5)
        s.remove(1)
        y = x + len(s)
        s |= {7}
        s.update(frozen, [8])
        return y, list(s), 5 in s, list(frozen), s - frozen, frozen | s

    return {"f": f, "args": lambda: (t([1.0]), {1, 2, 3}, frozenset([40, 50]))}


@case()
def an_argument_is_emptied():
    def f(x, work):
        done = []
        while work:
            done.append(work.pop())
        return x + len(done), done

    return {"f": f, "args": lambda: (t([1.0]), {5, 13, 21, 2})}


@case(captures=2, reasons=("no-tensor",))
def a_global_that_grows():
    seen = set()

    def f(x, name):
        if name in seen:
            return x
        seen.add(name)
        return x * 2

    return {"f": f, "args": lambda: (t([1.0]), "a"), "watch": lambda: [seen]}


@case(captures=1, graphs=1)
def only_what_is_asked_for_is_guarded():
    count = [0]

    def f(x, s):
        return x + (3 in s)

    def args():
        count[0] += 1
        return t([1.0]), set(range(count[0])) if count[0] < 4 else {7}

    return {"f": f, "args": args}


@case()
def a_set_changes_before_and_after_it_is_copied():
    def f(x, s):
        before = s.copy()
        s.add(100)
        between = s | {200}
        s -= between
        s |= before
        return before, between, s, x + len(s)

    return {"f": f, "args": lambda: (t([1.0]), {1, 2, 3})}


@case()
def one_set_under_two_names():
    def f(x, a, b, c):
        a.add(9)
        return len(b), 9 in c, a is b, x + len(a)

    def args():
        shared = {1}
        return t([1.0]), shared, shared, {1}

    return {"f": f, "args": args}


@case(graphs=1, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_break_carries_sets():
    def f(x):
        a = set(range(0, 80, 8))
        for i in range(0, 40, 8):
            a.discard(i)
        b = frozenset(a) | {1}
        print(sorted(a))
        a.add(0)
        return list(a), list(b), a, b, a.pop(), x + len(a)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_break_in_a_loop():
    def f(x):
        left = {3, 1, 2, 11}
        out = []
        for item in left:
            print(item)
            out.append(item)
            x = x + item
        return x, out

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_work_list_with_breaks():
    def f(x):
        work, done = {1}, set()
        while work:
            item = work.pop()
            done.add(item)
            print(item)
            work |= {item * 2, item * 3} - done if item < 20 else set()
        return x + len(done), done

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def changed_while_iterated():
    def f(x, s):
        try:
            for item in s:
                s.add(item + 100)
        except RuntimeError as error:
            return str(error), s, x + 1

    return {"f": f, "args": lambda: (t([1.0]), {1, 2})}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def updated_by_what_looks_at_it():
    def f(x):
        s, seen = {1, 2}, []

        def more():
            for i in range(10, 13):
                seen.append(len(s))
                yield i

        s.update(more())
        t = {1, 2, 3, 4}
        t.difference_update(i for i in (1, 2) if len(t) > 2)
        try:
            s.update(i + 1 for i in s)
        except RuntimeError as error:
            return s, seen, t, str(error), x + 1

    return {"f": f, "args": x1}


def refused(name, act):
    def build():
        def f(x):
            y = x + 1
            try:
                act()
            except (TypeError, KeyError) as error:
                return y, type(error).__name__, error.args

        return {"f": f, "args": x1}

    build.__name__ = name
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


refused("a_list_is_no_member", lambda: {1, []})
refused("a_set_is_no_member", lambda: {1}.add({2}))
refused("nothing_to_remove", lambda: {1, 2}.remove("three"))
refused("nothing_to_pop", lambda: set().pop())
refused("a_list_is_no_operand", lambda: {1} | [2])
refused("a_number_is_not_iterated", lambda: {1}.union(2))
refused("a_frozen_set_stays", lambda: frozenset([1]).add(2))


class ByValue:
    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self.value == other.value


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def hashed_by_the_program():
    def f(x):
        s = {ByValue(1), ByValue(2), ByValue(1)}
        return len(s), ByValue(2) in s, sorted(m.value for m in s), x + 1

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def not_a_number():
    nan = float("nan")

    def f(x, given):
        s = {nan, given, 1.0}
        return nan in s, given in s, float("nan") in s, len(s), x + 1

    return {"f": f, "args": lambda: (t([1.0]), float("nan"))}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def referred_to_weakly():
    def f(x):
        s = {1, 2}
        ref = weakref.ref(s)
        alive = ref() is s
        y = x + 1
        del s
        return alive, ref() is None, y

    return {"f": f, "args": x1}


class Kind(set):
    def add(self, item):
        super().add(item * 2)


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_subclass():
    def f(x):
        s = Kind([1])
        s.add(2)
        return sorted(s), {1, 4} <= s, x + len(s)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def many_that_are_hashed_by_the_program():
    class Hashed:
        def __init__(self, number):
            self.number = number

        def __hash__(self):
            return self.number % 3

        def __eq__(self, other):
            return self.number == other.number

    def f(x):
        made = set(Hashed(number % 12) for number in range(24))
        grown = {-1}
        grown.update(Hashed(number) for number in range(10))
        return len(made), sorted(m.number for m in made), len(grown), x + len(made)

    return {"f": f, "args": x1}


class Touchy:
    """Tells who compares it, and may refuse."""

    refuses = False
    asked = []

    def __init__(self, number):
        self.number = number

    def __repr__(self):
        return f"Touchy({self.number})"

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        Touchy.asked.append(self.number)
        if Touchy.refuses:
            raise ZeroDivisionError
        return self is other


def of_touchy(function):
    """A case of `f(x, a set with a member that the program compares, others)`; it is told who was asked."""

    def build():
        def args():
            Touchy.refuses, Touchy.asked = False, []
            return (t([1.0]), {Touchy(0), Touchy(5), "word"}, {0, 5, 7})

        return {"f": function, "args": args, "watch": lambda: list(Touchy.asked)}

    build.__name__ = function.__name__
    return case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


def refused(way):
    try:
        way()
    except ZeroDivisionError:
        return "refused"
    return "done"


@of_touchy
def updated_by_who_compares(x, touchy, numbers):
    numbers.update(touchy)
    return len(numbers), x + 1


@of_touchy
def an_update_that_fails_is_caught(x, touchy, numbers):
    Touchy.refuses = True
    try:
        numbers |= touchy
    except ZeroDivisionError:
        return "refused", len(numbers), x + 1
    return len(numbers), x + 1


@of_touchy
def each_operator_that_fails_is_caught(x, touchy, numbers):
    Touchy.refuses = True
    told = [refused(lambda: touchy.add(0)), refused(lambda: touchy.add(1)), refused(lambda: touchy.discard(5))]
    told += [refused(lambda: numbers | touchy), refused(lambda: touchy & numbers), refused(lambda: numbers - touchy)]
    told += [refused(lambda: numbers.isdisjoint(touchy)), refused(lambda: 5 in touchy), refused(lambda: "word" in touchy)]
    return told, len(touchy), x + 1


@of_touchy
def what_is_made_is_not_compared_twice(x, touchy, numbers):
    both = numbers | touchy
    few = touchy - numbers
    return len(both), len(few), len(dict.fromkeys(touchy)), len(set(touchy)), len(frozenset(touchy)), x + 1


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_set_whose_members_come_to_compare_themselves():
    calls = iter([{1, 2}, {1, 2}, {Touchy(1), Touchy(2)}, {1, 3}] * 10)

    def f(x, members):
        members.add(1)
        members.update({2})
        return len(members), list(Touchy.asked), x + 1

    def args():
        Touchy.refuses, Touchy.asked = False, []
        return t([1.0]), next(calls)

    return {"f": f, "args": args, "watch": lambda: list(Touchy.asked)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def keys_are_hashed_once():
    class Counting(int):
        hashed = 0

        def __hash__(self):
            Counting.hashed += 1
            return int.__hash__(self)

    def f(x):
        Counting.hashed = 0
        table = dict.fromkeys(map(Counting, range(5)))
        told = [Counting.hashed]
        members = set(table)
        members.difference(table)
        told.append(Counting.hashed)
        for made in (dict.fromkeys(members), dict.fromkeys(table, 1), dict.fromkeys(frozenset(table)), dict(table)):
            told.append((Counting.hashed, len(made)))
        return told, x + 1

    return {"f": f, "args": x1}


class OddlyIterated(set):
    def __iter__(self):
        return iter("xy")


class OddlyFrozen(frozenset):
    def __iter__(self):
        return iter("xy")


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def subclasses_are_taken_as_they_lie():
    odd, frozen = OddlyIterated([1, 2]), OddlyFrozen([1, 2])

    def f(x):
        grown, few = {5}, {1, 5}
        grown.update(odd)
        few.intersection_update(frozen)
        few.symmetric_difference_update(odd)
        made = [set(odd), {*odd}, frozenset(frozen), set(frozen), {9}.union(odd), {1, 9}.intersection(odd)]
        return grown, few, made, {1}.issubset(odd), {1, 2, 3}.difference(odd), list(odd), x + len(made)

    return {"f": f, "args": x1}


def left_behind(make):
    """A set that nobody looks at lives in a frame that an exception leaves after a break."""

    def build():
        def callee(x, members):
            print("break")
            raise ValueError(x.shape)

        def by_itself(x):
            members = make()  # noqa: F841
            print("break")
            raise KeyError("left")

        def f(x):
            try:
                callee(x + 1, make())
            except ValueError as error:
                told = error.args
            try:
                by_itself(x)
            except KeyError as error:
                told += error.args
            return by_itself(x) if x.ndim > 1 else (x * 2, told)

        return {"f": f, "args": x1}

    build.__name__ = f"a_set_that_nobody_looked_at_is_left_behind_{make.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


def of_a_number():
    return {0}


def of_objects():
    return {object(), None}


def that_is_frozen():
    return frozenset({1, "a"})


for _make in (of_a_number, of_objects, that_is_frozen, set):
    left_behind(_make)


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_set_that_nobody_looked_at_is_left_by_the_outermost_frame():
    def f(x):
        members = {0}  # noqa: F841
        print("break")
        raise ValueError(x.ndim)

    return {"f": f, "args": x1}
