"""What changes an object or asks for its identity must not work on a copy of it."""

import operator

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


@case()
def operator_functions_that_write():
    def f(x, items, table):
        operator.setitem(items, 0, 5)
        operator.delitem(items, 1)
        same = operator.iadd(items, [7])
        operator.setitem(table, "a", x + 1)
        operator.setitem(table, "b", 1)
        operator.delitem(table, "b")
        return items, table, same is items, x * 2

    return {"f": f, "args": lambda: (t([1.0, 2.0]), [1, 2, 3], {})}


@case()
def operator_functions_that_read():
    def f(x, items, table):
        numbers = operator.add(2, 3), operator.ior(3, 4), operator.pow(2, 3), operator.and_(6, 3), operator.inv(5)
        truths = operator.not_(items), operator.truth(table), operator.contains(items, 2), operator.lt(1, 2)
        same = operator.is_(items, items), operator.is_not(items, items), operator.is_(None, None)
        return numbers, truths, same, operator.getitem(items, 0) is items[0], operator.mul(x, 2), operator.neg(x)

    return {"f": f, "args": lambda: (t([1.0, 2.0]), [[1], 2, 3], {})}


@case()
def tensors_through_operator_functions():
    def f(x):
        m = operator.mul(x, x)
        return operator.sub(m, 1), operator.matmul(x.reshape([1, 2]), x.reshape([2, 1])), operator.eq(x, m)

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@open_case
def operator_functions_in_place():
    def f(x, items, more):
        a = operator.iconcat(items, [9])
        b = operator.imul(more, 2)
        return a is items, b is more, items, more, operator.concat(items, more), x + 1

    return {"f": f, "args": lambda: (t([1.0]), [1, 2], [3])}


@case()
def immutable_values_that_are_themselves():
    def f(x, a, s, n, b):
        tuples = tuple(a) is a, a * 1 is a, 1 * a is a, a[:] is a, a[0:2] is a, a + () is a, () + a is a, sum([a], ()) is a
        texts = str(s) is s, s[:] is s, s * 1 is s, s + "" is s, s.strip() is s, bytes(b) is b
        numbers = int(n) is n, n.real is n, operator.pos(n) is n, max(n, 2) is n, min([n, 10**9]) is n
        return tuples, texts, numbers, x + 1

    def args():
        return t([1.0]), tuple([1, 2]), "".join(["ab", "cd"]), 10**6, bytes([1, 2, 3])

    return {"f": f, "args": args}


@open_case
def frozen_set_that_is_itself():
    def f(x, frozen):
        return frozenset(frozen) is frozen, frozen | {3} is frozen, x + 1

    return {"f": f, "args": lambda: (t([1.0]), frozenset([1, 2]))}


@open_case
def new_tuples_that_are_not_the_same():
    def f(x, a, items):
        return a[::-1] is a, a[1:] is a, a * 2 is a, tuple(items) is tuple(items), a + (1,) is a, x + 1

    return {"f": f, "args": lambda: (t([1.0]), tuple([1, 1]), [1, 2])}


@case()
def parts_of_copies_are_the_parts():
    def f(x, inner, pair):
        found = max([inner, [0]]), sorted([inner, [0]])[1], min(inner, [99]), (inner, 1).__getitem__(0)
        found[0].append(1)
        return [v is inner for v in found], inner, max(pair) is pair[1], x + 1

    return {"f": f, "args": lambda: (t([1.0]), [1], ([1], [2]))}


@case()
def dict_from_pairs():
    def f(x):
        pairs = [("a", x + 1), ("b", 2), ("a", 3)]
        return dict(pairs), dict(zip("ab", [1, x])), dict({"a": 1}.items()), x * 2

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def lists_that_hold_themselves():
    def f(x):
        items = [1]
        items.append(items)
        return repr(items), items.index(1), len(items), x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None)
def sum_of_numbers_and_tensors():
    def f(x):
        return sum([0.1] * 10), sum([0.1] * 10 + [x]), sum([1, True, 0.5], 2), sum([[1], [2]], []), sum([x, x])

    return {"f": f, "args": lambda: (t([1.0]),)}
