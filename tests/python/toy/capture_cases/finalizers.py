"""What a program sees of values that die while it is captured: finalizers, weak references, generators that are closed."""

import collections
import contextlib
import gc
import itertools
import sys
import threading
import weakref

from observe import case, open_case
from toy_framework import toy

t = toy.tensor

DEAD = []
LAST = None


class Loud:
    def __init__(self, name="loud"):
        self.name = name

    def __del__(self):
        DEAD.append(self.name)


class Quiet:
    pass


class Holder:
    def __init__(self, name):
        self.held = Loud(name)


def finalizer_case(f):
    """Of a function of a tensor, which starts with nobody dead."""

    def call(x):
        DEAD.clear()
        return f(x)

    def build():
        return {"f": call, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: list(DEAD)}

    build.__name__ = f.__name__
    return case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


@finalizer_case
def a_local_is_bound_again(x):
    d = Loud()
    before = len(DEAD)
    d = None
    return before, len(DEAD), x + 1


@finalizer_case
def what_is_computed_depends_on_it(x):
    d = Loud()
    y = x + 1
    del d
    if DEAD:
        y = y * 2
    d = Loud()
    z = y + 1
    d = 3
    return len(DEAD), d, z


@finalizer_case
def a_local_of_a_callee(x):
    def callee(name):
        d = Loud(name)
        return d.name

    first = callee("a")
    n = len(DEAD)
    return first, n, callee("b"), len(DEAD), x + 1


@finalizer_case
def a_local_that_is_not_read_again_lives_on(x):
    d = Loud()
    print(end="")
    n = len(DEAD)
    print(end="")
    return n, len(DEAD), x + 1


@finalizer_case
def items_of_containers(x):
    items = [Loud("a"), Loud("b")]
    items[0] = None
    one = len(DEAD)
    items.clear()
    two = len(DEAD)
    table = {1: Loud("c")}
    table[1] = 0
    return one, two, len(DEAD), x + 1


@finalizer_case
def attributes_of_instances(x):
    holder = Holder("a")
    none = len(DEAD)
    holder.held = None
    one = len(DEAD)
    holder = Holder("b")
    del holder.held
    two = len(DEAD)
    holder = Holder("c")
    holder = None
    return none, one, two, len(DEAD), x + 1


@finalizer_case
def a_global(x):
    global LAST
    LAST = Loud()
    none = len(DEAD)
    LAST = None
    return none, len(DEAD), x + 1


@finalizer_case
def a_weak_reference(x):
    d = Quiet()
    ref = weakref.ref(d, lambda _: DEAD.append("callback"))
    weakref.finalize(d, DEAD.append, "finalize")
    alive = ref() is d
    print(end="")
    still = ref() is not None
    d = None
    return alive, still, ref(), list(DEAD), x + 1


@finalizer_case
def a_weak_dictionary(x):
    table, d = weakref.WeakValueDictionary(), Quiet()
    table[1] = d
    one, again = len(table), len(table)
    d = None
    return one, again, len(table), x + 1


@finalizer_case
def a_generator_that_waits(x):
    def numbers():
        try:
            yield 1
            yield 2
        finally:
            DEAD.append("closed")

    generator = numbers()
    first = next(generator)
    print(end="")
    none = len(DEAD)
    generator = None
    return first, none, len(DEAD), x + 1


@finalizer_case
def a_collection(x):
    holder = Quiet()
    holder.me, holder.loud = holder, Loud()
    holder = None
    none = len(DEAD)
    gc.collect()
    return none, len(DEAD), x + 1


@finalizer_case
def temporaries_in_a_generator(x):
    total = sum(Loud(i).name for i in range(3))
    tensors = sum(Loud(x * i).name for i in range(3))
    DEAD[:] = [len(DEAD)]
    return total, tensors


@finalizer_case
def a_local_of_a_generator(x):
    def numbers():
        d = Loud("first")  # noqa: F841
        yield x
        DEAD.append("end")

    generator = numbers()
    y = next(generator)
    DEAD.append("between")
    return y, list(generator), list(DEAD)


@finalizer_case
def a_local_of_a_frame_that_raises(x):
    def fails():
        d = Loud()  # noqa: F841
        raise ValueError(1)

    try:
        fails()
    except ValueError:
        pass
    try:
        raise
    except RuntimeError as error:
        return str(error), x + 1


@finalizer_case
def a_manager(x):
    class Manager(Loud):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            DEAD.append("exit")

    with Manager():
        y = x + 1
    return list(DEAD), y


