"""The examples in the documentation of the installed Paddle, plain and captured: equal, and what stops each capture.

usage: python documented_examples.py [--only REGEX] [--jobs N] [--table FILE] [--seconds N]

Each function, class and method that Paddle documents with an example is a program that nobody here wrote. It is made the body of a
function, which runs three times plain and three times captured, each in a copy of a process of its own, from the same seeds. What its
names hold afterwards, what it prints, what it warns of, the exception with its line and the streams of random numbers must be equal;
what differs is printed. Then it is captured once more without its `print` and its seeds, and what breaks is counted.

`--table` writes the counts and a line for each name as Markdown. Exit code 1: something differs. Uninitialised memory and times differ
between two runs of plain Paddle as well: a program that does not agree with itself is left out.
"""

import argparse
import ast
import collections
import contextlib
import doctest
import hashlib
import importlib
import inspect
import io
import json
import linecache
import os
import random
import re
import signal
import sys
import tempfile
import textwrap
import traceback
import warnings

os.environ.setdefault("SOT_MEASURE", "0")

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import sot  # noqa: E402

NAMESPACES = """
paddle paddle.nn paddle.nn.functional paddle.nn.initializer paddle.nn.utils paddle.linalg paddle.fft paddle.signal paddle.distribution
paddle.optimizer paddle.optimizer.lr paddle.metric paddle.amp paddle.autograd paddle.vision.ops paddle.geometric paddle.sparse
paddle.sparse.nn paddle.sparse.nn.functional paddle.audio.functional paddle.audio.features paddle.incubate paddle.incubate.nn.functional
paddle.regularizer paddle.framework paddle.device paddle.text
""".split()
# What these hold is whatever the memory held.
UNINITIALISED = re.compile(r"\.(empty|empty_like|new_empty)$")
CALLS = 3
FILE = "<example>"
ADDRESS = re.compile(r"0x[0-9a-f]+")
TIME = re.compile(r"\d+(\.\d+)? ?(ms|us|s)(/\w+)?\b")
# What an example does to be reproducible, or to be seen, is none of what it shows.
ASIDE = {"print", "paddle.seed", "np.random.seed", "paddle.set_device", "paddle.device.set_device"}


# ----- programs


def documented():
    """Each documented name with the code of its example."""
    seen = set()

    def example(name, thing):
        text = inspect.getdoc(thing) or ""
        if ">>>" not in text or text in seen:
            return None
        seen.add(text)
        try:
            parts = doctest.DocTestParser().get_examples(text)
            code = "".join(part.source for part in parts)
            ast.parse(code)
        except (SyntaxError, ValueError):
            return None
        return None if "REQUIRES" in code or "+SKIP" in code else (name, code)

    def names():
        for namespace in NAMESPACES:
            module = importlib.import_module(namespace)
            for name in sorted(getattr(module, "__all__", [])):
                thing = getattr(module, name, None)
                yield namespace + "." + name, thing
                if inspect.isclass(thing) and thing.__module__.startswith("paddle"):
                    for own, value in sorted(vars(thing).items()):
                        value = getattr(value, "__func__", getattr(value, "fget", value))
                        if not own.startswith("_") and inspect.isfunction(value):
                            yield namespace + "." + name + "." + own, value
        for name in sorted(n for n in dir(paddle.Tensor) if not n.startswith("_")):
            yield "paddle.Tensor." + name, getattr(paddle.Tensor, name)

    return [found for found in (example(name, thing) for name, thing in names()) if found]


class Aside(ast.NodeTransformer):
    def visit_Expr(self, node):
        call = node.value
        aside = isinstance(call, ast.Call) and ast.unparse(call.func) in ASIDE
        return ast.copy_location(ast.Pass(), node) if aside else node


