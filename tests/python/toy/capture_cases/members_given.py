"""Objects that are given beside the containers that have them: a member is found under every name that it has."""

import collections
import weakref

from observe import case
from toy_framework import toy

t = toy.tensor


class Plain:
    def __repr__(self):
        return "Plain"


@toy.disable
def opaque(*given):
    return len(given)


def given_in_a_set(function, count=3):
    """A case of `f(x, all objects of a set, the set)`."""

    def build():
        def args():
            objects = [Plain() for _ in range(count)]
            return (t([1.0]), objects, set(objects))

        return {"f": function, "args": args}

    build.__name__ = function.__name__
    return case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


def given_over_a_break(function):
    """A case of `f(x)`, which breaks between the making of a set and the question. Objects of one call are others in the next:
    what was guarded of them is captured anew."""

    def build():
        return {"f": function, "args": lambda: (t([1.0]),)}

    build.__name__ = function.__name__
    return case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)(build)


@given_over_a_break
def asked_behind_a_break(x):
    a, b = Plain(), Plain()
    s = {a}
    y = x + 1
    opaque(s)
    return a in s, b in s, len(s), y + 1


@given_over_a_break
def removed_behind_a_break(x):
    a = Plain()
    s = {a, 1}
    y = x + 1
    opaque(s)
    s.remove(a)
    return s, y + 1


@given_over_a_break
def removed_in_a_try(x):
    a = Plain()
    s = {a, 1}
    y = x + 1
    opaque(s)
    try:
        s.remove(a)
    except KeyError:
        return "it was there", y
    return s, y + 1


@given_over_a_break
def added_again(x):
    a = Plain()
    s = {a}
    y = x + 1
    opaque(s)
    s.add(a)
    return len(s), s == {a}, {a} == s, {a} <= s, len(s | {a}), len(s & {a}), len(s ^ {a}), y + 1


@given_over_a_break
def in_another_set_first(x):
    a, b, c = Plain(), Plain(), Plain()
    s = {a, b}
    y = x + 1
    opaque(s)
    other = {a, c}
    found = a in other, c in other
    return found, a in s, c in s, len(s | other), len(s & other), len(s - other), y + 1


@given_over_a_break
def as_a_key(x):
    a, b = Plain(), Plain()
    d = {a: 1, b: 2}
    y = x + 1
    opaque(d)
    d[a] = 3
    return d[a], d[b], len(d), d.pop(b), list(d.values()), y + 1


@given_over_a_break
def written_under_one_name_and_read_under_the_other(x):
    a = Plain()
    s = {a}
    y = x + 1
    opaque(s)
    a in s
    a.value = 5
    (found,) = s
    return found is a, found.value, y + 1


@given_over_a_break
def a_guard_that_registers_itself(x):
    class Guard:
        def __init__(self, owner):
            self.owner = [owner]

        def __enter__(self):
            self.owner[0].add(self)

        def __exit__(self, *exc):
            self.owner[0].remove(self)

    running = set()
    y = x + 1
    try:
        with Guard(running):
            opaque(running)
            inside = len(running)
    finally:
        y = y + 1
    return inside, running, y


@given_over_a_break
def in_a_circle(x):
    a = Plain()
    a.owner = {a}
    y = x + 1
    opaque(a)
    a.owner.discard(a)
    return a.owner, y + 1


@given_in_a_set
def given_with_its_members(x, objects, members):
    return [o in members for o in objects], Plain() in members, len(members), x + 1


@given_in_a_set
def members_that_change(x, objects, members):
    members.remove(objects[0])
    members.add(objects[1])
    return len(members), objects[0] in members, objects[1] in members, x + 1


@given_in_a_set
def sets_of_the_same(x, objects, members):
    mine = set(objects)
    return mine == members, mine <= members, len(mine | members), len(mine ^ members), x + 1


@given_in_a_set
def asked_before_it_is_read(x, objects, members):
    mine = {objects[0]}
    first = objects[0] in mine
    return first, objects[0] in members, len(members - mine), x + 1


class Loud:
    """Has the hash of another value, and tells when it is compared."""

    asked = []

    def __init__(self, other):
        self.hash = hash(other)

    def __repr__(self):
        return "Loud"

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        Loud.asked.append(type(other).__name__)
        if isinstance(other, Plain):
            raise ZeroDivisionError
        return NotImplemented


class Pair(collections.namedtuple("Pair", "first second")):
    pass


def beside_a_loud_one(make):
    """A case of `f(x, a set, an object)`: what of the set is compared with the object, `make` says."""

    def build():
        def f(x, members, given):
            told = []
            for way in (members.add, members.discard, members.remove, members.update):
                try:
                    told.append(way([given] if way == members.update else given))
                except (ZeroDivisionError, KeyError) as error:
                    told.append(type(error).__name__)
                told.append(len(Loud.asked))
            return told, len(members), x + 1

        def args():
            Loud.asked = []
            members, given = make()
            return t([1.0]), members, given

        return {"f": f, "args": args, "watch": lambda: list(Loud.asked)}

    build.__name__ = f"beside_{make.__name__}"
    return case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


@beside_a_loud_one
def one_of_the_hash_of_an_object():
    given = Plain()
    return {Loud(given)}, given


@beside_a_loud_one
def one_of_the_hash_of_a_number():
    return {Loud(1), "word"}, 1


@beside_a_loud_one
def one_in_a_frozen_set():
    return {frozenset({Loud(1)})}, frozenset({1})


@beside_a_loud_one
def one_in_a_tuple():
    return {(Loud(1), 2)}, (1, 2)


@beside_a_loud_one
def one_in_a_named_tuple():
    return {Pair(Loud(1), 2)}, (1, 2)


@case(graphs=1, captures=1, breaks=0, fallbacks=0, reasons=())
def words_are_added_to_a_set_that_is_not_read():
    calls = iter([{"a"}, {"a", "b"}, {"c"}, {"d", "e", "f"}] * 10)

    def f(x, members):
        members.add("z")
        members.update(["y", 1])
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), next(calls))}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def what_a_local_still_holds_during_a_break():
    @toy.disable
    def clear(out):
        first = out[0]
        ref = weakref.ref(first[0])
        del first
        out.clear()
        return ref() is None

    def f(x):
        held = [Plain()]
        out = [held, held]
        y = x + 1
        return clear(out), y

    return {"f": f, "args": lambda: (t([1.0]),)}
