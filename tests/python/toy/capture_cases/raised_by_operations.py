"""What operations of builtin values raise is a value of the simulation: a handler goes on with it in one graph, and finds the
class, the arguments, what it says of name and object, and the line that plain Python gives it.

Each of the operations meets each of the values that it refuses, as an argument of the frame and made in it; what plain Python
lets pass is left out.
"""

import collections
import itertools
import math
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


class Plain:
    known = 1

    def method(self, a):
        return a


class Slots:
    __slots__ = ("a",)


class ReadOnly:
    @property
    def p(self):
        return 1


class Index:
    def __index__(self):
        return 1


def function(a, b=2):
    return a


VALUES = {
    "none": lambda: None,
    "int": lambda: 3,
    "float": lambda: 1.5,
    "text": lambda: "ab",
    "bytes": lambda: b"ab",
    "list": lambda: [1, 2],
    "tuple": lambda: (1, 2),
    "dict": lambda: {"a": 1},
    "set": lambda: {1, 2},
    "range": lambda: range(3),
    "object": object,
    "instance": Plain,
    "slots": Slots,
    "read_only": ReadOnly,
    "class": lambda: int,
    "own_class": lambda: Plain,
    "function": lambda: function,
    "builtin": lambda: len,
    "module": lambda: math,
    "method": lambda: Plain().method,
    "exception": lambda: ValueError("x"),
}

OPERATIONS = {
    "added_to_an_int": "value + 1",
    "added_to_a_list": "[] + value",
    "added_to_none": "value + None",
    "less_than_none": "value < None",
    "negative": "-value",
    "called": "value(1, 2, 3, 4)",
    "called_by_a_keyword": "value(other=1)",
    "unpacked": "first, second, third = value",
    "unpacked_with_rest": "first, second, third, *rest = value",
    "walked": "[item for item in value]",
    "spread": "function(*value)",
    "spread_by_name": "function(**value)",
    "asked_for_an_item": "value['missing']",
    "asked_for_a_late_item": "value[99]",
    "asked_for_a_list": "value[[]]",
    "asked_for_an_attribute": "value.missing",
    "asked_for_a_method": "value.missing()",
    "its_item_written": "value[99] = 1",
    "its_attribute_written": "value.missing = 1",
    "its_property_written": "value.p = 1",
    "its_attribute_deleted": "del value.missing",
    "its_item_deleted": "del value[99]",
    "searched": "[] in value",
    "entered": "with value: pass",
    "raised": "raise value",
    "a_cause": "raise ValueError from value",
    "formatted": "'%d' % value",
    "formatted_by_a_spec": "f'{value:zz}'",
    "converted": "int(value)",
    "measured": "len(value)",
    "sorted": "sorted(value)",
    "joined": "','.join(value)",
    "its_root": "math.sqrt(value)",
    "the_next": "next(value)",
    "an_index": "[1][value]",
    "hashed": "{value: 1}[0]",
}

# Open: what is asked for `keys` first, what refuses writes by its own C code, and members of a set that are no constants.
OPEN = {
    "spread_by_name": ("object", "instance", "slots", "read_only", "own_class", "function", "builtin", "module", "method", "exception"),
    "its_attribute_written": ("builtin", "method", "own_class"),
    "its_property_written": ("builtin", "method", "own_class"),
    "its_attribute_deleted": ("builtin", "method", "own_class", "function", "module", "exception", "instance", "read_only"),
    "its_item_deleted": tuple(VALUES),
    "hashed": ("method", "exception"),
    "less_than_none": ("method",),
}

# Calls of builtins: C may ask an argument for what no operator asks, or know it by a kind of its own. So only what stands for
# itself is known to be refused: constants, containers of the builtin types themselves, and builtins that compute.
CALLS = ("converted", "measured", "sorted", "joined", "its_root", "the_next")


def stands_for_itself(value):
    return type(value) in (type(None), int, float, str, bytes, list, tuple, dict, set, range) or value in (int, len)


