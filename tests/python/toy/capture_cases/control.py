"""Branches and loops, and breaks inside of them."""

import itertools

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def branch_on_python():
    def f(x, flag):
        if flag:
            y = x * 2
        else:
            y = x * 3
        return y if y.ndim == 1 else None

    return {"f": f, "args": lambda: (t([1.0]), True)}


@case(graphs=2, captures=2, breaks=1, reasons=("branch-on-tensor",))
def branch_on_tensor():
    def f(x):
        y = x * 2
        if y.sum() > 3:
            return y - 1
        return y + 1

    return {"f": f, "args": x1}


@case(graphs=3, captures=3, breaks=1, reasons=("branch-on-tensor",))
def branch_on_tensor_both_ways():
    numbers = itertools.cycle([1.0, -1.0, 1.0])

    def f(x):
        y = x * 2
        if y.sum() > 0:
            z = y + 1
        else:
            z = y - 1
        return z * 2

    return {"f": f, "args": lambda: (t([next(numbers)]),)}


@case()
def loop_is_unrolled():
    def f(x):
        for i in range(10):
            if i == 2:
                continue
            if i == 5:
                break
            x = x + i
        else:
            x = x * 1000
        return x

    return {"f": f, "args": x1}


@case()
def while_loop():
    def f(x, n):
        total = 0
        while n:
            x = x * 2
            n -= 1
            total += n
        else:
            x = x + 1
        return x, total

    return {"f": f, "args": lambda: (t([1.0]), 4)}


@case(graphs=4, captures=4, breaks=3, reasons=("builtin-with-output",))
def break_in_a_for_loop():
    def f(x):
        for i in range(5):
            x = x + i
            print("step", i)
        return x * 2

    return {"f": f, "args": x1}


@case(graphs=6, captures=6, breaks=5, reasons=("builtin-with-output",))
def break_in_nested_loops():
    def f(x):
        for i in range(2):
            for j in range(3):
                x = x + i * j
                print(i, j)
            x = x * 2
        return x

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=("tensor-to-host",))
def item_in_a_while_loop():
    def f(x):
        n = 0
        while x.item() < 20:
            x = x * 2
            n += 1
        return x, n

    return {"f": f, "args": lambda: (t(1.0),)}


@case(graphs=2, captures=3, breaks=2, reasons=("builtin-with-output",))
def loop_over_a_dict_with_breaks():
    def f(x, table):
        for key, value in table.items():
            print(key)
            x = x * value
        return x

    return {"f": f, "args": lambda: (t([1.0]), {"a": 2, "b": 3})}


@case(graphs=3, captures=3, breaks=2, reasons=("builtin-with-output",))
def breaks_two_calls_deep():
    def leaf(x, n):
        y = x * n
        print("leaf", n)
        return y + 1

    def middle(x, n):
        z = leaf(x, n) * 2
        return z + leaf(z, n + 1)

    def f(x):
        a = x + 1
        b = middle(a, 2)
        return a + b

    return {"f": f, "args": x1}


@case(graphs=3, captures=4, breaks=3, reasons=("builtin-with-output",))
def break_in_an_argument():
    def speak(n):
        print("speak", n)
        return n

    def f(x):
        return toy.add(x * speak(2), x + speak(3)) + [x, speak(4), x][1]

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=("builtin-with-output",))
def break_in_a_comprehension():
    def f(x):
        def shown(i):
            print("item", i)
            return i

        return [x * shown(i) for i in range(3)]

    return {"f": f, "args": x1}


@case(graphs=4, captures=4, breaks=3, reasons=("branch-on-tensor",))
def branch_on_tensor_in_a_call():
    def clip(x):
        if x.sum() > 10:
            return x * 0.5
        return x

    def f(x):
        for _ in range(3):
            x = clip(x * 3)
        return x + 1

    return {"f": f, "args": x1}


@case(graphs=3, captures=4, breaks=3, reasons=("branch-on-tensor",))
def and_or_of_tensors():
    def f(x, y):
        a = x.sum() > 0 and y.sum() > 0
        b = x.sum() > 100 or y
        return a, b * 2, not x.sum()

    return {"f": f, "args": lambda: (t([1.0]), t([2.0]))}


@case(graphs=None, captures=None, breaks=None, reasons=("branch-on-tensor", "tensor-to-host", "tensor-to-scalar"))
def bool_float_int_of_tensors():
    def f(x):
        y = x * 2
        return float(y) + 1, int(y) + 1, bool(y), y.item(), y.tolist(), x * float(y)

    return {"f": f, "args": lambda: (t([1.5]),)}


@case(graphs=2, captures=4, breaks=3, reasons=("builtin-with-output", "tensor-to-host"))
def printed_tensors():
    def f(x):
        y = x + 1
        print(y, f"{y}")
        toy.show(y * 2)
        return y

    return {"f": f, "args": x1}


@case()
def asserts():
    def f(x, n):
        assert n > 1, "small"
        assert x.ndim == 1
        return x * n

    return {"f": f, "args": lambda: (t([1.0]), 2)}


@case(graphs=2, captures=3, breaks=2, reasons=("builtin-with-output",))
def stack_across_a_break():
    def f(x):
        return [x, x * 2, (x + 1, print("mid"), {"k": x - 1})], f"{print('again')}{x.ndim}"

    return {"f": f, "args": x1}


@case(graphs=0, captures=None, breaks=None, fallbacks=None, reasons=None)
def unbound_local_across_a_break():
    def f(x, flag):
        if flag:
            y = x * 2
        print("break")
        try:
            return y
        except UnboundLocalError:
            return x

    return {"f": f, "args": lambda: (t([1.0]), False)}


@case(captures=2, breaks=1, reasons=("builtin-with-output",))
def delete_local():
    def f(x):
        y = x * 2
        z = y + 1
        del y
        print("break")
        return z

    return {"f": f, "args": x1}


@case()
def walrus():
    def f(x):
        if (n := len(x)) > 1:
            return x * n
        return x

    return {"f": f, "args": x1}
