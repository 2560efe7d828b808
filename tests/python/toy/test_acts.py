"""Operations that act on more than memory: they change what the framework keeps, and call functions of the program.

A board keeps what is published, and calls its listeners. What a listener changes, the function that publishes sees behind it; what the
function has done before, the listener sees. Through each door, beside plain Python, call by call.
"""

import sys

import doors
import pytest
from toy_framework import toy

LAST = 0


class Holder:
    def __init__(self):
        self.count, self.log, self.flag, self.table = 0, [], False, {"n": 0}


def number(value):
    return value.tolist() if isinstance(value, toy.Tensor) else value


def counts(holder):
    holder.count += 10


def logs(holder):
    holder.log.append(len(holder.log))


def flips(holder):
    holder.flag = not holder.flag


def replaces(holder):
    holder.table = {"n": holder.table["n"] + 1, "other": None}


def stores(holder):
    holder.table["n"] += 1


def looks(holder):
    holder.log.append((holder.count, holder.flag, dict(holder.table), LAST))


def is_quiet(holder):
    pass


def raises_each_other_time(holder):
    holder.count += 1
    if holder.count % 2:
        raise ValueError(f"at {holder.count}")


LISTENERS = [counts, logs, flips, replaces, stores, looks, is_quiet, raises_each_other_time]


def reads_behind(holder, board):
    def f(x):
        y = x * 2
        board.publish(y)
        return y + 1, holder.count, list(holder.log), holder.flag, dict(holder.table)

    return f


def reads_before_and_behind(holder, board):
    def f(x):
        before = holder.count, len(holder.log), holder.flag, holder.table["n"]
        y = x * (3.0 if holder.flag else 2.0)
        board.publish(y)
        return y + 1, before, holder.count, len(holder.log), holder.flag, holder.table["n"]

    return f


def does_before(holder, board):
    calls = 0

    def f(x):
        global LAST
        nonlocal calls
        LAST += 1
        calls += 1
        holder.count += 1
        holder.log.append(holder.count)
        holder.table["n"] = calls
        y = x * 2
        board.publish(y)
        return y + 1, calls, holder.count, list(holder.log), dict(holder.table), LAST

    return f


def does_between(holder, board):
    def f(x):
        y = x * 2
        board.publish(y)
        holder.count += 1
        holder.log.append("between")
        z = y + holder.count
        board.publish(z)
        return z * 2, holder.count, list(holder.log)

    return f


def handles(holder, board):
    def f(x):
        holder.count += 1
        y = x * 2
        try:
            board.publish(y)
            holder.log.append("published")
        except ValueError as error:
            holder.log.append(str(error))
        finally:
            holder.log.append("over")
        return y + 1, holder.count, list(holder.log)

    return f


def loops(holder, board):
    def f(x):
        for _ in range(3):
            x = x * 2
            board.publish(x)
        return x, holder.count, holder.flag, len(holder.log)

    return f


def inlines(holder, board):
    def tell(value):
        board.publish(value)
        return holder.flag

    def f(x):
        y = x * 2
        return (y + 1 if tell(y) else y - 1), tell(y), holder.count

    return f


FUNCTIONS = [reads_behind, reads_before_and_behind, does_before, does_between, handles, loops, inlines]


def course(make, door, listener, joins):
    """What becomes of six calls. `joins`: the call before which the listener comes."""
    global LAST
    LAST = 0
    holder, board = Holder(), toy.Board()
    f = door(make(holder, board))
    became = []
    for call in range(6):
        if call == joins:
            board.listeners.append(lambda value: listener(holder))
        try:
            result = [number(part) for part in f(toy.tensor([1.0, float(call)]))]
        except ValueError as error:
            lines = error.__traceback__
            while lines.tb_next is not None and lines.tb_frame.f_code.co_name != "f":
                lines = lines.tb_next
            result = str(error), lines.tb_frame.f_code.co_name, lines.tb_lineno
        state = holder.count, list(holder.log), holder.flag, dict(holder.table), LAST
        became.append((result, state, [number(value) for value in board.values]))
    return became