def refuse(value, statement):
    """Whether plain Python refuses it."""
    try:
        exec(statement, {"value": value, "function": function, "math": math})
    except Exception:
        return True
    return False


def of_value(operation, statement, name, make):
    source = f"""
def f(x, value):
    y = x + 1
    try:
        {statement}
    except Exception as error:
        return y * 2, type(error), str(error), error.args, error
"""

    def build():
        world = {"function": function, "math": math}
        exec(compile(source, f"<capture_cases of {operation}>", "exec"), world)
        return {"f": world["f"], "args": lambda: (t([1.0]), make()), "watch": tuple}

    build.__name__ = f"{operation}_{name}"
    breaks = None if name in OPEN.get(operation, ()) else 0
    if operation in CALLS and not stands_for_itself(make()):
        breaks = 1
    if (3, 9) <= sys.version_info < (3, 11) and operation.startswith("called") and name in ("function", "method"):
        # Open: 3.10 stops where the arguments do not fit.
        breaks = None
    case(graphs=None, captures=None, breaks=breaks, fallbacks=0, reasons=None)(build)


for operation, statement in OPERATIONS.items():
    for name, make in VALUES.items():
        if refuse(make(), statement):
            of_value(operation, statement, name, make)


# What it says, in full: each of these raises, in its own frame, in a callee, and where nobody handles it.
STATEMENTS = {
    "division": "1 // 0",
    "power": "2.0 ** 10000",
    "shift": "1 << -1",
    "domain": "math.log(0)",
    "empty_step": "range(0, 1, 0)",
    "no_number": "int('x')",
    "no_character": "chr(-1)",
    "no_bytes": "bytes([300])",
    "undecodable": r"b'\xff'.decode()",
    "unencodable": "'\u00e9'.encode('ascii')",
    "removed": "[1].remove(9)",
    "searched_in_a_list": "[1].index(9)",
    "searched_in_a_tuple": "(1,).index(9)",
    "searched_in_a_text": "'a'.index('b')",
    "popped": "[].pop()",
    "taken_from_a_set": "set().pop()",
    "removed_from_a_set": "{1}.remove(9)",
    "taken_from_a_dict": "{}.popitem()",
    "missing_key": "{}['k']",
    "nothing_of": "max([])",
    "mixed": "sorted([1, 'a'])",
    "mixed_sum": "sum(['a'])",
    "exhausted": "next(iter([]))",
    "missing_name": "nothing_of_that_name",
    "missing_in_module": "math.nothing",
    "import_from": "from math import nothing",
    "too_few": "function()",
    "too_many": "function(1, 2, 3)",
    "unexpected": "function(1, c=3)",
    "twice": "function(1, a=2)",
    "twice_by_name": "function(1, **{'b': 2}, **{'b': 3})",
    "lambda_keyword": "(lambda *, k: 0)()",
    "no_arguments": "Plain(1)",
    "method_arguments": "Plain().method()",
    "no_setter": "ReadOnly().p = 1",
    "no_deleter": "del ReadOnly().p",
    "no_slot": "Slots().b = 1",
    "no_dict": "object().b = 1",
    "read_only_method": "[].append = 1",
    "not_there": "del Plain().nothing",
    "of_a_builtin_type": "int.b = 1",
    "asserted": "assert not 1, (1, 2)",
    "format_code": "'%d' % 'x'",
    "format_index": "'{1}'.format(0)",
    "format_attribute": "'{0.nothing}'.format(0)",
    "dict_growing": "d = {1: 1}\n        for k in d: d[2] = 2",
    "dict_shrinking": "d = {1: 1, 2: 2}\n        for k in d: del d[k]",
    "set_growing": "d = {1}\n        for k in d: d.add(2)",
    "of_a_generator": "def g():\n            yield next(iter([]))\n        list(g())",
    "not_an_exception": "raise Odd",
    "index_by_code": "[1][Index()]",
}


