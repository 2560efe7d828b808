"""Three programs, each run eagerly and captured, side by side.

Run it with `cargo xtask demo`, or by itself in an environment that has Paddle and sot:

    python sot-py/demo/demo.py [--quick]

It prints one table and, under it, the reason and place of every graph break. The exit code is 1 when a captured
program computes something else than the eager one.
"""

import argparse
import os
import sys
import time
import warnings
from statistics import median

# Paddle says on import that it would like ccache, which nothing here compiles with, and logs each new executor.
warnings.filterwarnings("ignore", message="No ccache found")
os.environ.setdefault("GLOG_minloglevel", "2")

import numpy as np
import paddle
from paddle import nn
from paddle.vision.models import LeNet, resnet18

import sot

TOLERANCE = 1e-5


class Row:
    """One line of the table."""

    def __init__(self, name):
        self.name = name
        self.difference = 0.0
        self.graphs = self.breaks = self.guards = 0
        self.reasons = []
        self.eager_ms = self.cold_ms = self.hit_ms = 0.0


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - start) * 1e3


def median_ms(call, rounds):
    return median(timed(call)[1] for _ in range(rounds))


def arrays(value):
    """The tensors of a result, as arrays in order."""
    if isinstance(value, paddle.Tensor):
        return [value.numpy()]
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in arrays(item)]
    return [np.asarray(value)]


def largest_difference(left, right):
    left, right = arrays(left), arrays(right)
    if [a.shape for a in left] != [b.shape for b in right]:
        return float("inf")
    return max((float(np.max(np.abs(a - b))) for a, b in zip(left, right) if a.size), default=0.0)


def describe(row, function, *args):
    """What a capture of this call looks like, from a report that runs it once."""
    report = sot.explain(function)(*args)
    row.guards = len(report.guards)
    row.reasons = [f"{b.code}: {b.reason} ({b.file}:{b.line})" for b in report.breaks]


# Calls in which the engine measures who runs a graph fastest; what comes after them is the steady state.
SETTLING = 30


def settle(call):
    for _ in range(SETTLING):
        call()


class Counted:
    """Graphs and breaks that capturing added inside a `with` block."""

    def __init__(self, row):
        self.row = row

    def __enter__(self):
        self.before = sot.stats()

    def __exit__(self, *_):
        after = sot.stats()
        self.row.graphs = after["graphs"] - self.before["graphs"]
        self.row.breaks = after["breaks"] - self.before["breaks"]


def inference(rounds):
    """resnet18 on a small picture, without gradients."""
    row = Row("resnet18 inference")
    paddle.seed(1)
    net = resnet18()
    net.eval()
    image = paddle.randn([1, 3, 64, 64])

    def eager(x):
        with paddle.no_grad():
            return net(x)

    expected = eager(image)
    row.eager_ms = median_ms(lambda: eager(image), rounds)
    captured = sot.to_static(net)
    with Counted(row), paddle.no_grad():
        found, row.cold_ms = timed(lambda: captured(image))
    with paddle.no_grad():
        again = captured(image)
        settle(lambda: captured(image))
        row.hit_ms = median_ms(lambda: captured(image), rounds)
        describe(row, net, image)
    row.difference = max(largest_difference(expected, found), largest_difference(expected, again))
    return row


class Trainer:
    """LeNet with its optimizer and a fixed batch; the same numbers for the same seed."""

    def __init__(self):
        paddle.seed(2)
        self.net = LeNet()
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=self.net.parameters())
        self.images = paddle.randn([8, 1, 28, 28])
        self.labels = paddle.randint(0, 10, [8, 1])

    def step(self, forward):
        loss = self.loss(forward(self.images), self.labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return float(loss)


def training(steps):
    """LeNet: loss after loss, then the weights at the end."""
    row = Row(f"LeNet training, {steps} steps")
    eager = Trainer()
    eager_runs = [timed(lambda: eager.step(eager.net)) for _ in range(steps)]
    row.eager_ms = median(ms for _, ms in eager_runs[1:])

    trainer = Trainer()
    forward = sot.to_static(trainer.net)
    with Counted(row):
        first = timed(lambda: trainer.step(forward))
    row.cold_ms = first[1]
    runs = [first] + [timed(lambda: trainer.step(forward)) for _ in range(steps - 1)]
    row.hit_ms = median(ms for _, ms in runs[1:])
    losses = max(abs(a - b) for (a, _), (b, _) in zip(eager_runs, runs))
    weights = largest_difference(eager.net.parameters(), trainer.net.parameters())
    row.difference = max(losses, weights)
    describe(row, trainer.net, trainer.images)
    return row


def branch(x):
    y = x * 2.0 + 1.0
    if y.sum() > 0:
        z = y.exp()
    else:
        z = y - 10.0
    return (z * y).mean()


def branching(rounds):
    """A branch that only the data decides: two graphs with plain Python between them."""
    row = Row("data-dependent branch")
    inputs = [paddle.full([4, 4], value) for value in (0.5, -3.0, 0.25, -1.5)]
    expected = [branch(x) for x in inputs]
    row.eager_ms = median_ms(lambda: branch(inputs[0]), rounds)
    captured = sot.to_static(branch)
    with Counted(row):
        _, row.cold_ms = timed(lambda: captured(inputs[0]))
        captured(inputs[1])
    row.difference = max(largest_difference(e, captured(x)) for e, x in zip(expected, inputs))
    settle(lambda: captured(inputs[0]))
    row.hit_ms = median_ms(lambda: captured(inputs[0]), rounds)
    describe(row, branch, inputs[0])
    return row


def table(rows):
    titles = ["program", "difference", "graphs", "breaks", "guards", "eager", "cold", "hit", "hit vs eager"]
    lines = [titles]
    for row in rows:
        lines.append(
            [
                row.name,
                f"{row.difference:.1e}" if row.difference else "0",
                str(row.graphs),
                str(row.breaks),
                str(row.guards),
                f"{row.eager_ms:.3f} ms",
                f"{row.cold_ms:.1f} ms",
                f"{row.hit_ms:.3f} ms",
                f"{row.eager_ms / row.hit_ms:.2f}x" if row.hit_ms else "-",
            ]
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    for number, line in enumerate(lines):
        cells = [cell.ljust(widths[0]) if i == 0 else cell.rjust(widths[i]) for i, cell in enumerate(line)]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer timed rounds")
    rounds = 5 if parser.parse_args().quick else 30

    print(f"CPython {sys.version.split()[0]}, paddle {paddle.__version__}, sot {sot.__version__}")
    rows = []
    for program in (lambda: inference(rounds), lambda: training(20), lambda: branching(rounds)):
        row = program()
        print(f"  {row.name}: done", flush=True)
        rows.append(row)
    print()
    table(rows)
    print()
    for row in rows:
        for reason in row.reasons:
            print(f"break in {row.name}: {reason}")
    print("difference: largest absolute one to eager; cold: first call; hit: later calls, once the engine has settled (median)")
    wrong = [row.name for row in rows if not row.difference <= TOLERANCE]
    if wrong:
        print(f"NOT EQUAL to eager within {TOLERANCE:g}: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
