"""Random programs of `language_programs`, plain and captured, for many seeds.

usage: python random_programs.py [--framework toy|paddle] [--seeds A:B | --seconds N] [--jobs N]
                                   [--show SEED] [--shrink SEED] [--kept]

Each program runs twice in one process, anew each time, five calls: as it is, and with `f` captured (seeds 3k: through the
entry; 3k+1: inlined into a captured caller that prints, so behind a break; 3k+2: by the hook, called from a function that
cannot be captured). Results, exceptions with their lines and contexts, output, and every object that can be reached from
arguments, results and globals, with its identity, must be the same after each call.

Seeds run in processes of their own, some hundred each: a crash or a hang costs one seed, which counts as different.
`--seconds` runs as many as that time allows, from seed 0 or, with `--next FILE`, from where the last run with that file ended.
`--kept` runs the seeds of `random_seeds.txt`, which once made a difference. Exit code 1: some program differs.
"""

import argparse
import collections
import contextlib
import importlib
import io
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback
import types

HERE = pathlib.Path(__file__).resolve().parent
KEPT = HERE / "random_seeds.txt"
sys.path.insert(0, str(HERE))

import language_programs  # noqa: E402

# Seeds for one process, and how long one program may take.
CHUNK = 200
LIMIT = 60
# How long one may run as plain Python, before it counts as one without end (a loop over a list that it extends).
ENDLESS = 5


class Picture:
    """A comparable text of objects: types, values, order, and which of them are one object."""

    def __init__(self, framework):
        self.tensor = framework.Tensor
        self.numbers = {}
        self.keep = []

    def __call__(self, value):
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str, bytes, range, slice):
            return repr(value)
        if id(value) in self.numbers:
            return "#%d" % self.numbers[id(value)]
        self.numbers[id(value)] = len(self.numbers)
        self.keep.append(value)
        return "#%d=%s%s" % (self.numbers[id(value)], kind.__name__, self.inside(value, kind))

    def inside(self, value, kind):
        if isinstance(value, self.tensor):
            return "(%s %s)" % (list(value.shape), [round(x, 4) for x in flat(value.tolist())])
        if isinstance(value, BaseException):
            return "(%s)" % self(value.args)
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)):
            own = vars(value) if isinstance(value, type) and value.__module__ == "program" else {}
            return "(%s%s)" % (value.__name__, self.named({k: v for k, v in own.items() if isinstance(v, (int, list, dict))}))
        if isinstance(value, types.MethodType):
            return "(%s %s)" % (self(value.__func__), self(value.__self__))
        if isinstance(value, (set, frozenset)):
            return "{%s}" % " ".join(sorted(map(repr, value)))
        text = ""
        if isinstance(value, (list, tuple)):
            text = "[%s]" % " ".join(map(self, list.__iter__(value) if isinstance(value, list) else value))
        elif isinstance(value, dict):
            text = "{%s}" % " ".join("%s: %s" % (self(k), self(v)) for k, v in dict.items(value))
        elif hasattr(kind, "__next__") and hasattr(kind, "__length_hint__"):
            text = "(%d left)" % kind.__length_hint__(value)
        return text + self.named(getattr(value, "__dict__", {}))

    def named(self, names):
        return "{%s}" % " ".join("%s=%s" % (name, self(value)) for name, value in names.items()) if names else ""


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
    text, mark = str(error), "not supported between instances of "
    start, found, classes = text.partition(mark)
    return start + found + " and ".join(sorted(classes.split(" and "))) if found else text


