"""One system under measurement, in a process of its own: eager Paddle, Paddle's own SOT, or sot.

`cargo xtask bench` starts one worker for each system, speaks JSON lines with it and lets the workers take turns, so that
whatever else the machine does meets all of them alike. Requests, one a line on standard input:

    {"do": "setup", "workload": "resnet18"}   make the model and its inputs, warm the tool up on another function
    {"do": "cold"}                            the first call: ms, graphs, breaks
    {"do": "calls", "count": 100}             that many calls, timed together: microseconds for each
    {"do": "series"}                          one call for each argument of a workload that varies: ms, calls, captures

An answer is one line: the result, or {"error": ".."} when the workload raised.
"""

import argparse
import gc
import json
import os
import sys
import time
import warnings

# Answers go to the real standard output; whatever Paddle or a workload prints goes to standard error.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
warnings.filterwarnings("ignore")
os.environ.setdefault("GLOG_minloglevel", "2")

import paddle  # noqa: E402
from paddle import nn  # noqa: E402


class Eager:
    def capture(self, target):
        return target

    def counts(self):
        return {"graphs": 0, "breaks": 0}

    def captures(self):
        return 0


class PaddleSot:
    """Counts graphs by Paddle's cache of compiled StatementIR, and breaks by its information collector."""

    def __init__(self):
        from paddle.jit.sot.opcode_translator.executor.executor_cache import OpcodeExecutorCache
        from paddle.jit.sot.symbolic.compile_cache import CompileSIRCache
        from paddle.jit.sot.utils import envs, info_collector

        self.graphs = CompileSIRCache()
        self.entries = OpcodeExecutorCache()
        self.collected = info_collector.InfoCollector()
        # Collected at capture only, so it costs a hit nothing.
        envs.ENV_SOT_COLLECT_INFO.set({"breakgraph_reason": []})

    def capture(self, target):
        return paddle.jit.to_static(target, full_graph=False)

    def counts(self):
        breaks = self.collected.get_info_dict(self.break_info_type()).get("BreakGraphReasonInfo", [])
        return {"graphs": len(self.graphs.cache), "breaks": len(breaks)}

    def captures(self):
        return self.entries.translate_count

    def break_info_type(self):
        from paddle.jit.sot.utils.info_collector import BreakGraphReasonInfo

        return BreakGraphReasonInfo.TYPE

    def forget(self):
        self.collected.clear()


class Sot:
    def __init__(self):
        import sot

        self.sot = sot

    def capture(self, target):
        return self.sot.to_static(target)

    def counts(self):
        stats = self.sot.stats()
        return {"graphs": stats["graphs"], "breaks": stats["breaks"]}

    def captures(self):
        return self.sot.stats()["captures"]


SYSTEMS = {"eager": Eager, "paddle": PaddleSot, "sot": Sot}


def no_grad(net, *inputs):
    """A network in inference: its call under no_grad."""

    def make(system):
        net.eval()
        captured = system.capture(net)

        def call():
            with paddle.no_grad():
                return captured(*inputs)

        return call

    return make


def function(target, *inputs):
    def make(system):
        captured = system.capture(target)
        return lambda: captured(*inputs)

    return make


def swap(x, y):
    return y, x


def one_break(x, y):
    gc.get_count()
    return y, x


def multiply_add(x, y):
    return x * 2 + y


def break_between(x, y):
    doubled = x * 2
    gc.get_count()
    return doubled + y


def many_operations(x, y):
    for i in range(100):
        x = x + y
        x = x * 0.99
    return x


def tensor_while(x, limit):
    while x < limit:
        x = x + 1.0
    return x


def branch_in_for(x):
    for i in range(10):
        x = x + float(i)
        if x.sum() > 1000.0:
            x = x - 100.0
    return x


