"""Random programs about the language: each seed gives the source of one snippet, for either framework.

Where `programs` mixes what is done with tensors, these mix what is done around them: map, filter, zip, enumerate, any, all,
max, sorted with keys, iterators that are half used; classes whose dunder methods count; arguments that are globals too;
state that changes from call to call; try, with, raise; generators; and breaks anywhere among them.

A program names `f`, `args(i)` and `calls`, as snippets do. `FRAMEWORKS` says how a tensor is made and used.
"""

import random

FRAMEWORKS = {
    "toy": {
        "import": "import toy_backend as toy",
        "tensor": "toy.tensor([1.0 + {i}, 2.0 - {i}])",
        "unary": ["-{t}", "{t} * {n}", "{t} + {n}", "{t}.relu()", "{t}.clone()", "toy.relu({t})", "{t}.exp()"],
        "binary": ["{t} + {u}", "{t} * {u}", "{t} - {u}", "toy.add({t}, {u})"],
        "break": ["toy.show({t})"],
        "number": ["int({t}.sum() > 0)", "len({t}.tolist())"],
        "positive": "{t}.sum() > {n}",
    },
    "paddle": {
        "import": "import paddle",
        "tensor": "paddle.to_tensor([1.0 + {i}, 2.0 - {i}])",
        "unary": ["-{t}", "{t} * {n}", "{t} + {n}", "paddle.tanh({t})", "{t}.clone()", "{t}.abs()"],
        "binary": ["{t} + {u}", "{t} * {u}", "{t} - {u}", "paddle.add({t}, {u})"],
        "break": ["str({t}.shape)"],
        "number": ["int({t}.sum() > 0)", "len({t}.tolist())"],
        "positive": "{t}.sum() > {n}",
    },
}

HEADER = '''
import functools
import operator

LOG = []
SHARED = [3, 1, 2]
TABLE = {"a": 1, "b": 2}
COUNT = 0

class Oops(Exception):
    pass

class Num:
    """A number whose methods are counted."""
    calls = 0
    def __init__(self, v):
        self.v = v
    def __add__(self, other):
        Num.calls += 1
        return Num(self.v + (other.v if isinstance(other, Num) else other))
    __radd__ = __add__
    def __lt__(self, other):
        LOG.append("lt")
        return self.v < other.v
    def __eq__(self, other):
        LOG.append("eq")
        return isinstance(other, Num) and self.v == other.v
    def __hash__(self):
        LOG.append("hash")
        return self.v % 3
    def __bool__(self):
        LOG.append("bool")
        return self.v % 2 == 1
    def __call__(self, a):
        self.v += 1
        return a * self.v
    def __index__(self):
        return self.v

class Bag:
    def __init__(self, items):
        self.items = items
        self.asked = 0
    def __len__(self):
        self.asked += 1
        return len(self.items)
    def __iter__(self):
        LOG.append("iter")
        return iter(self.items)
    def __contains__(self, item):
        self.asked += 1
        return item in self.items
    def __getitem__(self, key):
        LOG.append(("get", key))
        return self.items[key]
    def __setitem__(self, key, value):
        self.items[key] = value
    def __getattr__(self, name):
        LOG.append(("missing", name))
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)
    @property
    def size(self):
        self.asked += 10
        return len(self.items)

class Steps:
    def __init__(self, n):
        self.left = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.left <= 0:
            LOG.append("end")
            raise StopIteration
        self.left -= 1
        return self.left

class Within:
    def __init__(self, name, swallow=()):
        self.name, self.swallow = name, swallow
    def __enter__(self):
        LOG.append(("enter", self.name))
        return self
    def __exit__(self, kind, error, trace):
        LOG.append(("exit", self.name, kind.__name__ if kind else None))
        return kind is not None and issubclass(kind, self.swallow)

class Row(dict):
    def __getitem__(self, key):
        LOG.append(("row", key))
        return dict.get(self, key, 7)

def numbers(n):
    try:
        for i in range(n):
            got = yield i
            LOG.append(("sent", got))
    finally:
        LOG.append("closed")
    return n

def delegating(n):
    last = yield from numbers(n)
    yield last

def shout(a):
    print("shout", type(a).__name__)
    return a

def risky(n):
    if n % 3 == 2:
        raise ValueError(n)
    if n % 5 == 4:
        raise Oops("five", n)
    return n

def deep(n):
    try:
        return risky(n) + 1
    finally:
        LOG.append("deep")

def key(a):
    global COUNT
    COUNT += 1
    return -a

def counter():
    n = 0
    def bump(d=1):
        nonlocal n
        n += d
        return n
    return bump

bump = counter()
BAG = Bag(SHARED)
NUM = Num(3)
ROW = Row(a=1)
'''


