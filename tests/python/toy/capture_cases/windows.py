"""Deques of limited length that are there before the call, as programs keep them over what came last: while they fill and when they are
full."""

import collections

from observe import case, open_case
from toy_framework import toy

t = toy.tensor

USES = {
    "mean": lambda window, x: sum(window) / len(window),
    "last": lambda window, x: (x * 2.0, window[-1]),
    "last_two": lambda window, x: (x * 2.0, list(window)[-2:]),
    "first": lambda window, x: (x * 2.0, window[0]),
    "length": lambda window, x: x * len(window),
    "looped": lambda window, x: (x * 2.0, [item for item in window]),
    "is_full": lambda window, x: (x + 1.0, len(window) == window.maxlen),
    "before": lambda window, x: (x + 1.0, window[-2] if len(window) > 1 else None),
    "twice": lambda window, x: (window.append(x), window.append(x), len(window), window[0]),
    "broken": lambda window, x: (len(window), toy.show(0), window.append(x), window[-1], len(window)),
}
KEPT = {"numbers": lambda x, number: number, "tensors": lambda x, number: x * number}


def window(name, what, most, given):
    use, kept = USES[name], KEPT[what]

    def build():
        held, calls = collections.deque(maxlen=most), [0.0]

        def args():
            calls[0] += 1.5
            x = t([1.0, 2.0])
            return (x, calls[0], held) if given else (x, calls[0])

        def f(x, number, window=held):
            window.append(kept(x, number))
            return use(window, x)

        return {"f": f, "args": args, "watch": lambda: [list(held)]}

    build.__name__ = f"window_of_{most}_{what}_{name}_{'given' if given else 'kept'}"
    build.__module__ = __name__
    open_case(build)


for name in USES:
    for what in KEPT:
        for most in (None, 1, 2, 5, 9):
            for given in (False, True):
                window(name, what, most, given)


@case()
def a_last_one_of_a_window_that_fills():
    window = collections.deque(maxlen=9)

    def f(x):
        window.append(x * 2.0)
        return window[-1] + 1.0

    return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [len(window)]}


@case(captures=3, graphs=3)
def a_mean_over_a_small_window():
    window = collections.deque(maxlen=2)

    def f(x):
        window.append(x * 2.0)
        return sum(window) / len(window)

    return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [len(window)]}


@case()
def a_mean_over_a_window_that_is_full():
    window = collections.deque([t([float(number)]).sum() for number in range(7)], maxlen=7)

    def f(x):
        window.append(x.sum() * 1.0)
        return sum(window) / len(window)

    return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [len(window)]}


@open_case
def a_window_that_is_emptied_between():
    window, calls = collections.deque(maxlen=5), [0]

    def f(x):
        window.append(x.sum() * 1.0)
        return sum(window) / len(window)

    def args():
        calls[0] += 1
        if calls[0] == 4:
            window.clear()
        return (t([1.0, 2.0]),)

    return {"f": f, "args": args, "watch": lambda: [list(window)]}


@open_case
def a_window_that_is_filled_between():
    window, calls = collections.deque(maxlen=5), [0]

    def f(x):
        window.append(x)
        window.append(x)
        return window[-1] * len(window)

    def args():
        calls[0] += 1
        if calls[0] == 2:
            window.extend([t([1.0, 2.0])] * 2)
        return (t([1.0, 2.0]),)

    return {"f": f, "args": args, "watch": lambda: [list(window)]}


@case()
def removed_from_a_deque():
    def f(x):
        queue, told = collections.deque([1, 2, 3, 2, True]), []
        queue.remove(2)
        queue.remove(1.0)
        for missing in ("a", 9):
            try:
                queue.remove(missing)
            except ValueError as error:
                told.append(error.args)
        return x * queue[0], list(queue), told

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@open_case
def removed_from_a_deque_from_before():
    queue, calls = collections.deque([1, 2, 3]), [0]

    def f(x, number):
        y = x * 2.0
        try:
            queue.remove(number)
        except ValueError as error:
            queue.append(number)
            return y, str(error)
        return y, len(queue)

    def args():
        calls[0] += 1
        return t([1.0, 2.0]), calls[0] % 4

    return {"f": f, "args": args, "watch": lambda: [list(queue)]}


@open_case
def removed_though_it_is_not_there():
    queue = collections.deque([1, 2, 3])

    def f(x):
        y = x * 2.0
        queue.append(4)
        queue.remove("four")
        return y

    return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [list(queue)]}
