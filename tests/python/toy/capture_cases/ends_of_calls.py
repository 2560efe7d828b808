"""In which order values end that calls, comprehensions, functions and iterators have held. As the cases of `ends`."""

import itertools
import weakref

from observe import case
from toy_framework import toy

from .ends import breaks, ending
from .finalizers import DEAD, Loud, Quiet


def here(f, fallbacks=0):
    """As `finalizer_case`, from this module: a break at a name of another one would be a fallback."""

    def call(x):
        DEAD.clear()
        return f(x)

    def build():
        return {"f": call, "args": lambda: (toy.tensor([1.0, 2.0]),), "watch": lambda: list(DEAD)}

    build.__name__ = f.__name__
    return case(graphs=None, captures=None, breaks=None, fallbacks=fallbacks, reasons=None)(build)


# ----- what is given to calls


@ending
def values_given_with_a_star(x):
    def callee(a, b):
        c = Loud("c")  # noqa: F841
        return b.name

    def collects(*a):
        c = Loud("c")  # noqa: F841
        return len(a)

    first = callee(*(Loud(1), Loud(2))), callee(*[Loud(3), Loud(4)]), callee(Loud(5), *[Loud(6)])
    DEAD.append("called")
    return first, callee(**{"a": Loud(7), "b": Loud(8)}), collects(*(Loud(9), Loud(10))), x + 1


@here
def arguments_that_are_bound_again(x):
    def callee(a, b):
        a = Loud("a again")
        DEAD.append("bound")
        c = Loud("c")  # noqa: F841
        b = None
        DEAD.append(b)
        return a.name

    one = callee(Loud("a"), Loud("b"))
    DEAD.append("called")
    two = callee(*(Loud("c"), Loud("d")))
    DEAD.append("with a star")
    return one, two, callee(**{"b": Loud("e"), "a": Loud("f")}), x + 1


@here
def arguments_that_are_bound_again_behind_a_break(x):
    def callee(a, *more, **named):
        breaks()
        a = None
        DEAD.append("a")
        more = None
        breaks()
        named.clear()
        DEAD.append("named")
        return a, more

    one = callee(Loud("a"), Loud("b"), k=Loud("k"))
    DEAD.append("called")
    return one, callee(*(Loud("c"), Loud("d")), **{"k": Loud("l")}), x + 1


@ending
def arguments_that_are_handed_on(x):
    def outer(*args, **named):
        z = Loud("z")  # noqa: F841
        return callee(*args, **named)

    def callee(a, b, k):
        y = Loud("y")  # noqa: F841
        return k.name

    bound = [Loud("a"), Loud("b")]
    first = outer(*bound, k=Loud("k"))
    DEAD.append("called")
    bound.clear()
    DEAD.append("cleared")
    return first, x + 1


@here
def operands_of_operators(x):
    class Number(Loud):
        def __add__(self, other):
            inside = Loud("inside")  # noqa: F841
            return Number(self.name + other.name)

        def __lt__(self, other):
            inside = Loud("less")  # noqa: F841
            return self.name < other.name

        def __bool__(self):
            return False

    total = Number("a") + Number("b")
    DEAD.append("added")
    less = Number("c") < Number("d") < Number("e")
    DEAD.append("compared")
    either = Number("f") or Number("g")
    return total.name, less, either.name, x + 1


# ----- what functions hold


@here
def defaults(x):
    def callee(a=Loud("a"), b=Loud("b"), *, k=Loud("k")):  # noqa: B008
        c = Loud("c")  # noqa: F841
        return a.name

    first = callee()
    DEAD.append("called")
    del callee
    DEAD.append("deleted")
    second = (lambda a=Loud("d"), b=Loud("e"): a.name)()  # noqa: B008
    DEAD.append("called at once")
    return first, second, x + 1


@here
def closures_that_end(x):
    def make():
        a, b = Loud("a"), Loud("b")
        c = Loud("c")  # noqa: F841

        def inner():
            return b, a

        return inner

    inner = make()
    DEAD.append("made")
    inner = None
    DEAD.append("gone")
    return inner, x + 1


@here
def cells_of_arguments(x):
    def callee(a, b, c):
        d = Loud("d")  # noqa: F841

        def inner():
            return a, c

        e = Loud("e")  # noqa: F841
        return b.name

    first = callee(Loud("a"), Loud("b"), Loud("c"))
    DEAD.append("called")
    return first, x + 1


@here
def bound_methods(x):
    class Own(Loud):
        def run(self):
            inside = Loud("inside")  # noqa: F841
            return self.name

    run = Own("own").run
    first = run()
    DEAD.append("called")
    run = None
    DEAD.append("gone")
    return first, run, x + 1


