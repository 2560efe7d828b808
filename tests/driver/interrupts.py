"""Programs that are interrupted at random points, plain and captured: nothing is left half done.

usage: python interrupts.py [--seconds N] [--seed N] [--only NAME] [--by handler|keyboard] [--memory FIRST:LAST]

A program is first run as it is, traced: its state after each instruction is what an interrupt may leave. Then it runs
captured, and a signal handler that raises (one of the program's, an `Exception`; or the interpreter's own, whose KeyboardInterrupt
passes by `except Exception`; or the interpreter's memory that ends for a while) meets it anywhere in capture, guards, rewritten
code, breaks and continuations. Afterwards

- the exception is the very one that was raised, or the result is right;
- the state is one of those of the plain program (between the effects of one capture the program cannot be unwound yet: where a
  `try` or `with` is open, some few interrupts there leave it without its end; `allowed` says how many);
- a next call does what the plain program does, and nothing is left of the building of graphs, of hooks or of the objects of
  the program.

The seed of a round is printed with what went wrong; delays depend on the machine, so that it shows where to look and not more.
"""

import argparse
import pathlib
import random
import signal
import sys
import subprocess
import textwrap
import time
import types

try:
    import _testcapi

    MEMORY = hasattr(_testcapi, "set_nomemory")
except ImportError:
    MEMORY = False

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


# Part of what is said of a state that plain Python does not come to.
TORN = "left "


def allowed(interrupted):
    """How many of so many interrupts may tear a program apart. 3.8 and 3.9 look at signals between all instructions."""
    return 2 + interrupted // (10 if sys.version_info < (3, 10) else 40)


class Late(Exception):
    """What the signal handler raises."""


HEADER = """
LOG = []
class Thing:
    def __init__(self, name):
        self.name = name
        self.count = 0
        self.log = ()
THING = Thing("thing")
ITEMS = [1, 2, 3]
TABLE = {"a": 1}
COUNT = 0
class Within:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        THING.log = THING.log + (("enter", self.name),)
        return self
    def __exit__(self, kind, error, trace):
        THING.log = THING.log + (("exit", self.name),)
        return False
@toy.disable
def plain(value):
    THING.log = THING.log + ("plain",)
    return value
"""

PROGRAMS = {
    "effects in order": """
        def f(x):
            global COUNT
            LOG.append(1)
            THING.count = THING.count + 1
            COUNT = COUNT + 1
            y = x * 2
            TABLE["b"] = COUNT
            ITEMS.append(COUNT)
            LOG.append(2)
            THING.count = THING.count + 1
            del ITEMS[0]
            TABLE.update(c=1, d=2)
            LOG.extend([3, 4])
            return y + COUNT
    """,
    "breaks": """
        def f(x):
            for i in range(3):
                LOG.append(i)
                x = x * 2
                plain(x)
                THING.count = i
                ITEMS.append(i)
            return x
    """,
    "finally": """
        def f(x):
            THING.log = THING.log + ("before",)
            try:
                THING.log = THING.log + ("in",)
                x = x * 2
                THING.count = 5
                THING.log = THING.log + ("still in",)
            finally:
                THING.log = THING.log + ("out",)
            return x
    """,
    "finally around breaks": """
        def f(x):
            for i in range(2):
                try:
                    THING.log = THING.log + (("in", i),)
                    x = plain(x * 2)
                    THING.name = i
                finally:
                    THING.log = THING.log + (("out", i),)
            return x
    """,
    "with": """
        def f(x):
            with Within("a"):
                x = x + 1
                with Within("b"):
                    THING.count = THING.count + 1
                    x = plain(x)
                THING.log = THING.log + ("between",)
            return x
    """,
    "caught": """
        def f(x):
            try:
                THING.log = THING.log + ("in",)
                x = x * 2
                plain(x)
                THING.log = THING.log + ("done",)
            except Exception as error:
                THING.log = THING.log + (type(error).__name__,)
                raise
            return x
    """,
    "calls": """
        def inner(x, n):
            LOG.append(("inner", n))
            if n:
                x = inner(x + 1, n - 1)
            THING.count = n
            return plain(x)
        def f(x):
            return inner(x, 3) * 2
    """,
    "generators": """
        def numbers(n):
            try:
                for i in range(n):
                    THING.log = THING.log + (("give", i),)
                    yield i
            finally:
                THING.log = THING.log + ("closed",)
        def f(x):
            for i in numbers(3):
                x = x + i
                plain(i)
                THING.name = i
            return x
    """,
    "objects": """
        class Part:
            def __init__(self, n):
                LOG.append(("made", n))
                self.n = n
                self.next = THING.__dict__.get("part")
                THING.part = self
        def f(x):
            THING.part = None
            parts = [Part(i) for i in range(4)]
            THING.count = len(parts)
            x = x + parts[2].n
            ITEMS[:] = [part.n for part in parts]
            return x
    """,
    "swapped": """
        def f(x):
            a, b = THING.count, COUNT
            THING.count, THING.name = b, a
            ITEMS[0], ITEMS[1] = ITEMS[1], ITEMS[0]
            LOG.append(ITEMS[0])
            ITEMS.sort()
            ITEMS.reverse()
            TABLE["a"], TABLE["z"] = 2, 3
            del TABLE["a"]
            TABLE["a"] = 4
            return x + ITEMS[0]
    """,
}


