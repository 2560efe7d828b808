"""Functions whose state is another one at each call come to a few captures, and go on to be right when what they rely on changes."""

import collections

import pytest
from toy_framework import toy

t = toy.tensor


@pytest.fixture(autouse=True)
def anew(monkeypatch):
    monkeypatch.setenv("SOT_MEASURE", "0")
    toy.reset()
    yield


def run(make, calls, translate):
    """What the calls give, and how many captures there were after each; `make` gives the function, and what comes before a call."""
    step, between = make()
    step = translate(step)
    results, captures = [], []
    for n in range(calls):
        between(n)
        result = step(t([1.0, 2.0]), n)
        results.append(result.tolist())
        captures.append(toy.stats()["captures"])
    return results, captures


def nothing(n):
    pass


def settled(make, calls=40, last=12, most=None):
    expected, _ = run(make, calls, lambda step: step)
    results, captures = run(make, calls, toy.to_static)
    assert results == expected
    assert captures[-1] == captures[-last - 1], captures
    if most is not None:
        assert captures[-1] <= most, captures


# ----- lists that grow

GROWING = {
    "average": "x * (sum(h) / len(h))",
    "maximum": "x * max(h)",
    "minimum_by_key": "x * min(h, key=lambda v: abs(v - 3))",
    "any_of_a_generator": "x * 2 if any(v > 5 for v in h) else x",
    "comprehension": "x * len([v for v in h if v % 2 == 0])",
    "dict_comprehension": "x * len({v % 3: v for v in h})",
    "sorted": "x * sorted(h)[len(h) // 2]",
    "inserted": "(h.insert(0, n), x * len(h))[1]",
    "membership": "x * 2 if 7 in h else x",
    "reversed_copy": "x * h[::-1][0]",
}


def growing(expression):
    def make():
        h = []
        code = f"def step(x, n):\n    h.append(n * 7 % 11)\n    return {expression}\n"
        names = {"h": h}
        exec(code, names)
        return names["step"], nothing

    return make


@pytest.mark.parametrize("name", GROWING)
def test_a_history_that_is_read_as_a_whole(name):
    """Lengths may come again, so each is a capture until the cache is full."""
    settled(growing(GROWING[name]), calls=100)


def test_a_history_that_is_printed_item_by_item(capsys):
    def make():
        log = []

        def step(x, n):
            log.append(n)
            for value in log:
                print(value)
            return x * 2

        return step, nothing

    settled(make, calls=12, last=6, most=8)
    out = capsys.readouterr().out.split()
    assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_a_loop_over_a_history():
    def make():
        log = []

        def step(x, n):
            log.append(n * 0.5)
            total = 0.0
            for value in log:
                total += value
            return x * total

        return step, nothing

    settled(make, calls=100)


def test_a_loop_that_ends_early():
    def make():
        log = [1, 2, 3]

        def step(x, n):
            log.append(n)
            for value in log:
                if value == 2:
                    break
            return x * value

        return step, nothing

    settled(make, most=6)


def test_lists_of_tensors_of_some_lengths_are_one_graph_each():
    def step(x, parts):
        for part in parts:
            x = x + part
        return x

    captured = toy.to_static(step)
    for _ in range(2):
        for length in (1, 2, 3, 4):
            assert captured(t([1.0]), [t([2.0])] * length).tolist() == [1.0 + 2.0 * length]
    stats = toy.stats()
    assert (stats["captures"], stats["breaks"]) == (4, 0)


