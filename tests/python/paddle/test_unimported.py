"""What honours Paddle's own translator imports none of it; what the program imports later is honoured from then on."""

import subprocess
import sys
import textwrap


def run(program):
    code = "import sys, types, paddle, sot\nx = paddle.ones([2])\n" + textwrap.dedent(program)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr


def test_nothing_is_imported():
    run("""
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.layer = paddle.nn.Linear(2, 2)

        def forward(self, x):
            for i in range(3):
                if x.sum() > i:
                    x = self.layer(x) + 1
                str(x)
            return x

    def falls(x):
        sot.psdb.fallback()
        return x

    def fails(x):
        raise ValueError(x.shape)

    sot.to_static(lambda x: x * 2)(x)
    before = set(sys.modules)
    sot.to_static(Net())(x)
    sot.to_static(falls)(x)
    try:
        sot.to_static(fails)(x)
    except ValueError:
        pass
    assert set(sys.modules) == before, set(sys.modules) - before
    assert sot.stats()["breaks"] > 1 and sot.stats()["fallbacks"] == 1, sot.stats()
    """)


def test_a_debugger_that_is_imported_later():
    run("""
    def breaks(x):
        print(end="")
        return x * 2

    f = sot.to_static(breaks)
    f(x)
    assert "paddle.jit.sot" not in sys.modules
    from paddle.jit.sot import psdb

    psdb.check_no_breakgraph(breaks)
    psdb.check_no_fallback(breaks)
    sot.reset()
    try:
        f(x)
    except RuntimeError as error:
        assert "check_no_breakgraph" in str(error)
    else:
        assert False

    def asks(x):
        psdb.breakgraph()
        return x * 2

    report = sot.explain(asks)(x)
    assert [b.code for b in report.breaks] == ["break-asked"]
    """)


def test_modules_that_are_ignored_later():
    run("""
    module = types.ModuleType("ignored_later")
    exec("def twice(x):\\n    return x * 2\\n", module.__dict__)

    def f(x):
        return module.twice(x) + 1

    assert not sot.explain(f)(x).breaks
    sot.reset()
    paddle.jit.ignore_module([module])
    assert [b.code for b in sot.explain(f)(x).breaks] == ["ignored-module"]
    """)
