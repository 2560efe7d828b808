"""The canonical form of a state: what two runs of one program must have in common.

`describe(roots)` turns any objects into a tree of `Node`s. Objects with an identity are numbered in the order in which
they are met, over all roots together, so two states with equal trees also agree in which objects are one and the same.
Tensors keep their values as arrays (compared with a tolerance); nothing in the tree depends on addresses.
"""

import collections
import enum
import functools
import operator
import re
import types

import numpy as np
import paddle

ATOMS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)
ADDRESS = re.compile(r"0x[0-9a-f]+")
# Set by Paddle or by the translator on objects that mean the same.
IGNORED_LAYER_STATE = {"forward", "_full_name", "_helper", "_cast_to_low_precison"}


class Node:
    """`kind` and `items` are compared exactly, `array` with a tolerance."""

    __slots__ = ("kind", "items", "array")

    def __init__(self, kind, items=(), array=None):
        self.kind, self.items, self.array = kind, items, array


def describe(roots):
    """One tree for a dict of named roots."""
    return Describer().mapping("roots", roots)


def class_name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


class Describer:
    def __init__(self):
        self.numbers = {}
        self.keep = []

    def number(self, obj):
        """The object's number, and whether it was met before."""
        known = self.numbers.get(id(obj))
        if known is not None:
            return known, True
        self.keep.append(obj)
        self.numbers[id(obj)] = len(self.numbers)
        return self.numbers[id(obj)], False

    def mapping(self, kind, mapping):
        return Node(kind, [(str(key), self(value)) for key, value in mapping.items()])

    def attributes(self, obj):
        state = {}
        for cls in type(obj).__mro__:
            slots = cls.__dict__.get("__slots__", ())
            for name in [slots] if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__") and hasattr(obj, name):
                    state[name] = getattr(obj, name)
        state.update(getattr(obj, "__dict__", {}))
        if isinstance(obj, paddle.nn.Layer):
            state = {key: value for key, value in state.items() if key not in IGNORED_LAYER_STATE}
            for hooks in ("_forward_pre_hooks", "_forward_post_hooks"):  # their keys count up over the process
                state[hooks] = list(state[hooks].values())
        return [(name, self(value)) for name, value in state.items()]

    def __call__(self, obj):
        if type(obj).__name__ == "Entry" and type(obj).__module__.startswith("sot"):
            obj = obj.__wrapped__
        cls = type(obj)
        if cls in ATOMS:
            return Node(f"{cls.__name__} {obj!r}")
        if isinstance(obj, (types.ModuleType, types.BuiltinFunctionType, np.dtype, paddle.base.core.DataType)):
            return Node(f"{cls.__name__} {ADDRESS.sub('0x', str(obj))}")
        if isinstance(obj, enum.Enum):
            return Node(str(obj))
        number, again = self.number(obj)
        head = f"#{number} {class_name(cls)}"
        if again:
            return Node(head)
        return self.fresh(obj, cls, head)

    def fresh(self, obj, cls, head):
        if isinstance(obj, paddle.Tensor):
            return self.tensor(obj, head)
        if isinstance(obj, (np.ndarray, np.generic)):
            array = np.asarray(obj)
            return Node(f"{head} {array.dtype} {array.shape}", array=array)
        if isinstance(obj, types.FunctionType):
            return self.function(obj, head)
        if isinstance(obj, types.MethodType):
            return Node(head, [("function", self(obj.__func__)), ("self", self(obj.__self__))])
        if isinstance(obj, functools.partial):
            return Node(head, [(str(i), self(v)) for i, v in enumerate((obj.func, obj.args, obj.keywords))])
        if isinstance(obj, type):
            return self.class_object(obj, head)
        if isinstance(obj, types.CellType):
            try:
                return Node(head, [("contents", self(obj.cell_contents))])
            except ValueError:
                return Node(head + " empty")
        if isinstance(obj, BaseException):
            return Node(head, [("args", self(obj.args))])
        return Node(head, self.contents(obj) + self.attributes(obj))

    def contents(self, obj):
        if isinstance(obj, (list, tuple, collections.deque)):
            return [(f"[{i}]", self(item)) for i, item in enumerate(obj)]
        if isinstance(obj, (dict, types.MappingProxyType)):
            pairs = list(obj.items())
            return [(f"key {i}", self(key)) for i, (key, _) in enumerate(pairs)] + [
                (f"[{key!r}]" if type(key) in ATOMS else f"value {i}", self(value))
                for i, (key, value) in enumerate(pairs)
            ]
        if isinstance(obj, (set, frozenset)):
            return [(f"{{{i}}}", self(item)) for i, item in enumerate(sorted(obj, key=repr))]
        if isinstance(obj, (bytearray, memoryview)):
            return [("bytes", self(bytes(obj)))]
        if isinstance(obj, ATOMS):  # a subclass: the value, then its attributes
            base = next(base for base in type(obj).__mro__ if base in ATOMS)
            return [("value", Node(base.__repr__(obj)))]
        if hasattr(obj, "__next__"):
            return [("left", Node(str(operator.length_hint(obj, -1))))]
        return []

    def tensor(self, tensor, head):
        items = [("dtype", Node(str(tensor.dtype))), ("shape", Node(str(tensor.shape)))]
        items += [("stop_gradient", Node(str(tensor.stop_gradient))), ("leaf", Node(str(tensor.is_leaf)))]
        items += [("place", Node(str(tensor.place))), ("persistable", Node(str(tensor.persistable)))]
        grad = tensor.grad if tensor.is_leaf else None
        items.append(("grad", Node("None") if grad is None else Node("array", array=values(grad))))
        own = {k: v for k, v in getattr(tensor, "__dict__", {}).items() if not isinstance(tensor, paddle.base.framework.EagerParamBase)}
        items += [(name, self(value)) for name, value in own.items()]
        return Node(head, items, array=values(tensor))

    def function(self, fn, head):
        items = [("name", Node(fn.__qualname__)), ("defaults", self(fn.__defaults__)), ("kwdefaults", self(fn.__kwdefaults__))]
        if (fn.__module__ or "").startswith(("paddle", "numpy")):
            return Node(head, items)
        own = {k: v for k, v in fn.__dict__.items() if k != "__wrapped__"}
        items += [(name, self(value)) for name, value in own.items()]
        cells = zip(fn.__code__.co_freevars, fn.__closure__ or ())
        return Node(head, items + [(name, self(cell)) for name, cell in cells])

    def class_object(self, cls, head):
        if cls.__module__ != "snippet":
            return Node(f"class {class_name(cls)}")
        data = {
            name: value
            for name, value in vars(cls).items()
            if not name.startswith("__") and not callable(value) and not hasattr(value, "__get__")
        }
        return Node(f"{head} {class_name(cls)}", [(name, self(value)) for name, value in data.items()])


def values(tensor):
    tensor = tensor.detach()
    if tensor.dtype in (paddle.bfloat16, paddle.float16):
        tensor = tensor.astype("float32")
    return np.array(tensor.numpy())


def differences(left, right, path="", found=None, limit=6):
    """Places where two trees differ, as `path: left / right`."""
    found = [] if found is None else found
    if len(found) >= limit:
        return found
    if left.kind != right.kind:
        found.append(f"{path}: {left.kind} / {right.kind}")
        return found
    if (left.array is None) != (right.array is None):
        found.append(f"{path}: value / no value")
    elif left.array is not None and not close(left.array, right.array):
        found.append(f"{path}: {short(left.array)} / {short(right.array)}")
    names = [name for name, _ in left.items], [name for name, _ in right.items]
    if names[0] != names[1]:
        found.append(f"{path}: has {names[0]} / {names[1]}")
        return found
    for (name, a), (_, b) in zip(left.items, right.items):
        differences(a, b, f"{path}.{name}" if path else name, found, limit)
    return found


def close(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "fc":
        return np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
    return np.array_equal(a, b)


def short(array):
    return " ".join(np.array2string(array.ravel()[:8], precision=6).split())
