"""Items of lists and dicts from before the call that the code reads and writes: what is there is found by its path, so that one capture
serves, whatever a call has left."""

import collections

from doors import opaque
from observe import case, open_case
from toy_framework import toy

t = toy.tensor
x1 = lambda: (t([1.0]),)  # noqa: E731


class Node:
    def __init__(self, value, below=None):
        self.value, self.below = value, below


def averaged(x, held):
    held["a"] = held["a"] * 0.5 + x
    return held["a"] * 2.0


def asked_with_a_default(x, held):
    held["a"] = held.get("a", 0.0) * 0.5 + x
    return x + 1.0


def all_items(x, held):
    for key in held:
        held[key] = held[key] * 0.5 + x
    return x + 1.0


def written_first(x, held):
    old = held["a"]
    held["a"] = x * 2.0
    return old + x


def updated(x, held):
    held.update(a=held["a"] + x, b=held["b"] * 2.0)
    return held["b"] + x


def two_places_of_one(x, held):
    held["a"] = held["b"]
    held["b"] = held["a"] + x
    return held["a"] + held["b"]


def exchanged(x, held):
    held["a"], held["b"] = held["b"], held["a"]
    return held["a"] * 3.0 + held["b"] + x


def taken_and_put_back(x, held):
    last = held.pop("b")
    held["b"] = last * 0.5 + x
    return last + x


def deleted_and_made(x, held):
    old = held["a"]
    del held["a"]
    held["a"] = old + x
    return x * 1.0, list(held)


def nested(x, held):
    inner = {"deep": held["a"] + x}
    held["a"] = inner["deep"]
    held["c"] = [inner["deep"], held.get("c", [x])[0]]
    return held["c"][1] + x


def around_a_break(x, held):
    held["a"] = held["a"] + x
    opaque(None)
    held["b"] = held["b"] + held["a"]
    return held["b"] + x


def raises_behind(x, held):
    held["a"] = held["a"] + x
    raise KeyError("behind")


def of_its_own_class(x, held):
    held["a"] = held["a"] + x
    return type(held["a"]).__name__, held["a"] is held["a"], len(held)


DICTS = {
    "dict": lambda: {"a": t([1.0]), "b": t([2.0])},
    "ordered": lambda: collections.OrderedDict(a=t([1.0]), b=t([2.0])),
    "default": lambda: collections.defaultdict(lambda: t([0.0]), a=t([1.0]), b=t([2.0])),
    "one_tensor": lambda: dict.fromkeys("ab", t([1.0])),
}
USES = [
    averaged, asked_with_a_default, all_items, written_first, updated, two_places_of_one, exchanged, taken_and_put_back,
    deleted_and_made, nested, around_a_break, raises_behind, of_its_own_class,
]  # fmt: skip


def queue(x, held):
    first = held.pop(0)
    held.append(x * 2.0)
    return first + held[0] + x


def pushed_in_front(x, held):
    held.insert(0, x + held[0])
    held.pop()
    return held[-1] + x


def items_of_a_list(x, held):
    held[0] = held[0] + x
    held[-1] = held[-1] * 0.5
    return held[0] + held[1]


def rotated(x, held):
    held[0], held[1], held[2] = held[1], held[2], held[0]
    return held[0] * 3.0 + held[2] + x


def sliced(x, held):
    held[:2] = [held[1] + x, held[0]]
    return held[0] + held[1] * 2.0


def reversed_in_place(x, held):
    held.reverse()
    return held[0] * 3.0 + held[2] + x


def each_one(x, held):
    for at, item in enumerate(held):
        held[at] = item + x
    return x + held[1]


LISTS = {"list": lambda: [t([1.0]), t([2.0]), t([3.0])], "one_tensor_thrice": lambda: [t([1.0])] * 3}
LIST_USES = [queue, pushed_in_front, items_of_a_list, rotated, sliced, reversed_in_place, each_one]


def chained(x, held):
    held["top"] = Node(held["top"].value + x, None)
    return held["top"].value * 2.0


def linked(x, held):
    held["top"] = Node(x, held["top"])
    held["top"].below.below = None
    return held["top"].below.value + x


def grown(x, held):
    held["top"].value = held["top"].value + x
    return held["top"].value * 2.0


NODES = {"node": lambda: {"top": Node(t([1.0]))}}


def a_pair(x, held):
    first, second = held["pair"]
    held["pair"] = (first + x, second * 0.5 + first)
    return held["pair"][1] + x


def a_pair_in_a_pair(x, held):
    (first, second), count = held["deep"]
    held["deep"] = ((second, first + x), count)
    return held["deep"][0][0] + x, count


