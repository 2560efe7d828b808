"""What is written while programs run, and what a call that is captured again says of the captures before it."""

import contextlib
import logging
import os
import subprocess
import sys

import doors
import pytest
from toy_framework import toy

t = toy.tensor
TOPICS = ("breaks", "recompiles", "guards", "graphs", "code", "timing")


class Config:
    pass


config = Config()
table = {}


def f(x, n):
    y = x * n
    if config.name == "a":
        y = y + table["a"]
    doors.opaque(y)
    return y + config.part.depth


@pytest.fixture(autouse=True)
def fresh():
    toy.reset()
    config.name, config.part = "a", Config()
    config.part.depth = 2
    table["a"] = 1
    yield
    toy.set_logs()
    toy.reset()


def lines(caplog, topic):
    return [record.getMessage() for record in caplog.records if record.name == "sot." + topic]


def test_nothing_is_written_by_default(caplog):
    caplog.set_level(logging.DEBUG)
    toy.to_static(f)(t([1.0]), 2)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("sot")] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_written_alone(caplog, topic):
    toy.set_logs(topic)
    g = toy.to_static(f)
    g(t([1.0]), 2)
    g(t([1.0, 2.0]), 2)
    written = {record.name for record in caplog.records}
    assert written == {"sot." + topic}
    assert all(record.levelno == logging.INFO for record in caplog.records)
    if topic != "code":
        assert all("\n" not in line for line in lines(caplog, topic))
    before = len(caplog.records)
    g(t([1.0]), 2)
    assert len(caplog.records) == before, "a hit writes nothing"


def test_what_each_topic_says(caplog):
    toy.set_logs("all")
    toy.to_static(f)(t([1.0]), 2)
    first = f.__code__.co_firstlineno
    (found,) = lines(caplog, "breaks")
    assert found.startswith(f"break in f at {__file__}:{first + 4}: [disabled]")
    assert lines(caplog, "graphs")[0] == f"f (test_logs.py:{first}): a graph of 4 operations"
    assert f"f (test_logs.py:{first + 4}) behind a break" in lines(caplog, "graphs")[1]
    assert 'f (test_logs.py:%d): locals["n"] == 2' % first in lines(caplog, "guards")
    assert "RETURN_VALUE" in lines(caplog, "code")[0]
    assert " ms, " in lines(caplog, "timing")[0]
    assert lines(caplog, "recompiles") == []


def test_topics_are_switched_off_again(caplog):
    toy.set_logs("breaks,graphs")
    toy.set_logs("timing")
    toy.to_static(f)(t([1.0]), 2)
    assert {record.name for record in caplog.records} == {"sot.timing"}
    caplog.clear()
    toy.set_logs()
    toy.to_static(lambda x: x + 1)(t([1.0]))
    assert caplog.records == []


@pytest.mark.parametrize("topics, error", [(("brakes",), ValueError), ((3,), TypeError), (("breaks", None), TypeError)])
def test_what_is_no_topic_is_refused(topics, error):
    with pytest.raises(error, match=r"toy_backend\.set_logs: .*breaks"):
        toy.set_logs(*topics)


@contextlib.contextmanager
def handled_by(emit):
    """Breaks are logged, to a handler that does this."""
    handler = logging.Handler()
    handler.emit = emit
    logger = logging.getLogger("sot.breaks")
    logger.addHandler(handler)
    try:
        toy.set_logs("breaks")
        yield
    finally:
        logger.removeHandler(handler)


def refuses_lines(record):
    raise RuntimeError("no")


def test_a_handler_that_raises_is_not_the_programs(caplog):
    with handled_by(refuses_lines):
        assert toy.to_static(f)(t([1.0]), 2).tolist() == [5.0]


def change_name():
    config.name = "b"


def change_part():
    config.part.depth = 7


def change_table():
    table["a"] = 1.5


def exchange_part():
    config.part = Other()
    config.part.depth = 2


class Other:
    pass


