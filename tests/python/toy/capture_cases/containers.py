"""Lists, tuples, dicts, strings, comprehensions and unpacking."""

import collections

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def build_and_index():
    def f(x):
        items = [x, x + 1, x + 2]
        pair = (items[0], items[-1])
        table = {"a": x, "b": pair, 3: items[1:]}
        return table["b"][1] * table["a"], table[3], len(table), "a" in table, 4 in table

    return {"f": f, "args": x1}


@case()
def list_methods():
    def f(x):
        items = []
        for i in range(4):
            items.append(x + i)
        items.insert(0, "mark")
        items.remove("mark")
        last = items.pop()
        items.extend([last, x])
        items.reverse()
        other = items.copy()
        other.clear()
        return items, other, len(items)

    return {"f": f, "args": x1}


@case()
def dict_methods():
    def f(x):
        table = dict(a=1, b=x)
        table["c"] = table.pop("a") + 1
        table.update({"d": x * 2}, e=5)
        table.setdefault("f", []).append(x)
        del table["e"]
        return table, table.get("zz"), table.get("zz", 3), list(table), [v for v in table.values()], sorted(table.keys())

    return {"f": f, "args": x1}


@case()
def dict_items_loop():
    def f(x, table):
        total = x
        for key, value in table.items():
            if key != "skip":
                total = total + value
        return total

    return {"f": f, "args": lambda: (t([1.0]), {"a": 1, "skip": 100, "b": 2.5})}


@case()
def arguments_are_mutated():
    def f(x, items, table):
        items.append(x * 2)
        items[0] = "changed"
        table["new"] = x + 1
        del table["old"]
        table["list"].append(items)
        return items, table["list"]

    return {"f": f, "args": lambda: (t([1.0]), [1, 2], {"old": 1, "keep": 2, "list": []})}


@case()
def aliased_arguments():
    def f(x, a, b):
        a.append(x + 1)
        b.append(x + 2)
        return len(a), a is b

    def args():
        shared = []
        return t([1.0]), shared, shared

    return {"f": f, "args": args}


@case(graphs=0, reasons=("no-tensor",))
def list_operators():
    def f(x):
        a = [1, 2] + [x]
        b = [0] * 3
        a += [4]
        return a, b, (1,) + (x,), [1, 2] == [1, 2], (1, 2) < (1, 3)

    return {"f": f, "args": x1}


@case()
def comprehensions():
    def f(x, n):
        squares = [x * i for i in range(n) if i % 2]
        table = {str(i): x + i for i in range(n)}
        letters = {c for c in "abca"}
        nested = [[i * j for j in range(2)] for i in range(2)]
        return squares, table, sorted(letters), nested, [n for _ in range(2)]

    return {"f": f, "args": lambda: (t([1.0]), 4)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def generator_expression():
    def f(x):
        return sum(i * 2 for i in range(3)) * x, tuple(x + i for i in (1, 2)), any(i > 1 for i in range(3))

    return {"f": f, "args": x1}


@case()
def unpacking():
    def f(x, items):
        a, (b, *c), d = items
        *head, last = [x, a, b]
        return a * x, b, c, d, head, last, [*c, *head], {**{"k": 1}, "l": x}

    return {"f": f, "args": lambda: (t([1.0]), (1, [2, 3, 4], 5))}


@case()
def slices():
    def f(x, items):
        return items[1:3], items[::-1], items[:-1], "hello"[1:3], (1, 2, 3)[::2], x * items[-2]

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3, 4])}


@case()
def strings():
    def f(x, name):
        text = f"{name!r:>8} {3.14159:.2f} {len(name):03d} {x.shape}"
        more = "%s-%d" % (name, 3) + "{} {}".format(1, name)
        return text, more, name.upper().split("B"), ",".join(["a", name]), name.startswith("a"), x * len(text)

    return {"f": f, "args": lambda: (t([1.0]), "abc")}


@case()
def zip_enumerate_map():
    def f(x, items):
        out = []
        for i, (a, b) in enumerate(zip(items, items[1:])):
            out.append(x * (a + b) + i)
        return out, list(map(lambda v: v * 2, items)), list(reversed(items)), list(filter(None, [0, 1])), sorted(items)

    return {"f": f, "args": lambda: (t([1.0]), [3, 1, 2])}


@case()
def sets():
    def f(x, seen):
        seen.add(3)
        local = {1, 2}
        local.add(2)
        return x * len(local), 2 in local, 3 in seen

    return {"f": f, "args": lambda: (t([1.0]), {1})}


Point = collections.namedtuple("Point", "x y")


@case()
def named_tuples():
    def f(x, p):
        q = Point(x + p.x, y=p.y)
        a, b = q
        return q, a * b, q[0], q.y, p._replace(x=5).x

    return {"f": f, "args": lambda: (t([1.0]), Point(1, 2))}


@case()
def ordered_dict_and_deque():
    def f(x, table, queue):
        queue.append(x)
        return [k for k in table], table["b"] + x, len(queue)

    return {
        "f": f,
        "args": lambda: (t([1.0]), collections.OrderedDict([("b", 1), ("a", 2)]), collections.deque([1])),
    }


@case(captures=2, graphs=2)
def a_table_that_changes():
    """Its keys are nobody's guards."""
    table = {number: str(number) for number in range(5000)}

    def f(x):
        y = x + 1
        first = table[0]
        table["last"] = first
        return y * 2, first

    return {"f": f, "args": x1, "watch": lambda: len(table)}


@case()
def default_dict():
    def f(x):
        groups = collections.defaultdict(list)
        groups["a"].append(x + 1)
        return dict(groups)

    return {"f": f, "args": x1}


@case()
def nested_containers_of_tensors():
    def f(batch):
        image, (label, extra) = batch["image"], batch["rest"]
        return {"loss": (image - label).sum(), "parts": [image * e for e in extra]}

    return {"f": f, "args": lambda: ({"image": t([1.0]), "rest": (t([2.0]), [1, 2])},)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_dict_of_many_keys():
    def f(x, size):
        table = {}
        for i in range(size):
            table[i] = i
            table[str(i)] = i
        table[1.0] = "one"
        table[(1, 2)] = "pair"
        del table[5], table["7"]
        table[5] = "again"
        copy = table.copy()
        copy[True] = "true"
        found = [table.get(key, "none") for key in (1, "1", 5, "7", 1.0, (1, 2), (2, 1), size, None)]
        try:
            table[[1]]
        except TypeError as error:
            found.append(str(error))
        return table, copy, found, list(table)[-3:], x + 1

    return {"f": f, "args": lambda: (t([1.0]), 40)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_dict_that_grows_beyond_what_is_worth_simulating():
    def f(x, size):
        table, items = {}, []
        for i in range(size):
            table[i] = i
            items.append(i)
        return len(table), table[size // 2], len(items), x + 1

    return {"f": f, "args": lambda: (t([1.0]), 20_000)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def slices_with_steps_beyond_all_items():
    def f(x, items, far):
        pair = tuple(items)
        return items[::far], items[::-far], pair[1::far], pair[:: far + 1], items[2:1:far], x + 1

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3], 2**63 - 1)}