def no_pair_any_more(x, held):
    first = held["pair"][0] if isinstance(held["pair"], tuple) else held["pair"]
    held["pair"] = first + x if len(held) % 2 else (first, x)
    held[len(held)] = 1
    return first + x


PAIRS = {"pairs": lambda: {"pair": (t([1.0]), t([2.0])), "deep": ((t([1.0]), t([2.0])), 3)}}


class Holder:
    def __init__(self, held):
        self.held = held


def used(name, make, use, where):
    def build():
        held = make()
        watch = lambda: [(str(k), v) for k, v in held.items()] if isinstance(held, dict) else list(held)  # noqa: E731
        if where == "given":
            return {"f": use, "args": lambda: (t([1.0]), held), "watch": watch}
        if where == "cell":
            return {"f": lambda x: use(x, held), "args": x1, "watch": watch}
        holder = Holder(held)
        return {"f": lambda x: use(x, holder.held), "args": x1, "watch": watch}

    build.__name__ = f"{name}_{use.__name__}_{where}"
    open_case(build)


for kinds, uses in ((DICTS, USES), (LISTS, LIST_USES), (NODES, (chained, linked, grown)), (PAIRS, (a_pair, a_pair_in_a_pair, no_pair_any_more))):
    for one in kinds.items():
        for use in uses:
            for where in ("given", "cell", "attribute"):
                used(*one, use, where)


def converges(use, make):
    def build():
        held = make()
        return {"f": lambda x: use(x, held), "args": x1}

    build.__name__ = f"{use.__name__}_is_one_capture"
    case(graphs=1, captures=1)(build)


for use in (averaged, asked_with_a_default, all_items, written_first, updated, taken_and_put_back):
    converges(use, DICTS["dict"])
for use in (queue, items_of_a_list, each_one, sliced):
    converges(use, LISTS["list"])


converges(a_pair, PAIRS["pairs"])
converges(a_pair_in_a_pair, PAIRS["pairs"])


class Slots:
    __slots__ = ("state", "pair", "unset")

    def __init__(self):
        self.state, self.pair = t([1.0]), (t([1.0]), t([2.0]))


def slot(x, held):
    held.state = held.state * 0.5 + x
    first, second = held.pair
    held.pair = second, first + held.state
    return held.state + held.pair[0]


def slot_deleted(x, held):
    old = held.state
    del held.state
    held.unset = old
    held.state = held.unset + x
    del held.unset
    return old + x, hasattr(held, "unset")


def slot_exchanged(x, held):
    held.unset = held.state
    held.state, held.pair = held.pair[0], (held.unset, x)
    return held.state * 3.0 + held.pair[0]


def slots_used(use, where):
    def build():
        held = Slots()
        watch = lambda: (held.state, held.pair)  # noqa: E731
        if where == "given":
            return {"f": use, "args": lambda: (t([1.0]), held), "watch": watch}
        return {"f": lambda x: use(x, held), "args": x1, "watch": watch}

    build.__name__ = f"{use.__name__}_{where}"
    open_case(build)


for use in (slot, slot_deleted, slot_exchanged):
    for where in ("given", "held"):
        slots_used(use, where)
converges(slot, Slots)
converges(slot_exchanged, Slots)


@open_case
def somebody_else_writes_between_calls():
    held = {"a": t([1.0]), "b": 2.0}
    calls = []

    def f(x):
        held["a"] = held["a"] * 0.5 + x
        return held["a"] * held["b"]

    def args():
        calls.append(1)
        if len(calls) == 3:
            held["a"] = t([7.0, 8.0])
        if len(calls) == 4:
            held["a"], held["b"] = 5.0, t([1.0])
        return (t([1.0]),)

    return {"f": f, "args": args, "watch": lambda: dict(held)}


Pair = collections.namedtuple("Pair", "count total")


class Attribute:
    def __init__(self, first):
        self.state = first

    def get(self):
        return self.state

    def put(self, state):
        self.state = state


class Slot:
    __slots__ = ("state",)
    __init__, get, put = Attribute.__init__, Attribute.get, Attribute.put


def of_a_class(first):
    class Holder:
        state = first

        def get(self):
            return Holder.state

        def put(self, state):
            Holder.state = state

    return Holder()


def of_a_cell(first):
    state = first

    class Holder:
        def get(self):
            return state

        def put(self, new):
            nonlocal state
            state = new

    return Holder()


STATE = None


