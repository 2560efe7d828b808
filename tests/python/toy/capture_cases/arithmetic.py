"""Numbers and tensors."""

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


def xy():
    return t([1.0, 2.0]), t([3.0, 4.0])


@case()
def operators():
    def f(x, y):
        return (x + y) * 2 - y / 4, -x, x**2, 3 * x, 1 - x, x < y, x == y, x >= y

    return {"f": f, "args": xy}


@case()
def methods_and_functions():
    def f(x, y):
        m = x.reshape([1, 2])
        return toy.relu(x - 1.5), toy.matmul(m, m.T), (m @ m.T).sum(), y.max(axis=0), y.exp().mean()

    return {"f": f, "args": xy}


@case()
def shapes_are_constants():
    def f(x):
        rows, columns = x.shape
        if x.ndim == 2 and rows < columns:
            return x.reshape([columns, -1]), x.extents, len(x)
        return x

    return {"f": f, "args": lambda: (t([[1.0, 2.0, 3.0]]),)}


@case()
def dtypes():
    def f(x):
        if x.dtype is toy.float64:
            return x.astype(toy.int64), x.dtype == toy.int64, x.dtype
        return x

    return {"f": f, "args": lambda: (t([1.5, 2.5]),)}


@case()
def python_numbers():
    def f(x, n, k):
        a = (n + k) * 3 % 7 - n // 2
        b = divmod(n, 3)
        c = n << 2 | 1
        return x * a + b[0] - c, a, b, c, not n, ~n, n**3, n / 4, round(2.567, 1), abs(-n), min(n, k, 2), max(n, k)

    return {"f": f, "args": lambda: (t([1.0]), 5, 3)}


@case()
def augmented_assignment_of_numbers():
    def f(x, n):
        n += 2
        n *= 3
        n -= 1
        n //= 2
        return x * n, n

    return {"f": f, "args": lambda: (t([1.0]), 5)}


@case()
def chained_comparison():
    def f(x, n):
        if 0 < n < 10:
            return x + n
        return x - n

    return {"f": f, "args": lambda: (t([1.0]), 5)}


@case()
def several_results():
    def f(x):
        low, high = x.split(2)
        return low * 2, high + low

    return {"f": f, "args": lambda: (t([1.0, 2.0, 3.0, 4.0]),)}


@case()
def dict_result():
    def f(x):
        found = toy.extrema(x)
        return found["high"] - found["low"]

    return {"f": f, "args": lambda: (t([1.0, 5.0, 3.0]),)}


@case()
def rows_and_slices():
    def f(x):
        total = x[0] + x[-1]
        for row in x:
            total = total + row
        return total, x[1:] * 2

    return {"f": f, "args": lambda: (t([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),)}


@case()
def python_method_of_tensors():
    def f(x):
        return x.sum_of_squares() + 1

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case()
def result_is_the_argument():
    def f(x, y):
        z = x + y
        return x, z, x

    return {"f": f, "args": xy}


@case()
def views():
    def f(x):
        y = x * 2
        return x.reshape([2, 2]), y, y[0]

    return {"f": f, "args": lambda: (t([1.0, 2.0, 3.0, 4.0]),)}


@case()
def new_tensors():
    def f(x):
        return toy.zeros([2]) + x, toy.tensor([1.0, 2.0]) * x, toy.concat([x, x])

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case(graphs=0, reasons=("no-tensor",))
def nothing_on_tensors():
    def f(n):
        return n * 2 + 1

    return {"f": f, "args": lambda: (4,)}


@case()
def fold_of_framework_questions():
    def f(x, n):
        if toy.is_tensor(x) and not toy.is_tensor(n) and toy.is_grad_enabled():
            return x * 2
        return x

    return {"f": f, "args": lambda: (t([1.0]), 3)}


@case()
def isinstance_of_tensors():
    def f(x):
        y = x + 1
        return y if isinstance(x, toy.Tensor) and isinstance(y, toy.Tensor) and not isinstance(y, list) else x

    return {"f": f, "args": lambda: (t([1.0]),)}


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def what_raises_names_the_operator():
    def plain(a, b):
        return [lambda: a + b, lambda: a - b, lambda: a**b, lambda: a @ b, lambda: a >> b, lambda: a // b, lambda: a | b]

    def add(a, b):
        a += b

    def subtract(a, b):
        a -= b

    def power(a, b):
        a **= b

    def matmul(a, b):
        a @= b

    def shift(a, b):
        a >>= b

    def divide(a, b):
        a //= b

    def f(x, log):
        for a, b in ((None, 2), ("a", 1), ((1,), None), (1, "b")):
            in_place = [lambda op=op: op(a, b) for op in (add, subtract, power, matmul, shift, divide)]
            for operation in plain(a, b) + in_place:
                try:
                    log.append(operation())
                except TypeError as error:
                    log.append(str(error))
        return x * 2

    return f
