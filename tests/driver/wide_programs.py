"""Random programs about the whole of Python around tensors: each seed gives the source of one snippet, for either framework.

They are those of `language_programs` with as much again of what `wide_header` makes possible: patterns, assignments in
expressions, stars, formats, class statements and imports in functions, decorators, signatures, recursion, closures,
comprehensions, half-used generators, exceptions in each combination, managers, containers of C, data classes, enums,
descriptors, metaclasses, subclasses of builtins, values that hold themselves, notes, warnings, finalizers. What guards
depend on changes from call to call (`CHANGES`, in `args`).

A template's `$n` is a number, `$N` an expression of one, `$t` and `$T` a tensor, `$l` and `$L` a list, `$c` a condition, `$a` any
value, `$d` a digit; `$v $w $z` are new names, the same in one template. A line `@block`, `@effect`, `@raise` or `@leave` stands
for others; one that begins with `+n`, `+l` or `+t` says what a new name holds from here on. Templates lie in `wide/`; those of
`open.txt` show differences that are known and not repaired yet, so that no program has them unless they are asked for.
"""

import pathlib
import re
import sys

import language_programs
from language_programs import Names, Program
from wide_header import HEADER

def text_of(name):
    return (TEMPLATES / (name + ".txt")).read_text()


def entries(name):
    return text_of(name).strip("\n").split("\n")


def statements(names):
    return [part for name in names for part in text_of(name).strip("\n").split("\n---\n")]


TEMPLATES = pathlib.Path(__file__).resolve().parent / "wide"
SETS = {"N": "numbers", "c": "conditions", "L": "lists", "T": "tensors", "a": "values", "effect": "effects"}
SETS = {short: entries(name) for short, name in SETS.items()}
# What is done before a later call, by `args`.
CHANGES = entries("changes")
# Those that hold others, and that this interpreter knows.
STATEMENTS = statements(["statements"] + ["matches"] * 2 * (sys.version_info >= (3, 10)) + ["groups"] * (sys.version_info >= (3, 11)))
OPEN = statements(["open"])