def function_of(code, bare):
    """An example as a function that gives what its names hold. `bare`: without what is aside."""
    tree = ast.parse(code)
    if bare:
        tree = ast.fix_missing_locations(Aside().visit(tree))
    names = []
    for statement in tree.body:
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        assigns = isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        for target in targets if assigns else []:
            names += [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        if isinstance(statement, ast.Delete):
            names = [n for n in names if n not in {ast.unparse(target) for target in statement.targets}]
    names = list(dict.fromkeys(names))
    given = "{" + ", ".join("%r: %s" % (name, name) for name in names) + "}"
    return "def example():\n" + textwrap.indent(ast.unparse(tree), "    ") + "\n    return " + given + "\n"


def made(source):
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    names = {"__name__": "example"}
    exec(compile(source, FILE, "exec"), names)
    return names["example"]


# ----- what is seen


def picture(value, depth=0):
    if isinstance(value, paddle.Tensor):
        return picture_of_tensor(value)
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), list(value.shape), hashlib.md5(value.tobytes()).hexdigest()]
    if isinstance(value, (int, float, complex, str, bytes, type(None), np.generic)):
        return [type(value).__name__, ADDRESS.sub("0x", repr(value))]
    if depth > 4:
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [picture(item, depth + 1) for item in value]]
    if isinstance(value, dict):
        return [type(value).__name__, [[picture(k, depth + 1), picture(v, depth + 1)] for k, v in value.items()]]
    if isinstance(value, paddle.nn.Layer):
        state = [[name, picture(tensor)] for name, tensor in value.state_dict().items()]
        return ["layer", type(value).__name__, value.training, state, sorted(vars(value))]
    return [type(value).__module__, type(value).__qualname__]


def picture_of_tensor(tensor):
    try:
        data = tensor.detach()
        data = (data.to_dense() if data.is_sparse() else data).numpy()
        grad = None if tensor.grad is None else hashlib.md5(tensor.grad.numpy().tobytes()).hexdigest()
        bits = hashlib.md5(data.tobytes()).hexdigest()
        return [type(tensor).__name__, str(tensor.dtype), list(tensor.shape), tensor.stop_gradient, tensor.is_leaf, bits, grad]
    except Exception as error:
        return [type(tensor).__name__, type(error).__name__]


def seen_of(function):
    paddle.seed(7)
    np.random.seed(7)
    random.seed(7)
    written, result, raised = io.StringIO(), None, None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(written):
            try:
                result = picture(function())
            except BaseException as error:
                lines = [entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename == FILE]
                raised = [type(error).__name__, ADDRESS.sub("0x", str(error))[:300], lines]
    streams = [np.random.rand(), random.random()]
    with contextlib.suppress(Exception):
        streams.append(paddle.rand([1]).numpy().tobytes().hex())
    return {
        "result": result,
        "exception": raised,
        "output": TIME.sub("", ADDRESS.sub("0x", written.getvalue())),
        "warnings": [[one.category.__name__, ADDRESS.sub("0x", str(one.message))[:200]] for one in told],
        "streams": streams,
    }


def runs(code, door):
    function = door(made(function_of(code, bare=False)))
    return {"calls": [seen_of(function) for _ in range(CALLS)]}


def breaks(code):
    function = made(function_of(code, bare=True))
    report = sot.explain(function)()
    reasons = [re.sub(r"^\[[\w-]+\] | \(at .*", "", str(one.reason)) for one in report.breaks]
    return {"graphs": len(report.graphs), "breaks": [[one.code, reason] for one, reason in zip(report.breaks, reasons)]}


