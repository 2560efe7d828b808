"""Signal handlers: they run in the user's program, in the main thread, and never in the middle of a capture."""

import _thread
import functools
import os
import signal
import threading
import time

import pytest

from toy_framework import toy

t = toy.tensor


@pytest.fixture(autouse=True)
def handlers_as_before():
    before = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGINT)}
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in before.items():
        signal.signal(number, handler)


class Late(Exception):
    pass


def long_one(x):
    """Takes long to capture: thousands of instructions."""
    total = 0
    for i in range(800):
        total = total + i % 7
    return x * 2 + total


EXPECTED = long_one(t([1.0])).tolist()


def functions_on_the_stack(frame):
    names = []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names


def alarm_at(delay, call):
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_capture_is_given_up_and_tried_again():
    stacks = []

    @toy.disable
    def handler(number, frame):
        stacks.append((number, functions_on_the_stack(frame)))

    signal.signal(signal.SIGALRM, handler)
    for n in range(200):
        toy.reset()
        translated = toy.to_static(long_one)
        assert alarm_at(0.0002 * (n % 40 + 1), lambda: translated(t([1.0]))).tolist() == EXPECTED
        if "interrupted" in toy.stats()["reasons"]:
            break
    assert stacks and {number for number, _ in stacks} == {signal.SIGALRM}
    assert "interrupted" in toy.stats()["reasons"]
    assert "long_one" in stacks[-1][1], "the handler runs in the user's frame"
    assert toy.stats()["captures"] == 0, "nothing is remembered of a capture that was given up"
    for _ in range(3):
        assert translated(t([1.0])).tolist() == EXPECTED
    assert (toy.stats()["captures"], toy.stats()["graphs"], toy.stats()["hits"]) == (1, 1, 2)


@pytest.mark.parametrize("error", [Late, KeyboardInterrupt, TimeoutError])
def test_a_handler_that_raises(error):
    raised_in = []

    def handler(number, frame):
        raised_in.append(functions_on_the_stack(frame))
        raise error("now")

    signal.signal(signal.SIGALRM, handler)
    outcomes = set()
    for n in range(30):
        toy.reset()
        translated = toy.to_static(long_one)
        try:
            result = alarm_at(0.0001 + n * 0.0003, lambda: translated(t([1.0])))
            assert result.tolist() == EXPECTED
            outcomes.add("returned")
        except error as raised:
            assert str(raised) == "now"
            outcomes.add("raised")
        # Building mode is over, and the function can be captured.
        assert not isinstance(toy.zeros([1]), toy.Value)
        assert translated(t([1.0])).tolist() == EXPECTED
    assert "raised" in outcomes
    assert any("long_one" in stack for stack in raised_in), "the handler runs in the user's frame"
    assert toy.stats()["hook_failures"] == 0
    assert toy.set_eval_frame(None) is None


def test_a_handler_that_raises_in_a_capture_below_a_break():
    def handler(number, frame):
        raise Late

    @toy.disable
    def plain(g, x):
        return g(x)

    def f(x):
        return plain(long_one, x) + 1

    signal.signal(signal.SIGALRM, handler)
    caught = 0
    start = time.perf_counter()
    toy.to_static(f)(t([1.0]))
    whole = time.perf_counter() - start
    for n in range(30):
        toy.reset()
        translated = toy.to_static(f)
        # All over the call, however fast the machine.
        try:
            assert alarm_at(whole * (n + 1) / 30, lambda: translated(t([1.0]))).tolist() == [EXPECTED[0] + 1]
        except Late:
            caught += 1
        assert not isinstance(toy.zeros([1]), toy.Value)
        assert translated(t([1.0])).tolist() == [EXPECTED[0] + 1]
    assert caught


def test_the_users_own_except_catches_it():
    signal.signal(signal.SIGALRM, lambda number, frame: (_ for _ in ()).throw(Late()))

    def f(x):
        for _ in range(1_000):
            x = x + 1
        return x

    for n in range(20):
        toy.reset()
        try:
            result = alarm_at(0.0002 * (n + 1), lambda: toy.to_static(f)(t([0.0])))
        except Late:
            result = None
        assert result is None or result.tolist() == [1000.0]


def test_handlers_and_their_flags_are_put_back():
    def handler(number, frame):
        pass

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGUSR1, handler)
    signal.siginterrupt(signal.SIGUSR1, False)
    assert toy.to_static(long_one)(t([1.0])).tolist() == EXPECTED
    assert signal.getsignal(signal.SIGUSR1) is handler
    assert signal.getsignal(signal.SIGINT) is before
    # A read that is interrupted goes on by itself, as it was set.
    reader, writer = os.pipe()
    timer = threading.Timer(0.05, lambda: (os.kill(os.getpid(), signal.SIGUSR1), os.write(writer, b"x")))
    timer.start()
    assert os.read(reader, 1) == b"x"
    timer.join()
    os.close(reader)
    os.close(writer)