def cleans_up(name):
    try:
        for i in range(3):
            yield i
    finally:
        DEAD.append(name)


TABLE = {}


@finalizer_case
def a_half_used_generator_outlives_what_it_was_stored_in(x):
    held = cleans_up("held")
    first = next(held)
    TABLE["it"] = held
    TABLE["it"] = None
    none = len(DEAD)
    DEAD.append("end")
    return first, none, x + 1


@finalizer_case
def a_half_used_generator_that_a_dead_local_holds_over_a_break(x):
    held = cleans_up("held")
    first = next(held)
    TABLE["it"] = held
    print(end="")
    TABLE["it"] = None
    none = len(DEAD)
    print(end="")
    return first, none, len(DEAD), x + 1


@finalizer_case
def half_used_generators_that_are_bound_again_in_a_loop(x):
    for name in "abc":
        held = cleans_up(name)
        next(held)
        TABLE["it"] = held
        DEAD.append(len(DEAD))
    TABLE["it"] = None
    DEAD.append("end")
    return x + 1


@finalizer_case
def a_half_used_generator_of_a_callee(x):
    def callee():
        held = cleans_up("held")
        next(held)
        TABLE["it"] = held
        TABLE["it"] = None
        return len(DEAD)

    none = callee()
    one = len(DEAD)
    print(end="")
    return none, one, len(DEAD), x + 1


ITERATORS = {
    "zip": lambda items: zip(range(4), items),
    "enumerate": enumerate,
    "map": lambda items: map(str, items),
    "filter": lambda items: filter(None, items),
    "zip_of_map": lambda items: zip(map(str, items), "abc"),
    "delegating": lambda items: delegates(items),
    "chain": lambda items: itertools.chain([9], items),
    "islice": lambda items: itertools.islice(items, 3),
    "iter": iter,
}


def delegates(items):
    yield from items


def half_used_below(name, hold):
    """A generator that only a half-used iterator holds is closed with it: by a loop that is left, and with a local."""

    def of_a_loop(x):
        for _item in hold(cleans_up("loop")):
            break
        none = len(DEAD)
        y = x + 1
        print(end="")
        return none, len(DEAD), y

    def of_a_local(x):
        items = hold(cleans_up("local"))
        first = [next(items), next(items)]
        none = len(DEAD)
        items = None
        return first, none, len(DEAD), x + 1

    def over_a_break(x):
        items = hold(cleans_up("break"))
        first = [next(items), next(items)]
        print(end="")
        none = len(DEAD)
        items = None
        return first, none, len(DEAD), x + 1

    for f in (of_a_loop, of_a_local, over_a_break):
        f.__name__ = "a_half_used_%s_%s" % (name, f.__name__)
        finalizer_case(f)


for name in sorted(ITERATORS):
    half_used_below(name, ITERATORS[name])


HOLDERS = {
    "list": lambda value: [value],
    "tuple": lambda value: (value, 1),
    "set": lambda value: {value, 1},
    "frozen_set": lambda value: frozenset([value]),
    "dict": lambda value: {1: value},
    "keys": lambda value: {value: 1},
    "values": lambda value: {1: value}.values(),
    "method": lambda value: value.__eq__,
    "nested": lambda value: [{1: (value,)}],
}


def cycle_through(name, hold):
    """A value that holds itself through something else dies by a collection, once the frame has let go of both."""

    def build():
        def f(x, inner):
            value = Quiet()
            gone = weakref.ref(value)
            holder = hold(value)
            value.held = iter(holder) if inner else holder
            y = x + 1
            del value, holder
            gc.collect()
            return gone() is None, y

        return {"f": f, "args": lambda: (t([1.0]), name != "method")}

    build.__name__ = f"a_cycle_through_{name}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for holder in HOLDERS.items():
    cycle_through(*holder)


@finalizer_case
def a_proxy(x):
    value = {"a", "b"}
    proxy = weakref.proxy(value)
    size = len(proxy)
    y = x + 1
    value = None
    try:
        return size, len(proxy), y
    except ReferenceError:
        return size, "dead", y


@finalizer_case
def what_a_proxy_says_of_itself(x):
    value, other = Quiet(), {1}
    y = x + 1
    seen = []
    for proxy, kind in ((weakref.proxy(value), Quiet), (weakref.proxy(other), set)):
        seen.append((proxy.__class__ is kind, getattr(proxy, "__class__") == kind, isinstance(proxy, kind)))
        seen.append((type(proxy).__name__, isinstance(proxy, weakref.ProxyType), hasattr(proxy, "__dict__")))
    return seen, y