def world(name, framework):
    module = types.ModuleType("program")
    module.toy = framework
    exec(compile(HEADER + textwrap.dedent(PROGRAMS[name]), "<%s>" % name, "exec"), module.__dict__)
    return module


def picture(module):
    part, chain = module.THING.__dict__.get("part"), []
    while part is not None:
        chain.append(part.__dict__.get("n"))
        part = part.__dict__.get("next")
    thing = [(k, v if k != "part" else chain) for k, v in vars(module.THING).items()]
    return repr((module.LOG, thing, module.ITEMS, module.TABLE, module.COUNT))


def counted(file, call, stop=None, error=Late):
    """What a call gives, and before how many instructions of a file it came; before the one of number `stop` it is interrupted."""
    count = [0]

    def traced(frame, event, argument):
        if frame.f_code.co_filename == file:
            frame.f_trace_opcodes = True
            if event == "opcode":
                count[0] += 1
                if count[0] == stop:
                    raise error("now")
            return traced
        return None

    sys.settrace(traced)
    try:
        return call(), count[0]
    finally:
        sys.settrace(None)


def as_it_is(name, framework, error=Late):
    """The states that plain Python comes to, in two calls: those before each instruction of the program, and those when an
    exception is raised there. What a handler raises at an instruction unwinds from there."""
    file = "<%s>" % name
    # 3.12 tells of opcodes from the next `settrace` on after a frame has asked for the first time.
    sys._getframe().f_trace_opcodes = True
    lengths = []
    for call in range(2):
        module = world(name, framework)
        for _ in range(call):
            module.f(framework.tensor([1.0]))
        result, length = counted(file, lambda: module.f(framework.tensor([1.0])).tolist())
        lengths.append((length, result, picture(module)))
    states = []
    for call, (length, _, _) in enumerate(lengths):
        found = set()
        for stop in range(length + 1):
            module = world(name, framework)
            for _ in range(call):
                module.f(framework.tensor([1.0]))
            try:
                counted(file, lambda: module.f(framework.tensor([1.0])), stop, error)
            except error:
                found.add(picture(module))
        # The signal comes before the first instruction, or behind the last one.
        found.add(lengths[0][2] if call else picture(world(name, framework)))
        found.add(lengths[call][2])
        states.append(found)
    return states, [(result, after) for _, result, after in lengths]


class Round:
    """One way to interrupt: `arm(point)` before the call, `disarm` behind it."""

    def __init__(self, error, arm, disarm):
        self.error, self.arm, self.disarm = error, arm, disarm


def by_signal():
    def handler(_number, _frame):
        raise Late("now")

    signal.signal(signal.SIGALRM, handler)
    return by_timer(Late)


def by_timer(error):
    return Round(
        error,
        lambda point: signal.setitimer(signal.ITIMER_REAL, point),
        lambda: signal.setitimer(signal.ITIMER_REAL, 0),
    )


def by_keyboard():
    """What Ctrl-C raises, by the interpreter's own handler, at a chosen time."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    return by_timer(KeyboardInterrupt)


def begin_again(name, module, framework):
    """The program's state is that of its beginning."""
    fresh = world(name, framework)
    module.THING.__dict__.clear()
    module.THING.__dict__.update(vars(fresh.THING))
    module.LOG[:], module.ITEMS[:] = fresh.LOG, fresh.ITEMS
    module.TABLE.clear()
    module.TABLE.update(fresh.TABLE)
    module.COUNT = fresh.COUNT


def left_over(framework):
    """What is wrong with the translator's own state."""
    if isinstance(framework.zeros([1]), framework.Value):
        yield "building mode is on"
    if framework.set_eval_frame(None) is not None:
        yield "a hook is left"


def memory_ends_for(name, framework, first, last):
    """In a process of its own: what went wrong where one allocation fails, in the first and in a later call."""
    states, ends = as_it_is(name, framework)
    for start in range(first, last):
        for warm in (0, 1):
            module = world(name, framework)
            framework.reset()
            entry = framework.to_static(module.f)
            if warm:
                entry(framework.tensor([1.0]))
                begin_again(name, module, framework)
            x, raised = framework.tensor([1.0]), None
            _testcapi.set_nomemory(start, start + 1)
            try:
                result = entry(x)
                _testcapi.remove_mem_hooks()
            except MemoryError:
                _testcapi.remove_mem_hooks()
                raised = True
            text = "%s, allocation %d (%s): " % (name, start, ["cold", "warm"][warm])
            after = picture(module)
            if not raised and (result.tolist(), after) != ends[0]:
                yield text + "came to %s and %s" % (result.tolist(), after)
            if raised and after not in states[0]:
                yield text + TORN + after
            for what in left_over(framework):
                yield text + what
            begin_again(name, module, framework)
            if (entry(framework.tensor([1.0])).tolist(), picture(module)) != ends[0]:
                yield text + "the next call came to " + picture(module)


