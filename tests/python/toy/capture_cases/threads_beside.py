"""What C does in one step, so that no other thread comes between: while there are other threads, and while there are none."""

import collections
import threading

from observe import case
from toy_framework import toy

t = toy.tensor


class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return len(self.name)

    def __eq__(self, other):
        return isinstance(other, Key) and self.name == other.name


class Beside:
    """Another thread, from the making of the arguments until the call is watched."""

    def __init__(self, *fixed):
        self.fixed = fixed
        self.ends = []

    def args(self):
        self.end()
        end = threading.Event()
        thread = threading.Thread(target=end.wait)
        thread.start()
        self.ends.append((end, thread))
        return (t([1.0]), *self.fixed)

    def end(self):
        while self.ends:
            end, thread = self.ends.pop()
            end.set()
            thread.join()


def beside(f, *fixed):
    other = Beside(*fixed)
    return {"f": f, "args": other.args, "watch": lambda: other.end()}


@case()
def set_default_without_others():
    shared = {}

    def f(x):
        first = shared.setdefault("a", [])
        first.append(len(first))
        return x + len(first), shared.setdefault("a", 3) is first, shared.setdefault("b"), list(shared)

    def args():
        shared.clear()
        return (t([1.0]),)

    return {"f": f, "args": args, "watch": lambda: dict(shared)}


@case(graphs=2, breaks=1, captures=2, reasons=("mutation",))
def set_default_beside_another_thread():
    shared = {}

    def f(x):
        x = x * 2.0
        first = shared.setdefault("a", [])
        first.append(1)
        return x + 1.0, first is shared["a"], list(shared)

    other = Beside()

    def args():
        shared.clear()
        return other.args()

    return {"f": f, "args": args, "watch": lambda: (dict(shared), other.end())}


@case()
def set_default_of_a_key_that_is_there():
    shared = {"a": [1]}

    def f(x):
        return x + 1.0, shared.setdefault("a", []), shared.setdefault("a")

    return beside(f)


@case()
def set_default_of_a_dict_of_the_frame():
    def f(x):
        own = {}
        own.setdefault("a", []).append(1)
        own.setdefault("a", []).append(2)
        return x + 1.0, own, own.setdefault("b")

    return beside(f)


@case(graphs=None, breaks=None, captures=None, reasons=None)
def set_default_by_other_doors():
    ordered, default, by_key = collections.OrderedDict(), collections.defaultdict(list), {}

    class Table(dict):
        pass

    table = Table()

    def f(x):
        add = table.setdefault
        found = [add("a", 1), dict.setdefault(table, "b", 2), table.setdefault(*("c",), *(3,))]
        found += [ordered.setdefault("a", 4), ordered.setdefault("a", 5), default.setdefault("a", 6)]
        found += [by_key.setdefault(Key("k"), 7), by_key.setdefault(Key("k"), 8)]
        return x + 1.0, found, list(map(by_key.setdefault, "lm", (9, 10)))

    other = Beside()
    held = lambda: (list(ordered.items()), dict(default), dict(table), list(by_key.values()))
    return {"f": f, "args": other.args, "watch": lambda: (held(), other.end())}


@case(graphs=None, breaks=None, captures=None, reasons=None)
def set_default_when_others_come_and_go():
    calls, other, shared = [0], Beside(), {}

    def f(x, n):
        return x + 1.0, shared.setdefault(n % 2, n)

    def args():
        calls[0] += 1
        shared.clear()
        return (*(other.args() if calls[0] == 2 else (t([1.0]),)), calls[0])

    return {"f": f, "args": args, "watch": lambda: (dict(shared), other.end())}
