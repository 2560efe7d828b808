"""That there are no other threads is asked once for a capture, not once for each item that is taken."""

from toy_framework import toy


def guards_of(pops):
    shared = list(range(64))

    def f(x):
        for _ in range(pops):
            shared.pop()
        return x + 1.0

    report = toy.explain(f)(toy.tensor([1.0]))
    assert "1 graphs, 0 breaks" in str(report), str(report)
    return int(str(report).split(" breaks, ")[1].split()[0])


def test_many_pops_leave_the_guards_of_one():
    assert guards_of(30) == guards_of(3)


def test_the_question_is_asked_of_each_call():
    calls = []

    def f(x, shared):
        return x + 1.0, shared.pop(), shared.pop()

    captured = toy.to_static(f)
    for _ in range(3):
        calls.append(captured(toy.tensor([1.0]), [1, 2])[1:])
    assert calls == [(2, 1)] * 3
    assert toy.stats()["hits"] >= 2
