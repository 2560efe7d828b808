"""What C finds and takes in one step, so that no other thread is given the same: while there are other threads, and while there are
none."""

import collections

from capture_cases.threads_beside import Beside, Key, beside
from observe import case
from toy_framework import toy

t = toy.tensor


def pop_of_list(shared):
    return shared.pop(), shared.pop(0)


def pop_of_dict(shared):
    return shared.pop("a"), shared.pop("z", None), shared.popitem()


def pop_of_set(shared):
    return shared.pop()


def pop_of_deque(shared):
    return shared.pop(), shared.popleft()


def pop_by_key(shared):
    return shared.pop(Key("k")), shared.pop(Key("other"), 3)


def pop_of_ordered(shared):
    return shared.popitem(last=False), shared.pop("c")


def next_of_iterator(shared):
    return next(shared), next(shared, None), next(shared, None), next(shared, None)


SHARED = [
    (pop_of_list, lambda: [1, 2, 3, 4]),
    (pop_of_dict, lambda: {"a": 1, "b": 2, "c": 3}),
    (pop_of_set, lambda: {5}),
    (pop_of_deque, lambda: collections.deque([1, 2, 3, 4])),
    (pop_by_key, lambda: {Key("k"): 1, Key("l"): 2}),
    (pop_of_ordered, lambda: collections.OrderedDict(a=1, b=2, c=3)),
    (next_of_iterator, lambda: iter([1, 2, 3])),
]


def taking(take, make, others):
    def build():
        def f(x, shared):
            return x + 1.0, take(shared)

        other = Beside()

        def args():
            return (other.args() if others else (t([1.0]),))[0], make()

        return {"f": f, "args": args, "watch": lambda: other.end()}

    build.__name__ = build.__qualname__ = take.__name__ + ("_beside_another_thread" if others else "_alone")
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


for take, make in SHARED:
    taking(take, make, True)
    taking(take, make, False)


@case()
def pop_of_what_the_frame_made():
    def f(x):
        own, table, numbers = [1, 2], {"a": 3}, iter((4, 5))
        return x + 1.0, own.pop(), table.pop("a"), next(numbers), next(numbers, None), next(numbers, None)

    return beside(f)
