"""What plain Python lets pass does not raise, however little the machine knows of it: C knows values by kinds of its own, and asks
for special methods that no operator has.

Each operation meets each of the values that it does not refuse, where a handler would see what it raised.
"""

import _thread
import functools
import io
import itertools
import math
import operator
import sys
import types
import weakref

from observe import open_case
from toy_framework import toy

t = toy.tensor

NAMES = {
    "functools": functools, "itertools": itertools, "math": math, "operator": operator, "types": types, "weakref": weakref,
    "io": io, "sys": sys,
}  # fmt: skip


class Plain:
    pass


class Answers:
    """Has what builtins ask for, and operators do not."""

    def __floor__(self):
        return 3

    def __ceil__(self):
        return 4

    def __trunc__(self):
        return 5

    def __index__(self):
        return 1

    def __float__(self):
        return 1.5

    def __complex__(self):
        return 1j

    def __bytes__(self):
        return b"x"

    def __reversed__(self):
        return iter("ba")

    def __length_hint__(self):
        return 2

    def __iter__(self):
        return iter([1, 2])

    def __divmod__(self, other):
        return (1, 2)

    def __rdivmod__(self, other):
        return (3, 4)

    def __round__(self, digits=0):
        return 7

    def __fspath__(self):
        return "path"

    def __instancecheck__(self, other):
        return True

    def __subclasscheck__(self, other):
        return True

    def __mro_entries__(self, bases):
        return (Plain,)

    def __sizeof__(self):
        return 100

    def __contains__(self, other):
        return True

    def __copy__(self):
        return self

    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        if key == "a":
            return 1
        raise IndexError(key)


class Meta(type):
    def __getitem__(cls, key):
        return key

    def __iter__(cls):
        return iter([1])

    def __len__(cls):
        return 2

    def __contains__(cls, other):
        return True

    def __add__(cls, other):
        return "added"

    def __radd__(cls, other):
        return "added from the right"


class WithMeta(metaclass=Meta):
    pass


class Generic:
    def __class_getitem__(cls, key):
        return key


class Words(str):
    pass


class Numbers(list):
    pass


class Raw(bytes):
    pass


def closed(a):
    def inner():
        return a

    return inner


def traceback_of():
    try:
        raise ValueError("x")
    except ValueError as error:
        return error.__traceback__


def generator():
    yield 1


def buffer_of_python():
    class Buffer:
        def __buffer__(self, flags):
            return memoryview(b"xy")

    return Buffer()


VALUES = {
    "cell": lambda: closed(1).__closure__[0],
    "traceback": traceback_of,
    "frame": lambda: traceback_of().tb_frame,
    "code": lambda: closed.__code__,
    "function": lambda: closed,
    "closure": lambda: closed(1),
    "method": lambda: io.StringIO("a").read,
    "type": lambda: int,
    "class": lambda: Plain,
    "class_of_a_metaclass": lambda: WithMeta,
    "generic": lambda: Generic,
    "exception_class": lambda: ValueError,
    "exception": lambda: ValueError("x"),
    "generator": generator,
    "weak_reference": lambda: weakref.ref(Plain),
    "proxy": lambda: weakref.proxy(held),
    "memory": lambda: memoryview(b"ab"),
    "bytearray": lambda: bytearray(b"ab"),
    "property": lambda: property(len),
    "static": lambda: staticmethod(len),
    "partial": lambda: functools.partial(int, "1"),
    "module": lambda: math,
    "mapping": lambda: types.MappingProxyType({"a": 1}),
    "namespace": lambda: types.SimpleNamespace(a=1),
    "lock": _thread.allocate_lock,
    "stream": lambda: io.StringIO("a\nb"),
    "counted": itertools.count,
    "getter": lambda: operator.itemgetter(0),
    "answers": Answers,
    "instance": Plain,
    "words": lambda: Words("ab"),
    "numbers": lambda: Numbers([1, 2]),
    "raw": lambda: Raw(b"ab"),
    "buffer_of_python": buffer_of_python,
    "odd_number": lambda: True,
    "union": lambda: (int, (str, list)),
}
held = Answers()