def run(source, seed, framework, translate):
    """What can be seen of each call."""
    module = types.ModuleType("program")
    names = module.__dict__
    sys.modules["program"] = module
    file = "<program %d>" % seed
    exec(compile(source, file, "exec", 0, True), names)
    f = names["f"]
    callee = [lambda: translate(f), lambda: translate(outer(f)), lambda: translate(below(f))][seed % 3]()
    seen = []
    for i in range(names["calls"]):
        args = names["args"](i)
        out, result, raised = io.StringIO(), None, None
        with contextlib.redirect_stdout(out):
            try:
                result = callee(*args)
            except Exception as error:
                raised = error
        if raised is not None:
            # Only the program's own lines: what stands between differs by the door.
            lines = [(f.name, f.lineno) for f in traceback.extract_tb(raised.__traceback__) if f.filename == file]
            context = [type(e).__name__ for e in (raised.__cause__, raised.__context__) if e is not None]
            raised = (type(raised).__name__, message(raised), lines, context, raised.__suppress_context__)
        picture = Picture(framework)
        world = {k: v for k, v in names.items() if not k.startswith("__") and k not in ("f", "args", "calls")}
        seen.append((picture([result, list(args)]), out.getvalue(), raised, picture.named(world)))
    return seen


def load(name):
    """The framework's module and the translator's."""
    if name == "toy":
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
    with bounded():
        plain = run(source, seed, framework, lambda f: f)
    sot.reset()
    captured = run(source, seed, framework, sot.to_static)
    found = []
    for i, (a, b) in enumerate(zip(plain, captured)):
        for what, x, y in zip(("values", "output", "exception", "state"), a, b):
            if x != y:
                found.append("call %d, %s:\n    %s\n    %s" % ((i, what) + apart(x, y)))
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


def child(first, end, name):
    """In a process of its own: says which seed it is at, and what differs."""
    for seed in range(first, end):
        print("at %d" % seed, flush=True)
        try:
            found = differences(language_programs.source(seed, name), seed, name)
        except Endless:
            print("endless %d" % seed, flush=True)
            continue
        for text in found:
            print("differs %d %s" % (seed, text.replace("\n", "\\n")), flush=True)
    print("through", flush=True)


def start(arguments):
    command = [sys.executable, "-X", "faulthandler", str(pathlib.Path(__file__).resolve())] + arguments
    env = dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def chunk(first, end, name):
    """The seeds of a range that differ, each with what differs, whatever becomes of the processes; and those without end."""
    found, endless = {}, []
    while first < end:
        process = start(["--framework", name, "--child", "%d:%d" % (first, end)])
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
    try:
        compile(source, "x", "exec")
    except SyntaxError:
        return None
    path = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / ("sot-shrink-%d.py" % os.getpid())
    path.write_text(source)
    process = start(["--framework", name, "--file", str(path), "--child", "%d:%d" % (seed, seed + 1)])
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        return "hang"
    text = out.decode()
    if "\ndiffers " in text:
        return text.split("differs ", 1)[1].split("call ")[1].split(":")[0].split(", ")[1] if "call " in text else "internal"
    return None if "through" in text else "crash" if process.returncode < 0 else None


def shrink(seed, name):
    """A smaller program that differs in the same way: statements are left out, or replaced by what is nested in them."""
    source = language_programs.source(seed, name)
    head, rest = source.split("\ndef f(", 1)
    signature, body = rest.split("\n", 1)
    body, tail = body.split("\n\ncalls = ", 1)
    lines = body.split("\n")
    whole = lambda lines: "%s\ndef f(%s\n%s\n\ncalls = %s" % (head, signature, "\n".join(lines), tail)  # noqa: E731
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
    parser.add_argument("--seeds", default="0:200", help="A:B")
    parser.add_argument("--seconds", type=int, help="as many as that time allows, instead of --seeds")
    parser.add_argument("--next", type=pathlib.Path, metavar="FILE", help="holds the seed from which --seconds goes on")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed and what differs")
    parser.add_argument("--shrink", type=int, metavar="SEED", help="print a smaller program that differs")
    parser.add_argument("--kept", action="store_true", help="run the seeds that are kept for this framework")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    name = options.framework
    if options.file:
        text = pathlib.Path(options.file).read_text()
        language_programs.source = lambda seed, framework: text
    if options.child:
        first, end = map(int, options.child.split(":"))
        return child(first, end, name)
    if options.shrink is not None:
        print(shrink(options.shrink, name))
        return None
    if options.show is not None:
        seeds = [range(options.show, options.show + 1)]
        print(language_programs.source(options.show, name))
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