def of_a_global(first):
    global STATE
    STATE = first

    class Holder:
        def get(self):
            return STATE

        def put(self, new):
            global STATE
            STATE = new

    return Holder()


def of_a_dict(first):
    held = {"state": first}

    class Holder:
        def get(self):
            return held["state"]

        def put(self, new):
            held["state"] = new

    return Holder()


def in_a_pair(x, holder):
    count, total = holder.get()
    holder.put((count + 1, total + x))
    return total * 2.0


def by_index(x, holder):
    holder.put((holder.get()[0] + 1, holder.get()[1] * 0.5 + x))
    return holder.get()[1] + x


def in_a_pair_within_a_pair(x, holder):
    (count, total) = holder.get()[:2]
    holder.put((count + 1, total + x, (count, [total])))
    return total + x


def by_replacing(x, holder):
    state = holder.get()
    state = state._replace(count=state.count + 1) if hasattr(state, "_replace") else Pair(*state)
    holder.put(state)
    return x + 1.0, state.count


def the_same_again(x, holder):
    state = holder.get()
    holder.put(state)
    return x + state[0], holder.get() is state


def exchanged_in_a_pair(x, holder):
    a, b = holder.get()
    holder.put((b, a))
    return x * 2.0, a is b


def around_a_break_in_a_pair(x, holder):
    count, total = holder.get()
    holder.put((count + 1, total))
    opaque(None)
    holder.put((count + 2, holder.get()[1] + x))
    return total + x


def kept_in_a_pair(hold, use, name, first):
    def build():
        holder = hold(first())

        def f(x):
            return use(x, holder)

        return {"f": f, "args": x1, "watch": lambda: [holder.get()]}

    build.__name__ = f"kept_in_{name}_{getattr(hold, '__name__', hold)}_{use.__name__}"
    return open_case(build)


PAIRS = {
    "a_pair": lambda: (0, t([0.0])),
    "a_named_pair": lambda: Pair(0, t([0.0])),
    "tensors": lambda: (t([0.0]), t([1.0])),
    "numbers": lambda: (0, 1.5),
}
for hold in (Attribute, Slot, of_a_class, of_a_cell, of_a_global, of_a_dict):
    for name, first in PAIRS.items():
        for use in (in_a_pair, by_index, in_a_pair_within_a_pair, by_replacing, the_same_again, exchanged_in_a_pair,
                    around_a_break_in_a_pair):  # fmt: skip
            kept_in_a_pair(hold, use, name, first)


@case()
def hidden_states_of_an_instance():
    class Cell:
        def __init__(self):
            self.state = (t([0.0]), t([1.0]))

        def __call__(self, x):
            hidden, cell = self.state
            cell = cell * 0.5 + x
            hidden = hidden + cell
            self.state = (hidden, cell)
            return hidden

    cell = Cell()
    return {"f": lambda x: cell(x) * 2.0, "args": x1, "watch": lambda: [cell.state]}


KINDS = {
    "a_list": lambda x: [x],
    "a_tuple": lambda x: (x, x),
    "a_dict": lambda x: {"a": x},
    "a_deque": lambda x: collections.deque([x], 4),
    "a_set": lambda x: {"a", "b"},
    "a_node": lambda x: Node(x),
}


def looked_at(value):
    return value.value if isinstance(value, Node) else list(value)[0]


# That an attribute of a class is written breaks: how often a tuple that it holds is captured until it is found by its path, is open.
DECIDED = {of_a_class: dict.fromkeys(("graphs", "captures", "breaks", "fallbacks", "reasons"))}


def looked_at_after_its_write(hold, name, new):
    def build():
        holder = hold(new(t([0.0])))

        def f(x):
            old = holder.get()
            holder.put(new(x))
            return looked_at(old), x + 1.0

        return {"f": f, "args": x1}

    build.__name__ = f"looked_at_after_its_write_{name}_{getattr(hold, '__name__', hold)}"
    return case(**DECIDED.get(hold, {}))(build)


def looked_at_before_its_write(hold, name, new):
    def build():
        holder = hold(new(t([0.0])))

        def f(x):
            seen = looked_at(holder.get())
            holder.put(new(x * 2.0))
            return seen, x + 1.0

        return {"f": f, "args": x1}

    build.__name__ = f"looked_at_before_its_write_{name}_{getattr(hold, '__name__', hold)}"
    return case(**DECIDED.get(hold, {}))(build)


for hold in (Attribute, Slot, of_a_class, of_a_cell, of_a_global, of_a_dict):
    for name, new in KINDS.items():
        looked_at_after_its_write(hold, name, new)
        looked_at_before_its_write(hold, name, new)
