"""Locals that are not read any more hold what containers, iterators and functions have been given: weak references to it live on
until the function is over."""

import collections
import contextlib
import functools
import sys
import weakref

from observe import case
from toy_framework import toy

t = toy.tensor


class Kept:
    def __init__(self, number):
        self.number = number

    def tell(self):
        return self.number


@toy.disable
def look(kept):
    return [weakref.ref(value) for value in kept]


def alive(refs):
    return [ref() is not None for ref in refs]


def in_a_list():
    a, b = Kept(1), Kept(2)  # noqa: F841
    kept = [a, b]
    refs = look(kept)
    kept.clear()
    return alive(refs)


def in_an_iterator():
    a, b, c = Kept(1), Kept(2), Kept(3)
    refs = list(map(weakref.ref, [a, b, c]))
    return alive(refs)


def in_an_attribute():
    a, owner = Kept(1), Kept(2)
    owner.part = a
    refs = look([owner.part, owner])
    owner.part = None
    return alive(refs)


def in_a_closure():
    a = Kept(1)
    kept = [a]

    def inner():
        return look(kept)

    refs = inner()
    del kept[:]
    return alive(refs)


def in_a_dict_two_deep():
    def callee(box):
        refs = look(box.values())
        box.clear()
        return refs

    a = Kept(1)
    refs = callee({"a": a})
    return alive(refs)


def in_a_loop():
    told = []
    for number in range(3):
        a = Kept(number)
        refs = look([a])
        told.append(alive(refs))
    return told


def by_nobody():
    refs = look([Kept(1), Kept(2)])
    return alive(refs)


def register(way):
    def build():
        def f(x):
            return x + 1, way()

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = f"held_by_locals_{way.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


class Asked:
    """As `contextlib` has it: what its generator was called with is let go of when it is entered."""

    def __init__(self, function, args, kwargs):
        self.generator = function(*args, **kwargs)
        self.function, self.args, self.kwargs = function, args, kwargs

    def __enter__(self):
        del self.function, self.args, self.kwargs
        return next(self.generator)

    def __exit__(self, *exc):
        next(self.generator, None)


def asks(a, b):
    a, b = weakref.ref(a), weakref.ref(b)
    yield [a() is None, b() is None]


def by_a_manager():
    with Asked(asks, (Kept(1), Kept(2)), {}) as told:
        pass
    return told


def by_a_manager_of_a_callee():
    def make(*args, **kwargs):
        return Asked(asks, args, kwargs)

    with make(Kept(1), b=Kept(2)) as told:
        pass
    return told


def by_a_manager_of_contextlib():
    with contextlib.contextmanager(asks)(Kept(1), b=Kept(2)) as told:
        pass
    return told


managed = contextlib.contextmanager(asks)


def by_a_manager_made_beforehand():
    with managed(Kept(1), b=Kept(2)) as told:
        pass
    return told


def by_a_manager_of_a_local_class():
    class Local:
        pass

    with managed(Local(), b=Local()) as told:
        pass
    return told


class Leaves:
    """Tells at its exit whether what it was given lives, which it has let go of before."""

    def __init__(self, *given):
        self.refs = look(given)

    def __enter__(self):
        return self.refs

    def __exit__(self, *raised):
        self.refs[:] = alive(self.refs)


def by_a_manager_that_looks_at_its_exit():
    with Leaves(Kept(1), Kept(2)) as told:
        pass
    return told


class Owner:
    def __init__(self, *parts):
        self.parts = parts


def by_an_owner_that_is_not_read_again():
    owner = Owner(Kept(1), Kept(2))
    refs = look(owner.parts)
    return alive(refs)


def by_a_container_that_is_not_read_again():
    a = Kept(1)
    held = ({"a": [a]},)  # noqa: F841
    refs = look([a])
    del a
    return alive(refs)


def by_a_closure_that_is_not_called_again():
    def make(a):
        return lambda: a

    get = make(Kept(1))
    refs = look([get()])
    return alive(refs)


def by_a_local_of_the_caller():
    def callee(part):
        refs = look([part])
        part = None
        return alive(refs)

    owner = Owner(Kept(1))
    return callee(owner.parts[0])


def by_a_generator_of_an_owner():
    pair = (Kept(1), Kept(2))
    owner = Owner(looks(pair), pair)
    pair = None
    return alive(next(owner.parts[0]))


def looks(pair):
    refs = look(pair)
    pair = None
    yield refs