def copies_of_weak_dictionary(kind):
    def f(x):
        kept, other = Quiet(), Quiet()
        table = kind()
        table[kept if kind is weakref.WeakKeyDictionary else 1] = kept
        table[other if kind is weakref.WeakKeyDictionary else 2] = other
        copied = table.copy()
        same = copied == table, table[kept if kind is weakref.WeakKeyDictionary else 1] is kept
        y = x + 1
        del other
        gc.collect()
        return same, len(copied), len(table), y

    return f


def weak_keys_copied(x):
    return copies_of_weak_dictionary(weakref.WeakKeyDictionary)(x)


def weak_values_copied(x):
    return copies_of_weak_dictionary(weakref.WeakValueDictionary)(x)


finalizer_case(weak_keys_copied)
finalizer_case(weak_values_copied)


class LoudList(list):
    def __del__(self):
        DEAD.append(len(self))


class LoudDict(dict):
    def __del__(self):
        DEAD.append(len(self))


@finalizer_case
def what_is_walked_to_its_end(x):
    walks = [iter(LoudList()), reversed(LoudList()), iter(LoudDict(a=1)), iter(LoudDict().items())]
    told = [len(DEAD)]
    while walks:
        told.append(next(walks[-1], "ended"))
        told.append(len(DEAD))
        if told[-2] == "ended":
            walks.pop()
    return told, x + 1


@finalizer_case
def what_is_walked_by_an_iterator_of_a_callee(x):
    def ask(it):
        try:
            return next(it)
        except StopIteration:
            return len(DEAD)

    told = []
    for items in ([], [1], [1, 2]):
        it = iter(LoudList(items))
        told.append(ask(it))
        told.append(ask(it))
    return told, len(DEAD), x + 1


@finalizer_case
def a_finalizer_asks_the_iterator_that_let_go(x):
    class Asking(list):
        def __del__(self):
            DEAD.append(next(it, "ended"))

    told = []
    for _ in range(2):
        it = iter(Asking())
        told.append(next(it, "first"))
        told.append(len(DEAD))
    return told, x + 1


@finalizer_case
def a_cell_is_bound_before_what_it_leads_to_dies(x):
    class Reading:
        def __init__(self, held):
            self.held = held

        def __del__(self):
            DEAD.append(place)

    place = [Reading(1)]
    place = [len(DEAD), "second"]
    last = Reading(2)
    place = (len(DEAD), "third")
    last = None
    return place, last, len(DEAD), x + 1


@finalizer_case
def what_sets_let_go_of(x):
    def one_of(*ways):
        told = []
        for way in ways:
            members = {Loud()}
            way(members)
            told.append(len(DEAD))
        return told

    told = one_of(set.clear, set.pop, lambda s: s.intersection_update([]), lambda s: s.difference_update(list(s)))
    members = {Loud("a")}
    copied = members.copy()
    members.clear()
    told.append(len(DEAD))
    copied.pop()
    frozen = frozenset([Loud("b")])
    frozen = frozen - frozen
    told.append(len(DEAD))
    grown = set()
    for _ in range(2):
        # Addresses tell which of them dies first.
        grown.add(Loud("c"))
    grown.clear()
    return told, x + 1


@finalizer_case
def weak_references_to_what_sets_let_go_of(x):
    kept = Quiet()
    ref = weakref.ref(kept)
    members = {kept}
    kept = None
    told = [ref() is None]
    members.clear()
    told.append(ref() is None)
    return told, x + 1


def counted_exceptions():
    class Counted(Exception):
        alive = 0

        def __init__(self):
            Counted.alive += 1

        def __del__(self):
            Counted.alive -= 1

    return Counted


def keeps_the_triple(errors):
    try:
        yield
    except Exception:
        errors.append(sys.exc_info())


def keeps_the_value(errors):
    try:
        yield
    except Exception as error:
        errors.append(error)


def by_hand(body, errors, fail):
    generator = body(errors)
    next(generator)
    try:
        fail()
    except Exception as error:
        try:
            generator.throw(error)
        except StopIteration:
            pass


class Thrown:
    """A context manager that throws into a generator, whose end is raised while the first exception is handled."""

    def __init__(self, body, errors):
        self.generator = body(errors)

    def __enter__(self):
        next(self.generator)

    def __exit__(self, kind, error, trace):
        try:
            self.generator.throw(error)
        except StopIteration:
            pass
        return True


