"""What is one object stays one object, also across breaks, and mutations are seen through every name."""

import sys

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def quiet():
    return case(graphs=None, captures=None, reasons=None)


def broken():
    return case(graphs=None, captures=None, breaks=None, reasons=None)


@quiet()
def one_list_returned_twice():
    def f(x):
        a = b = [x]
        a += [1]
        c = a + [2]
        return a, b, c, a is b, c is a

    return {"f": f, "args": x1}


@quiet()
def repeated_inner_list():
    def f(x):
        rows = [[]] * 2
        rows[0].append(x * 2)
        table = {"rows": rows, "first": rows[0]}
        return table, rows[1] is rows[0]

    return {"f": f, "args": x1}


@quiet()
def a_list_that_contains_itself():
    def f(x):
        a = [x * 2]
        a.append(a)
        return a[1][1][0], len(a)

    return {"f": f, "args": x1}


@quiet()
def arguments_in_the_result():
    def f(x, items, table):
        table["items"] = items
        items.append(table.get("n", 0))
        return {"t": table, "i": items, "x": x, "again": (x, items)}

    return {"f": f, "args": lambda: (t([1.0]), [1], {"n": 2})}


@broken()
def one_object_in_two_places_across_a_break():
    def f(x, items):
        local = [x]
        pair = (local, {"l": local, "i": items})
        print("break")
        local.append(1)
        items.append(local)
        return pair, local is pair[1]["l"], items[-1] is local

    return {"f": f, "args": lambda: (t([1.0]), [])}


@broken()
def a_cell_shared_by_two_closures_across_breaks():
    def f(x):
        total = x

        def add(n):
            nonlocal total
            total = total + n

        def get():
            return total

        add(1)
        print("break")
        add(2)
        print("again")
        total = total * 10
        add(3)
        return get(), add, get

    def call(x):
        result, add, get = f(x)
        add(100)
        return result, get()

    return {"f": call, "args": x1}


@broken()
def closures_made_in_a_loop():
    def f(x):
        late, early = [], []
        for i in range(3):
            late.append(lambda: i)
            early.append(lambda i=i: i)
            print(i)
        return [g() for g in late], [g() for g in early], x * i

    return {"f": f, "args": x1}


@broken()
def instances_across_breaks():
    class Node:
        def __init__(self, value, parent=None):
            self.value, self.parent, self.children = value, parent, []
            if parent is not None:
                parent.children.append(self)

    def f(x):
        root = Node(x)
        child = Node(x * 2, root)
        print("break")
        child.value = child.value + 1
        other = Node(3, child)
        return root, other.parent is child, root.children[0] is child

    return {"f": f, "args": x1}


@broken()
def list_grows_while_it_is_looped_over():
    def f(x, items):
        for n in items:
            if n < 4:
                items.append(n + 2)
            print(n)
            x = x + n
        return x

    return {"f": f, "args": lambda: (t([1.0]), [1, 2])}


@quiet()
def nested_item_assignments():
    def f(x, data):
        data["a"][0]["b"] = x * 2
        data["a"][1] += 5
        data["a"].append(data.pop("c"))
        first, data["d"] = data["a"][1], [data["a"]]
        return first

    return {"f": f, "args": lambda: (t([1.0]), {"a": [{}, 1], "c": 3})}


@quiet()
def dict_order_after_delete_and_insert():
    def f(x, table):
        value = table.pop("a")
        table["b"] = x + value
        table["a"] = value
        return list(table), list(table.items())

    return {"f": f, "args": lambda: (t([1.0]), {"a": 1, "b": 2, "c": 3})}


@quiet()
def list_is_sorted_in_place():
    def f(x, items):
        items.sort(key=lambda n: -n)
        return x * items[0], items.index(1), items.count(3)

    return {"f": f, "args": lambda: (t([1.0]), [1, 3, 2, 3])}


@quiet()
def slice_assignment_and_deletion():
    def f(x, items):
        items[1:3] = [x * 2]
        del items[0]
        return items

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3, 4])}


@broken()
def mutation_before_a_graph_that_fails_after_a_break():
    def f(x, items):
        items.append("a")
        y = x - 5
        print("break")
        items.append("b")
        z = toy.log(y)
        items.append("c")
        return z

    return {"f": f, "args": lambda: (t([1.0]), [])}


@quiet()
def tensors_that_are_one_object():
    def f(x, y):
        z = x + y
        return x is y, z is x, [z, z], x is not z

    def args():
        one = t([1.0])
        return one, one

    return {"f": f, "args": args}


@quiet()
def numbers_of_other_types():
    def f(x, a, b, c):
        return x * a, a, b, c, a is True, b == 1, type(a) is bool, type(b).__name__

    return {"f": f, "args": lambda: (t([1.0]), True, 1, 1.0)}


@quiet()
def signed_zero_nan_and_big_numbers():
    def f(x, z, n, big):
        return x * z, str(z), n != n, big + 1, big * big, -z, 1e308 * 10

    return {"f": f, "args": lambda: (t([1.0]), -0.0, float("nan"), 2**70)}


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def strings_that_look_like_names():
    def f(x, log):
        name = str(b"__add__", "ascii")
        again = str(b"__add__", "ascii")
        dunder, short = "__add__", "abc"
        log.append((name is dunder, name is again, name is name, name == again))
        part = "ab" + str(b"c", "ascii")
        log.append((part is short, short.upper().lower() is short, sys.intern(part) is short))
        return x + 1

    return f