def lenet_step():
    from paddle.vision.models import LeNet

    net = LeNet()
    loss_of = nn.CrossEntropyLoss()
    optimizer = paddle.optimizer.Adam(learning_rate=1e-4, parameters=net.parameters())
    images = paddle.randn([8, 1, 28, 28])
    labels = paddle.randint(0, 10, [8, 1])

    def make(system):
        captured = system.capture(net)

        def call():
            loss = loss_of(captured(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return call

    return make


def vision(name):
    from paddle.vision import models

    return no_grad(getattr(models, name)(), paddle.randn([1, 3, 64, 64]))


def encoder():
    layer = nn.TransformerEncoderLayer(d_model=64, nhead=4, dim_feedforward=128)
    return no_grad(layer, paddle.randn([2, 16, 64]))


WORKLOADS = {
    "swap": lambda: function(swap, paddle.ones([4, 4]), paddle.ones([4, 4])),
    "one break": lambda: function(one_break, paddle.ones([4, 4]), paddle.ones([4, 4])),
    "x*2+y": lambda: function(multiply_add, paddle.ones([4, 4]), paddle.ones([4, 4])),
    "break in x*2+y": lambda: function(break_between, paddle.ones([4, 4]), paddle.ones([4, 4])),
    "200 ops": lambda: function(many_operations, paddle.ones([4, 4]), paddle.ones([4, 4])),
    "resnet18": lambda: vision("resnet18"),
    "resnet50": lambda: vision("resnet50"),
    "LeNet train step": lenet_step,
    "TransformerEncoderLayer": encoder,
    "while tensor, 200 rounds": lambda: function(tensor_while, paddle.to_tensor(0.0), paddle.to_tensor(200.0)),
    "break in for": lambda: function(branch_in_for, paddle.ones([4, 4])),
}


class Decoder(nn.Layer):
    """One step of attention over the keys and values of all steps before it."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.queries, self.keys, self.values, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, cache):
        def split(t):
            return t.reshape([t.shape[0], t.shape[1], self.heads, -1]).transpose([0, 2, 1, 3])

        q, k, v = split(self.queries(x)), split(self.keys(x)), split(self.values(x))
        if cache is not None:
            k, v = paddle.concat([cache[0], k], axis=2), paddle.concat([cache[1], v], axis=2)
        weights = nn.functional.softmax(q @ k.transpose([0, 1, 3, 2]) / 3.0, axis=-1)
        mixed = (weights @ v).transpose([0, 2, 1, 3]).reshape([x.shape[0], x.shape[1], -1])
        return self.out(mixed), (k, v)


def batch_sizes():
    from paddle.vision import models

    net = models.resnet18()
    net.eval()
    images = paddle.randn([64, 3, 32, 32])

    def make(system):
        captured = system.capture(net)

        def series():
            with paddle.no_grad():
                for size in range(1, 65):
                    yield captured(images[:size])

        return series

    return make


def lengths():
    layer = nn.TransformerEncoderLayer(d_model=64, nhead=4, dim_feedforward=128)
    layer.eval()
    tokens = paddle.randn([2, 128, 64])

    def make(system):
        captured = system.capture(layer)

        def series():
            with paddle.no_grad():
                for length in range(1, 129):
                    yield captured(tokens[:, :length])

        return series

    return make


def decoding():
    step = Decoder()
    tokens = paddle.randn([1, 128, 32])

    def make(system):
        captured = system.capture(step)

        def series():
            cache = None
            with paddle.no_grad():
                for at in range(128):
                    result, cache = captured(tokens[:, at : at + 1], cache)
                    yield result

        return series

    return make


def learning_rates():
    weights, gradient = paddle.randn([64, 64]), paddle.randn([64, 64])

    def update(weights, gradient, rate):
        return weights - rate * (gradient + 0.01 * weights)

    def make(system):
        captured = system.capture(update)

        def series():
            now, rate = weights, 0.1
            for _ in range(100):
                now = captured(now, gradient, rate)
                rate *= 0.97
                yield now

        return series

    return make


def counting():
    class Steps:
        n = 0

        def step(self, x):
            self.n += 1
            return x * self.n if self.n > 3 else x + self.n

    x = paddle.randn([64, 64])

    def make(system):
        steps = Steps()
        captured = system.capture(steps.step)

        def series():
            for _ in range(100):
                yield captured(x)

        return series

    return make


# What is another argument at each call.
VARYING = {
    "batch sizes 1..64": batch_sizes,
    "lengths 1..128": lengths,
    "kv cache, 128 steps": decoding,
    "learning rates": learning_rates,
    "a counter": counting,
}


class Worker:
    def __init__(self, system):
        self.system = SYSTEMS[system]()
        self.call = None
        self.before = None

    def setup(self, request):
        paddle.seed(0)
        make = (WORKLOADS | VARYING)[request["workload"]]()
        # The tool's own imports and first-use work are a cost of a process, not of this capture: told separately.
        other = self.system.capture(lambda x: x + 1)
        start = time.perf_counter()
        other(paddle.ones([2]))
        first = (time.perf_counter() - start) * 1e3
        other(paddle.ones([2]))
        if hasattr(self.system, "forget"):
            self.system.forget()
        self.call = make(self.system)
        self.before = self.system.counts()
        gc.collect()
        return {"first_capture_ms": first}

    def cold(self, request):
        start = time.perf_counter()
        self.call()
        took = (time.perf_counter() - start) * 1e3
        after = self.system.counts()
        return {"ms": took, **{name: after[name] - self.before[name] for name in after}}

    def calls(self, request):
        call = self.call
        count = request["count"]
        start = time.perf_counter()
        for _ in range(count):
            call()
        return {"us": (time.perf_counter() - start) * 1e6 / count}

    def series(self, request):
        before = self.system.captures()
        start = time.perf_counter()
        results = list(self.call())
        took = (time.perf_counter() - start) * 1e3
        captures = self.system.captures() - before
        sums = [float(result.astype("float64").sum()) for result in results]
        return {"ms": took, "calls": len(results), "captures": captures, "sums": sums}

    def about(self, request):
        about = {"python": sys.version.split()[0], "paddle": paddle.__version__}
        if isinstance(self.system, Sot):
            about["sot"] = self.system.sot.__version__
        return about


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", choices=sorted(SYSTEMS), required=True)
    worker = Worker(parser.parse_args().system)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request["do"])(request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps(answer), file=answers, flush=True)
    # Leaves without Paddle's reports and teardown: nothing that follows is measured.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