class Program:
    """One random function `f(x, y, n, items, bag)`."""

    def __init__(self, seed, framework):
        self.random = random.Random(seed)
        self.words = FRAMEWORKS[framework]
        self.lines = []
        self.fresh = 0

    def source(self):
        r = self.random
        self.block(1, Names(["x", "y"], ["n"], ["items"]), r.randint(4, 9), 0, False)
        body = "\n".join(self.lines)
        tensors = [self.words["tensor"].format(i=text) for text in ("i % 2", "0.5")]
        items = r.choice(["[2, 1, 3]", "SHARED", "SHARED if i % 2 else [1, i]", "BAG.items", "[i, 1]"])
        bag = r.choice(["BAG", "Bag([1, 2])", "Bag(items)", "BAG if i != 2 else Bag(items)"])
        return f"""{self.words["import"]}
{HEADER}
def f(x, y, n, items, bag):
    global COUNT
{body}

calls = 5

def args(i):
    x = {tensors[0]}
    items = {items}
    return x, {r.choice([tensors[1], "x"])}, {r.choice(["2", "i", "i % 2 + 1"])}, items, {bag}
"""

    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    # ----- expressions

    def tensor(self, s):
        r = self.random
        t, u, n = r.choice(s.tensors), r.choice(s.tensors), self.number(s, 1)
        if r.random() < 0.6:
            return r.choice(self.words["unary"] + self.words["binary"]).format(t=t, u=u, n=n)
        return r.choice(
            [
                f"shout({t})", f"({t} if {self.condition(s)} else {u})", f"functools.reduce(operator.add, [{t}, {u}])", f"sum([{t}, {u}])",
                f"[a * 2 for a in ({t}, {u})][{r.randint(0, 1)}]", f"list(map(lambda a: a + {n}, [{t}, {u}]))[0]", f"next(iter([{t}, {u}]))",
                f"next(a for a in [{t}, {u}])", f"dict(zip('pq', [{t}, {u}]))['q']", f"max([{t}, {u}], key=lambda a: COUNT)", f"NUM({t})",
                f"[b for a, b in enumerate([{t}, {u}]) if a][0]", f"(lambda *a, k={n}: a[-1] * k)({t}, {u})", f"{t} * (risky({n}) + 1)",
                f"operator.mul({t}, deep({n}))", f"sorted([({n}, {t})], key=lambda p: p[0])[0][1]",
            ]
        )

    def number(self, s, depth=0):
        r, l, n = self.random, r_list(self.random, s), self.random.choice(s.numbers)
        simple = [n, str(r.randint(0, 4)), "COUNT % 7", "len(items)", "NUM.v % 5", "bag.size", "bump()", "Num.calls % 3", "TABLE['a'] % 9"]
        if depth > 1 or r.random() < 0.5:
            return r.choice(simple)
        m = self.number(s, depth + 1)
        return r.choice(
            [
                f"({n} + {m})", f"max({n}, {m})", f"min([{n}, {m}], key=key)", f"len(bag)", f"sum(map(int, {l}))", f"sum(a for a in {l})", f"next(iter({l}), {m})",
                f"len(list(filter(None, {l})))", f"len(set({l}))", f"deep({m} % 2)", f"bag[0]", f"ROW['z']", f"bag.nothing", f"max({l}, default={m})",
                f"sum(1 for a in zip({l}, Steps(2)))", f"[*numbers({m} % 3)].__len__()", f"(Num({n}) + {m}).v", f"len([*map(key, {l})])", f"int({n} in bag)",
                f"next(Steps({m}), 9)", f"list(enumerate({l}, {m}))[-1][0]", f"{l}.index({l}[-1])", f"(lambda a=({n}): a * 2)()", f"getattr(bag, 'other', {m})", f"int(hasattr(bag, '_no'))",
                f"functools.reduce(lambda a, b: a + b, {l}, {m})", self.random.choice(self.words["number"]).format(t=self.random.choice(s.tensors)),
            ]
        )

    def condition(self, s):
        r, l, n, m = self.random, r_list(self.random, s), self.random.choice(s.numbers), self.random.randint(0, 3)
        t = self.random.choice(s.tensors)
        return r.choice(
            [
                f"{n} > {m}", f"any(a > {m} for a in {l})", f"all(map(bool, {l}))", f"any({l})", f"NUM", f"bag", f"{m} in bag", f"Num({n}) == Num({m})", f"Num({n}) < Num({m})",
                f"{l} is SHARED", f"bag is BAG", f"{t} is x", f"isinstance(NUM, Num)", f"not {l}", f"{n} % 2", f"all(a < 9 for a in bag)", f"'a' in TABLE", f"{n} in {l}",
                self.words["positive"].format(t=t, n=m), f"bag.size > {m}", f"hasattr(NUM, 'w')", f"Num({n}) in [Num({m})]", f"{l} == [1, 2]", f"Num({m}) in {{Num({n}): 1}}",
            ]
        )

    def listing(self, s):
        r, l, n, t = self.random, r_list(self.random, s), self.number(s), self.random.choice(s.tensors)
        return r.choice(
            [
                f"[{n}, {self.number(s)}]", f"sorted({l}, key=key)", f"list(reversed({l}))", f"list(filter(lambda a: a > 1, {l}))", f"[*map(lambda a: a + 1, {l})]",
                f"[a + b for a, b in zip({l}, {l})]", f"list(numbers({n} % 4))", f"[a for a in bag]", f"list(delegating({n} % 3))", f"{l}[:]", f"{l} + [{n}]",
                f"list(dict.fromkeys({l}))", f"[i for i, a in enumerate({l}) if a]", f"sorted(set({l}), reverse=True)", f"list(Steps({n} % 4))", f"list(map(max, {l}, {l}))",
                f"[a.v for a in sorted([Num({n}), Num(1), Num(2)])]", f"({l}, [{n}])[{r.randint(0, 1)}]", f"[*{l}, *bag]", f"list(TABLE.values())",
            ]
        )

    # ----- statements

    def block(self, depth, s, count, loops, generator):
        s = s.copy()
        for _ in range(count):
            self.statement(depth, s, loops)
        if depth == 1:
            r = self.random
            results = [r.choice(s.tensors), r.choice(s.tensors), r.choice(s.numbers), r_list(r, s), "COUNT", "bump()", "bag", "len(LOG)", "NUM"]
            self.put(1, f"return {', '.join(r.sample(results, r.randint(1, 5)))},")

    def effect(self, s):
        r, l, n, t = self.random, r_list(self.random, s), self.number(s), self.random.choice(s.tensors)
        return r.choice(
            [
                f"{l}.append({n})", f"SHARED.append({n} % 5)", f"del SHARED[3:]", f"{l}.sort(key=key)", f"{l}.reverse()", f"TABLE['a'] = {n}", f"TABLE['t'] = {t}", f"TABLE.pop('t', None)",
                f"COUNT += {n}", f"COUNT = COUNT + 1", f"LOG.append({n})", f"print('at', {n})", f"shout({t})", f"bag[0] = {n}", f"bag.items = {l}", f"bag.seen = {t}", f"NUM.v = {n}",
                f"NUM.w = {n}", f"Num.calls += 1", f"bump({n})", f"{l}[:1] = [{n}]", f"x, y = y, x", f"ROW['b'] = {n}", f"{l} += [{n}]", f"{l}.extend(map(key, [{n}]))", f"{l}.insert(0, {n})",
                f"setattr(NUM, 'v', {n} + 1)", f"items, other = SHARED, items", f"del LOG[9:]", f"globals()['COUNT'] = {n}", self.random.choice(self.words["break"]).format(t=t), f"{t} = {t} * 2",
                f"assert {n} >= 0, {n}", f"TABLE.update(b={n})", f"TABLE.setdefault('l', []).append({n} % 3)", f"bag.asked = 0",
            ]
        )

    def statement(self, depth, s, loops):
        r = self.random
        kind = r.random()
        if kind < 0.2:
            target = self.name() if r.random() < 0.6 else r.choice(s.tensors)
            self.put(depth, f"{target} = {self.tensor(s)}")
            s.tensors.append(target)
        elif kind < 0.3:
            target = self.name()
            self.put(depth, f"{target} = {self.number(s)}")
            s.numbers.append(target)
        elif kind < 0.38:
            target = self.name()
            self.put(depth, f"{target} = {self.listing(s)}")
            s.lists.append(target)
        elif kind < 0.42:
            first, rest = self.name(), self.name()
            self.put(depth, f"{first}, *{rest} = {r_list(r, s)} or [1, 2]")
            s.numbers.append(first)
            s.lists.append(rest)
        elif kind < 0.6 or depth >= 4:
            self.put(depth, self.effect(s))
        elif kind < 0.68:
            self.put(depth, f"if {self.condition(s)}:")
            self.block(depth + 1, s, r.randint(1, 2), loops, False)
            if r.random() < 0.5:
                self.put(depth, "else:")
                self.block(depth + 1, s, r.randint(1, 2), loops, False)
        elif kind < 0.78 and loops < 2:
            self.loop(depth, s, loops)
        elif kind < 0.88:
            self.protected(depth, s, loops)
        elif kind < 0.93:
            self.iterator(depth, s)
        else:
            self.function(depth, s)

    def loop(self, depth, s, loops):
        r, i, l = self.random, self.name(), r_list(self.random, s)
        inner = s.copy()
        inner.numbers.append(i)
        if r.random() < 0.2:
            self.put(depth, f"{i} = 0")
            self.put(depth, f"while {i} < {r.choice(['3', 'n', 'len(items) % 4'])}:")
            self.put(depth + 1, f"{i} += 1")
        else:
            source = r.choice(
                ["range(3)", "range(n)", f"{l}[:4]", "Steps(3)", "numbers(3)", "map(key, (1, 2))", "filter(None, [0, 1, 2])", "(a + 1 for a in range(2))", "bag.items[:3]", "delegating(2)"]
            )
            if r.random() < 0.25:
                self.put(depth, f"for {i}, {i}b in {r.choice(['enumerate', 'zip'])}({source}{r.choice(['', ''])}):".replace("zip(", "zip(range(4), "))
            else:
                self.put(depth, f"for {i} in {source}:")
        self.block(depth + 1, inner, r.randint(1, 3), loops + 1, False)
        if r.random() < 0.4:
            self.put(depth + 1, f"if {self.condition(inner)}:")
            self.put(depth + 2, r.choice(["break", "continue", "break"]))
        if r.random() < 0.2:
            self.put(depth, "else:")
            self.put(depth + 1, self.effect(s))

    def protected(self, depth, s, loops):
        r = self.random
        if r.random() < 0.4:
            swallow = r.choice(["", ", ValueError", ", (ValueError, Oops)", ", Exception"])
            self.put(depth, f"with Within('{self.name()}'{swallow}){r.choice(['', ' as w'])}:")
            self.block(depth + 1, s, r.randint(1, 2), loops, False)
            if r.random() < 0.5:
                self.put(depth + 1, self.raising(s))
            return
        self.put(depth, "try:")
        self.block(depth + 1, s, r.randint(1, 2), loops, False)
        if r.random() < 0.6:
            self.put(depth + 1, self.raising(s))
        final = r.random()
        if final < 0.8:
            self.put(depth, f"except {r.choice(['ValueError', '(ValueError, Oops)', 'Exception', 'LookupError', 'ValueError'])} as error:")
            self.put(depth + 1, r.choice(["LOG.append(type(error).__name__)", "COUNT += 100", "print(error)", "LOG.append(error.args)", "raise", "raise Oops(1) from error", "raise KeyError(2)"]))
            if r.random() < 0.2:
                self.put(depth, "else:")
                self.put(depth + 1, self.effect(s))
        if final > 0.6:
            self.put(depth, "finally:")
            self.put(depth + 1, self.effect(s))

    def raising(self, s):
        n = self.number(s)
        return self.random.choice([f"risky({n})", f"deep({n})", f"raise ValueError({n})", f"LOG.append(risky({n}))", f"items[{n}]", f"TABLE['none']", f"raise Oops", f"next(iter([]))", f"1 // ({n} % 2)"])

    def iterator(self, depth, s):
        """One that is used, left, and used again."""
        r, it, l = self.random, self.name(), r_list(self.random, s)
        self.put(depth, f"{it} = {r.choice([f'iter({l})', 'numbers(3)', 'Steps(3)', f'map(key, {l})', f'enumerate({l})', f'zip({l}, range(3))', '(a * 2 for a in range(3))', f'filter(None, {l})'])}")
        self.put(depth, f"LOG.append(next({it}, 0))")
        if r.random() < 0.5:
            self.put(depth, self.effect(s))
        self.put(depth, r.choice([f"LOG.append(list({it}))", f"LOG.append(next({it}, None))", f"LOG.extend({it})", f"for {it}x in {it}: LOG.append({it}x)", f"TABLE['it'] = {it}"]))

    def function(self, depth, s):
        r, target = self.random, self.name()
        inner = Names(s.tensors + ["a"], s.numbers + ["b"], list(s.lists))
        kind = r.random()
        if kind < 0.4:
            self.put(depth, f"def {target}(a, b={self.number(s)}):")
            self.put(depth + 1, f"return {self.tensor(inner)}")
            self.put(depth, f"{r.choice(s.tensors)} = {target}({r.choice(s.tensors)})")
        elif kind < 0.7:
            self.put(depth, f"def {target}(b):")
            self.put(depth + 1, r.choice(["nonlocal n", "global COUNT"]))
            self.put(depth + 1, "n = b + 1" if "nonlocal" in self.lines[-1] else "COUNT = b")
            self.put(depth + 1, f"return b")
            self.put(depth, f"LOG.append({target}({self.number(s)}))")
        else:
            self.put(depth, f"def {target}(b):")
            self.put(depth + 1, f"for c in {r.choice(['range(b % 3)', 'items[:2]', 'bag'])}:")
            self.put(depth + 2, f"LOG.append(c)")
            self.put(depth + 2, f"yield {r.choice(['c', 'b', 'shout(c)'])}")
            self.put(depth, f"LOG.append({r.choice(['list', 'sum', 'max', 'any', 'tuple'])}({target}({self.number(s)})))")


class Names:
    """What may be used at a place."""

    def __init__(self, tensors, numbers, lists):
        self.tensors, self.numbers, self.lists = tensors, numbers, lists

    def copy(self):
        return Names(list(self.tensors), list(self.numbers), list(self.lists))


def r_list(r, s):
    return r.choice(s.lists)


def source(seed, framework):
    return Program(seed, framework).source()
