"""What guards cost, measured in one process: `cargo xtask bench guards` asks it, in JSON lines as those of `bench_worker.py`.

    {"do": "about"}                                          versions
    {"do": "kinds"}                                          names of the kinds of facts
    {"do": "kind", "name": "list item"}                      captured and eager calls that read 0, 10 and 50 facts
    {"do": "swap"}                                           a function that returns its two tensors, and an empty one
    {"do": "models"}                                         names of the models
    {"do": "model", "name": "resnet50"}                      a call that asks the guards of a model, and one that does not
    {"do": "entries"}                                        calls by the number of entries in a cache
    {"do": "series"}                                         names of the ways to have many facts
    {"do": "facts", "series": "list items"}                  calls by the number of facts

with "rounds" and "batch_ms" where something is timed. Times are nanoseconds of a call, one for each round; within a round
everything that is compared is timed in turns. They are the thread's own processor time, so that what else the machine does
counts little, with the collector off.

Guards are checked at each call only if no clock may choose plain Python: the process wants `SOT_MEASURE=0`. A captured
function with nothing to rewrite runs its original code, which reads the facts again. So those measured here write to
a list behind their facts; what that costs is the same for any number of facts.
"""

import abc
import gc
import itertools
import json
import os
import sys
import time
import types
import warnings

# Answers go to the real standard output; whatever Paddle prints goes to standard error.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
warnings.filterwarnings("ignore")
os.environ.setdefault("GLOG_minloglevel", "2")

import numpy  # noqa: E402
import paddle  # noqa: E402
import sot  # noqa: E402

READ = [0, 10, 50]
ENTRIES = [1, 2, 4, 8, 16, 32, 64]
FACTS = [10, 30, 100, 300, 1000, 3000, 10_000]