class Wide(Program):
    def __init__(self, seed, framework, with_open=False):
        super().__init__(seed, framework)
        self.statements = STATEMENTS + OPEN * 8 if with_open else STATEMENTS
        self.depth = 0
        self.inside_group = False

    def source(self):
        text = super().source()
        r = self.random
        changes = "".join("    if i == %d:\n        %s\n" % (r.randint(1, 4), r.choice(CHANGES)) for _ in range(r.choice([0, 1, 2, 3])))
        text = text.replace("\ndef f(", HEADER + "\ndef f(", 1).replace("\nimport functools\n", self.helpers() + "\nimport functools\n", 1)
        head, body = text.split("\ndef f(", 1)
        share = r.choice([0, 0.04, 0.2])
        lines = [line + self.broken(line) if r.random() < share else line for line in head.split("\n")]
        text = "\n".join(lines) + "\ndef f(" + body.replace("    global COUNT\n", "    global COUNT, RANK, BYTES, TALLY, TABLE\n", 1)
        return text.replace("def args(i):\n", "def args(i):\n" + changes, 1)

    def helpers(self):
        broken = self.words["break"][0].format(t=self.words["tensor"].format(i="0"))
        number = self.words["number"][0].format(t="t")
        return "\ndef toy_break():\n    %s\n\ndef toy_number(t):\n    return %s\n" % (broken, number)

    def broken(self, line):
        """A break behind a line of the header that notes something."""
        indent = line[: len(line) - len(line.lstrip())]
        return "\n%stoy_break()" % indent if line.strip().startswith("LOG.append(") else ""

    # ----- templates

    def fill(self, text, s, names=None):
        names = {} if names is None else names

        def one(found):
            what = found.group(1)
            if what in "vwzy":
                if what not in names:
                    names[what] = self.name()
                return names[what]
            return self.piece(what, s)

        return re.sub(r"\$(\w)", one, text.replace("$$", "\0")).replace("\0", "$")

    def piece(self, what, s):
        r = self.random
        if what == "d":
            return str(r.randint(0, 3))
        if what in "nlt":
            return r.choice({"n": s.numbers, "l": s.lists, "t": s.tensors}[what])
        if what in "BS":
            return r.choice({"B": ["Base", "Left", "Right", "Both", "Base"], "S": ["list", "tuple", "Stack", "Loud", "set", "collections.deque"]}[what])
        if self.depth > 1:
            return {"N": r.choice(s.numbers), "c": "n > %d" % r.randint(0, 2), "L": r.choice(s.lists), "T": r.choice(s.tensors), "a": r.choice(s.numbers + s.lists + s.tensors)}[what]
        ways = {"N": self.number, "c": self.condition, "L": self.listing, "T": self.tensor, "a": self.value}
        return ways[what](s)

    def drawn(self, what, s):
        self.depth += 1
        text = self.fill(self.random.choice(SETS[what]), s)
        self.depth -= 1
        return text

    def value(self, s):
        return "(%s)" % self.drawn("a", s)

    def number(self, s, depth=0):
        return "(%s)" % self.drawn("N", s) if self.depth < 3 and self.random.random() < 0.6 else super().number(s, depth)

    def condition(self, s):
        return "(%s)" % self.drawn("c", s) if self.depth < 3 and self.random.random() < 0.5 else super().condition(s)

    def listing(self, s):
        return self.drawn("L", s) if self.random.random() < 0.5 else super().listing(s)

    def tensor(self, s):
        return "(%s)" % self.drawn("T", s) if self.random.random() < 0.3 else super().tensor(s)

    def effect(self, s):
        return self.drawn("effect", s) if self.random.random() < 0.7 else super().effect(s)

    def raising(self, s):
        r = self.random
        if r.random() < 0.6:
            return super().raising(s)
        texts = ["from_cause($n)", "in_context($n)", "raise Err($n, b=$d)", "raise note(Oops($n), 'a note')", "$l[$n + 5]", "$a.nothing", "raise ValueError from KeyError($d)", "signature($n)"]
        texts += ["assert $n > 1, $l", "raise StopIteration($n)", "Rank(-1).__len__()", "len(Rank(-1))", "DESC.nothing", "next(numbers(0))", "{}[$n]", "Color(99)", "Point()", "int('x')"]
        texts += ["$n()", "raise SystemExit($n)", "del TABLE['nothing']", "raise Oops(Dies($n))", "a, b = $l", "raise None", "import nothing_at_all", "none_of_these"]
        return self.fill(r.choice(texts), s)

    def statement(self, depth, s, loops):
        if self.random.random() < 0.5:
            super().statement(depth, s, loops)
        elif depth >= 4 or self.random.random() < 0.3:
            self.put(depth, self.effect(s))
        else:
            self.template(self.random.choice(self.statements), depth, s, loops)

    def template(self, text, depth, s, loops):
        r, names = self.random, {}
        outer = self.inside_group
        self.inside_group = outer or "except*" in text
        for line in text.split("\n"):
            inner = line.lstrip()
            at = depth + (len(line) - len(inner)) // 4
            # A loop of the template itself may be left, but not a function in it.
            inside = loops + 1 if at > depth and text.startswith(("for", "while")) else loops
            if inner[:1] == "+":
                {"n": s.numbers, "l": s.lists, "t": s.tensors}[inner[1]].append(self.fill(inner[3:], s, names))
            elif inner == "@block":
                self.block(at, s, r.randint(1, 2), min(inside, 2), False) if at < 4 else self.put(at, self.effect(s))
            elif inner == "@effect":
                self.put(at, self.effect(s))
            elif inner == "@inner":
                self.put(at, self.drawn("effect", Names(["x"], ["a"], ["items"])).replace("x +=", "LOG +=") if r.random() < 0.3 else "LOG.append(a)")
            elif inner in ("@inner2", "@inner3"):
                self.put(at, r.choice(["toy_break()", "LOG.append(COUNT)", "key(1)", "Noisy('in')", "risky(COUNT)"]))
            elif inner == "@raise":
                self.put(at, self.raising(s) if r.random() < 0.7 else self.effect(s))
            elif inner == "@leave":
                ways = [] if self.inside_group else [f"return {r.choice(s.numbers)}"] + ["break", "continue"] * (inside > loops or inside > 0) * 2
                way = r.choice(ways) if ways else "pass"
                self.put(at, way if r.random() < 0.2 else f"if {self.condition(s)}:")
                if self.lines[-1].endswith(":"):
                    self.put(at + 1, way)
            else:
                self.put(at, self.fill(line.strip(), s, names))
        self.inside_group = outer


def source(seed, framework, with_open=False):
    """The first program of a seed that can be compiled: a draw may bring names where they may not be."""
    for again in range(50):
        text = Wide(seed if not again else "%d.%d" % (seed, again), framework, with_open).source()
        try:
            compile(text[text.index("\ndef f(") :], "program", "exec", 0, True)
        except SyntaxError:
            continue
        return text
    raise RuntimeError("no program of seed %d compiles" % seed)
