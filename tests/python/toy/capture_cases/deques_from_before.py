"""Deques from before the frame: what is read of them, done to them, and held in them."""

import collections
import copy

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Noisy:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __del__(self):
        self.log.append(self.name)


def emptied(deque):
    while deque:
        deque.pop()


def walked(deque):
    return [item for item in deque]


def walked_and_changed(deque):
    for item in deque:
        if item == 2:
            deque.append(9)


def half_walked(deque):
    iterator = iter(deque)
    first = next(iterator)
    toy.show(0)
    return first, list(iterator)


def half_walked_and_changed(deque):
    iterator = iter(deque)
    first = next(iterator)
    deque.rotate(1)
    toy.show(0)
    return first, list(iterator)


def changed_around_a_break(deque):
    deque.append(7)
    toy.show(0)
    deque.popleft()
    return list(deque)


def raised_in_the_middle(deque):
    deque.append(7)
    deque.extend(1 // (3 - n) for n in (1, 2, 3))


def extended_by_itself(deque):
    deque.extend(deque)
    deque.extendleft(deque)


def added(deque):
    deque += [4, 5]
    return deque


DONE = {
    "append": lambda d: d.append(4),
    "append_two": lambda d: (d.append(4), d.append(5), d[-2]),
    "append_after_a_look": lambda d: (len(d), d.append(4), len(d)),
    "append_before_a_look": lambda d: (d.append(4), len(d), d.append(5), list(d)),
    "appendleft": lambda d: (d.appendleft(0), d[0]),
    "extend": lambda d: d.extend([4, 5]),
    "extend_by_a_generator": lambda d: d.extend(n for n in (4, 5)),
    "extendleft": lambda d: d.extendleft((4, 5)),
    "pop": lambda d: d.pop(),
    "popleft": lambda d: (d.popleft(), d.popleft()),
    "rotate": lambda d: d.rotate(),
    "rotate_back": lambda d: d.rotate(-2),
    "reverse": lambda d: d.reverse(),
    "insert": lambda d: d.insert(1, 8),
    "insert_behind": lambda d: d.insert(-1, 8),
    "remove": lambda d: d.remove(2),
    "clear": lambda d: d.clear(),
    "copied": lambda d: (d.copy(), copy.copy(d) is d, copy.deepcopy(d)),
    "count": lambda d: (d.count(2), d.index(3), 2 in d, 7 in d),
    "index": lambda d: (d[0], d[-1], d[1]),
    "out_of_range": lambda d: d[9],
    "set": lambda d: (d.__setitem__(0, 6), d[0]),
    "deleted": lambda d: d.__delitem__(1),
    "asked": lambda d: (len(d), bool(d), d.maxlen, type(d), isinstance(d, list), d == d, repr(d), str(d)),
    "compared": lambda d: (d == collections.deque([1, 2, 3]), d != [1, 2, 3], d < collections.deque([2])),
    "sums": lambda d: (sum(d), max(d), sorted(d, reverse=True), list(reversed(d)), tuple(d), [*d]),
    "unpacked": lambda d: [(a, rest) for a, *rest in [d]],
    "zipped": lambda d: (list(zip(d, d)), list(enumerate(d)), dict(zip(d, "abc"))),
    "added_up": lambda d: (d + collections.deque([4]), d * 2),
    "emptied": emptied,
    "walked": walked,
    "walked_and_changed": walked_and_changed,
    "half_walked": half_walked,
    "half_walked_and_changed": half_walked_and_changed,
    "changed_around_a_break": changed_around_a_break,
    "raised_in_the_middle": raised_in_the_middle,
    "extended_by_itself": extended_by_itself,
    "added": added,
}


def shown(error):
    return type(error).__name__, str(error)


def made(name, do, maxlen, given):
    def build():
        deque = collections.deque([1, 2, 3], maxlen)

        def f(x, d=None):
            try:
                result = do(deque if d is None else d)
            except (IndexError, RuntimeError, ValueError, TypeError, ZeroDivisionError) as error:
                result = shown(error)
            return x * 2.0, result

        if given:
            return {"f": f, "args": lambda: (*x1(), collections.deque([1, 2, 3], maxlen))}
        return {"f": f, "args": x1, "watch": lambda: [list(deque), deque.maxlen]}

    build.__name__ = f"deque_{'given' if given else 'kept'}_{name}_{maxlen}"
    return open_case(build)


for name, do in DONE.items():
    for maxlen in (None, 3, 5, 0):
        for given in (False, True):
            made(name, do, maxlen, given)


@case()
def a_log_that_grows():
    log = collections.deque()

    def f(x):
        log.append(x * 2.0)
        log.append(1)
        return x + 1.0

    return {"f": f, "args": x1, "watch": lambda: list(log)}


@case()
def a_queue_that_is_full():
    queue = collections.deque([t([1.0, 1.0]), t([2.0, 2.0])], maxlen=2)

    def f(x):
        queue.append(x * 2.0)
        return sum(queue) / len(queue)

    return {"f": f, "args": x1, "watch": lambda: list(queue)}


@case()
def first_in_first_out():
    queue = collections.deque([t([1.0, 1.0])])

    def f(x):
        queue.append(x * 2.0)
        return queue.popleft() + x

    return {"f": f, "args": x1, "watch": lambda: list(queue)}


@open_case
def a_window_that_fills():
    window = collections.deque(maxlen=4)

    def f(x):
        window.append(x.sum() * 1.0)
        return sum(window) / len(window)

    return {"f": f, "args": x1, "watch": lambda: list(window)}


@open_case
def a_window_of_an_instance():
    class Meter:
        def __init__(self):
            self.seen, self.count = collections.deque(maxlen=3), 0

        def update(self, value):
            self.seen.append(value)
            self.count += 1
            return self

        @property
        def mean(self):
            return sum(self.seen) / len(self.seen)

    meter = Meter()

    def f(x):
        return meter.update(x * 2.0).mean, meter.count

    return {"f": f, "args": x1, "watch": lambda: [list(meter.seen), meter.count]}


@open_case
def two_names_of_one_deque():
    first, second = collections.deque([1]), collections.deque([1])
    calls = [0]

    def f(x, a, b):
        a.append(2)
        return x * len(b), a is b, list(b)

    def args():
        calls[0] += 1
        return (*x1(), *((first, second) if calls[0] < 4 else (first, first)))

    return {"f": f, "args": args}


@open_case
def replaced_by_others():
    held = {"d": collections.deque([1, 2])}
    calls = [0]
    others = [
        collections.deque([1, 2]),
        collections.deque([1, 2], maxlen=2),
        collections.deque([1, 2], maxlen=3),
        [1, 2],
        type("Own", (collections.deque,), {"append": lambda self, value: None})([1, 2]),
    ]

    def f(x):
        held["d"].append(3)
        return x * 2.0, held["d"]

    def args():
        calls[0] += 1
        held["d"] = others[calls[0] % len(others)]
        return x1()

    return {"f": f, "args": args}


def dying(do):
    def build():
        log = []
        deque = collections.deque([Noisy(log, "a"), Noisy(log, "b"), Noisy(log, "c")], maxlen=3)

        def f(x):
            do(deque, log)
            log.append("then")
            return x * len(log), list(log)

        return {"f": f, "args": x1, "watch": lambda: [list(log), len(deque)]}

    build.__name__ = f"dying_in_a_deque_{do.__name__}"
    return open_case(build)


def pushed_out(deque, log):
    deque.append(1)


def pushed_out_at_the_end(deque, log):
    deque.appendleft(1)


def popped(deque, log):
    if deque:
        deque.pop()


def set_anew(deque, log):
    deque[0] = 1


def cleared(deque, log):
    deque.clear()


def added_and_dropped(deque, log):
    deque.append(Noisy(log, "new"))
    deque.append(Noisy(log, "newer"))


for do in (pushed_out, pushed_out_at_the_end, popped, set_anew, cleared, added_and_dropped):
    dying(do)


@open_case
def a_deque_that_holds_itself():
    deque = collections.deque([1])
    deque.append(deque)

    def f(x):
        return x * 2.0, repr(deque), deque[1] is deque, len(deque)

    return {"f": f, "args": x1}


@open_case
def many_items():
    deque = collections.deque(range(5000))

    def f(x):
        deque.append(1)
        return x * 2.0, len(deque), deque[0]

    return {"f": f, "args": x1, "watch": lambda: [len(deque)]}


# Its length is known at run time from the second capture on.
@case(graphs=2, captures=2)
def one_that_grows():
    deque = collections.deque([0])

    def f(x):
        deque.append(1)
        return x * len(deque)

    return {"f": f, "args": x1, "watch": lambda: [len(deque)]}


@open_case
def made_anew_in_its_place():
    deque, calls = collections.deque([1, 2, 3]), [0]

    def f(x):
        deque.append(4)
        deque.append(5)
        seen = list(deque)
        while len(deque) > 3:
            deque.pop()
        return x * len(seen), seen, deque.maxlen

    def args():
        calls[0] += 1
        deque.__init__([1, 2, 3], 3 if calls[0] > 3 else None)
        return x1()

    return {"f": f, "args": args, "watch": lambda: [list(deque), deque.maxlen]}


@open_case
def appended_to_and_made_anew():
    deque, calls = collections.deque([1, 2, 3]), [0]

    def f(x):
        deque.append(4)
        return x * 2.0

    def args():
        calls[0] += 1
        deque.__init__([1, 2, 3], 3 if calls[0] > 3 else None)
        return x1()

    return {"f": f, "args": args, "watch": lambda: [list(deque), deque.maxlen]}
