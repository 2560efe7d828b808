"""Arrays that numpy makes of constants: what code around tensors reads of them is known, and new code makes those that are needed."""

import numpy as np
from observe import case, open_case
from toy_framework import toy

t = toy.tensor
speak = toy.disable(lambda *args: None)


def x1():
    return (t([1.0, 2.0]),)


def told(value):
    """What there is to an array."""
    return type(value).__name__, str(value.dtype), value.shape, value.tolist(), value.flags.writeable, value.base is None


def one_graph(f):
    def build():
        return {"f": f, "args": x1}

    build.__name__ = f.__name__
    case()(build)


def open_function(f):
    def build():
        return {"f": f, "args": x1}

    build.__name__ = f.__name__
    open_case(build)


@one_graph
def rates_of_layers(x):
    for rate in np.linspace(0, 0.5, 3):
        x = x * float(rate) + 1.0
    return x, [rate.item() for rate in np.linspace(0, 0.1, 4)]


@one_graph
def extents_of_arrays(x):
    table = np.zeros((2, 3), dtype=np.float32)
    said = table.shape, table.ndim, table.size, table.itemsize, table.nbytes, len(table), table.dtype.name, table.T.shape
    return x * table.shape[1], said, isinstance(table, np.ndarray), table.dtype == np.float32, type(table) is np.ndarray


@one_graph
def places_of_positions(x):
    inverse = 1.0 / (10000 ** (np.arange(0, 4, 2) / 4))
    low, high = inverse
    return x * float(inverse[1]), float(low), float(high), inverse.astype(np.float32).tolist(), int(np.cumsum([1, 2, 3])[-1])


@one_graph
def answers_of_arrays(x):
    a = np.array([[3, 1], [2, 4]])
    said = [a.sum(), a.mean(), a.max(axis=0).tolist(), a.argmax(), (a > 2).any(), (a > 0).all(), a[a > 1].tolist(), a[-1].tolist()]
    said += [a[0, 1], a[:, 1].tolist(), np.where(a > 2, a, 0).tolist(), np.stack([a, a]).shape, np.concatenate((a, a), axis=1).shape]
    said += [(-a).tolist(), (a // 2).tolist(), (2 - a).tolist(), abs(a - 3).tolist(), (a == None).tolist(), a is None]  # noqa: E711
    for index, row in enumerate(a):
        x = x + float(row[index])
    if a.size > 3 and a.max() == 4 and np.array([2]):
        x = x * 2.0
    return x, said, sum(np.arange(4)), list(np.arange(2)), max(*np.array([1, 5])), [*np.ones(1)]


@one_graph
def types_of_items(x):
    info = np.finfo(np.float32)
    said = [np.dtype("float32").name, np.dtype(np.int64).itemsize, np.dtype("int8").kind, np.dtype("bool") == np.bool_]
    return x * float(info.eps), float(np.finfo("float64").max), said, np.finfo(np.float32) is info, np.dtype(float) != "float32"


@one_graph
def arrays_that_are_given_back(x):
    items = [1, 2]
    a, b = np.array(items), np.full((2,), 3, dtype="int64")
    items.append(3)
    both = [a, b, np.asarray(a)]
    return x * 2.0, both, items, a * 2, both[2] is a


@open_function
def arrays_that_show_each_others_memory(x):
    a = np.zeros(4)
    b, c, d = a[1:], a.reshape(2, 2), a.T
    y = x * 2.0
    speak()
    a[2] = 5.0
    return y, told(a), told(b), told(c), told(d), b.base is a


@open_function
def arrays_that_change(x):
    a = np.ones(3)
    b = a
    a += 1
    np.add(a, 1, out=a)
    a.cumsum(0, None, a)
    b[0] = 7
    a.sort()
    a.fill(2) if a[0] > 100 else None
    a.shape = (3, 1)
    return x + float(a[0, 0]), told(a), a is b


@open_function
def arrays_that_change_under_a_loop(x):
    a, seen = np.arange(4), []
    for item in a:
        speak()
        a[3] = 9
        seen.append(int(item))
    walked = iter(np.arange(3))
    first = next(walked)
    speak()
    return x * 2.0, seen, int(first), [int(item) for item in walked], list(walked), type(walked).__name__


def refused(name, function):
    def f(x):
        a = np.array([1, 2])
        try:
            return x * 2.0, function(a)
        except (TypeError, ValueError, IndexError) as error:
            return x * 3.0, type(error).__name__, str(error)

    f.__name__ = "arrays_that_refuse_" + name
    open_function(f)


class Answers:
    def __radd__(self, other):
        return "added"

    def __eq__(self, other):
        return "equal"

    __hash__ = None


refused("hash", lambda a: hash(a))
refused("keys", lambda a: {a: 1})
refused("truth", lambda a: 1 if a else 2)
refused("truth_of_lists", lambda a: [a] == [a.copy()])
refused("membership", lambda a: (1 in a, 5 in a, a in [1, a]))
refused("an_index", lambda a: a[5])
refused("shapes", lambda a: a + np.zeros(3))
refused("division", lambda a: (a / 0).tolist())
refused("who_answers", lambda a: ((a + Answers()).tolist(), (a == Answers()).tolist()))
refused("attributes", lambda a: (hasattr(a, "other"), getattr(a, "other", 3), a.other))
refused("objects", lambda a: (np.array([a, None], dtype=object)[1], np.array(["a"])[0], np.array(3).item()))
refused("texts", lambda a: (str(a), repr(a), f"{a}", "%s" % a))


@case(breaks=1, graphs=0, captures=2, reasons=("tensor-to-host",))
def an_array_beside_a_tensor():
    def f(x):
        return np.array([1.0, 2.0])[0] + float(np.ones(2)[1]), x + np.array([1.0, 2.0])

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


# What numpy warns of is for the program's own line, at each call.
refused("a_cast_of_complex_numbers", lambda a: (np.array([1 + 2j]).astype(float)[0], a))
refused("a_mean_of_nothing", lambda a: (np.array([]).mean(), np.array([1.0]).std(ddof=2), a))
refused("unequal_shapes", lambda a: (a == np.array([1, 2, 3, 4, 5]), np.arange(3) == "a"))