def over_two_breaks():
    a = Kept(1)
    held = [a]  # noqa: F841
    opaque(1)
    refs = look([a])
    del a
    return alive(refs)


def over_a_break_in_a_generator():
    def values():
        a = Kept(1)
        held = [a]  # noqa: F841
        yield 1
        refs = look([a])
        del a
        yield alive(refs)

    steps = values()
    next(steps)
    opaque(1)
    return next(steps)


@toy.disable
def opaque(value):
    return value


@toy.disable
def make(number):
    return Kept(number)


@toy.disable
def boxed(number):
    return Box(number)


@toy.disable
def empty(box):
    del box.part, box.parts


class Box:
    def __init__(self, number):
        self.part, self.parts = Kept(number), [Kept(number + 1)]


class Dies:
    """Tells when it is called whether what it was given died by then."""

    def __init__(self):
        self.told = []

    def __call__(self, kept):
        ref = weakref.ref(kept)
        del kept
        self.told.append(ref() is None)
        return self.told


# The same of what was there before the capture, or is since a break: others let go of it, the local does not.


def given_in_a_list():
    a = make(1)
    held = [a]  # noqa: F841
    refs = look([a])
    del a
    opaque(1)
    return alive(refs)


def given_in_a_tuple_in_a_dict():
    a = make(1)
    held = {"a": (a,)}  # noqa: F841
    refs = look([a])
    del a
    opaque(1)
    return alive(refs)


def given_in_a_closure():
    def hold(a):
        return lambda: a

    a = make(1)
    held = hold(a)  # noqa: F841
    refs = look([a])
    del a
    opaque(1)
    return alive(refs)


def given_in_a_partial():
    a = make(1)
    held = functools.partial(opaque, a)  # noqa: F841
    refs = look([a])
    del a
    opaque(1)
    return alive(refs)


def given_in_an_exception():
    a = make(1)
    held = ValueError(a)  # noqa: F841
    refs = look([a])
    del a
    opaque(1)
    return alive(refs)


def given_in_a_bound_method():
    a = make(1)
    held = a.tell  # noqa: F841
    refs = look([a])
    del a
    opaque(1)
    return alive(refs)


def given_in_iterators():
    a, b = make(1), make(2)
    held = (iter([a]), zip([b], [1]))  # noqa: F841
    refs = look([a, b])
    del a, b
    opaque(1)
    return alive(refs)


def given_in_copies():
    a, b, c = make(1), make(2), make(3)
    held = (dict({"a": a}), sorted([b], key=id), [c] * 2)  # noqa: F841
    refs = look([a, b, c])
    del a, b, c
    opaque(1)
    return alive(refs)


def given_in_what_another_lets_go_of():
    box = boxed(1)
    held = box.part  # noqa: F841
    ref = weakref.ref(box.part)
    empty(box)
    return ref() is not None


def given_in_a_list_of_another():
    box = boxed(1)
    held = box.parts  # noqa: F841
    refs = [weakref.ref(part) for part in box.parts]
    empty(box)
    return alive(refs)


def of_the_caller_and_a_callee():
    def callee(o):
        opaque(1)
        return weakref.ref(o)

    a = Kept(1)
    ref = callee(a)
    return ref() is None


def of_the_caller_behind_a_break_and_a_callee():
    def callee(o):
        opaque(1)
        return weakref.ref(o)

    a = make(1)
    ref = callee(a)
    opaque(1)
    return ref() is None


def of_the_caller_and_a_finalizer():
    told = []

    def callee(o):
        weakref.finalize(o, told.append, "dead")
        opaque(1)

    a = Kept(1)
    callee(a)
    opaque(1)
    return list(told)


# Keys of what is given: no guard holds them.


class Weak:
    """As `weakref.WeakKeyDictionary` is made of a dict."""

    def __init__(self, given):
        self.data = {}

        def remove(ref, mine=weakref.ref(self)):
            me = mine()
            if me is not None:
                del me.data[ref]

        for key, value in given.items():
            self.data[weakref.ref(key, remove)] = value


def of_keys_of_a_dict():
    a, b = Kept(1), Kept(2)
    weak = Weak({a: 1, b: 2})
    del a
    return sorted(weak.data.values())


def of_keys_of_a_weak_dict():
    a, b, c = Kept(1), Kept(2), Kept(3)
    left = weakref.WeakKeyDictionary({a: 1})
    left.update({b: 2, c: 3})
    right = left.copy()
    del a, c
    return sorted(right.values()), len(left)


# Not instances alone can be referred to weakly.