# What changes between two calls: what is said of it, and how far from the function's first line it was read.
CHANGES = {
    "a_text": (change_name, "config.name == 'a': found 'b'", 2),
    "a_type": (change_table, "table['a'] == 1: found 1.5", 3),
    "an_attribute_of_an_attribute": (change_part, "config.part.depth == 2: found 7", 5),
    "an_object": (exchange_part, "config.part is <Config>: found a value of Other", 5),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_call_that_is_captured_again_says_why(caplog, name):
    change, said, line = CHANGES[name]
    toy.set_logs("recompiles")
    g = toy.to_static(f)
    g(t([1.0]), 2)
    change()
    report = toy.explain(g)(t([1.0]), 2)
    first = f.__code__.co_firstlineno
    text = f"{said} (read at {__file__}:{first + line})"
    assert any(line.endswith("is captured again, entry 1 did not serve: " + text) for line in report.missed), report.missed
    assert lines(caplog, "recompiles") == report.missed
    assert report.missed[0] in str(report)
    assert toy.stats()["missed"] == {said.split(" == ")[0].split(" is ")[0]: 1}


def test_arguments_and_shapes(caplog):
    g = toy.to_static(f)
    g(t([1.0]), 2)
    (said,) = [line for line in toy.explain(g)(t([1.0, 2.0]), 2).missed if "behind" not in line]
    assert "entry 1 did not serve: tensor(x): float64[1] host: found float64[2] host" in said
    said = toy.explain(g)(t([1.0]), 2.5).missed
    assert any("n == 2: found 2.5" in line for line in said), said


def test_entries_that_fail_the_same_are_one_line():
    def g(x):
        return x[0] + len(config.name)

    captured = toy.to_static(g)
    for size in range(1, 12):
        captured(t([1.0] * size))
    missed = toy.explain(captured)(t([1.0] * 20)).missed
    assert "entry 11 did not serve: tensor(x): float64[11] host: found float64[20] host" in missed[0]
    assert len(missed) == 6 and missed[-1].endswith("6 entries more did not serve")


def test_a_hit_has_missed_nothing():
    g = toy.to_static(f)
    g(t([1.0]), 2)
    assert toy.explain(g)(t([1.0]), 2).missed == []
    assert toy.stats()["missed"] == {}


def test_a_full_cache_is_told_once(caplog):
    g = toy.to_static(lambda x: x[0] + 1)
    for size in range(1, 80):
        g(t([1.0] * size))
    (record,) = [record for record in caplog.records if record.name == "sot"]
    assert record.levelno == logging.WARNING
    text = record.getMessage()
    assert text.startswith("sot captures <lambda> (test_logs.py:") and "64 entries" in text
    assert "Calls missed most often by: tensor(x) (63 times)." in text


def test_a_full_cache_names_its_own_misses(caplog):
    def other(x):
        return x + len(config.name)

    def sized(x):
        return x[0] + 1

    captured, alone = toy.to_static(other), toy.to_static(sized)
    for number in range(40):
        config.name = "k" * number
        captured(t([1.0]))
    for _ in range(2):
        caplog.clear()
        for size in range(1, 80):
            alone(t([1.0] * size))
        (record,) = [record for record in caplog.records if record.name == "sot"]
        assert "sized" in record.getMessage() and "config" not in record.getMessage()
        # What was told is told again where the cache fills again.
        toy.reset()


class Loud:
    """A value that says when it is asked for its text."""

    asked = []

    def __repr__(self):
        self.asked.append("repr")
        return toy.to_static(f)(t([1.0]), 2) and "loud"

    def __hash__(self):
        return 1


# What a place holds at the second call: no code of the program is asked what it is, and no text is long.
FOUND = {
    "members_of_a_set": (frozenset({Loud()}), "found a value of frozenset"),
    "members_of_a_set_in_a_set": (frozenset({frozenset({Loud()})}), "found a value of frozenset"),
    "plain_members": (frozenset({3}), "found frozenset({3})"),
    "a_huge_number": (10**5000, "found a value of int" if hasattr(sys, "get_int_max_str_digits") else "found 10000"),
    "a_long_text": ("é" * 100_000, "found 'éé"),
    "a_code_object": (f.__code__, "found a value of code"),
    "an_instance": (Loud(), "found a value of Loud"),
}


@pytest.mark.parametrize("name", sorted(FOUND))
def test_what_is_found_is_not_asked(caplog, name):
    value, found = FOUND[name]

    def g(x):
        return x + (1 if config.name == "a" else 2)

    toy.set_logs("recompiles")
    Loud.asked.clear()
    captured = toy.to_static(g)
    captured(t([1.0]))
    config.name = value
    assert captured(t([1.0])).tolist() == [3.0]
    (line,) = lines(caplog, "recompiles")
    assert "config.name == 'a': " + found in line and len(line) < 300
    assert Loud.asked == []


def test_a_long_text_that_is_expected_is_cut():
    def g(x, text):
        return x + (1 if text.startswith("a") else 2)

    captured = toy.to_static(g)
    captured(t([1.0]), "b" * 100_000)
    (line,) = toy.explain(captured)(t([1.0]), "c").missed
    assert "text == 'bbb" in line and line.split(": found ")[1].startswith("'c'") and len(line) < 500
    assert list(toy.stats()["missed"]) == ["text"]


def test_a_part_of_a_function_that_has_changed():
    def helper(x, by=2):
        return x * by

    config.helper = helper

    def g(x):
        return config.helper(x)

    captured = toy.to_static(g)
    captured(t([1.0]))
    helper.__defaults__ = (3,)
    (line,) = toy.explain(captured)(t([1.0])).missed
    assert "config.helper.__defaults__ is " in line, line


def test_variables_of_outer_functions_and_lengths():
    n, items = 2, [1, 2]

    def g(x):
        return x * n + len(items)

    captured = toy.to_static(g)
    captured(t([1.0]))
    n = "text" * 0 or 7.5
    (line,) = toy.explain(captured)(t([1.0])).missed
    assert " n == 2: found 7.5" in line or " type(n) is <type int>: found 7.5" in line, line


def test_handlers_that_come_later_get_each_line_once():
    setup = "import logging, sys\n"
    later = "logging.basicConfig(stream=sys.stdout, level='ERROR', format='%(message)s')\ntoy.to_static(lambda x: x + 2)(toy.tensor([1.0]))\n"
    done = run("graphs", setup, later)
    assert done.stderr.count("a graph of") == 1 and done.stdout.count("a graph of") == 1


def test_a_level_of_the_program_stays(caplog):
    logger = logging.getLogger("sot.breaks")
    logger.setLevel(logging.ERROR)
    try:
        toy.set_logs("breaks")
        toy.to_static(f)(t([1.0]), 2)
        assert lines(caplog, "breaks") == [] and logger.level == logging.ERROR
        toy.set_logs()
        assert logger.level == logging.ERROR
    finally:
        logger.setLevel(logging.NOTSET)


def interrupts(record):
    raise KeyboardInterrupt("of a handler")


def test_what_is_no_exception_is_the_programs():
    with handled_by(interrupts), pytest.raises(KeyboardInterrupt, match="of a handler"):
        toy.to_static(f)(t([1.0]), 2)
        sum(range(3))


PROGRAM = """
import toy_backend as toy
def f(x):
    return x + 1
toy.to_static(f)(toy.tensor([1.0]))
"""


def run(value, setup="", later=""):
    program = [sys.executable, "-c", setup + PROGRAM + later]
    done = subprocess.run(program, env={**os.environ, "SOT_LOG": value}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def test_the_environment_asks():
    assert "sot.graphs: f (<string>:" in run("graphs").stderr
    assert run("").stderr == ""
    asked = run("graphs", "import logging, sys\nlogging.basicConfig(stream=sys.stdout, level='ERROR', format='%(message)s')\n")
    assert asked.stderr == "" and asked.stdout.startswith("f (<string>:")


def test_a_wrong_topic_in_the_environment_is_one_warning():
    done = run("graphs,brakes")
    assert done.stderr.count("RuntimeWarning") == 1
    assert "SOT_LOG: \"brakes\" is no topic of the log. There are: breaks, recompiles, guards, graphs, code, timing, all" in done.stderr
