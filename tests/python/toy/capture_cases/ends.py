"""In which order values end that end at one place: what a frame holds when it returns, what an exception held that is dropped, what
a container held. Each at a first call and on a hit, by itself, two calls deep, and behind a break."""

import weakref

from .finalizers import DEAD, Loud, Quiet, finalizer_case


def breaks():
    print(end="")


def by_itself(body):
    return body


def two_deep(body):
    def outer(x):
        first = Loud("first")  # noqa: F841
        result = body(x)
        DEAD.append("back")
        last = Loud("last")  # noqa: F841
        return result

    def outermost(x):
        before = Loud("before")
        result = outer(x), outer(x)
        after = Loud(before.name + " and after")  # noqa: F841
        return result

    return outermost


def behind_a_break(body):
    def again(x):
        first = Loud("first")
        breaks()
        result = body(x)
        DEAD.append("back")
        last = Loud("last")
        breaks()
        return result, first.name, last.name

    return again


PLACES = [by_itself, two_deep, behind_a_break]


def ending(body):
    name = body.__name__
    for place in PLACES:
        f = place(body)
        f.__name__ = "%s_%s" % (name, place.__name__)
        finalizer_case(f)
    return body


# ----- a frame that returns


@ending
def locals_in_the_order_of_their_names(x):
    b = Loud("b")
    a = Loud("a")
    c = Loud("c")
    b.held = c  # noqa: F841
    d = Loud("d")  # noqa: F841
    return a.name, x + 1


@ending
def arguments_and_locals(x):
    def callee(a, b, *more, k):
        c = Loud("c")  # noqa: F841
        d = Loud("d")  # noqa: F841
        return b.name

    return callee(Loud("a"), Loud("b"), Loud("more"), Loud("still more"), k=Loud("k")), x + 1


@ending
def arguments_that_are_read_behind_a_break(x):
    def callee(a, b):
        c = Loud("c")
        breaks()
        d = Loud("d")
        breaks()
        return a.name, c.name, d.name

    return callee(Loud("a"), Loud("b")), x + 1


@ending
def variables_that_were_bound_again(x):
    a = Loud("a")
    b = Loud("b")
    c = Loud("c")
    c = Loud("c again")  # noqa: F841
    a = Loud("a again")  # noqa: F841
    DEAD.append("bound")
    del b
    b = Loud("b again")  # noqa: F841
    return x + 1


@ending
def several_that_end_one_by_one(x):
    a, b, c, d = Loud("a"), Loud("b"), Loud("c"), Loud("d")
    del c
    b = d = a = None
    DEAD.append("gone")
    return a, b, d, x + 1


@ending
def a_recursion(x):
    def callee(n, given):
        before = Loud(("before", n))  # noqa: F841
        result = callee(n - 1, Loud(("given", n))) if n else 0
        after = Loud(("after", n))  # noqa: F841
        return result + 1

    return callee(3, Loud("given")), x + 1


@ending
def a_method(x):
    class Own(Loud):
        def run(self, other):
            inner = Loud("inner")  # noqa: F841
            return other.name

    return Own("self").run(Loud("other")), x + 1


@ending
def what_is_returned_lives_on(x):
    def callee(a):
        b = Loud("b")
        c = Loud("c")  # noqa: F841
        return b

    result = callee(Loud("a"))
    DEAD.append("returned")
    return result.name, x + 1


@ending
def a_frame_that_computes_on_tensors(x):
    a = Loud("a")
    b = Loud("b")
    y = x * 2
    a.tensor = y
    c = Loud("c")
    b.tensor = y + 1
    return c.name, b.tensor + x


@ending
def what_is_weakly_referenced(x):
    a, b, c = Quiet(), Quiet(), Quiet()
    gone = [weakref.ref(b, lambda _: DEAD.append("b"))]
    gone.append(weakref.ref(a, lambda _: DEAD.append("a")))
    gone.append(weakref.ref(c, lambda _: DEAD.append("c")))
    KEPT.extend(gone)
    return len(gone), x + 1


KEPT = []


# ----- what values hold


@ending
def containers(x):
    items = [Loud("a"), Loud("b"), Loud("c")]
    pair = (Loud("d"), Loud("e"))
    table = {1: Loud("f"), 2: Loud("g")}
    nested = [Loud("h"), (Loud("i"), {"j": Loud("j")}), [Loud("k")]]
    last = Loud("last")  # noqa: F841
    return len(items), len(pair), len(table), len(nested), x + 1


@ending
def containers_that_are_dropped(x):
    items = [Loud("a"), Loud("b")] + [Loud("c")]
    pair = Loud("d"), Loud("e")
    items = None
    DEAD.append("items")
    pair = None
    DEAD.append("pair")
    return items, pair, x + 1


@ending
def what_two_containers_hold(x):
    a, b, c = Loud("a"), Loud("b"), Loud("c")
    one = [a, b]
    two = (c, one, a)
    del a, b, c
    DEAD.append("held")
    one = None
    DEAD.append("one")
    two = None
    return one, two, x + 1