class Odd(Exception):
    def __new__(cls):
        return 5


NAMES = {"Plain": Plain, "Slots": Slots, "ReadOnly": ReadOnly, "Index": Index, "Odd": Odd, "function": function, "math": math}


def of_statement(name, statement):
    def build():
        inner = f"""
def inner():
    if True:
        {statement}

def f(x):
    y = x + 1
    try:
        inner()
    except Exception as error:
        return y * 2, type(error), str(error), repr(error)
"""
        world = dict(NAMES)
        exec(compile(inner, f"<capture_cases of {name}>", "exec"), world)
        return {"f": world["f"], "args": lambda: (t([1.0]),)}

    build.__name__ = f"{name}_is_raised_in_a_callee"
    # A class whose `__new__` makes something else is called as Python does; what the error of a missing attribute says varies on 3.13.
    (open_case if name in ("not_an_exception", "not_there") else case())(build)

    def build():
        source = f"""
def f(x):
    y = x + 1
    try:
        {statement}
    except Exception as error:
        told = [getattr(error, part, "-") for part in ("name", "value", "start", "reason")]
        return y * 2, error, told
"""
        world = dict(NAMES)
        exec(compile(source, f"<capture_cases of {name}>", "exec"), world)
        return {"f": world["f"], "args": lambda: (t([1.0]),)}

    build.__name__ = f"{name}_is_raised"
    open_case(build)

    def build():
        source = f"""
def f(x):
    y = x + 1
    if True:
        {statement}
    return y
"""
        world = dict(NAMES)
        exec(compile(source, f"<capture_cases of {name}>", "exec"), world)
        return {"f": world["f"], "args": lambda: (t([1.0]),)}

    build.__name__ = f"{name}_is_raised_and_nobody_handles_it"
    open_case(build)


for name, statement in STATEMENTS.items():
    of_statement(name, statement)


@case()
def items_by_an_index_of_code():
    def f(x):
        y = x + 1
        items, held = [1, 2, 3], collections.deque([1, 2])
        items[Index()] = 5
        got = items[Index()], (1, 2)[Index()], "ab"[Index()], held[Index()], range(9)[Index()]
        del items[Index()]
        return y, items, got

    return {"f": f, "args": lambda: (t([1.0]),)}


# What was looked at in vain, to find out what is raised, leaves no guard: other bytes are the same program.
@case(graphs=2, breaks=1, captures=2, reasons=("builtin",))
def nothing_is_raised():
    given = itertools.cycle([b"a", b"ab", b"abc"])

    def f(x, data):
        y = x + 1
        try:
            got = memoryview(data)
        except TypeError:
            return None
        return y * 2, got is None

    return {"f": f, "args": lambda: (t([1.0]), next(given))}


@case(graphs=None, breaks=0, fallbacks=0, captures=None)
def asked_first_or_forgiven_later():
    def f(x, table, thing):
        y = x * 2
        try:
            y = y + table["missing"]
        except KeyError as error:
            y = y + len(error.args[0])
        try:
            thing.extra = y
        except AttributeError:
            y = y + 10
        try:
            total = sum(table)
        except TypeError:
            total = len(table)
        return y + total, getattr(thing, "nothing", 5), next(iter(()), None)

    return {"f": f, "args": lambda: (t([1.0]), {"a": 1}, Slots()), "watch": tuple}


if sys.version_info >= (3, 10):
    # What AttributeError and NameError are about.
    @case()
    def told_of_name_and_object():
        def f(x, thing):
            y = x + 1
            told = []
            for ask in (lambda: thing.nothing, lambda: nothing_of_that_name, lambda: getattr(thing, "more")):  # noqa: F821
                try:
                    ask()
                except (AttributeError, NameError) as error:
                    told.append((error.name, getattr(error, "obj", None)))
            return y, told

        return {"f": f, "args": lambda: (t([1.0]), [1])}
