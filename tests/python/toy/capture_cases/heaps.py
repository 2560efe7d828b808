"""Heaps and sorted lists: `heapq` and `bisect`, whose functions of C compare items as the program says."""

import bisect
import heapq

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def numbers():
    def f(x):
        heap = []
        for value in [5, 3, 8, 1, 9, 2]:
            heapq.heappush(heap, value)
        least = heapq.heappop(heap), heapq.heappop(heap)
        pushed, replaced = heapq.heappushpop(heap, 4), heapq.heapreplace(heap, 7)
        other = [9, 8, 7, 1, 2, 3]
        heapq.heapify(other)
        return x + least[0], least, pushed, replaced, heap, other, heapq.heappushpop([], 3), heapq.heappop([6])

    return {"f": f, "args": x1}


@case()
def tensors_beside_priorities():
    def f(x):
        heap = [(2, "b", x), (1, "a", x * 2.0), (3, "c", x * 3.0)]
        heapq.heapify(heap)
        priority, name, best = heapq.heappop(heap)
        heapq.heappush(heap, (0, "d", best + 1.0))
        return best * priority, name, [entry[:2] for entry in heap], heap[0][2]

    return {"f": f, "args": x1}


@case(graphs=None, captures=None)
def loud_comparisons():
    told = []

    class Loud:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            told.append((self.n, other.n))
            return self.n < other.n

    def f(x):
        heap = [Loud(n) for n in (4, 1, 3, 2)]
        heapq.heapify(heap)
        heapq.heappush(heap, Loud(0))
        order = [heapq.heappop(heap).n for _ in range(3)]
        place = bisect.bisect([Loud(1), Loud(2), Loud(3)], Loud(2))
        return x + place, order

    return {"f": f, "args": x1, "watch": lambda: list(told)}


@case()
def given_heaps():
    heap = [1, 4, 6]

    def f(x):
        heapq.heappush(heap, 0)
        first = heapq.heappop(heap)
        bisect.insort(heap, 5)
        bisect.insort_left(heap, 5)
        fives = heap.pop(2), heap.pop(2)
        return x + first, fives, list(heap)

    return {"f": f, "args": x1, "watch": lambda: list(heap)}


@case()
def bounds_and_both_sides():
    def f(x):
        items = [1, 3, 3, 5]
        places = [
            bisect.bisect_left(items, 3),
            bisect.bisect_right(items, 3),
            bisect.bisect(items, 3, 0, 2),
            bisect.bisect_left(items, 9, lo=1),
            bisect.bisect_left(items, 0, hi=2),
        ]
        bisect.insort(items, 4)
        bisect.insort_right(items, 3, 0, 2)
        return x + places[0], places, items, bisect.bisect((1, 2), 1)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def what_they_refuse():
    def f(x):
        said = []
        for call in (
            lambda: heapq.heappop([]),
            lambda: heapq.heapreplace([], 1),
            lambda: heapq.heappush((), 1),
            lambda: heapq.heappush([1], "a"),
            lambda: bisect.bisect_left([1], 1, -1),
            lambda: bisect.bisect(3, 1),
        ):
            try:
                call()
            except Exception as error:
                said.append((type(error).__name__, str(error)))
        return x + len(said), said

    return {"f": f, "args": x1}