@ending
def instances(x):
    holder, other = Quiet(), Quiet()
    holder.b = Loud("b")
    holder.a = Loud("a")
    other.holder = holder
    other.c = Loud("c")
    last = Loud("last")  # noqa: F841
    return x + 1


@ending
def values_of_a_loop(x):
    for value in [Loud(1), Loud(2), Loud(3)]:
        again = Loud(("again", value.name))  # noqa: F841
    DEAD.append("end")
    for _one, _two in zip([Loud(4), Loud(5)], (Loud(6), Loud(7))):
        pass
    DEAD.append("end")
    return x + 1


@ending
def temporaries(x):
    (Loud("a"), Loud("b"))
    [Loud("c"), Loud("d")]
    DEAD.append("displays")
    Loud("e").name + Loud("f").name
    DEAD.append("operands")
    return x + 1


@ending
def locals_of_a_generator(x):
    def numbers(given):
        a = Loud("a")  # noqa: F841
        yield 1
        b = Loud("b")  # noqa: F841
        yield 2

    generator = numbers(Loud("given"))
    total = next(generator) + next(generator)
    last = Loud("last")  # noqa: F841
    return total, sum(numbers(Loud("again"))), x + 1


@ending
def a_generator_that_is_closed(x):
    def numbers(given):
        a = Loud("a")  # noqa: F841
        try:
            yield 1
        finally:
            b = Loud("b")  # noqa: F841

    generator = numbers(Loud("given"))
    first = next(generator)
    generator.close()
    DEAD.append("closed")
    return first, x + 1


@ending
def a_manager_and_what_its_exit_holds(x):
    class Manager(Loud):
        def __enter__(self):
            return Loud("entered")

        def __exit__(self, *_):
            left = Loud("left")  # noqa: F841

    with Manager("manager"):
        inside = Loud("inside")  # noqa: F841
    return x + 1


class Key(Loud):
    def __lt__(self, other):
        if self.name == 7:
            raise ValueError("seven")
        return self.name < other.name


@ending
def keys_of_sorts(x):
    items = [3, 1, 2, 5, 4]
    items.sort(key=Key)
    DEAD.append("sort")
    items.sort(key=lambda item: Key(-item), reverse=True)
    DEAD.append("reverse")
    smallest = min(items, key=Key)
    DEAD.append("min")
    try:
        [1, 3, 7, 2].sort(key=Key)
    except ValueError:
        DEAD.append("failed")
    return items, smallest, sorted(items, key=Key, reverse=True), x + 1


# ----- exceptions


def raises(*values):
    p = Loud("p")  # noqa: F841
    q = Loud("q")  # noqa: F841
    raise ValueError(*values)


def calls(function, *values):
    r = Loud("r")  # noqa: F841
    s = Loud("s")  # noqa: F841
    return function(*values)


@ending
def a_dropped_exception(x):
    try:
        calls(raises)
    except ValueError:
        pass
    DEAD.append("handled")
    return x + 1


@ending
def a_dropped_exception_with_a_name(x):
    try:
        calls(raises, Loud("value"))
    except ValueError as error:
        DEAD.append(str(len(error.args)))
        inside = Loud("inside")  # noqa: F841
    DEAD.append("handled")
    return x + 1


@ending
def a_kept_exception(x):
    kept = None
    try:
        calls(calls, raises)
    except ValueError as error:
        kept = error
    DEAD.append("handled")
    breaks()
    kept = None
    DEAD.append("dropped")
    return kept, x + 1


@ending
def an_exception_of_an_instruction(x):
    def fails():
        p = Loud("p")
        q = Loud("q")  # noqa: F841
        return {}[p.name]

    try:
        calls(fails)
    except KeyError:
        pass
    DEAD.append("handled")
    return x + 1


@ending
def an_exception_behind_a_break(x):
    def fails():
        p = Loud("p")
        breaks()
        q = Loud("q")
        breaks()
        raise ValueError(p.name, q.name)

    try:
        calls(fails)
    except ValueError:
        breaks()
    DEAD.append("handled")
    return x + 1


@ending
def an_exception_with_temporaries(x):
    try:
        [Loud("a"), (Loud("b"), Loud("c")), calls(raises)]
    except ValueError:
        pass
    DEAD.append("handled")
    return x + 1


@ending
def an_exception_that_a_finally_sees(x):
    def fails():
        p = Loud("p")  # noqa: F841
        try:
            raise ValueError
        finally:
            DEAD.append("finally")

    try:
        calls(fails)
    except ValueError:
        pass
    DEAD.append("handled")
    return x + 1


@ending
def what_is_taken_in_hand_again(x):
    box = Quiet()
    box.held = Loud("a")

    def callee(box, a):
        print(end="")
        del a
        b = box.held
        DEAD.append(0)
        del box.held
        DEAD.append(1)
        c = [b]
        b = None
        DEAD.append(2)
        c = None
        DEAD.append(3)
        return c

    return callee(box, box.held), x + 1
