"""Random programs of `language_programs`, or with `--wide` of `wide_programs`, plain and captured, for many seeds.

usage: python random_programs.py [--wide [--open]] [--framework toy|paddle] [--seeds A:B | --seconds N] [--jobs N]
                                   [--show SEED] [--shrink SEED] [--kept] [--verify]

Each program runs twice in one process, anew each time, five calls: as it is, and with `f` captured (seeds 3k: through the
entry; 3k+1: inlined into a captured caller that prints, so behind a break; 3k+2: by the hook, called from a function that
cannot be captured). Results, exceptions with their lines, notes, causes and contexts, output, warnings, and every object that can
be reached from arguments, results and globals, with its identity, must be the same after each call. (Finalizers write to
a global list, so that their order is compared, too; the collector of cycles rests while a program runs.)

Seeds run in processes of their own, some hundred each: a crash or a hang costs one seed, which counts as different.
`--seconds` runs as many as that time allows, from seed 0 or, with `--next FILE`, from where the last run with that file ended.
`--kept` runs the seeds of `random_seeds.txt`, which once made a difference. Exit code 1: some program differs.
"""

import argparse
import collections
import contextlib
import gc
import importlib
import io
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import traceback
import types
import warnings

HERE = pathlib.Path(__file__).resolve().parent
# What a framework's name ends with where the programs are the wide ones, and where they show what is open, too.
WIDE, OPEN = "-wide", "-wide-open"
KEPT = HERE / "random_seeds.txt"
sys.path.insert(0, str(HERE))

import language_programs  # noqa: E402
import wide_programs  # noqa: E402

# Seeds for one process, and how long one program may take.
CHUNK = 200
LIMIT = 60
# How long one may run as plain Python, before it counts as one without end (a loop over a list that it extends).
ENDLESS = 5
FILE = "<program %d>"
# Longer ones Python does not write as a decimal number (`sys.set_int_max_str_digits`).
DECIMAL = 10_000
ADDRESS = re.compile("0x[0-9a-f]+")
SIMPLE = frozenset([type(None), bool, int, float, complex, bytes, range, slice])
# Of a class with one of these before it in its order, that one's contents are shown, and what the instance has of its own.
SHOWN = (BaseException, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, types.MethodType, set, frozenset, list)
SHOWN += (tuple, collections.deque, dict, int, float, str, bytearray, types.GeneratorType)


class Picture:
    """A comparable text of objects: types, values, order, and which of them are one object."""

    def __init__(self, framework):
        self.kinds = {framework.Tensor: "tensor"}
        self.numbers = {}
        self.keep = []

    def __call__(self, value):
        kind = type(value)
        if kind is int and value.bit_length() > DECIMAL:
            return hex(value)
        if kind in SIMPLE:
            return repr(value)
        if kind is str:
            return ADDRESS.sub("0x", repr(value)) if "0x" in value else repr(value)
        number = self.numbers.get(id(value))
        if number is not None:
            return "#%d" % number
        self.numbers[id(value)] = number = len(self.numbers)
        self.keep.append(value)
        return "#%d=%s%s" % (number, type.__getattribute__(kind, "__name__"), self.inside(value, kind))

    def kind(self, kind):
        """What is looked at in instances of a class."""
        found = self.kinds.get(kind)
        if found is None:
            bases = (base for base in SHOWN if issubclass(kind, base))
            found = self.kinds[kind] = next(bases, "other")
        return found

    def inside(self, value, kind):
        base = self.kind(kind)
        if base == "tensor":
            return "(%s %s)" % (list(value.shape), [round(x, 4) for x in flat(value.tolist())])
        if base is BaseException:
            chain = [value.__cause__, value.__context__, getattr(value, "__notes__", None)]
            return "(%s %s %s)" % (self(value.args), self(chain), value.__suppress_context__)
        if base is types.FunctionType:
            if value.__module__ != "program":
                return "(%s)" % value.__name__
            parts = {"defaults": value.__defaults__, "named": value.__kwdefaults__, "cells": tuple(map(cell, value.__closure__ or ()))}
            own = {k: v for k, v in [*value.__dict__.items(), *parts.items()] if isinstance(v, (int, list, dict, tuple)) and v}
            return "(%s%s)" % (value.__name__, self.named(own))
        if base is type:
            own = type.__getattribute__(value, "__dict__") if type.__getattribute__(value, "__module__") == "program" else {}
            own = {k: v for k, v in own.items() if type(v) in (int, float, bool, list, dict)}
            return "(%s%s)" % (type.__getattribute__(value, "__name__"), self.named(own))
        if base in (types.BuiltinFunctionType, types.ModuleType):
            return "(%s)" % value.__name__
        if base is types.MethodType:
            return "(%s %s)" % (self(value.__func__), self(value.__self__))
        text = ""
        if base in (set, frozenset):
            text = "{%s}" % " ".join(sorted(map(plain, base.__iter__(value))))
        elif base in (list, tuple, collections.deque):
            text = "[%s]" % " ".join(map(self, base.__iter__(value)))
        elif base is dict:
            text = "{%s}" % " ".join(["%s: %s" % (self(k), self(v)) for k, v in dict.items(value)])
            text += self(value.default_factory) if kind is collections.defaultdict else ""
        elif base in (int, float, str, bytearray):
            text = "(%s)" % base.__repr__(value)
        elif base is types.GeneratorType:
            text = "(%s)" % ("ended" if value.gi_frame is None else value.gi_frame.f_lineno)
        elif hasattr(kind, "__next__") and hasattr(kind, "__length_hint__"):
            text = "(%d left)" % kind.__length_hint__(value)
        for name in kind.__dict__.get("__slots__", ()):
            if name not in ("__dict__", "__weakref__"):
                with contextlib.suppress(AttributeError):
                    text += self.named({name: object.__getattribute__(value, name)})
        return text + self.named(own_dict(value))

    def named(self, names):
        return "{%s}" % " ".join(["%s=%s" % (name, self(value)) for name, value in list(names.items())]) if names else ""