STATEMENTS = {
    # Operators.
    "added_to_bytes": "got = b'a' + value",
    "added_to_a_text": "got = 'a' + value",
    "added_to_a_list": "got = [] + value",
    "extends_a_list": "got = []; got += value",
    "added_to_an_int": "got = 1 + value",
    "or_none": "got = value | None",
    "or_a_type": "got = int | value",
    "compared": "got = value == 1",
    "formatted_as_bytes": "got = b'%b' % value",
    "formatted_as_a_number": "got = '%d %f' % (value, value)",
    "formatted_as_text": "got = ('%s' % value)[:1]",
    "by_a_key_of_it": "got = '%(a)s' % value",
    "found_in_bytes": "got = value in b'abc'",
    "searched": "got = 1 in value",
    "an_index": "got = [1, 2][value]",
    "a_bound": "got = [1, 2][:value]",
    "sliced_into": "got = [1]; got[:] = value",
    "repeats": "got = [1] * value",
    "subscripted": "got = value[0]",
    "entered": "with value: got = 1",
    "spread": "got = [*value]",
    "spread_by_name": "got = {**value}",
    "unpacked": "[*got] = value",
    "a_cause": "got = 1\n        try: raise KeyError from value\n        except KeyError: pass",
    "iterated": "got = [item for item in value]",
    "a_member": "got = len({value})",
    # Calls.
    "floor": "got = math.floor(value)",
    "ceil": "got = math.ceil(value)",
    "trunc": "got = math.trunc(value)",
    "root": "got = math.sqrt(value)",
    "int": "got = int(value)",
    "float": "got = float(value)",
    "complex": "got = complex(value)",
    "bytes": "got = bytes(value)",
    "text_of_bytes": "got = str(value, 'ascii')",
    "joined_bytes": "got = b'-'.join([value, value])",
    "joined": "got = '-'.join([value, value])",
    "memory_of": "got = bytes(memoryview(value))",
    "array_of": "got = bytearray(value)",
    "length": "got = len(value)",
    "list": "got = list(value)",
    "dict": "got = dict(value)",
    "sum": "got = sum(value)",
    "sorted": "got = sorted(value)",
    "reversed": "got = list(reversed(value))",
    "enumerated": "got = list(enumerate(value))",
    "zipped": "got = list(zip(value, [1]))",
    "next": "got = next(value)",
    "iter_until": "got = iter(value, 1) is None",
    "hint": "got = operator.length_hint(value)",
    "as_index": "got = operator.index(value)",
    "divmod": "got = divmod(value, 3)",
    "divmod_of": "got = divmod(3, value)",
    "rounded": "got = round(value)",
    "character": "got = chr(value)",
    "hexadecimal": "got = hex(value)",
    "instance_of": "got = isinstance(1, value)",
    "subclass_of": "got = issubclass(bool, value)",
    "subclass": "got = issubclass(value, object)",
    "in_a_family": "got = isinstance(1, (str, (value,)))",
    "a_class": "got = type('C', (value,), {}).__name__",
    "a_class_with": "got = type('C', (), {'a': value}).__name__",
    "a_function": "got = types.FunctionType(closed.__code__, {}, 'f', None, value) is None",
    "a_function_of_code": "got = types.FunctionType(value, {}).__name__",
    "a_closure": "got = types.FunctionType(closed(1).__code__, {}, 'f', None, (value,))()",
    "a_method": "got = types.MethodType(value, 1) is None",
    "a_property": "got = property(value) is None",
    "a_partial": "got = functools.partial(value) is None",
    "a_getter": "got = operator.attrgetter('__class__')(value) is None",
    "a_weak_reference": "got = weakref.ref(value) is None",
    "an_exception": "got = ValueError(value).args[0] is value",
    "with_traceback": "got = ValueError().with_traceback(value).args",
    "a_mapping": "got = len(types.MappingProxyType(value))",
    "chained": "got = list(itertools.chain(value, [1]))",
    "chained_of": "got = list(itertools.chain.from_iterable([value]))",
    "repeated": "got = list(itertools.repeat(1, value))",
    "sliced": "got = list(itertools.islice([1, 2, 3], value))",
    "teed": "got = len(itertools.tee(value))",
    "reduced": "got = functools.reduce(max, value)",
    "mapped": "got = len(list(map(str, value)))",
    "called_for": "got = len(list(map(value, [])))",
    "filtered": "got = list(filter(value, []))",
    "by_key": "got = sorted([1], key=value)",
    "callable": "got = callable(value)",
    "a_range": "got = range(value)",
    "a_slice": "got = slice(value).indices(3)",
    "starts": "got = 'ab'.startswith(value)",
    "translated": "got = 'ab'.translate(value)",
    "replaced": "got = b'ab'.replace(value, b'')",
    "updated": "got = {}; got.update(value)",
    "of_keys": "got = dict.fromkeys(value, 1)",
    "extended": "got = []; got.extend(value)",
    "joined_set": "got = len(set().union(value))",
    "by_number": "got = [1, 2].pop(value)",
    "power": "got = pow(2, value)",
    "super_of": "got = super(int, value) is None",
    "a_static": "got = staticmethod(value) is None",
    "object_of": "got = object.__new__(value) is None",
    "attribute_of": "got = getattr(value, '__name__', 'none')",
    "set_attribute_of": "setattr(value, 'extra', 1); got = value.extra",
    "namespace_of": "got = types.SimpleNamespace(**value).a",
    "spread_in_a_call": "got = max(*value, 0, 0)",
    "module_of": "got = types.ModuleType(value).__name__",
    "read": "got = io.BytesIO(value).read()",
}

