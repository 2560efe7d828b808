"""The user's contract: `set_eval_frame(callback)`, `callback(frame) -> CustomCode(code, disable)`."""

import signal
import threading
import warnings

import pytest

from eval_frame_helpers import PY311, callback

GLOBAL = "a global"


def grandchild(x):
    return x + 1


def child(x):
    return grandchild(x) * 2


def father(x):
    return child(x)


def new_father(x):
    return ("new", child(x))


NAMES = {f.__code__: f.__name__ for f in (father, child, grandchild, new_father)}


def recorder(sot, answers):
    seen = []

    def decide(frame):
        name = NAMES.get(frame.f_code)
        if name is None:
            return None
        seen.append(name)
        return answers.get(name)

    return decide, seen


def test_custom_code_is_a_namedtuple(sot):
    code = sot.CustomCode(None, True)
    first, second = code
    assert (first, second) == (code[0], code[1]) == (code.code, code.disable_eval_frame)
    assert sot.CustomCode(code=None, disable_eval_frame=False) == (None, False)
    assert isinstance(code, tuple) and code._fields == ("code", "disable_eval_frame")
    assert sot.CustomCode.__name__ == "CustomCode"


@pytest.mark.parametrize(
    "answer, result, shown",
    [
        ((None, True), 8, ["father"]),
        ((new_father.__code__, True), ("new", 8), ["father"]),
        ((new_father.__code__, False), ("new", 8), ["father", "child", "grandchild"]),
        ((None, False), 8, ["father", "child", "grandchild"]),
        (None, 8, ["father", "child", "grandchild"]),
    ],
)
def test_rows_counted(sot, answer, result, shown):
    for as_tuple in (False, True):
        made = answer if as_tuple or answer is None else sot.CustomCode(*answer)
        decide, seen = recorder(sot, {"father": made})
        with callback(decide):
            for _ in range(100):
                assert father(3) == result
            count = len(seen)
        assert count == 100 * len(shown)
        assert seen == shown * 100
        assert father(3) == 8


def test_rows_nest(sot):
    """A muted subtree ends exactly where its frame returns, also by an exception."""

    def fails(x):
        child(x)
        raise KeyError(x)

    def outer(x):
        try:
            fails(x)
        except KeyError:
            pass
        return grandchild(x)

    decide, seen = recorder(sot, {"fails": (None, True)})
    NAMES[fails.__code__] = "fails"
    NAMES[outer.__code__] = "outer"
    with callback(decide):
        outer(1)
        outer(2)
    assert seen == ["outer", "fails", "grandchild"] * 2


def test_frame_attributes(sot):
    free = "free"

    def f(a, b=2, *args, k, m=5, **kw):
        inner = lambda: (a, free)  # noqa: E731 - makes `a` a cell
        local = inner
        return local

    frames = []

    def decide(frame):
        if frame.f_code is f.__code__:
            frames.append(frame)

    with callback(decide):
        f(1, 7, 8, 9, k=4, z=6)
    (frame,) = frames
    assert frame.f_locals == {
        "a": 1,
        "b": 7,
        "args": (8, 9),
        "k": 4,
        "m": 5,
        "kw": {"z": 6},
        "free": "free",
    }
    assert frame.f_globals is globals()
    builtins = frame.f_builtins
    assert getattr(builtins, "__dict__", builtins)["len"] is len
    assert frame.f_lasti == -1
    assert frame.f_func is (f if PY311 else None)


def test_returns_previous_callback(sot):
    one, two = (lambda frame: None), (lambda frame: None)
    assert sot.set_eval_frame(one) is None
    assert sot.set_eval_frame(two) is one
    assert not sot._probe_slot_is_default()
    assert sot.set_eval_frame(None) is two
    assert sot.set_eval_frame(None) is None
    assert sot._probe_slot_is_default()