class Box:
    """A plain instance with these attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def seven(self):
        return 7


class Derived(Box):
    pass


def values(count, make=lambda i: 1000 + i):
    return [make(i) for i in range(count)]


def many(count, make):
    """A namespace of so many things, as x0, x1, .."""
    return {f"x{i}": make(i) for i in range(count)}


def module(i):
    made = types.ModuleType(f"made{i}")
    made.v = 1000 + i
    return made


def function(i, defaults=False):
    names = {}
    exec(f"def x(a={i}): return a" if defaults else f"def x(): return {i}", names)
    return names["x"]


def layer(i):
    made = paddle.nn.Linear(2, 2)
    made.v = 1000 + i
    return made


class Kind:
    """A kind of fact. `line`: how the i-th is read, in a condition that is false. `arguments`: what the function is given, by
    parameter. An argument has a guard whether or not it is read: where each fact is one, passing it is part of its time, in
    plain Python as well."""

    def __init__(self, line, arguments=None, names=None, defaults=None, cells=None):
        self.line = line
        self.arguments = arguments or (lambda count: {})
        self.names = names or (lambda count: {})
        self.defaults = defaults or (lambda count: {})
        self.cells = cells or (lambda count: {})

    def function(self, read):
        """A function that reads so many facts, and what to give it."""
        arguments, defaults, cells = self.arguments(read), self.defaults(read), self.cells(read)
        names = {"Box": Box, **self.names(read)}
        names.update({f"default_{name}": value for name, value in defaults.items()})
        parameters = ["out", *arguments, *(f"{name}=default_{name}" for name in defaults)]
        lines = [f"        if {self.line.format(i=i, v=1000 + i)}: return" for i in range(read)]
        source = ["def make(%s):" % ", ".join(cells), "    def f(%s):" % ", ".join(parameters)]
        source += [*lines, "        out[0] = 0", "    return f"]
        exec(compile("\n".join(source), f"<{read} facts>", "exec"), names)
        return names["make"](**cells), [[0], *arguments.values()]


def each(make):
    return lambda count: many(count, make)


def one(make):
    return lambda count: {"x": make(count)}


KINDS = {
    "int argument": Kind("x{i} != {v}", each(lambda i: 1000 + i)),
    "float argument": Kind("x{i} != {v}.5", each(lambda i: 1000.5 + i)),
    "str argument": Kind("x{i} != 'mode {v}'", each(lambda i: f"mode {1000 + i}")),
    "bool argument": Kind("not x{i}", each(lambda i: True)),
    "None argument": Kind("x{i} is not None", each(lambda i: None)),
    "numpy scalar argument": Kind("x{i} != {v}", each(lambda i: numpy.float32(1000 + i))),
    "tensor argument": Kind("x{i}.shape[0] != 4", each(lambda i: paddle.ones([4, 4]))),
    "default argument": Kind("x{i} != {v}", defaults=each(lambda i: 1000 + i)),
    "closure cell": Kind("x{i} != {v}", cells=each(lambda i: 1000 + i)),
    "tuple item": Kind("x[{i}] != {v}", one(lambda count: tuple(values(count)))),
    "list item": Kind("x[{i}] != {v}", one(values)),
    "list length": Kind("len(x{i}) != 3", each(lambda i: [1, 2, 3])),
    "dict item": Kind("x['k{i}'] != {v}", one(lambda count: {f"k{i}": 1000 + i for i in range(count)})),
    "key in a dict": Kind("'k{i}' not in x", one(lambda count: {f"k{i}": 1000 + i for i in range(count)})),
    "instance attribute": Kind("x.x{i} != {v}", one(lambda count: Box(**many(count, lambda i: 1000 + i)))),
    "nested attribute": Kind("x.x{i}.v != {v}", one(lambda count: Box(**many(count, lambda i: Box(v=1000 + i))))),
    "missing attribute": Kind("hasattr(x, 'none{i}')", one(lambda count: Box())),
    "isinstance": Kind("not isinstance(x{i}, Box)", each(lambda i: Derived())),
    "method of an argument": Kind("x{i}.seven() != 7", each(lambda i: Box())),
    "global int": Kind("x{i} != {v}", names=each(lambda i: 1000 + i)),
    "global function": Kind("x{i}() != {i}", names=each(function)),
    "default of a global function": Kind("x{i}() != {i}", names=each(lambda i: function(i, defaults=True))),
    "module attribute": Kind("x{i}.v != {v}", names=each(module)),
    "class attribute": Kind("x{i}.v != {v}", names=each(lambda i: type("Made", (), {"v": 1000 + i}))),
    "layer attribute": Kind("x{i}.v != {v}", names=each(layer)),
    "parameter of a layer": Kind("x{i}.weight.shape[0] != 2", names=each(layer)),
}

# Ways to have many facts, in few instructions each (a capture that comes to no tensor for 50,000 of them gives up), and whether
# the caller binds another global before each call, so that the stamp of all globals is stale.
LIST = Kind("x[{i}]", one(lambda count: [0] * count))
INSTANCE = Kind("x.x{i}", one(lambda count: Box(**many(count, lambda i: 0))))
GLOBALS = Kind("x{i}", names=each(lambda i: 0))
SERIES = {
    "list items": (LIST, False),
    "attributes": (INSTANCE, False),
    "globals": (GLOBALS, False),
    "globals, stale stamp": (GLOBALS, True),
}

MODELS = {
    "resnet50": lambda: (paddle.vision.models.resnet50(), paddle.randn([1, 3, 64, 64])),
    "resnet18": lambda: (paddle.vision.models.resnet18(), paddle.randn([1, 3, 64, 64])),
    "TransformerEncoderLayer": lambda: (
        paddle.nn.TransformerEncoderLayer(d_model=64, nhead=4, dim_feedforward=128),
        paddle.randn([2, 16, 64]),
    ),
}


def calls(function, arguments):
    """So many calls."""

    def run(count):
        for _ in itertools.repeat(None, count):
            function(*arguments)

    return run


def calls_in_turn(function, each_arguments):
    """So many calls, with the first arguments, the second, .. and the first again."""

    def run(count):
        for arguments in itertools.islice(itertools.cycle(each_arguments), count):
            function(*arguments)

    return run


def calls_after_writes(function, arguments, names):
    """So many calls, before each of which a name is bound that no fact is about."""

    def run(count):
        for i in range(count):
            names["unrelated"] = i
            function(*arguments)

    return run


def counted():
    stats = sot.stats()
    counts = {name: stats[name] for name in ("captures", "breaks", "fallbacks", "misses", "unguarded")}
    # With nothing to rewrite, the original code would serve.
    return {**counts, "nothing to rewrite": stats["reasons"].get("no-tensor", 0)}


def captured(function, arguments):
    """A function after its first call. An error: it was not captured as what is measured here needs it."""
    entry = sot.to_static(function)
    before = counted()
    start = time.perf_counter()
    entry(*arguments)
    took = (time.perf_counter() - start) * 1e3
    new = {name: count - before[name] for name, count in counted().items()}
    if new != {"captures": 1, "breaks": 0, "fallbacks": 0, "misses": 1, "unguarded": 0, "nothing to rewrite": 0}:
        why = sot.explain(entry)(*arguments).breaks
        raise RuntimeError(f"not captured as a whole: {[b.reason for b in why] or new}")
    return entry, took


def guards_of(entry, arguments):
    return len(sot.explain(entry)(*arguments).guards)


def measure(request, runs):
    """Nanoseconds of a call of each, by round. An error: not all calls were hits."""

    def timed(run, count):
        start = time.thread_time_ns()
        run(count)
        return (time.thread_time_ns() - start) / count

    gc.collect()
    gc.disable()
    try:
        before = counted()
        for run in runs:
            timed(run, 3)
        counts = [int(request["batch_ms"] * 1e6 / max(timed(run, 20), 1)) for run in runs]
        counts = [min(max(count, 2), 20_000) for count in counts]
        times = [[] for _ in runs]
        for number in range(request["rounds"]):
            order = list(range(len(runs)))
            for at in order[number % len(runs) :] + order[: number % len(runs)]:
                times[at].append(timed(runs[at], counts[at]))
        if counted() != before:
            raise RuntimeError("a call that was timed was no hit")
    finally:
        gc.enable()
    return times


class Worker:
    def about(self, request):
        return {"python": sys.version.split()[0], "paddle": paddle.__version__, "sot": sot.__version__}

    def kinds(self, request):
        return {"names": list(KINDS)}

    def kind(self, request):
        kind = KINDS[request["name"]]
        eager, runs, guards = [], [], []
        for read in READ:
            function, arguments = kind.function(read)
            plain, _ = kind.function(read)
            entry, _ = captured(function, arguments)
            eager.append(calls(plain, arguments))
            runs.append(calls(entry, arguments))
            guards.append(guards_of(entry, arguments))
        times = measure(request, runs + eager)
        return {"facts": READ, "captured": times[: len(READ)], "eager": times[len(READ) :], "guards": guards}

    def swap(self, request):
        def swap(x, y):
            return y, x

        def empty(x, y):
            pass

        arguments = [paddle.ones([4, 4]), paddle.ones([4, 4])]
        entry = sot.to_static(types.FunctionType(swap.__code__, {}))
        entry(*arguments)
        guarded, plain, nothing = measure(request, [calls(f, arguments) for f in (entry, swap, empty)])
        return {"captured": guarded, "eager": plain, "empty": nothing}

    def models(self, request):
        return {"names": list(MODELS)}

    def model(self, request):
        """Two entries: the guards of the first are those of the model and, as the last one that is checked, that no class was
        registered with an abstract class since. One is, so each later call asks all of them in vain, and the second entry,
        which has nothing to do with the model, serves it: the guards are timed, and no graph runs."""
        net, inputs = MODELS[request["name"]]()
        net.eval()
        with paddle.no_grad():
            with_model, guards = self.in_vain(lambda x: net(x), inputs)
            without, own = self.in_vain(lambda x: None, inputs)
            times = measure(request, [with_model, without])
        return {"with": times[0], "without": times[1], "guards": guards - own}

    def in_vain(self, look, inputs):
        class Abstract(abc.ABC):
            pass

        class Concrete:
            pass

        instance = Concrete()

        def asked(x, out):
            if not isinstance(instance, Abstract):
                look(x)
            out[0] = 0

        arguments = [inputs, [0]]
        entry, _ = captured(asked, arguments)
        guards = guards_of(entry, arguments)
        Abstract.register(Concrete)
        missed = sot.explain(entry)(*arguments).missed
        if len(missed) != 1 or "registered with an abstract class" not in missed[0]:
            raise RuntimeError(f"the last guard was not the one that failed: {missed}")
        return calls(entry, arguments), guards

    def entries(self, request):
        tensor = paddle.ones([4, 4])
        series = {"the last made": [], "the first made": [], "each in turn": []}
        for count in ENTRIES:
            names = {}
            exec("def f(x, mode, out):\n    x.shape\n    out[0] = len(mode + '.')", names)
            entry = sot.to_static(names["f"])
            each_arguments = [[tensor, f"mode {1000 + i}", [0]] for i in range(count)]
            before = counted()
            for arguments in each_arguments:
                entry(*arguments)
            made = counted()["captures"] - before["captures"]
            if made != count:
                raise RuntimeError(f"{made} entries, not {count}")
            series["the last made"].append(calls(entry, each_arguments[-1]))
            series["the first made"].append(calls(entry, each_arguments[0]))
            series["each in turn"].append(calls_in_turn(entry, each_arguments))
        times = iter(measure(request, [run for runs in series.values() for run in runs]))
        return {"counts": ENTRIES, "series": {name: [next(times) for _ in runs] for name, runs in series.items()}}

    def series(self, request):
        return {"names": list(SERIES)}

    def facts(self, request):
        kind, writes = SERIES[request["series"]]
        runs, eager, guards, capture_ms = [], [], [], []
        for count in FACTS:
            function, arguments = kind.function(count)
            entry, took = captured(function, arguments)
            capture_ms.append(took)
            guards.append(guards_of(entry, arguments))
            plain, _ = kind.function(count)
            eager.append(calls(plain, arguments))
            names = function.__globals__
            runs.append(calls_after_writes(entry, arguments, names) if writes else calls(entry, arguments))
        times = measure(request, runs + eager)
        found = {"captured": times[: len(FACTS)], "eager": times[len(FACTS) :]}
        return {"counts": FACTS, **found, "guards": guards, "capture_ms": capture_ms}


def main():
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request["do"])(request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
        print(json.dumps(answer), file=answers, flush=True)
    # Leaves without Paddle's reports and teardown: nothing that follows is measured.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
