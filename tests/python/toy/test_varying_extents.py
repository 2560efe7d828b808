"""Extents of tensors that vary from call to call: one capture for each kind of answer, not one for each extent."""

import gc
import types
import weakref

import doors
import pytest
from toy_framework import toy

t = toy.tensor


@pytest.fixture(autouse=True)
def fresh():
    toy.reset()
    yield
    toy.reset()


def shown(value):
    if isinstance(value, toy.Tensor):
        return value.tolist(), value.shape, value.requires_grad
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item) for item in value]
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    return type(value).__name__, value


def outcome(function, args):
    try:
        return shown(function(*args))
    except Exception as error:
        return type(error).__name__, str(error)


def vector(size, first=0.0):
    return t([first + number for number in range(size)])


def matrix(rows, columns=2):
    return t([[float(row * columns + column) for column in range(columns)] for row in range(rows)])


def elementwise(x):
    return x * 2 + 1, -x


def shape(x):
    rows = x.shape[0]
    return (x * 2).sum(), rows + 1, x.shape, x.extents, len(x), f"{rows} rows", {"rows": rows}


def unpacked(x):
    rows, columns = x.shape
    return x.T, rows * columns, rows // 2, rows % 3, max(rows, 4)


def intermediate(x, w):
    y = (x @ w).relu()
    rows, columns = y.shape
    return y.sum(1), rows * columns, y.T.shape, y.extents


def joined(x, y):
    both = toy.concat([x, y])
    return both, both.shape[0], both.shape[0] - x.shape[0]


def branch(x):
    if x.shape[0] > 5:
        return x + 1
    return x - 1


def flattened(x):
    return x.reshape([-1, 2]) + 1


def stored(x, seen):
    seen.append(x.shape[0])
    seen.sizes = x.shape
    return x + 1


def added(x, y):
    return x + y, x.shape[0] == y.shape[0]


def scaled(x):
    return x.sum() / x.shape[0]


def broken(x):
    rows = x.shape[0]
    y = x * 2
    doors.opaque(y)
    return y + rows, rows


def checked(x):
    if x.shape[0] == 7:
        raise ValueError(f"{x.shape[0]} rows, of shape {x.shape}")
    return x + 1


class Seen(list):
    pass


PROGRAMS = {
    "elementwise": (elementwise, lambda n: [vector(n)], 2),
    "shape": (shape, lambda n: [vector(n)], 2),
    "unpacked": (unpacked, lambda n: [matrix(n)], 8),
    "intermediate": (intermediate, lambda n: [matrix(n), t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])], 2),
    "joined": (joined, lambda n: [vector(n), vector(3)], 2),
    "both joined": (joined, lambda n: [vector(n), vector(2 * n)], 2),
    "branch": (branch, lambda n: [vector(n)], 3),
    "flattened": (flattened, lambda n: [matrix(n)], 2),
    "stored": (stored, lambda n: [vector(n), Seen()], 2),
    "added": (added, lambda n: [vector(n), vector(n, 2.0)], 2),
    "scaled": (scaled, lambda n: [vector(n)], 2),
    "broken": (broken, lambda n: [vector(n)], 4),
    "checked": (checked, lambda n: [vector(n)], 4),
}


