"""Functions that are not simulated and look at the variables of their callers: they see the user's."""

from observe import open_case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
import sys

def look(depth=1):
    return dict(sys._getframe(depth).f_locals)

def names():
    found = []
    frame = sys._getframe(1)
    for _ in range(2):
        found.append((frame.f_code.co_name, sorted(frame.f_locals), frame.f_lineno))
        frame = frame.f_back
    return found

def caller_w():
    return sys._getframe(1).f_locals["w"]

def fmt(text):
    frame = sys._getframe(1)
    return text.format(**frame.f_locals)

def up():
    return sys._getframe(2).f_locals.get("z")

def setloc():
    sys._getframe(1).f_locals["w"] = 99

def below():
    return sys._getframe(2).f_locals["w"]

def by_another():
    return below()

for function in (look, names, caller_w, fmt, up, setloc, by_another):
    toy.disable(function)
"""

PROGRAMS = {
    "of_the_caller": """
def f(x):
    w = 5
    y = x + 1
    return caller_w(), y
""",
    "of_an_inlined_caller": """
def g(x):
    w = 6
    return caller_w()
def f(x):
    z = 7
    y = x + 1
    return g(x), y
""",
    "of_the_caller_s_caller": """
def g(x):
    w = 6
    r = up()
    return r
def f(x):
    z = 7
    y = x + 1
    return g(x), y
""",
    "formatted": """
def g(x):
    w = 6
    return fmt("{w} {x}")
def f(x):
    z = 7
    return g(3), x
""",
    "of_two": """
def g(x):
    w = 6
    return names()
def f(x):
    z = 7
    y = 8
    return g(x)
""",
    "behind_a_break": """
def f(x):
    w = 1
    toy.show(x)
    z = w + 1
    return names()[0]
""",
    "in_a_loop": """
def g(x):
    w = [x]
    for i in range(2):
        r = look()
    return sorted(r), r["w"] is w, r["i"]
def f(x):
    return g(x)
""",
    "of_a_method": """
class A:
    def m(self, x):
        v = 3
        return names()
def f(x):
    z = 7
    return A().m(x)
""",
    "of_a_comprehension": """
def f(x):
    w = 3
    q = [names() for i in range(2)]
    return q[-1]
""",
    "of_a_generator": """
def g():
    a = 1
    yield names()[0]
    b = 2
    yield names()[0]
def f(x):
    return list(g())
""",
    "written": """
def f(x):
    w = 3
    setloc()
    return w
""",
    "of_a_closure": """
def f(x):
    a = 1
    def g():
        b = a
        return names()
    return g()
""",
    "in_a_handler": """
def f(x):
    w = 3
    try:
        raise ValueError
    except ValueError:
        z = 9
        return names()[0]
""",
    "tensors": """
def f(x):
    w = x * 2
    v = w + 1
    return sorted(look()), look()["w"].tolist()
""",
    "by_another_function": """
def f(x):
    w = 5
    return by_another(), x + 1
""",
    "handed_on": """
def apply(function):
    return function()
toy.disable(apply)
def f(x):
    w = 5
    return apply(look_two), x + 1
def look_two():
    return sys._getframe(2).f_locals["w"]
""",
}


def looking(name, source):
    def build():
        world = world_of(name, WORLD + source)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),)}

    build.__name__ = name
    open_case(build)


for name, source in PROGRAMS.items():
    looking(f"variables_looked_at_{name}", source)