def apart(work, seconds):
    """The answer of work that is done in a copy of this process."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reads)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            signal.alarm(seconds)
            answer = work()
        except BaseException as error:
            answer = {"failed": "%s: %s" % (type(error).__name__, str(error)[:200])}
        os.write(writes, json.dumps(answer, default=str).encode())
        os._exit(0)
    os.close(writes)
    with open(reads, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return json.loads(data) if data else {"failed": "the process died"}


def told(name, code, seconds):
    """`(state, details)` of one example."""
    plain = apart(lambda: runs(code, lambda f: f), seconds)
    if "failed" in plain or plain["calls"][0]["exception"]:
        return "not run", plain.get("failed") or ": ".join(plain["calls"][0]["exception"][:2])
    captured = apart(lambda: runs(code, sot.to_static), 2 * seconds)
    if captured != plain:
        if apart(lambda: runs(code, lambda f: f), seconds) != plain:
            return "not run", "it does not agree with itself"
        return "differs", captured.get("failed") or difference(plain["calls"], captured["calls"])
    report = apart(lambda: breaks(code), 2 * seconds)
    if "failed" in report:
        return "not run", report["failed"]
    return ("broken", report["breaks"]) if report["breaks"] else ("captured", report["graphs"])


def difference(plain, captured):
    for call, (one, other) in enumerate(zip(plain, captured)):
        for what in one:
            if one[what] != other[what]:
                return "call %d, %s:\n    plain    %s\n    captured %s" % (call, what, str(one[what])[:400], str(other[what])[:400])
    return "?"


# ----- all of them


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=".", help="names that this is found in")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=30, help="for one example, plain")
    parser.add_argument("--table", help="write the table to this file")
    options = parser.parse_args()
    programs = [(name, code) for name, code in documented() if re.search(options.only, name) and not UNINITIALISED.search(name)]
    os.chdir(tempfile.mkdtemp())
    results = {}
    if options.jobs == 1:
        parts = [run_part(programs, options.seconds, sys.stderr.isatty())]
    else:
        parts = in_processes([programs[i :: options.jobs] for i in range(options.jobs)], options.seconds)
    for part in parts:
        results.update(part)
    counts = collections.Counter(state for state, _ in results.values())
    for name, (state, details) in sorted(results.items()):
        if state == "differs":
            print("%s: %s" % (name, details))
    ran = sum(counts.values()) - counts["not run"]
    print(
        "%d examples: %d equal (%d one graph after another without a break, %d with breaks), %d differ; %d not run"
        % (len(results), ran - counts["differs"], counts["captured"], counts["broken"], counts["differs"], counts["not run"])
    )
    if options.table:
        with open(os.path.join(HERE, options.table), "w") as file:
            file.write(table(results, counts))
    sys.exit(1 if counts["differs"] else 0)


def run_part(programs, seconds, progress=False):
    results = {}
    for number, (name, code) in enumerate(programs):
        if progress:
            print("\r%d/%d %s\x1b[K" % (number + 1, len(programs), name), end="", file=sys.stderr, flush=True)
        results[name] = told(name, code, seconds)
    if progress:
        print("\r\x1b[K", end="", file=sys.stderr)
    return results


def in_processes(parts, seconds):
    """Each part in a copy of this process, all at once."""
    files = []
    for part in parts:
        file = tempfile.NamedTemporaryFile("w+", suffix=".json", delete=False)
        if os.fork() == 0:
            json.dump(run_part(part, seconds), file)
            file.close()
            os._exit(0)
        files.append(file.name)
    for _ in files:
        os.wait()
    return [json.load(open(name)) for name in files]


HERE = os.getcwd()


def table(results, counts):
    ran = counts["captured"] + counts["broken"] + counts["differs"]
    lines = [
        "# What becomes of the examples in Paddle's documentation",
        "",
        "Written by `python tests/driver/documented_examples.py --table docs/functions.md` with Paddle %s on Python %s."
        % (paddle.__version__, ".".join(map(str, sys.version_info[:2]))),
        "",
        "Each example is the body of a function that runs plain and captured, three times each: results, output, warnings, exceptions",
        "and random streams must be equal. \"captured\": graphs and plain Python between them, without a break; else the first thing",
        "that breaks is told, which need not be the function that the example is about. Not counted: examples that plain Paddle does",
        "not run here (other devices, static programs, files to be downloaded), or that do not agree with themselves.",
        "",
        "| state | examples | share |",
        "|---|---:|---:|",
    ]
    for state in ("captured", "broken", "differs"):
        lines.append("| %s | %d | %.1f %% |" % (state, counts[state], 100.0 * counts[state] / max(ran, 1)))
    lines += ["| not run | %d | |" % counts["not run"], "", "| example of | state |", "|---|---|"]
    for name, (state, details) in sorted(results.items()):
        if state != "not run":
            words = state
            if state == "broken":
                words = "%d %s: %s" % (len(details), "break" if len(details) == 1 else "breaks", details[0][1])
            lines.append("| `%s` | %s |" % (name, words.replace("|", "\\|")[:170]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