@here
def managers_that_only_their_exit_holds(x):
    class Manager(Loud):
        def __enter__(self):
            return Loud("entered")

        def __exit__(self, *_):
            DEAD.append("exit")

    def returns():
        with Manager("in a call"):
            inside = Loud("inside")  # noqa: F841
            return Loud("result")

    with Manager("a"), Manager("b"):
        DEAD.append("in")
    DEAD.append("out")
    first = returns().name
    DEAD.append("returned")
    return first, x + 1


@here
def weak_references_that_tell(x):
    a, b = Quiet(), Quiet()
    told = weakref.ref(a, lambda _: DEAD.append("a")), weakref.ref(b, lambda _: DEAD.append("b"))  # noqa: F841
    a.held = b
    b = None
    DEAD.append("b is held")
    a = None
    DEAD.append("none")
    return a, b, x + 1


# ----- what iterators hold


@here
def items_of_comprehensions(x):
    names = [value.name for value in [Loud(1), Loud(2), Loud(3)]]
    DEAD.append("list")
    table = {value.name: 0 for value in (Loud(4), Loud(5))}
    DEAD.append("dict")
    total = sum(value.name for value in [Loud(6), Loud(7)])
    return names, table, total, x + 1


@here
def variables_of_comprehensions_that_are_bound_again(x):
    value = Loud("outer")
    names = [value.name for value in [Loud(1), Loud(2)] for value in [Loud(value.name + 2), Loud(value.name + 4)]]
    DEAD.append("list")
    value = None
    DEAD.append("none")
    return names, value, [[v.name for v in [Loud(v), Loud(v + 5)]] for v in range(2)], x + 1


@here
def replaced_results(x):
    items = list(map(Loud, [1, 2]))
    items = [item for item in filter(lambda item: item.name > 1, [Loud(3), Loud(1), Loud(4)])]
    DEAD.append("filtered")
    items[0], items[1] = items[1], items[0]
    items = None
    return items, x + 1


@here
def an_iterator_whose_last_question_has_locals(x):
    class Numbers(Loud):
        count = 0

        def __iter__(self):
            return self

        def __next__(self):
            inside = Loud(("inside", self.count))  # noqa: F841
            self.count += 1
            if self.count == 3:
                raise StopIteration
            return self.count

    total = 0
    for number in Numbers("numbers"):
        total += number
    DEAD.append("end")
    return total, x + 1


@here
def attributes_that_are_replaced(x):
    holder = Quiet()
    holder.a, holder.b = Loud("a"), Loud("b")
    holder.a, holder.b = holder.b, holder.a
    holder.a = Loud("again")
    DEAD.append("replaced")
    del holder.b
    DEAD.append("deleted")
    holder = None
    return holder, x + 1


def cleans_up():
    try:
        for i in range(4):
            yield i
    finally:
        DEAD.append("closed")


HALF_USED = {
    "generator": lambda items: items,
    "enumerate": enumerate,
    "zip": lambda items: zip(range(9), items),
    "map": lambda items: map(str, items),
    "filter": lambda items: filter(None, items),
    "chain": lambda items: itertools.chain(items, "a"),
    "nested": lambda items: enumerate(map(str, items)),
}


def half_used(name, hold):
    """A loop that is left behind a break lets its iterator go on living in a local, used again or not."""

    def to_the_end(x):
        items = hold(cleans_up())
        for _item in items:
            breaks()
            break
        y = x + 1
        DEAD.append("left")
        return y

    def used_again(x):
        items = hold(cleans_up())
        for _item in items:
            breaks()
            break
        DEAD.append("left")
        return list(items), x + 1

    for f in (to_the_end, used_again):
        f.__name__ = "a_half_used_%s_in_a_local_%s" % (name, f.__name__)
        here(f, fallbacks=None if f is to_the_end and hold is HALF_USED["generator"] else 0)


for name in sorted(HALF_USED):
    half_used(name, HALF_USED[name])


# ----- what exceptions hold


@here
def locals_of_a_frame_that_a_finally_with_a_break_goes_through(x):
    def fails(a):
        b = Loud("b")  # noqa: F841
        try:
            raise ValueError
        finally:
            DEAD.append("finally")
            c = Loud("c")  # noqa: F841

    try:
        fails(Loud("a"))
    except ValueError:
        DEAD.append("handler")
    DEAD.append("handled")
    return x + 1


@here
def locals_of_a_frame_that_raises_again_behind_a_break(x):
    def fails(a):
        b = Loud("b")  # noqa: F841
        try:
            raise ValueError
        except ValueError:
            c = Loud("c")  # noqa: F841
            raise

    try:
        fails(Loud("a"))
    except ValueError:
        DEAD.append("handler")
    DEAD.append("handled")
    return x + 1