def own_dict(value):
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


def cell(of):
    try:
        return of.cell_contents
    except ValueError:
        return "empty"


def plain(value):
    """Its text without addresses."""
    return ADDRESS.sub("0x", repr(value))


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [float(value)]


def outer(f):
    def call(*args):
        print("outer")
        return f(*args)

    return call


def below(f):
    """Calls `f` from a frame that stays plain Python; what it calls is seen by the hook."""

    def generator(args):
        yield f(*args)

    def call(*args):
        return next(generator(args))

    return call


def message(error):
    """What it says, but for the order of two operands: which of a set comes first is a matter of addresses."""
    try:
        told = str(error)
    except Exception as refused:  # `__str__` of the program
        told = "%s: %s" % (type(refused).__name__, refused)
    text, mark = ADDRESS.sub("0x", told), "not supported between instances of "
    start, found, classes = text.partition(mark)
    return start + found + " and ".join(sorted(classes.split(" and "))) if found else text


def run(source, seed, framework, translate):
    """What can be seen of each call."""
    module = types.ModuleType("program")
    names = module.__dict__
    sys.modules["program"] = module
    file = FILE % seed
    exec(compile(source, file, "exec", 0, True) if isinstance(source, str) else source, names)
    f = names["f"]
    callee = [lambda: translate(f), lambda: translate(outer(f)), lambda: translate(below(f))][seed % 3]()
    seen = []
    result = None
    for i in range(names["calls"]):
        with contextlib.suppress(Exception):
            args = names["args"](i)
        before = result
        out, result, raised = io.StringIO(), None, None
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                result = callee(*args)
            except Endless:
                raise
            except BaseException as error:
                raised = chain(error, file, set())
            # Frames that were never made keep nothing in circles with the exceptions that passed them.
            gc.collect(1)
        text = [(w.category.__name__, str(w.message), w.filename, w.lineno) for w in warned]
        picture = Picture(framework)
        world = {k: v for k, v in names.items() if not k.startswith("__") and k not in ("f", "args", "calls")}
        seen.append((picture([result, list(args), before]), ADDRESS.sub("0x", out.getvalue()), raised, picture.named(world), text))
        names["LOG"].clear()
    return seen


