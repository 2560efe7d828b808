"""`sys.settrace` and `sys.setprofile` inside of captured code: the events are those of plain Python, none more and none less."""

import sys

import pytest

from doors import DOORS
from toy_framework import toy

t = toy.tensor
EVENTS = []


def note(frame, event, argument):
    if frame.f_code.co_filename == __file__ and frame.f_code.co_name not in ("outer", "<lambda>"):
        EVENTS.append((frame.f_code.co_name, event, frame.f_lineno))
    return note


def profile(frame, event, argument):
    note(frame, event, argument)


def add(x):
    return x + 1


def items(x):
    yield add(x)


def traced(x):
    sys.settrace(note)
    y = add(x)
    sys.settrace(None)
    return y


def profiled(x):
    sys.setprofile(profile)
    y = add(add(x))
    sys.setprofile(None)
    return y


def between_breaks(x):
    toy.show(x)
    sys.setprofile(profile)
    y = list(items(x))[0]
    toy.show(y)
    sys.setprofile(None)
    return y + 1


def begin():
    sys.settrace(note)


def end():
    sys.settrace(None)


def by_helpers(x):
    begin()
    try:
        return add(x) * 2
    finally:
        end()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("f", [traced, profiled, between_breaks, by_helpers])
def test_the_events_are_those_of_plain_python(f, door, capsys):
    def events(run):
        del EVENTS[:]
        run(t([1.0]))
        return list(EVENTS)

    wanted = events(f)
    captured = door(f)
    assert [events(captured) for _ in range(4)] == [wanted] * 4
