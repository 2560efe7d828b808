"""Many threads that call captured functions, while one collects garbage and one forgets all captures: everything is as eager computes it.

usage: python threads.py [--threads N] [--seconds N] [--framework toy|paddle] [--seed N]

Two kinds of work, mixed. *Many functions*: each thread makes random programs of `language_programs` its own (the same seeds as others, so
that they share code objects, not globals), and compares each call with what the program did plain. *One function*: all threads call the
same captured functions, which keep nothing, with arguments of their own: loops, breaks, closures, generators, handlers. What differs is
printed. Exit code 1: something differs, an exception is raised that eager does not raise, or a thread does not end.
"""

import argparse
import collections
import faulthandler
import gc
import os
import random
import sys
import threading
import time
import types

import random_programs
from random_programs import ADDRESS, Picture

# How many programs take part, and for how long a thread may go without a call that ends.
PROGRAMS = 60
PATIENCE = 120
SHOWN = 5


class Tasks:
    """What threads do, and what they found."""

    def __init__(self, framework, sot, first):
        self.framework, self.sot = framework, sot
        self.seeds = [seed for seed in range(first, first + PROGRAMS)]
        self.code = {seed: compile(random_programs.source_of(seed, name_of(framework)), "<program %d>" % seed, "exec") for seed in self.seeds}
        self.plain = {seed: self.calls(seed, lambda f: f) for seed in self.seeds}
        # What depends on an order that addresses decide is nothing to compare.
        self.seeds = [seed for seed in self.seeds if self.plain[seed] == self.calls(seed, lambda f: f)]
        self.shared = [sot.to_static(f) for f in SHARED]
        self.stop = threading.Event()
        self.found = collections.deque()
        self.done = collections.Counter()
        self.alive = {}

    def calls(self, seed, translate):
        """What is seen of each call of a program, in a module of its own."""
        names = types.ModuleType("program").__dict__
        written = []
        names["print"] = lambda *words: written.append(" ".join(map(str, words)))
        exec(self.code[seed], names)
        call, seen = translate(names["f"]), []
        for i in range(names["calls"]):
            raised = result = None
            try:
                args = names["args"](i)
                result = call(*args)
            except Exception as error:
                raised = type(error).__name__, random_programs.message(error)
            world = {k: v for k, v in names.items() if not k.startswith("__") and k not in ("f", "args", "calls", "print")}
            picture = Picture(self.framework)
            seen.append((picture([result, list(args)]), raised, picture.named(world), [ADDRESS.sub("0x", text) for text in written]))
        return seen

    def of_its_own(self, rng):
        seed = rng.choice(self.seeds)
        seen = self.calls(seed, self.sot.to_static)
        for i, (ours, plain) in enumerate(zip(seen, self.plain[seed])):
            if ours != plain:
                what = next((random_programs.apart(a, b) for a, b in zip(ours, plain) if a != b), None)
                self.found.append("program %d, call %d:\n    captured %s\n    plain    %s" % (seed, i, *what[::-1]))
                return

    def of_all(self, rng):
        at = rng.randrange(len(SHARED))
        n, x = rng.randrange(1, 6), [float(rng.randrange(1, 5)) for _ in range(2)]
        results = []
        for f in (SHARED[at], self.shared[at]):
            try:
                result = f(make(self.framework, x), n)
            except ZeroDivisionError as error:
                result = str(error)
            results.append(Picture(self.framework)(result))
        if results[0] != results[1]:
            self.found.append("%s(%s, %d):\n    captured %s\n    plain    %s" % (SHARED[at].__name__, x, n, results[1], results[0]))

    def work(self, number, seed):
        rng = random.Random(seed)
        while not self.stop.is_set():
            kind = "own" if rng.random() < 0.3 else "shared"
            try:
                (self.of_its_own if kind == "own" else self.of_all)(rng)
            except BaseException as error:
                self.found.append("a call raises %s: %s" % (type(error).__name__, error))
            self.done[kind] += 1
            self.alive[number] = time.monotonic()

    def disturb(self):
        rng = random.Random(1)
        while not self.stop.is_set():
            time.sleep(rng.random() / 20)
            if rng.random() < 0.5:
                gc.collect(rng.randrange(3))
            elif rng.random() < 0.2:
                self.sot.reset()
                self.done["reset"] += 1


def name_of(framework):
    return "paddle" if framework.__name__ == "paddle" else "toy"


def make(framework, numbers):
    return framework.to_tensor(numbers) if name_of(framework) == "paddle" else framework.tensor(numbers)


def looping(x, n):
    for i in range(n):
        x = x * 2 + i
    return x


def breaking(x, n):
    y = x + n
    os.getpid() + time.monotonic_ns()
    return y * n, [y, n]


def branching(x, n):
    return x * 2 if float(x.sum()) > n else x - 1


def closing(x, n):
    def inner(y):
        return y * n

    return inner(x), [each + n for each in (x, x)]


def yielding(x, n):
    def numbers():
        for i in range(n):
            yield x * i

    return sum(numbers(), x)


def handling(x, n):
    try:
        return x / (n - 3), 1 // (n - 3)
    except ZeroDivisionError:
        return x * n
    finally:
        x = x + 1


def raising(x, n):
    return x * n, 1 // (n - 2)


def instances(x, n):
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, other):
            return Pair(self.a + other.a, self.b * other.b)

    pair = Pair(x, n) + Pair(x * 2, 3)
    return pair.a, pair.b, {"n": n, **{str(i): i for i in range(n)}}


SHARED = [looping, breaking, branching, closing, yielding, handling, raising, instances]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--framework", choices=["toy", "paddle"], default="toy")
    parser.add_argument("--seed", type=int, default=0, help="the first program, and where the threads' choices begin")
    options = parser.parse_args()
    faulthandler.enable()
    # What programs write in their own ways is nobody's.
    report, sys.stdout = sys.stdout, open(os.devnull, "w")
    tasks = Tasks(*random_programs.load(options.framework), options.seed)
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    began = told = time.monotonic()
    tasks.alive = {number: began for number in range(options.threads)}
    threads = [threading.Thread(target=tasks.work, args=(n, options.seed + n), daemon=True) for n in range(options.threads)]
    threads.append(threading.Thread(target=tasks.disturb, daemon=True))
    for thread in threads:
        thread.start()
    hung = []
    while time.monotonic() - began < options.seconds and len(tasks.found) < SHOWN and not hung:
        time.sleep(0.5)
        hung = [number for number, at in tasks.alive.items() if time.monotonic() - at > PATIENCE]
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print("%d s: %s, %d differ" % (told - began, counted(tasks.done), len(tasks.found)), file=report, flush=True)
    tasks.stop.set()
    for thread in threads:
        thread.join(PATIENCE)
    hung = hung or [thread.name for thread in threads if thread.is_alive()]
    sys.setswitchinterval(switching)
    for what in list(tasks.found)[:SHOWN]:
        print("differs: " + what, file=report)
    stats = tasks.sot.stats()
    internal = stats["reasons"].get("internal-error", 0)
    if hung:
        print("threads that do not end: %s" % hung, file=report, flush=True)
        faulthandler.dump_traceback(all_threads=True)
    print("%d threads, %d s: %s; %d differ, %d internal errors" % (options.threads, time.monotonic() - began, counted(tasks.done), len(tasks.found), internal), file=report, flush=True)
    os._exit(1 if tasks.found or internal or hung else 0)


def counted(done):
    return ", ".join("%d %s" % (count, kind) for kind, count in sorted(done.items()))


if __name__ == "__main__":
    main()