@pytest.mark.parametrize("door", doors.DOORS)
@pytest.mark.parametrize("joins", [0, 3], ids=["first", "later"])
@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize("make", FUNCTIONS)
def test_with_a_listener(make, listener, joins, door):
    plain = course(make, lambda f: f, listener, joins)
    assert course(make, door, listener, joins) == plain
    assert toy.stats()["hook_failures"] == 0


@pytest.mark.parametrize("make", FUNCTIONS)
def test_without_one_there_is_no_break(make):
    plain = course(make, lambda f: f, is_quiet, None)
    toy.reset()
    assert course(make, toy.to_static, is_quiet, None) == plain
    stats = toy.stats()
    assert (stats["breaks"], stats["graph_failures"], stats["fallbacks"]) == (0, 0, 0)


def test_what_the_framework_may_read_is_done_before():
    """The list of listeners is the framework's to read: a change of it waits for nobody."""

    def make():
        board, heard = toy.Board(), []

        def f(x):
            board.listeners.append(lambda value: heard.append(number(value)))
            board.publish(x * 2)
            board.listeners.pop()
            return len(heard)

        return f

    def results(f):
        return [f(toy.tensor([float(call)])) for call in range(4)]

    assert results(toy.to_static(make())) == results(make())


def test_two_boards_share_a_capture_and_neither_is_kept():
    import gc
    import weakref

    def f(x, board):
        y = x * 2
        board.publish(y)
        return y + 1

    f = toy.to_static(f)
    first, second = toy.Board(), toy.Board()
    for board in (first, second, first):
        f(toy.tensor([1.0]), board)
    assert (len(first.values), len(second.values)) == (2, 1)
    stats = toy.stats()
    assert (stats["graphs"], stats["breaks"], stats["captures"]) == (1, 0, 1)
    gone = weakref.ref(first)
    del first, board
    gc.collect()
    assert gone() is None


def test_an_operation_that_fails_is_not_run_again():
    board = toy.Board()

    def refuses(value):
        raise KeyError("no")

    @toy.to_static
    def f(x):
        board.publish(x * 2)
        return x

    f(toy.tensor([1.0]))
    board.listeners.append(refuses)
    for calls in range(2, 5):
        with pytest.raises(KeyError, match="no"):
            f(toy.tensor([1.0]))
        assert len(board.values) == calls


@pytest.mark.parametrize("door", doors.DOORS)
def test_what_the_framework_keeps_is_read_by_another_name(door):
    def course(door):
        board = toy.Board()
        values = board.values

        def f(x):
            before = len(values)
            board.publish(x * 2)
            between = len(values)
            values.clear()
            board.publish(x * 3)
            return before, between, len(values)

        f = door(f)
        return [f(toy.tensor([1.0])) for _ in range(4)]

    assert course(door) == course(lambda f: f)


def listens_in_c(board, holder):
    board.listeners.append(holder.log.append)


def listens_as_a_generator(board, holder):
    def listens():
        while True:
            holder.log.append((yield))

    generator = listens()
    next(generator)
    board.listeners.append(generator.send)


def sees_what_is_handled(board, holder):
    board.listeners.append(lambda value: holder.log.append(sys.exc_info()[0]))


@pytest.mark.parametrize("listens", [listens_in_c, listens_as_a_generator, sees_what_is_handled])
@pytest.mark.parametrize("door", doors.DOORS)
def test_listeners_without_frames(listens, door):
    def course(door):
        board, holder = toy.Board(), Holder()
        listens(board, holder)

        def f(x):
            before = len(holder.log)
            holder.log.append("mine")
            board.publish(x * 2)
            try:
                raise LookupError
            except LookupError:
                board.publish(x * 3)
            between = len(holder.log)
            try:
                return board.publish(x * 4), before, between
            finally:
                holder.log.append("over")

        f = door(f)
        became = [f(toy.tensor([1.0])) for _ in range(4)]
        return became, [number(value) for value in holder.log]

    assert course(door) == course(lambda f: f)