if sys.version_info >= (3, 11):
    STATEMENTS["a_group"] = "got = len(BaseExceptionGroup('g', [value]).exceptions)"
    STATEMENTS["a_group_of"] = "got = len(BaseExceptionGroup('g', value).exceptions)"

ENDLESS = {"counted": (
    "list", "sum", "sorted", "enumerated", "iterated", "spread", "unpacked", "extends_a_list", "sliced_into", "chained",
    "chained_of", "reduced", "mapped", "extended", "joined_set", "of_keys", "array_of", "bytes", "searched", "updated", "dict",
    "spread_in_a_call", "joined",
)}  # fmt: skip


def passes(make, statement):
    """Whether plain Python lets it pass."""
    try:
        exec(statement.replace("\n        ", "\n"), {**NAMES, "closed": closed, "value": make()})
    except Exception:
        return False
    return True


def of_value(name, statement, kind, make):
    source = f"""
def f(x, value):
    y = x + 1
    try:
        {statement}
    except Exception as error:
        return y * 2, "raised", str(error)
    return y * 3, got if type(got) in (int, float, complex, str, bytes, bool, tuple, list) else type(got).__name__
"""

    def build():
        world = {**NAMES, "closed": closed}
        exec(compile(source, f"<capture_cases of {name}>", "exec"), world)
        return {"f": world["f"], "args": lambda: (t([1.0]), make())}

    build.__name__ = f"{name}_lets_pass_{kind}"
    open_case(build)


for name, statement in STATEMENTS.items():
    for kind, make in VALUES.items():
        if name not in ENDLESS.get(kind, ()) and passes(make, statement):
            of_value(name, statement, kind, make)


# A class that has no method for an operator may be given one between two calls.
OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and": "&", "xor": "^", "or": "|",
}  # fmt: skip
GIVEN = {}
for name, sign in OPERATORS.items():
    GIVEN[f"__{name}__"] = f"got = value {sign} None"
    GIVEN[f"__r{name}__"] = f"got = None {sign} value"
    GIVEN[f"__i{name}__"] = f"value {sign}= None; got = value"
for name, sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    GIVEN[f"__{name}__"] = f"got = value {sign} None"
    GIVEN[f"__{name}__ "] = f"got = [] {dict(lt='>', le='>=', gt='<', ge='<=')[name]} value"
GIVEN.update({
    "__neg__": "got = -value",
    "__pos__": "got = +value",
    "__invert__": "got = ~value",
    "__contains__": "got = 1 in value",
    "__iter__": "got = [*value]",
    "__iter__ ": "got = 1 in value",
    "__iter__  ": "a, b = value; got = a",
    "__getitem__": "got = value[0]",
    "__getitem__ ": "got = value[0:1]",
    "__setitem__": "value[0] = 1; got = 2",
    "__delitem__": "del value[0]; got = 2",
    "__index__": "got = [1, 2][value]",
    "__index__ ": "got = [1, 2][:value]",
    "__index__  ": "got = '%x' % value",
    "__int__": "got = '%d' % value",
    "__float__": "got = '%f' % value",
    "__bytes__": "got = b'%b' % value",
    "__call__": "got = value()",
    "__call__ ": "got = value(1, a=2)",
})  # fmt: skip
if sys.version_info >= (3, 12):
    GIVEN["__buffer__"] = "got = b'a' + value"
ANSWERS = {
    "__iter__": lambda self: iter([1, 2]),
    "__index__": lambda self: 1,
    "__int__": lambda self: 1,
    "__float__": lambda self: 1.5,
    "__bytes__": lambda self: b"x",
    "__buffer__": lambda self, flags: memoryview(b"xy"),
}


def of_method(number, method, statement):
    source = f"""
def f(x, value):
    y = x + 1
    try:
        {statement}
    except TypeError as error:
        return y * 2, str(error)
    return y * 3, got
"""

    def build():
        class Given:
            pass

        world, calls = {}, iter(range(9))
        exec(compile(source, f"<capture_cases of {method}>", "exec"), world)

        def args():
            if next(calls) == 1:
                setattr(Given, method.strip(), ANSWERS.get(method.strip(), lambda *args, **kwargs: "given"))
            return t([1.0]), Given()

        return {"f": world["f"], "args": args}

    build.__name__ = f"{method.strip().strip('_')}_is_given_to_a_class_{number}"
    open_case(build)


for number, (method, statement) in enumerate(GIVEN.items()):
    of_method(number, method, statement)