@pytest.mark.parametrize("bad", [3, "x", (), object()])
def test_needs_a_callable(sot, bad):
    with pytest.raises(TypeError, match="callable or None"):
        sot.set_eval_frame(bad)
    assert sot._probe_slot_is_default()


def other_arguments(x, y):
    return None


def generator(x):
    yield x


def make_closure():
    cell = 1

    def closure(x):
        return cell

    return closure


MODULE_CODE = compile("x = 1", "<module>", "exec")


@pytest.mark.parametrize(
    "answer, hint",
    [
        (lambda sot: 1 / 0, "division by zero"),
        (lambda sot: 42, "returned a int"),
        (lambda sot: (1, 2, 3), "returned a tuple"),
        (lambda sot: sot.CustomCode("code", True), "CustomCode of a str"),
        (lambda sot: sot.CustomCode(father, True), "CustomCode of a function"),
        (lambda sot: sot.CustomCode(other_arguments.__code__, True), "number of arguments"),
        (lambda sot: sot.CustomCode(make_closure().__code__, True), "co_freevars"),
        (lambda sot: sot.CustomCode(generator.__code__, True), "generator"),
        (lambda sot: sot.CustomCode(MODULE_CODE, True), "not the code of a function"),
    ],
)
def test_bad_callbacks_warn_once_and_disturb_nothing(sot, answer, hint):
    def decide(frame):
        return answer(sot) if frame.f_code is father.__code__ else None

    before = sot._hook_failures()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with callback(decide):
            assert [father(3) for _ in range(5)] == [8] * 5
    ours = [w for w in caught if "set_eval_frame" in str(w.message)]
    assert len(ours) == 1
    assert ours[0].category is RuntimeWarning
    assert hint in str(ours[0].message) and "sot.CustomCode" in str(ours[0].message)
    assert sot._hook_failures() == before + 5


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_warnings_as_errors_do_not_escape(sot, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with callback(lambda frame: 42):
            assert father(3) == 8


@pytest.fixture
def interruptible():
    """SIGINT raises KeyboardInterrupt: what is started in the background begins with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_keyboard_interrupt_in_the_callback_reaches_the_user(sot, interruptible):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("needs the main thread")
    armed = [True]

    def decide(frame):
        if frame.f_code is father.__code__ and armed:
            armed.clear()
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(KeyboardInterrupt):
            with callback(decide):
                father(3)
                for _ in range(100000):
                    pass


def test_callback_is_not_called_for_its_own_calls(sot):
    depth = []

    def helper(frame):
        return frame.f_code

    def decide(frame):
        depth.append(frame.f_code)
        father(1)  # runs Python functions: they must not come back here
        helper(frame)
        return None

    with callback(decide):
        father(1)
    codes = [f.__code__ for f in (father, child, grandchild)]
    assert [code for code in depth if code in NAMES] == codes
    assert helper.__code__ not in depth


def test_callback_may_remove_itself(sot):
    seen = []

    def decide(frame):
        seen.append(frame.f_code)
        sot.set_eval_frame(None)

    sot.set_eval_frame(decide)
    father(1)
    assert seen == [father.__code__]
    assert sot.set_eval_frame(None) is None


def test_set_from_inside_a_muted_frame(sot):
    seen = []

    def switch(x):
        sot.set_eval_frame(second)
        return child(x)

    def first(frame):
        if frame.f_code is switch.__code__:
            return sot.CustomCode(None, True)

    def second(frame):
        seen.append(frame.f_code)

    sot.set_eval_frame(first)
    switch(1)
    assert sot.set_eval_frame(None) is second
    assert seen[:2] == [child.__code__, grandchild.__code__]


def test_other_threads_are_not_hooked(sot):
    seen = []

    def decide(frame):
        if frame.f_code in NAMES:
            seen.append(threading.get_ident())

    with callback(decide):
        thread = threading.Thread(target=father, args=(1,))
        thread.start()
        thread.join()
        father(1)
    assert set(seen) == {threading.get_ident()}
