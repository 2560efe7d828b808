"""Releases of Paddle: one that nobody has tried is named once, one that lacks a part captures nothing and says why."""

import subprocess
import sys
import textwrap

import paddle

PROGRAM = """
    import sys, warnings
    {before}
    import paddle, sot
    {between}
    def f(x):
        return x * 2 + 1
    x = paddle.ones([2])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter({filter!r})
        captured = sot.to_static(f)
        for _ in range(3):
            assert captured(x).tolist() == [3.0, 3.0]
        report = sot.explain(captured)(x)
    for warning in seen:
        if issubclass(warning.category, RuntimeWarning):
            print("WARNED", warning.message)
    print("CAPTURES", sot.stats()["captures"])
    print("REASONS", sorted(sot.stats()["reasons"]))
    print(report)
"""

MISSING = "for part in 'dy2static', 'pir_dy2static': sys.modules[f'paddle.jit.{part}.parameter_recorder'] = None"


def output(before="", between="", filter="always"):
    program = textwrap.dedent(PROGRAM.format(before=before, between=between, filter=filter))
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, ran.stderr


def warned(text):
    return [line for line in text.splitlines() if line.startswith("WARNED")]


def test_a_release_that_is_tried_is_captured_without_a_word():
    out, _ = output()
    assert warned(out) == []
    assert "CAPTURES 1" in out and "REASONS []" in out


def test_a_release_that_nobody_has_tried_is_named_once_and_captured():
    out, _ = output(between="paddle.__version__ = '3.97.0'")
    (line,) = warned(out)
    assert "PaddlePaddle 3.97.0" in line and "3.0 to 3.3" in line
    assert "CAPTURES 1" in out


def test_a_missing_part_is_named_by_a_warning_the_counters_and_the_report():
    out, _ = output(between=MISSING)
    (line,) = warned(out)
    for words in "captures nothing", paddle.__version__, "the recorder of parameters", "paddle.jit.dy2static":
        assert words in line
    assert "CAPTURES 0" in out and "REASONS ['framework-unusable']" in out
    assert "not captured: [framework-unusable]" in out and "the recorder of parameters" in out


def test_without_paddle_functions_run_and_one_warning_says_why():
    program = """
        import sys, warnings
        sys.modules["paddle"] = None
        import sot
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            f = sot.to_static(lambda x: x + 1)
            assert [f(1), f(2)] == [2, 3]
        (warning,) = seen
        assert "pip install paddlepaddle" in str(warning.message), warning.message
        assert sot.stats()["reasons"] == {"framework-unusable": 2}, sot.stats()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=100)


def test_where_warnings_are_errors_nothing_is_raised():
    out, err = output(between=MISSING, filter="error")
    assert "CAPTURES 0" in out and "the recorder of parameters" in err


def test_a_setting_that_nothing_can_be_captured_under_is_named():
    out, _ = output(before="import os; os.environ['FLAGS_enable_pir_api'] = '0'")
    (line,) = warned(out)
    assert "FLAGS_enable_pir_api" in line
    assert "CAPTURES 0" in out