def without_memory(name, first, last):
    """What `memory_ends_for` finds, and whether the process came to its end."""
    command = [sys.executable, "-X", "faulthandler", str(pathlib.Path(__file__).resolve()), "--only", name]
    command += ["--memory", "%d:%d" % (first, last)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    out, err = process.communicate()
    found = [line for line in out.decode().splitlines() if line.startswith(name)]
    torn = [line for line in found if TORN in line]
    found = [line for line in found if TORN not in line]
    if len(torn) > (last - first) // 6:
        found += torn
    if "through" not in out.decode():
        found.append("%s: exit code %s\n%s" % (name, process.returncode, err.decode()[-2000:]))
    return found


def environment():
    """A child finds the framework where it was found here."""
    import os

    return dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))


def differences(name, framework, how, seed, rounds, known={}):
    """What went wrong in some rounds, and how often the exception came."""
    if (name, how.error) not in known:
        known[name, how.error] = as_it_is(name, framework, how.error)
    states, ends = known[name, how.error]
    choose = random.Random(seed)
    wrong, came = [], 0
    module = world(name, framework)
    framework.reset()
    entry = framework.to_static(module.f)
    times = []
    for _ in range(2):
        start = time.perf_counter()
        entry(framework.tensor([1.0]))
        times.append(time.perf_counter() - start)
    for number in range(rounds):
        warm = number % 2
        module = world(name, framework)
        framework.reset()
        entry = framework.to_static(module.f)
        if warm:
            # What serves the second call is captured with the state that it will meet.
            for _ in range(2):
                entry(framework.tensor([1.0]))
            begin_again(name, module, framework)
        x = framework.tensor([1.0])
        point = choose.random() * times[warm] * 1.1 + 1e-6
        outcome = None
        try:
            try:
                how.arm(point)
                result = entry(x)
                outcome = result.tolist()
            finally:
                how.disarm()
        except how.error as error:
            outcome = error
            came += 1
        except BaseException as error:
            wrong.append("%s, seed %d, round %d: raised %r" % (name, seed, number, error))
            continue
        text = "%s, seed %d, round %d (%s, at %.0f us): " % (name, seed, number, ["cold", "warm"][warm], point * 1e6)
        after = picture(module)
        if isinstance(outcome, how.error):
            if after not in states[0]:
                wrong.append(text + TORN + after)
            if outcome.args != ("now",) and how.error is Late:
                wrong.append(text + "another exception, %r" % (outcome,))
        elif (outcome, after) != ends[0]:
            wrong.append(text + "came to %s and %s" % (outcome, after))
        outcome = error = None
        wrong += [text + what for what in left_over(framework)]
        # The next call, from the beginning.
        begin_again(name, module, framework)
        result = entry(framework.tensor([1.0])).tolist()
        if (result, picture(module)) != ends[0]:
            wrong.append(text + "the next call came to %s and %s" % (result, picture(module)))
        stats = framework.stats()
        if stats["reasons"].get("internal-error") or stats["hook_failures"] or stats["graph_failures"]:
            wrong.append(text + "internal errors: %s" % stats)
    return wrong, came


WAYS = {"handler": by_signal, "keyboard": by_keyboard}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--seed", type=int, help="the first one; otherwise another one each time")
    parser.add_argument("--only", choices=sorted(PROGRAMS))
    parser.add_argument("--by", choices=sorted(WAYS), help="who raises; otherwise both, in turns")
    parser.add_argument("--memory", metavar="FIRST:LAST", help="allocations of which one fails, instead of signals")
    options = parser.parse_args()
    import toy_backend

    names = [options.only] if options.only else list(PROGRAMS)
    if options.memory:
        first, last = map(int, options.memory.split(":"))
        found = [text for name in names for text in memory_ends_for(name, toy_backend, first, last)]
        print("\n".join([*found, "through"]))
        return
    ways = [WAYS[options.by]] if options.by else list(WAYS.values())
    seed = first = int(time.time()) if options.seed is None else options.seed
    until, total, came, torn, wrong = time.time() + options.seconds, 0, 0, 0, 0
    while seed == first or time.time() < until:
        how = ways[seed % len(ways)]()
        for name in names:
            found, met = differences(name, toy_backend, how, seed, 20)
            for text in found:
                print(text, flush=True)
            of_these = sum(TORN in text for text in found)
            wrong, torn = wrong + len(found) - of_these, torn + of_these
            total, came = total + 20, came + met
        seed += 1
    line = "%d calls, %d interrupted, %d torn apart, %d wrong; seeds %d to %d"
    print(line % (total, came, torn, wrong, first, seed - 1))
    sys.exit(1 if wrong or torn > allowed(came) else 0)


if __name__ == "__main__":
    main()
