"""Errors of captured programs, as people read them: `pytest -l`, `pdb.pm`, rich, `capture_locals`."""

import io
import pdb
import subprocess
import sys
import textwrap
import traceback

import paddle
import pytest
import sot


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 4)

    def forward(self, x, limit):
        hidden = self.linear(x)
        names = ["inner"]
        print(end="")
        return check(hidden, limit, names)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x, limit):
        scaled = x * 2
        tag = "outer"
        out = self.block(scaled, limit)
        return out, tag


def check(hidden, limit, names):
    total = hidden.sum()

    def describe():
        return limit, names

    if float(total) < limit:
        raise ValueError(f"too small: {describe()}")
    return total


def failure(net):
    with pytest.raises(ValueError) as caught:
        net(paddle.zeros([2, 4]), 1e9)
    return caught.value


def lines_of(error):
    shown = traceback.extract_tb(error.__traceback__)
    return [(entry.name, entry.lineno, entry.filename) for entry in shown][1:]


@pytest.fixture
def failures():
    """The error as eager has it, then of captured calls."""
    sot.reset()
    net = Net()
    eager = failure(net)
    captured = sot.to_static(net)
    errors = [failure(captured) for _ in range(3)]
    assert sot.stats()["graphs"] > 0 and sot.stats()["hits"] > 0
    return eager, errors


def test_lines(failures):
    eager, captured = failures
    names = [name for name, _, _ in lines_of(eager)]
    assert names == ["__call__", "forward", "__call__", "forward", "check"]
    for error in captured:
        assert lines_of(error) == lines_of(eager) and str(error) == str(eager)


def frames_of(error):
    found, entry = {}, error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        if frame.f_code.co_filename == __file__:
            found[frame.f_code] = frame
        entry = entry.tb_next
    return found


def test_variables_are_those_of_the_program(failures):
    eager, captured = failures
    for error in captured:
        frames, expected = frames_of(error), frames_of(eager)
        assert list(frames) == list(expected), "the code objects are the program's own"
        for code, frame in frames.items():
            assert set(frame.f_locals) <= set(expected[code].f_locals)
            assert frame.f_globals is globals()
            for name, value in frame.f_locals.items():
                other = expected[code].f_locals[name]
                if isinstance(value, (int, float, str, list)):
                    assert value == other, name
                elif isinstance(value, paddle.Tensor):
                    assert value.tolist() == other.tolist(), name
                else:
                    assert type(value) is type(other), name


def test_every_local_can_be_shown(failures):
    _, captured = failures
    for error in captured:
        shown = traceback.TracebackException(type(error), error, error.__traceback__, capture_locals=True)
        text = "".join(shown.format())
        assert "___" not in text and "too small" in text


def test_post_mortem(failures, monkeypatch):
    _, captured = failures
    for error in captured:
        out = io.StringIO()
        commands = io.StringIO("where\np limit\np names\nup\nup\nup\np tag\ndown\nq\n")
        debugger = pdb.Pdb(stdin=commands, stdout=out, nosigint=True, readrc=False)
        debugger.use_rawinput = False
        debugger.reset()
        debugger.interaction(None, error.__traceback__)
        shown = out.getvalue()
        assert "1000000000.0" in shown and "'outer'" in shown and "['inner']" in shown, shown
        assert "***" not in shown, shown


def test_rich(failures):
    rich_traceback = pytest.importorskip("rich.traceback")
    console = pytest.importorskip("rich.console")
    _, captured = failures
    for error in captured:
        out = io.StringIO()
        shown = rich_traceback.Traceback.from_exception(type(error), error, error.__traceback__, show_locals=True)
        console.Console(file=out, width=120).print(shown)
        assert "names" in out.getvalue() and "___" not in out.getvalue()


def test_pytest_shows_locals(tmp_path):
    program = tmp_path / "test_program.py"
    program.write_text(
        textwrap.dedent(
            """
            import paddle, sot

            FACTOR = 3

            def make(limit):
                weight = paddle.ones([2])

                def inner(x):
                    y = x * weight
                    label = "label of inner"
                    print(y.shape)
                    z = y + FACTOR
                    assert float(z.sum()) < limit, label
                    return z

                def outer(x):
                    a = x + weight
                    marker = "marker of outer"
                    return inner(a), marker

                return outer

            def test_it():
                run = sot.to_static(make(limit=8))
                for n in range(3):
                    run(paddle.ones([2]) * n)
            """
        )
    )
    command = [sys.executable, "-m", "pytest", "-l", "-q", "-p", "no:cacheprovider", str(program)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    text = done.stdout.decode()
    assert done.returncode == 1, text
    assert "label      = 'label of inner'" in text and "marker     = 'marker of outer'" in text, text
    assert "AssertionError: label of inner" in text, text
    assert not any(slot in text for slot in ("___sot", "___stack", "___up", "___operand", "___call")), text
    assert ">       assert float(z.sum()) < limit, label" in text, text