@pytest.mark.parametrize("door", doors.DOORS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_extent_gives_what_eager_gives(name, door):
    function, args_of, _ = PROGRAMS[name]
    captured = door(function)
    for size in [2, 3, 5, 1, 8, 1, 2, 7, 4, 12, 7, 6]:
        mine, theirs = args_of(size), args_of(size)
        assert outcome(captured, mine) == outcome(function, theirs), size
        assert [shown(arg) for arg in mine] == [shown(arg) for arg in theirs]
        assert [vars(a) for a in mine if isinstance(a, Seen)] == [vars(a) for a in theirs if isinstance(a, Seen)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_few_captures_serve_all(name):
    function, args_of, captures = PROGRAMS[name]
    captured = toy.to_static(function)
    for size in range(2, 40):
        assert outcome(captured, args_of(size)) == outcome(function, args_of(size)), size
    assert toy.stats()["captures"] <= captures


def test_shapes_that_do_not_fit_raise_as_in_eager():
    captured = toy.to_static(added)
    for one, other in [(2, 2), (3, 3), (4, 4), (4, 5), (5, 4), (6, 6), (3, 6)]:
        args = [vector(one), vector(other)]
        assert outcome(captured, args) == outcome(added, args)


def test_one_row_is_special():
    captured = toy.to_static(elementwise)
    for size in (4, 5, 1, 6, 1):
        captured(vector(size))
    assert toy.stats()["captures"] == 3


def test_what_needs_extents_has_a_capture_for_each_and_says_why(caplog):
    toy.set_logs("recompiles")
    try:

        def last(x):
            return x[-1] + 1

        captured = toy.to_static(last)
        for size in (2, 3, 4, 3, 2):
            assert outcome(captured, [vector(size)]) == outcome(last, [vector(size)])
        assert toy.stats()["captures"] == 3
        said = [record.getMessage() for record in caplog.records if "for each extent" in record.getMessage()]
        assert said and all("last (test_varying_extents.py:" in text for text in said)
        assert "len() of" in said[0] or "extents vary" in said[0]
    finally:
        toy.set_logs()


def test_tensors_at_any_place():
    state = types.SimpleNamespace(tensor=None, table={})

    def f(items):
        first, second = items
        return first.sum() + second.sum() + state.tensor.sum() + state.table["k"].sum(), second.shape[0]

    captured = toy.to_static(f)
    for size in range(2, 20):
        state.tensor, state.table = vector(size + 1), {"k": vector(size + 2)}
        args = [[vector(3), vector(size)]]
        assert outcome(captured, args) == outcome(f, args)
    assert toy.stats()["captures"] <= 4


def test_the_same_tensor_twice():
    captured = toy.to_static(added)
    for size in range(2, 12):
        x = vector(size)
        assert outcome(captured, [x, x]) == outcome(added, [x, x])


# What is said beforehand.


def test_a_mark_saves_the_second_capture():
    captured = toy.to_static(shape)
    x = vector(4)
    toy.mark_dynamic(x, 0)
    for args in ([x], [vector(5)], [vector(2)], [vector(9)]):
        assert outcome(captured, args) == outcome(shape, args)
    assert toy.stats()["captures"] == 1


def test_marks_have_bounds():
    captured = toy.to_static(elementwise)
    x = matrix(5)
    toy.mark_dynamic(x, dim=[-2], min=4, max=8)
    for rows, captures in [(5, 1), (4, 1), (8, 1), (9, 2), (3, 2)]:
        captured(x if rows == 5 else matrix(rows))
        assert toy.stats()["captures"] == captures, rows


def test_what_is_static_has_a_capture_for_each():
    captured = toy.to_static(elementwise)
    for size in (3, 4, 5, 3):
        x = vector(size)
        toy.mark_static(x)
        captured(x)
    assert (toy.stats()["captures"], toy.stats()["hits"]) == (3, 1)


def test_marks_go_with_their_tensor():
    before = toy.stats()["registries"]["tensors with marks"]
    for _ in range(100):
        toy.mark_dynamic(vector(3), 0)
    assert toy.stats()["registries"]["tensors with marks"] == before


def test_a_mark_in_vain_is_told(caplog):
    captured = toy.to_static(lambda x: x[0] + 1)
    x = vector(4)
    toy.mark_dynamic(x, 0)
    captured(x)
    (record,) = [record for record in caplog.records if record.name == "sot"]
    assert "for each extent that was said to vary" in record.getMessage()


@pytest.mark.parametrize(
    "wrong, error, says",
    [
        (lambda: toy.mark_dynamic(3, 0), TypeError, "expected a tensor, not int"),
        (lambda: toy.mark_dynamic(vector(2), 1), ValueError, "axis 1 of a tensor with 1 axes"),
        (lambda: toy.mark_dynamic(vector(2), "a"), TypeError, "expected an axis"),
        (lambda: toy.mark_dynamic(vector(2), 0, min=5, max=4), ValueError, "min=5, max=4"),
        (lambda: toy.mark_dynamic(vector(2), 0, max=1), ValueError, "min=None, max=1"),
        (lambda: toy.mark_static([1], 0), TypeError, "expected a tensor, not list"),
        (lambda: toy.to_static(shape, input_spec=3), TypeError, "input_spec is a list"),
    ],
)
def test_what_cannot_be_marked(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


def spec(*extents, dtype="float64"):
    return types.SimpleNamespace(shape=extents, dtype=dtype)


def test_a_spec_holds_from_the_first_call():
    captured = toy.to_static(elementwise, input_spec=[spec(None, 2)])
    for rows in (3, 2, 5, 9):
        assert outcome(captured, [matrix(rows)]) == outcome(elementwise, [matrix(rows)])
    assert toy.stats()["captures"] == 1


@pytest.mark.parametrize("given", [matrix(3, 3), vector(3)])
def test_what_a_spec_does_not_allow(given):
    captured = toy.to_static(elementwise, input_spec=[spec(-1, 2)])
    for _ in range(2):
        captured(matrix(3))
        with pytest.raises(ValueError, match=r"elementwise\(\) was given x = .*input_spec says float64\[\?, 2\]"):
            captured(given)


def test_a_spec_says_nothing_of_what_is_no_tensor():
    def f(x, mask=None, *more, scale=2.0):
        return x * scale, mask, more

    captured = toy.to_static(f, input_spec=[spec(None), spec(None), spec(None), spec(None)])
    for args in ([vector(2)], [vector(3), None], [vector(2), 4], [vector(2), [1], matrix(2), 3]):
        assert outcome(captured, args) == outcome(f, args)
    with pytest.raises(ValueError, match="given mask = "):
        captured(vector(2), matrix(2))


def test_a_spec_is_asked_at_each_call():
    captured = toy.to_static(lambda x: x, input_spec=[spec(None, 2)])
    for _ in range(100):
        captured(matrix(3))
    with pytest.raises(ValueError, match="input_spec"):
        captured(vector(3))


def test_the_collector_sees_a_spec():
    class Own:
        pass

    def make():
        own, described = Own(), spec(None)

        def f(x):
            return x if own else None

        described.function = toy.to_static(f, input_spec=[described])
        described.function(vector(2))
        return weakref.ref(own)

    gone = make()
    gc.collect()
    assert gone() is None


def test_what_one_call_needs_fixed_another_may_vary():
    def f(x, rows):
        return [x[0]] if rows else x * 2

    captured = toy.to_static(f)
    for size in range(2, 6):
        captured(vector(size), True)
    before = toy.stats()["captures"]
    for size in range(2, 40):
        assert outcome(captured, [vector(size), False]) == outcome(f, [vector(size), False])
    assert toy.stats()["captures"] - before <= 3


def test_a_spec_of_a_method_and_of_some_arguments():
    class Scale:
        def of(self, k, x, y):
            return x * k, y

    captured = toy.to_static(Scale().of, input_spec=[None, spec(None)])
    for size in (2, 3, 4):
        captured(2, vector(size), vector(3))
    assert toy.stats()["captures"] == 1
    with pytest.raises(ValueError, match="given x = float64"):
        captured(2, matrix(2), vector(3))


def test_copies_keep_their_spec():
    import copy

    captured = copy.copy(toy.to_static(shape, input_spec=[spec(None)]))
    with pytest.raises(ValueError, match="input_spec"):
        captured(matrix(2))