def test_a_wakeup_descriptor_hears_of_each_signal_once():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        heard = 0
        for n in range(20):
            toy.reset()
            alarm_at(0.0003 * (n + 1), lambda: toy.to_static(long_one)(t([1.0])))
            time.sleep(0.001)
            try:
                heard = len(os.read(reader, 100))
            except BlockingIOError:
                heard = 0
            assert heard <= 1
        assert signal.set_wakeup_fd(writer) == writer
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


def test_other_threads_capture_as_ever():
    ran_in = []
    signal.signal(signal.SIGUSR1, lambda number, frame: ran_in.append(threading.current_thread()))
    failures = []

    def work():
        try:
            deadline = time.monotonic() + 60
            rounds = 0
            # A capture may keep the main thread waiting.
            while (rounds < 5 or not ran_in) and time.monotonic() < deadline:
                assert toy.to_static(long_one)(t([1.0])).tolist() == EXPECTED
                rounds += 1
                time.sleep(0)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive():
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.0005)
    worker.join()
    assert failures == []
    assert set(ran_in) == {threading.main_thread()}
    assert toy.stats()["captures"] > 0


def test_a_timeout_inside_a_graph_is_not_swallowed():
    """An exception of a handler is not a failure of the graph, after which the original would run."""

    def handler(number, frame):
        raise Late

    signal.signal(signal.SIGALRM, handler)

    def f(x):
        for _ in range(300):
            x = toy.relu(x + 1)
        return x

    translated = toy.to_static(f)
    translated(t([0.0]))
    for n in range(20):
        try:
            assert alarm_at(0.00005 * (n + 1), lambda: translated(t([0.0]))).tolist() == [300.0]
        except Late:
            pass
    assert toy.stats()["graph_failures"] == 0


def test_control_c_in_a_long_capture_is_quick():
    def f(x):
        n = 0
        while n < 400_000:
            n = n + 1
            # A capture gives up soon where nothing is computed on tensors.
            if n % 2_000 == 0:
                x = x + 1
        return x * n

    # A signal from outside, as a terminal sends it.
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    start = time.time()
    with pytest.raises(KeyboardInterrupt):
        alarm_at(0.05, lambda: toy.to_static(f)(t([1.0])))
        time.sleep(5)
    assert time.time() - start < 2
    assert toy.stats()["captures"] == 0


def test_captured_code_of_a_handler_takes_nothing_of_the_program_below():
    """A handler's own captured code raises, or breaks and raises, while the program that it interrupts goes from a break on."""

    @toy.to_static
    def raises(x):
        y = x + 1
        raise Late(y.tolist())

    @toy.to_static
    def breaks_and_raises(x):
        y = x + 1
        toy.graph_break()
        raise Late((y * 2).tolist())

    other = t([1.0])
    for broken in (raises, breaks_and_raises):
        for _ in range(3):
            with pytest.raises(Late):
                broken(other)
    met = []

    @toy.disable
    def handler(number, frame):
        for broken in (raises, breaks_and_raises):
            try:
                broken(other)
            except Late as late:
                met.append(late.args[0])

    @toy.to_static
    def program(x):
        for i in range(40):
            x = x + i
            toy.graph_break()
        return x

    expected = program(t([0.0])).tolist()
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
    try:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            result = program(t([0.0]))
            assert type(result) is type(other)
            assert result.tolist() == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(met) > 20
    assert all(values in ([2.0], [4.0]) for values in met)


def met_on_the_way(entry, *args):
    """C trips the signal and calls the entry: no instruction of Python is between, so that whoever looks at signals first meets it."""
    trip = functools.partial(_thread.interrupt_main)
    return list(map(functools.partial.__call__, [trip, functools.partial(entry, *args)]))


def times(x, n):
    return x * n


def written_out(x, n):
    return x * 2, repr(n * 2) == "6"


def behind_a_break(x, n):
    toy.graph_break()
    return x * n


class Calls:
    """A handler that is no function."""

    def __call__(self, number, frame):
        raise Late("now")


@pytest.mark.parametrize("handler", ["function", "object", "keyboard"])
@pytest.mark.parametrize("program", [times, written_out, behind_a_break])
def test_guards_and_what_is_said_of_a_miss_do_not_swallow_it(program, handler):
    """`repr` looks at signals, wherever it is called."""
    raised = KeyboardInterrupt if handler == "keyboard" else Late

    def function(number, frame):
        raise Late("now")

    handlers = {"function": function, "object": Calls(), "keyboard": signal.default_int_handler}
    signal.signal(signal.SIGINT, handlers[handler])
    toy.reset()
    entry = toy.to_static(program)
    for n in range(1, 9):
        entry(t([1.0]), n)
        for given in (n, n + 1):
            with pytest.raises(raised):
                met_on_the_way(entry, t([1.0]), given)
            expected, result = program(t([1.0]), given), entry(t([1.0]), given)
            assert repr(result) == repr(expected)
    stats = toy.stats()
    assert stats["hits"] > 0 and stats["graphs"] > 0
