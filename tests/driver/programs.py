"""Random programs for the equivalence harness: each seed gives the source of one snippet.

The programs mix what the literate suite takes one by one: tensors, ints, lists, dicts, objects and closures; loops,
branches (on tensors, too), breaks, inlined calls, exceptions, and writes to everything that outlives the call.
"""

import random

HEADER = '''
import functools
import paddle

class Box:
    k = 2
    def __init__(self, v):
        self.v = v
        self.log = []
    def scale(self, x, by=1):
        self.log.append(by)
        return x * self.k * by
    @property
    def double(self):
        return self.v * 2

def ident(a, *rest, k=1, **more):
    return a * k + len(rest) + len(more)

def shout(a):
    print("shout", type(a).__name__)
    return a

def check(a, n):
    if n > 5:
        raise ValueError(n)
    return a + n

def pair(a):
    return a, a + 1

def counter():
    n = 0
    def bump(d=1):
        nonlocal n
        n += d
        return n
    return bump

bump = counter()
shared = []
table = {"a": 1}
box = Box(3)
total = 0
'''


class Program:
    """One random function `f(x, y, n, items)`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.fresh = 0

    def source(self):
        self.block(1, ["x", "y"], ["n"], ["items"], self.random.randint(4, 9), 0)
        body = "\n".join(self.lines)
        return f'''{HEADER}
def f(x, y, n, items):
    global total
{body}

calls = 4

def args(i):
    x = paddle.arange(1, 3, dtype="float32") * (1 - 2 * (i % 2))
    x.stop_gradient = {self.random.random() < 0.6}
    y = paddle.full([2], 0.5 + i // 2)
    return x, y, {self.random.choice(["2", "i", "i % 2 + 1"])}, [1, x if i % 2 else 2]
'''

    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def tensor(self, ts, ns):
        r, t, u = self.random, self.random.choice(ts), self.random.choice(ts)
        n = self.number(ns)
        return r.choice(
            [
                f"{t} * {n}", f"{t} + {u}", f"{t} - {u} * 0.5", f"-{t}", f"{t}.abs() + {n}", f"paddle.tanh({t})", f"{t}.clone()",
                f"box.scale({t})", f"box.scale({t}, by={n})", f"ident({t})", f"ident({t}, 1, {n}, k=2, z=3)", f"shout({t})",
                f"pair({t})[{r.randint(0, 1)}]", f"check({t}, {n})", f"(lambda a: a * {n})({t})", f"sum([{t}, {u}])", f"{t}[0] + {u}",
                f"{t}.reshape([2, 1]).sum(axis=1)", f"functools.reduce(lambda a, b: a + b, [{n}, 2], {t})", f"paddle.concat([{t}, {u}])[:2]",
                f"({t} if {n} > 1 else {u})", f"[{t} * k for k in range(2)][{r.randint(0, 1)}]", f"{{'p': {t}}}['p']", f"{t} + box.double",
                f"max({n}, 2) * {t}", f"paddle.where({t} > {u}, {t}, {u})", f"{t} + int({u}.sum() > 0)",
            ]
        )

    def number(self, ns):
        r = self.random
        return r.choice([r.choice(ns), str(r.randint(0, 3)), f"({r.choice(ns)} + {r.randint(1, 2)})", "len(items)", "len(shared)", "table['a']", "box.k"])

    def condition(self, ts, ns):
        r, t = self.random, self.random.choice(ts)
        return r.choice(
            [f"{self.number(ns)} > {r.randint(0, 3)}", f"{t}.sum() > {r.randint(-2, 3)}", f"{t} is x", f"{self.number(ns)} in (1, 2)", "items", "'a' in table", f"({t} > 0).all()", f"not {r.choice(ns)}", f"isinstance(items[0], int)"]
        )

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def block(self, depth, ts, ns, ls, count, loops):
        ts, ns, ls = list(ts), list(ns), list(ls)
        for _ in range(count):
            self.statement(depth, ts, ns, ls, loops)
        if depth == 1:
            r = self.random
            results = [r.choice(ts), r.choice(ts), r.choice(ns), r.choice(ls), "total", "bump()"]
            self.put(1, f"return {', '.join(r.sample(results, r.randint(1, 5)))},")

    def statement(self, depth, ts, ns, ls, loops):
        r = self.random
        kind = r.random()
        if kind < 0.30:
            target = self.name() if r.random() < 0.6 else r.choice(ts)
            self.put(depth, f"{target} = {self.tensor(ts, ns)}")
            if target not in ts:
                ts.append(target)
        elif kind < 0.36:
            target = self.name()
            self.put(depth, f"{target} = {self.number(ns)}")
            ns.append(target)
        elif kind < 0.42:
            target = self.name()
            self.put(depth, f"{target} = [{self.tensor(ts, ns)}, {self.number(ns)}]")
            ls.append(target)
        elif kind < 0.62:
            t, n, l = r.choice(ts), self.number(ns), r.choice(ls)
            self.put(
                depth,
                r.choice(
                    [
                        f"{l}.append({t})", f"{l}.append({n})", f"{l}[0] = {n}", f"shared.append({n})", f"table['a'] = {n} % 4", f"table['t'] = {t}", f"box.v = {n} % 5",
                        f"box.last = {t}", f"total = total + {n}", f"bump({n} % 3)", f"print('at', {n})", f"{l}.extend([{n}, {n}])", f"Box.k = 2 + {n} % 2", f"{t} += {n}",
                        f"{l}.insert(0, {t})", f"del shared[:1]", f"{l}.reverse()", f"table.pop('t', None)", f"box.log = list(box.log)[:2]", f"{l} += [{t}]",
                        f"table.setdefault('s', []).append({n})", "items, shared_alias = items, shared", f"x, y = y, x",
                    ]
                ),
            )
        elif kind < 0.76 and depth < 4:
            self.put(depth, f"if {self.condition(ts, ns)}:")
            self.block(depth + 1, ts, ns, ls, r.randint(1, 2), loops)
            if r.random() < 0.5:
                self.put(depth, "else:")
                self.block(depth + 1, ts, ns, ls, r.randint(1, 2), loops)
        elif kind < 0.90 and depth < 4 and loops < 2:
            i = self.name()
            self.put(depth, f"for {i} in {r.choice(['range(3)', 'range(n)', '(1, 2)', 'enumerate([1, 2])', 'zip((1, 2), (3, 4))', 'list(table)'])}:")
            if "enumerate" in self.lines[-1] or "zip" in self.lines[-1]:
                self.put(depth + 1, f"{i} = {i}[0] + {i}[1]")
            elif "table" in self.lines[-1]:
                self.put(depth + 1, f"{i} = len({i})")
            self.block(depth + 1, ts, ns + [i], ls, r.randint(1, 3), loops + 1)
            if r.random() < 0.4:
                self.put(depth + 1, f"if {self.condition(ts, ns)}:")
                self.put(depth + 2, r.choice(["break", "continue"]))
        elif depth < 4 and kind < 0.96:
            self.put(depth, "try:")
            self.block(depth + 1, ts, ns, ls, r.randint(1, 2), loops)
            self.put(depth, f"except {r.choice(['ValueError', '(ValueError, TypeError)'])}:")
            self.put(depth + 1, f"total = total + 100")
        else:
            target = self.name()
            self.put(depth, f"def {target}(a, b={self.number(ns)}):")
            self.put(depth + 1, f"return {self.tensor(ts + ['a'], ns + ['b'])}")
            self.put(depth, f"{r.choice(ts)} = {target}({r.choice(ts)})")


def source(seed):
    return Program(seed).source()
