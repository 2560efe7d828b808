"""New code that raises where the program does not: the program runs as if there had been none.

Captures are made blind to a fact (`blind_to`, a hook for tests), so that what new code loads is not there. What comes from elsewhere while
new code runs is nobody's defect: it is raised."""

import ctypes
import operator
import signal
import threading
import time

import pytest
from toy_framework import toy

t = toy.tensor


class Box:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def of_an_attribute(x, box):
    y = x * 2
    try:
        item = box.item
    except AttributeError as error:
        item = str(error)
    return y, item


def of_an_attribute_unhandled(x, box):
    y = x * 2
    return y, box.item


def of_a_key(x, table):
    y = x * 2
    try:
        item = table["k"]
    except KeyError:
        item = "none"
    table["seen"] = 1
    return y, item


def below(x, box):
    y = of_an_attribute(x + 1, box)
    return y[0] * 3, y[1]


PROGRAMS = {
    "attribute": (of_an_attribute, "item", lambda: Box(item=[1]), Box),
    "unhandled": (of_an_attribute_unhandled, "item", lambda: Box(item=[1]), Box),
    "key": (of_a_key, "'k'", lambda: {"k": [1]}, dict),
    "below": (below, "item", lambda: Box(item=[1]), Box),
}


def seen(call, value):
    try:
        result = call(t([1.0]), value)
    except Exception as error:
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        return type(error), str(error), trace.tb_lineno, vars(value)
    return result[0].tolist(), result[1], value if isinstance(value, (dict, list)) else vars(value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_runs_as_if_there_had_been_no_new_code(name):
    program, blind, first, then = PROGRAMS[name]
    toy.reset()
    toy.blind_to(blind)
    try:
        captured = toy.to_static(program)
        for make in (first, first, then, then, first):
            assert seen(captured, make()) == seen(program, make())
        # Below the original frame, callees are captured by themselves.
        assert toy.stats()["captures"] == (2 if name == "below" else 1)
        # It is a defect, and the entry serves no more.
        assert toy.stats()["reasons"]["internal-error"] == 1
    finally:
        toy.blind_to("")


def looped(x, box, kept):
    y = x * 2
    kept[0] = box.item
    return y, box.item


class Elsewhere(Exception):
    pass


def by_another_thread(main):
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(Elsewhere))


def by_an_alarm(main):
    signal.pthread_kill(main, signal.SIGALRM)


@pytest.mark.parametrize("send, told", [(by_another_thread, Elsewhere), (by_an_alarm, TypeError)])
def test_what_comes_from_elsewhere_is_raised(send, told):
    toy.reset()
    captured, box, kept = toy.to_static(looped), Box(item=[1]), [None]
    captured(t([1.0]), box, kept)
    # Of C: it raises without a frame of its own.
    before = signal.signal(signal.SIGALRM, operator.truediv)
    main, begun, received, ended = threading.get_ident(), threading.Event(), threading.Event(), threading.Event()

    def sender():
        begun.wait(5)
        for _ in range(20):
            time.sleep(0.002)
            received.clear()
            send(main)
            # What is lost is not waited for long.
            received.wait(1)
        ended.set()

    raised, thread = 0, threading.Thread(target=sender)
    thread.start()
    try:
        while not ended.is_set():
            try:
                begun.set()
                while not ended.is_set():
                    captured(t([1.0]), box, kept)
            except told:
                raised += 1
                received.set()
        thread.join()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert raised == 20
    assert "internal-error" not in toy.stats()["reasons"]