def test_a_history_that_is_changed_in_every_way(capsys):
    """Behind a break in the loop nothing is guarded but that there is a next item: whatever else becomes of the list is seen."""

    class Own(list):
        def __iter__(self):
            return iter([40, 50])

    def make():
        class World:
            log = [1, 2]

        def between(n):
            match_ = [
                lambda: World.log.append(n),
                lambda: World.log.append(n),
                lambda: World.log.pop(0),
                lambda: World.log.clear(),
                lambda: setattr(World, "log", [n, "text", n]),
                lambda: World.log.__setitem__(1, 2.5),
                lambda: setattr(World, "log", (7, 8, 9)),
                lambda: setattr(World, "log", Own([1])),
                lambda: setattr(World, "log", [n, n + 1]),
                lambda: setattr(World, "log", {5: 6}),
                lambda: setattr(World, "log", [True, None]),
                lambda: setattr(World, "log", [n]),
            ]
            match_[n % len(match_)]()

        def step(x, n):
            total = 0
            for value in World.log:
                print(value)
                total += len(value) if isinstance(value, str) else value or 0
            return x * total

        return step, between

    settled(make, calls=72, last=12)
    out = capsys.readouterr().out.split()
    assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_a_list_that_its_own_loop_changes():
    def make():
        log = []

        def step(x, n):
            log.append(n)
            total = 0
            for value in log:
                total += value
                if value == n and len(log) < 6:
                    log.append(n + 1)
                if total > 20:
                    del log[0]
            return x * total + len(log)

        return step, nothing

    settled(make)


# ----- iterators that a loop leaves half used

LEFT = {
    "list": lambda: iter(list(range(1, 200))),
    "tuple": lambda: iter(tuple(range(1, 200))),
    "range": lambda: iter(range(1, 200)),
    "list_of_floats": lambda: iter([n * 0.5 for n in range(1, 200)]),
}


@pytest.mark.parametrize("name", LEFT)
def test_an_iterator_that_is_left_by_break(name):
    def make():
        numbers = LEFT[name]()

        def step(x, n):
            for value in numbers:
                x = x + value
                if value % 3 == 0:
                    break
            return x

        return step, nothing

    settled(make, calls=24, most=5)


def test_an_iterator_whose_list_changes():
    """Where an iterator stands is no fact, but what it yields is, and when it ends."""

    def make():
        class World:
            items = [1, 2, 3, 4, 5, 6, 7, 8]

        World.left = iter(World.items)

        def between(n):
            changes = [
                lambda: World.items.append(9),
                lambda: World.items.insert(0, 10),
                lambda: World.items.extend([2.5, 3, 4]),
                lambda: World.items.clear(),
                lambda: setattr(World, "left", iter((1, 2, 3, 4))),
                lambda: setattr(World, "left", iter(range(n, n + 5))),
                lambda: setattr(World, "left", iter(range(n, n - 5, -1))),
                lambda: setattr(World, "left", reversed([1, 2, 3])),
                lambda: setattr(World, "left", iter({1: 2, 3: 4, 5: 6})),
                lambda: setattr(World, "items", [5, 4, 3, 2, 1, 0]) or setattr(World, "left", iter(World.items)),
                lambda: next(World.left),
                lambda: World.items.pop(),
                lambda: World.items.__setitem__(slice(None), [3, 3, 3, True]),
                lambda: setattr(World, "left", iter([])),
            ]
            changes[n % len(changes)]()

        def step(x, n):
            taken = 0
            for value in World.left:
                x = x + value
                taken += 1
                if taken == 2:
                    break
            else:
                x = x * 100
            return x * taken

        return step, between

    settled(make, calls=84, last=12)


def test_items_outlive_the_move_of_their_iterator():
    def make():
        objects = iter([[n] for n in range(100)])

        def step(x, n):
            first, second = next(objects), next(objects)
            third = next(objects)
            third.append(n)
            return x * first[0] + second[0] - len(third)

        return step, nothing

    settled(make, calls=24)


def test_modes_that_come_again_are_a_capture_each():
    modes = ["train", "eval", "test", "predict"]

    def step(x, mode):
        return x * {"train": 1.0, "eval": 2.0}.get(mode, 3.0)

    captured = toy.to_static(step)
    for _ in range(3):
        for mode, factor in zip(modes, [1.0, 2.0, 3.0, 3.0]):
            assert captured(t([1.0]), mode).tolist() == [factor]
    assert toy.stats()["breaks"] == 0


def test_a_queue_that_is_emptied():
    def make():
        queue = collections.deque(range(300))

        def step(x, n):
            taken = [queue.popleft() for _ in range(3)]
            queue.append(n)
            return x * sum(taken)

        return step, nothing

    assert run(make, 100, toy.to_static)[0] == run(make, 100, lambda step: step)[0]