def chain(error, file, known):
    """What can be seen of an exception and those behind it: type, message, notes, and the lines of the program."""
    if error is None or id(error) in known:
        return error and "again"
    known.add(id(error))
    # Only the program's own lines: what stands between differs by the door.
    lines = [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    if lines and isinstance(error, UnboundLocalError):
        # Once it is warm the interpreter loads two variables by one instruction, and says the line of the first.
        lines[-1] = lines[-1][0]
    behind = [chain(e, file, known) for e in (error.__cause__, error.__context__)]
    return (type(error).__name__, message(error), lines, behind, error.__suppress_context__, getattr(error, "__notes__", None))


def source_of(seed, name):
    """The program of a seed. `name`: `toy` or `paddle`, with or without `-wide` or `-wide-open`."""
    if WIDE in name:
        return wide_programs.source(seed, name.split("-")[0], name.endswith(OPEN))
    return language_programs.source(seed, name)


def load(name):
    """The framework's module and the translator's."""
    if name.startswith("toy"):
        toy = importlib.import_module("toy_backend")
        return toy, toy
    return importlib.import_module("paddle"), importlib.import_module("sot")


class Endless(BaseException):
    """A program that does not end in plain Python either: there is nothing to compare."""


@contextlib.contextmanager
def bounded():
    def stop(_signal, _frame):
        raise Endless

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(ENDLESS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def differences(source, seed, name):
    framework, sot = load(name)
    source = compile(source, FILE % seed, "exec", 0, True)
    gc.collect()
    # What follows looks at what the program makes, and at nothing else.
    gc.freeze()
    gc.disable()
    try:
        with bounded():
            as_it_is = run(source, seed, framework, lambda f: f)
        sot.reset()
        captured = run(source, seed, framework, sot.to_static)
    finally:
        gc.enable()
        gc.unfreeze()
    found = []
    for i, (a, b) in enumerate(zip(as_it_is, captured)):
        for what, x, y in zip(("values", "output", "exception", "state", "warnings"), a, b):
            if x != y:
                found.append("call %d, %s:\n    %s\n    %s" % ((i, what) + apart(x, y)))
    if sot.stats()["differences"]:
        found.append("verified: plain Python beside a captured call came to something else; stderr says to what")
    if sot.stats()["reasons"].get("internal-error"):
        found.append("internal error: a defect that the translator noticed")
    return found


def apart(x, y, around=60):
    """The part of two texts where they differ."""
    if not (isinstance(x, str) and isinstance(y, str)):
        return repr(x), repr(y)
    start = len(os.path.commonprefix([x, y]))
    first = max(0, start - around)
    return x[first : start + 2 * around], y[first : start + 2 * around]


def child(first, end, name, text=None):
    """In a process of its own: says which seed it is at, and what differs."""
    for seed in range(first, end):
        print("at %d" % seed, flush=True)
        try:
            found = differences(text or source_of(seed, name), seed, name)
        except Endless:
            print("endless %d" % seed, flush=True)
            continue
        for what in found:
            print("differs %d %s" % (seed, what.replace("\n", "\\n")), flush=True)
    print("through", flush=True)


def start(name, *arguments):
    flags = ["--" + word for word in name.split("-")[1:]]
    arguments = ["--framework", name.split("-")[0], *flags, *arguments]
    command = [sys.executable, "-X", "faulthandler", str(pathlib.Path(__file__).resolve()), *arguments]
    env = dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def chunk(first, end, name):
    """The seeds of a range that differ, each with what differs, whatever becomes of the processes; and those without end."""
    found, endless = {}, []
    while first < end:
        process = start(name, "--child", "%d:%d" % (first, end))
        try:
            out, err = process.communicate(timeout=LIMIT + (end - first))
            how = "exit code %s" % process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            how = "hang"
        at = first
        for line in out.decode().split("\n"):
            word, _, rest = line.partition(" ")
            if word == "at":
                at = int(rest)
            elif word == "differs":
                seed, _, text = rest.partition(" ")
                found.setdefault(int(seed), []).append(text.replace("\\n", "\n"))
            elif word == "endless":
                endless.append(int(rest))
            elif word == "through":
                return found, endless
        found.setdefault(at, []).append("%s\n%s" % (how, err.decode()[-600:]))
        first = at + 1
    return found, endless


def blocks(lines):
    """(start, end) of each statement with what is nested in it."""
    def indent(line):
        return len(line) - len(line.lstrip())

    for i, line in enumerate(lines):
        end = i + 1
        while end < len(lines) and indent(lines[end]) > indent(line):
            end += 1
        yield i, end


def still_differs(source, seed, name):
    """In what a program differs, told by a copy of this process: `values`, `state` .., `internal`, `crash`, `hang` or None."""
    try:
        compile(source, "x", "exec", 0, True)
    except SyntaxError:
        return None
    load(name)
    read, write = os.pipe()
    copy = os.fork()
    if not copy:
        # It ends without a word about the rest of this process.
        signal.alarm(LIMIT)
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            found = differences(source, seed, name)
            os.write(write, (found[0].split(":")[0].split(", ")[-1].split(" ")[0] if found else "same").encode())
        except BaseException:
            os.write(write, b"same")
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        text = told.read()
    status = os.waitpid(copy, 0)[1]
    if os.WIFSIGNALED(status):
        return "hang" if os.WTERMSIG(status) == signal.SIGALRM else "crash"
    return None if text == "same" else text


def shrink(seed, name):
    """A smaller program that differs in the same way: statements are left out, or replaced by what is nested in them."""
    source = source_of(seed, name)
    head, rest = source.split("\ndef f(", 1)
    signature, body = rest.split("\n", 1)
    lines = body.split("\n")
    whole = lambda lines: "%s\ndef f(%s\n%s" % (head, signature, "\n".join(lines))  # noqa: E731
    kind = still_differs(whole(lines), seed, name)
    smaller = kind is not None
    while smaller:
        smaller = False
        for start, end in sorted(blocks(lines), key=lambda block: block[0] - block[1]):
            inner = [line[4:] for line in lines[start + 1 : end]]
            for candidate in (lines[:start] + lines[end:], lines[:start] + inner + lines[end:] if inner else None):
                if candidate and still_differs(whole(candidate), seed, name) == kind:
                    lines, smaller = candidate, True
                    break
            if smaller:
                break
    return whole(lines)


def kept():
    """Seeds that once made a difference: `framework seed`, and what it was."""
    for line in KEPT.read_text().split("\n"):
        words = line.split("#")[0].split()
        if words:
            yield words[0], int(words[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=sorted(language_programs.FRAMEWORKS), default="toy")
    parser.add_argument("--wide", action="store_true", help="the programs of wide_programs")
    parser.add_argument("--open", action="store_true", help="with what is known to differ")
    parser.add_argument("--seeds", default="0:200", help="A:B")
    parser.add_argument("--seconds", type=int, help="as many as that time allows, instead of --seeds")
    parser.add_argument("--next", type=pathlib.Path, metavar="FILE", help="holds the seed from which --seconds goes on")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed and what differs")
    parser.add_argument("--shrink", type=int, metavar="SEED", help="print a smaller program that differs")
    parser.add_argument("--kept", action="store_true", help="run the seeds that are kept for this framework")
    parser.add_argument("--verify", action="store_true", help="with SOT_VERIFY=1: plain Python beside each captured call, too")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    name = options.framework + (OPEN if options.open else WIDE * options.wide)
    if options.verify:
        os.environ["SOT_VERIFY"] = "1"
    if options.child:
        first, end = map(int, options.child.split(":"))
        return child(first, end, name, pathlib.Path(options.file).read_text() if options.file else None)
    if options.shrink is not None:
        print(shrink(options.shrink, name))
        return None
    if options.show is not None:
        seeds = [range(options.show, options.show + 1)]
        print(source_of(options.show, name))
    elif options.kept:
        seeds = [range(seed, seed + 1) for of, seed in kept() if of == name]
    elif options.seconds is not None:
        return for_a_while(options.seconds, options.next, name, options.jobs)
    else:
        first, end = map(int, options.seeds.split(":"))
        seeds = [range(a, min(a + CHUNK, end)) for a in range(first, end, CHUNK)]
    return report(seeds, name, options.jobs)


def for_a_while(seconds, state, name, jobs):
    """As many programs as the time allows; `state`: a file with the first seed that was not tried yet."""
    first = int(state.read_text()) if state and state.exists() else 0
    until, tried = time.time() + seconds, []

    def seeds():
        for start in itertools.count(first, CHUNK):
            # The first part is run in any case.
            if tried and time.time() >= until:
                return
            tried.append(start)
            yield range(start, start + CHUNK)

    try:
        report(seeds(), name, jobs)
    finally:
        if state and tried:
            state.write_text("%d\n" % (tried[-1] + CHUNK))
            print("the next run begins with seed %d" % (tried[-1] + CHUNK))


def ended(parts, run, jobs):
    """What became of the parts, in their order. No more of them than can run are asked for beforehand."""
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = collections.deque()
        for part in parts:
            running.append((part, pool.submit(run, part)))
            if len(running) >= jobs:
                part, future = running.popleft()
                yield part, future.result()
        for part, future in running:
            yield part, future.result()


def report(seeds, name, jobs):
    began, told, total, found, without_end = time.time(), time.time(), 0, {}, []
    for part, (differ, endless) in ended(seeds, lambda part: chunk(part.start, part.stop, name), jobs):
        without_end += endless
        for seed, texts in sorted(differ.items()):
            print("seed %d differs: %s" % (seed, "\n  ".join(texts[:3])), flush=True)
        found.update(differ)
        total += len(part)
        if time.time() - told > 30:
            told = time.time()
            print("%d programs, %d differ, %d s" % (total, len(found), told - began), flush=True)
    print("%d programs, %d differ, %d s" % (total, len(found), time.time() - began))
    if without_end:
        print("not compared, since plain Python does not end: %s" % ", ".join(map(str, without_end)))
    if found:
        print("look at one with --show SEED, make it small with --shrink SEED")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