def given_functions_and_others():
    function, partial, deque = lambda: 1, functools.partial(print), collections.deque()  # noqa: F841
    refs = look([function, partial, deque])
    opaque(1)
    return alive(refs)


def given_an_exception():
    class Odd(Exception):
        pass

    error = Odd(1)  # noqa: F841
    refs = look([error])
    opaque(1)
    return alive(refs)


def given_what_calls_back():
    told = []

    def remove(ref):
        told.append(ref)

    def fails():
        function = lambda: 1  # noqa: E731
        refs.append(weakref.ref(function, remove))
        raise KeyError

    refs = []
    for _ in range(2):
        try:
            fails()
        except KeyError:
            opaque(1)
    return len(told), alive(refs)


# What whoever calls a function holds while it runs, although the function has let go of it.


def of_a_call():
    def callee(kept):
        refs = look(kept)
        kept = None
        opaque(1)
        return alive(refs)

    return callee([make(1)]), callee([Kept(1)])


class Told:
    def __init__(self, kept):
        self.refs = look([kept])
        kept = None  # noqa: F841
        opaque(1)
        self.told = alive(self.refs)


def of_a_constructor():
    return Told(make(1)).told, Told(Kept(2)).told


def of_calls_by_builtins():
    def callee(kept):
        refs = look([kept])
        kept = None
        opaque(1)
        return alive(refs)

    return (
        callee(*(make(1),)),
        callee(**{"kept": make(2)}),
        functools.partial(callee, make(3))(),
        list(map(callee, [make(4)])),
        sorted([make(5)], key=callee) and None,
    )


# What a continuation is given on the stack, and what variables let go of that are bound again.


def by_no_stack_behind_a_break():
    return Dies()(make(1))


def by_no_manager_made_behind_a_break():
    with Asked(asks, (make(1),), {"b": make(2)}) as told:
        pass
    return told


def by_no_variable_bound_again():
    a = make(1)
    opaque(1)
    refs, a = look([a]), None
    opaque(1)
    return alive(refs)


def by_no_variable_deleted():
    a = make(1)
    opaque(1)
    b = a
    del a
    refs = look([b])
    del b
    opaque(1)
    return alive(refs)


for _way in (
    in_a_list,
    in_an_iterator,
    in_an_attribute,
    in_a_closure,
    in_a_dict_two_deep,
    in_a_loop,
    by_nobody,
    by_a_manager,
    by_a_manager_of_a_callee,
    by_a_manager_of_contextlib,
    by_a_manager_made_beforehand,
    by_a_manager_of_a_local_class,
    by_a_manager_that_looks_at_its_exit,
    by_an_owner_that_is_not_read_again,
    by_a_container_that_is_not_read_again,
    by_a_closure_that_is_not_called_again,
    by_a_local_of_the_caller,
    by_a_generator_of_an_owner,
    over_two_breaks,
    over_a_break_in_a_generator,
    given_in_a_list,
    given_in_a_tuple_in_a_dict,
    given_in_a_closure,
    given_in_a_partial,
    given_in_an_exception,
    given_in_a_bound_method,
    given_in_iterators,
    given_in_copies,
    given_in_what_another_lets_go_of,
    given_in_a_list_of_another,
    of_the_caller_and_a_callee,
    of_the_caller_behind_a_break_and_a_callee,
    of_the_caller_and_a_finalizer,
    of_keys_of_a_dict,
    of_keys_of_a_weak_dict,
    given_functions_and_others,
    given_an_exception,
    given_what_calls_back,
    of_a_call,
    of_calls_by_builtins,
    by_no_stack_behind_a_break,
    by_no_manager_made_behind_a_break,
    by_no_variable_bound_again,
    by_no_variable_deleted,
):
    register(_way)

# From 3.12 on the interpreter hands the arguments of a constructor over once it has specialised the call, and not before.
if sys.version_info < (3, 12):
    register(of_a_constructor)


@case(graphs=6, captures=7, breaks=6, reasons=("disabled",))
def held_by_locals_bound_in_some_rounds():
    """Which locals are bound is part of a continuation's shape: what is bound by turns makes a few more, and no more than that."""

    def f(x, numbers):
        for number in numbers:
            if number == 2:
                a = Kept(number)  # noqa: F841
            elif number == 1:
                b = [Kept(number)]  # noqa: F841
            x = x + 1
            opaque(number)
        return x

    return {"f": f, "args": lambda: (t([1.0]), [at % 3 for at in range(24)])}
