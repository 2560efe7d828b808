"""What looks at the names of the frame that calls it: locals, vars, dir, eval and exec."""

from doors import opaque
from observe import case, open_case
from toy_framework import toy

t = toy.tensor
outside = 10


def x1():
    return (t([1.0, 2.0]),)


@case()
def locals_of_a_function():
    def f(x, scale=2, *rest, **more):
        y = x * scale
        if scale == 3:
            unbound = 1  # noqa: F841
        gone = 4
        del gone
        names = locals()
        return list(names), names["y"] + 1, names["rest"], names

    return {"f": f, "args": lambda: (t([1.0]), 2, 3), "kwargs": lambda: {"a": 1}}


@case()
def locals_with_cells():
    def make(free):
        def f(x, argument):
            def inner():
                return argument, mine, free, later

            mine = 3
            names = locals()
            later = 5
            return x + names["mine"], list(names), inner(), names["free"]

        return f

    return {"f": make(7), "args": lambda: (t([1.0]), 2)}


@case()
def names_of_a_function():
    def f(x, b=1, a=2):
        y = x + 1
        later = lambda: y  # noqa: E731
        return y, dir(), later()

    return {"f": f, "args": x1}


@case()
def locals_as_arguments():
    def told(**names):
        return len(names), names["size"]

    def f(x, name="n", size=3):
        return x + 1, told(**locals())

    return {"f": f, "args": x1}


@case()
def locals_of_an_inlined_function():
    def inner(y, k):
        z = y * k
        return vars()

    def f(x):
        names = inner(x, 3)
        return names["z"] + names["k"], list(names)

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin",))
def eval_that_reads_locals():
    def f(x):
        a, b = 2, x * 3
        total = eval("a + len(str(outside))")
        return b + total

    return {"f": f, "args": x1}


@open_case
def eval_of_tensors_behind_a_break():
    def f(x):
        dead = x * 5  # noqa: F841
        print("spoken")
        y = x + 1
        made = eval("dead + y")
        again = eval("made * 2")
        return made, again, eval("[n for n in (1, 2)]")

    return {"f": f, "args": x1}


@open_case
def eval_that_fails():
    def f(x):
        y = x + 1
        try:
            eval("nothing + 1")
        except NameError as error:
            return y, str(error)

    return {"f": f, "args": x1}


@open_case
def exec_that_is_not_written_back():
    def f(x):
        a = 1
        exec("a = 2; made = 3; print(a, sorted(k for k in dir()))")
        return x + a

    return {"f": f, "args": x1}


@open_case
def exec_and_who_asks_for_what_it_wrote():
    def f(x):
        a = 1
        exec("made = a + 41")
        names = locals()
        return x + a, names.get("made")

    return {"f": f, "args": x1}


@case()
def locals_again_and_again():
    def f(x):
        first = locals()
        y = x + 1
        second = locals()
        return y, sorted(first), sorted(second), first is second

    return {"f": f, "args": x1}


@case()
def locals_in_a_loop():
    def f(x):
        seen = []
        for i in range(3):
            seen.append(len(locals()))
            x = x + i
        return x, seen

    return {"f": f, "args": x1}


@open_case
def eval_with_names_of_its_own():
    def f(x):
        a = 1
        given = {"a": 5}
        found = eval("a + 1", given), eval("a + outside", None, {"a": 7}), eval("a", {}, {"a": 9})
        return x + a, found, sorted(given)

    return {"f": f, "args": x1}


@open_case
def eval_under_another_name():
    def f(x):
        a = 1
        look = eval
        look("(b := a + 1)")
        return x + a, look("a"), [look(text) for text in ("1", "2")]

    return {"f": f, "args": x1}


@open_case
def names_in_comprehensions_and_generators():
    def f(x):
        a = 1
        inside = [sorted(locals()) for i in range(2)]

        def items():
            k = 3
            yield sorted(locals())
            yield k

        return x + a, inside, list(items())

    return {"f": f, "args": x1}


@open_case
def variables_of_objects():
    class Box:
        def __init__(self):
            self.a = 1

    box = Box()

    def f(x):
        return x + vars(box)["a"], dir(box)[-1], "a" in dir(box), sorted(vars(Box()))

    return {"f": f, "args": x1}


@open_case
def globals_are_asked():
    def f(x):
        y = x + 1
        return y, globals()["outside"], "f" in globals()

    return {"f": f, "args": x1}


@open_case
def names_behind_a_map():
    def f(x):
        a = 3
        return x + a, list(map(eval, ["1", "2"])), sorted(["b", "c"], key=lambda k: eval("k"))

    return {"f": f, "args": x1}


@case()
def keys_that_the_program_adds_stay():
    def f(x):
        a = 1
        names = locals()
        names["mine"], names["a"] = 5, 6
        before = sorted(names), names["a"]
        b = a + 1
        again = vars()
        listed = dir()
        del a
        return x + b, before, names is again, names["a"], sorted(locals()), listed, sorted(names)

    return {"f": f, "args": x1}


@case()
def contents_of_cells_are_looked_at_again():
    def f(x):
        a = 1

        def inner():
            return a

        names = locals()
        before = names["a"]
        a = 2
        stale = names["a"]
        locals()
        return x + inner(), before, stale, names["a"], list(names)

    return {"f": f, "args": x1}


@case()
def an_inlined_function_looks_twice():
    def inner(v):
        q = v + 1
        names = locals()
        r = q * 2
        return locals() is names, sorted(names), r

    def f(x):
        return x * 2, inner(2), inner(3)

    return {"f": f, "args": x1}


@open_case
def a_break_between_two_looks():
    def f(x):
        a = 1
        names = locals()
        opaque(1)
        b = a + 1
        return x + b, locals() is names, sorted(names)

    return {"f": f, "args": x1}


@open_case
def a_break_between_two_looks_of_an_inlined_function():
    def inner(v):
        names = locals()
        opaque(v)
        later = v + 1
        return locals() is names, sorted(names), later

    def f(x):
        y = x * 2
        return inner(2), y + 1

    return {"f": f, "args": x1}


@open_case
def a_generator_that_looks_twice():
    def items():
        a = 1
        names = locals()
        yield len(names)
        b = a + 1
        yield b, locals() is names, sorted(names)

    def f(x):
        return x * 2, list(items())

    return {"f": f, "args": x1}


@open_case
def exec_between_two_looks():
    def f(x):
        a = 1
        names = locals()
        exec("a = 7; made = 3")
        return x + a, sorted(names), locals() is names, sorted(locals())

    return {"f": f, "args": x1}
