"""Globals that a function deletes: its own, another module's, and those that a builtin stands behind."""

import types

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def module(text, **names):
    made = types.ModuleType("made")
    made.__dict__.update(t=t, **names)
    exec(compile(text, __file__, "exec"), made.__dict__)
    return made


def world(text, args=lambda: (t([1.0]),), **names):
    """`f` of a module of its own, of which the plain names are watched."""
    made = module(text, **names)

    def watch():
        plain = (int, str, list, toy.Tensor)
        return [(name, value) for name, value in vars(made).items() if isinstance(value, plain) and name[0] != "_"]

    return {"f": made.f, "args": args, "watch": watch}


@case()
def made_and_deleted():
    return world("def f(x):\n    global a\n    a = x * 2\n    b = a + 1\n    del a\n    return b\n")


@case()
def there_before():
    return world("def f(x):\n    global a\n    b = x * a\n    del a\n    a = 3\n    return b\n", a=3)


@case(graphs=None, captures=2)
def it_stays_away():
    text = """
def f(x):
    global a
    try:
        del a
    except NameError as error:
        return x + 1, str(error)
    return x
"""
    return world(text, a=3)


@case()
def twice_and_read():
    text = """
def f(x):
    global a
    said = []
    a = x
    del a
    for again in range(2):
        try:
            if again:
                del a
            a
        except NameError as error:
            said.append(str(error))
    a = 5
    return x * a, said
"""
    return world(text)


@case()
def a_builtin_is_behind_it():
    return world("def f(x):\n    global len\n    len = 3\n    y = x * len\n    del len\n    return y, len('ab')\n")


@case()
def of_another_module():
    other = module("def drop():\n    global z\n    del z\ndef put(v):\n    global z\n    z = v\ndef get():\n    return z\n")
    text = """
def f(x):
    other.put(x)
    y = other.get() + other.z
    other.drop()
    there = hasattr(other, 'z')
    try:
        other.get()
    except NameError as error:
        said = str(error)
    return y, there, said
"""
    return {**world(text, other=other), "watch": lambda: sorted(vars(other))}


@open_case
def breaks_in_between():
    text = """
def f(x):
    global a, b
    a = b = x * 2
    print('made')
    y = a + 1
    del a
    print('a' in globals(), 'b' in globals())
    try:
        a
    except NameError as error:
        print(error)
    del b
    return y * 2
"""
    return world(text)


@open_case
def an_exception_leaves_the_function_behind_it():
    return world("def f(x):\n    global a\n    a = x\n    del a\n    return a + 1\n")


@open_case
def what_dies_with_it_is_heard():
    text = """
class Loud:
    def __del__(self):
        print('gone')
def f(x):
    global a
    a = Loud()
    print('made')
    del a
    print('deleted')
    return x + 1
"""
    return world(text)