def by_a_class(body, errors, fail):
    with Thrown(body, errors):
        fail()


def by_contextlib(body, errors, fail):
    with contextlib.contextmanager(body)(errors):
        fail()


def let_go_of(body, way, clear):
    def build():
        counted, seen, before = counted_exceptions(), [], [0]

        def fail():
            raise counted()

        def f(x):
            errors = []
            way(body, errors, fail)
            clear(errors)
            seen.append(counted.alive - before[0])
            return x * 2.0, seen[-1]

        def args():
            # From 3.12 on some of these are in a cycle: when that is found is nobody's affair.
            gc.disable()
            before[0] = counted.alive
            return (t([1.0, 2.0]),)

        def watch():
            gc.enable()
            return list(seen)

        return {"f": f, "args": args, "watch": watch}

    build.__name__ = f"let_go_of_{way.__name__}_{body.__name__}_{clear.__name__}"
    return open_case(build)


def by_clear(errors):
    errors.clear()


def by_pop(errors):
    errors.pop()


def by_item(errors):
    errors[0] = None


def by_slice(errors):
    del errors[:]


for body in (keeps_the_triple, keeps_the_value):
    for way in (by_hand, by_a_class, by_contextlib):
        for clear in (by_clear, by_pop, by_item, by_slice):
            let_go_of(body, way, clear)


class Mapping(dict):
    pass


class Sequence(list):
    pass


class Dying:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("gone")



HOLDERS = {
    "dict": lambda dying: {"k": dying, "other": 1},
    "ordered": lambda dying: collections.OrderedDict(k=dying, other=1),
    "default": lambda dying: collections.defaultdict(list, k=dying, other=1),
    "counter": lambda dying: collections.Counter({"k": dying, "other": 1}),
    "mapping": lambda dying: Mapping(k=dying, other=1),
    "list": lambda dying: [dying, 1, 2],
    "sequence": lambda dying: Sequence([dying, 1, 2]),
    "deque": lambda dying: collections.deque([dying, 1, 2]),
    "twice_in_a_deque": lambda dying: collections.deque([dying, 1, dying]),
    "twice_in_a_list": lambda dying: [dying, 1, dying],
    "full": lambda dying: collections.deque([dying, dying], maxlen=2),
}


def replaced(held):
    for key in list(held) if isinstance(held, dict) else range(len(held)):
        held[key] = None


def deleted(held):
    del held["k" if isinstance(held, dict) else 0]
    if len(held) == 2 and not isinstance(held, dict):
        del held[-1]


def emptied(held):
    held.clear()


def popped(held):
    while held:
        held.popitem() if isinstance(held, dict) else held.pop()


def pushed(held):
    for n in range(3):
        # A counter adds numbers up.
        dict.update(held, k=n) if isinstance(held, dict) else held.append(n)


def taken_out(name, hold, write):
    def build():
        log, held = [], []

        def f(x):
            write(held[0])
            seen = len(log)
            return x * seen, seen

        def args():
            held[:] = [hold(Dying(log))]
            log.clear()
            return (t([1.0, 2.0]),)

        return {"f": f, "args": args, "watch": lambda: [len(log)]}

    build.__name__ = f"taken_out_of_{name}_{write.__name__}"
    return open_case(build)


for name, hold in HOLDERS.items():
    for write in (replaced, deleted, emptied, popped, pushed):
        taken_out(name, hold, write)


@open_case
def an_attribute_of_a_thread_is_replaced():
    log, local = [], threading.local()

    def f(x):
        local.value = 1
        seen = len(log)
        return x * seen, seen

    def args():
        local.value = Dying(log)
        log.clear()
        return (t([1.0, 2.0]),)

    return {"f": f, "args": args}


def own_line(x):
    held = Loud("held")
    line = sys._getframe().f_lineno
    held = None  # noqa: F841
    return len(DEAD), x + 1, line


def own_name(x):
    held = [Loud("held")]
    name = sys._getframe().f_code.co_name
    held = None  # noqa: F841
    return len(DEAD), x + 1, name


def callers_globals(x):
    held = Loud("held")
    known = "DEAD" in sys._getframe().f_globals
    held = None  # noqa: F841
    return len(DEAD), x + 1, known


for look_at_frame in (own_line, own_name, callers_globals):
    look_at_frame.__name__ += "_and_what_the_frame_held"
    finalizer_case(look_at_frame)
