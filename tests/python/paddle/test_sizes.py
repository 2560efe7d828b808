"""Shapes of tensors (`paddle.Size`, a list of a class of C) that come from outside of what is captured: as arguments, below layers, over
breaks. They are looked at as lists are; what their class does in its own way is the class's affair."""

import copy
import operator

import paddle
import pytest
import sot
from paddle import nn

Size = type(paddle.ones([1]).shape)


def ones(*shape):
    return paddle.ones(list(shape))


def shaped(*shape):
    """A tensor and its shape."""
    return ones(*shape), ones(*shape).shape


def told(value):
    """What can be seen of a value: types of containers, too, and how they are written."""
    if isinstance(value, paddle.Tensor):
        return "tensor", value.numpy().tolist()
    if isinstance(value, (list, tuple)):
        return type(value), repr(value), [told(item) for item in value]
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return value


def outcome(call, *args):
    """The result, and what has become of the arguments behind the tensor."""
    try:
        result = told(call(*args))
    except Exception as error:
        result = type(error), str(error)
    return result, told(args[1:])


def same_as_eager(f, calls):
    """`calls` make the arguments of one call each."""
    expected = [outcome(f, *made()) for made in calls]
    call = sot.to_static(f)
    assert [outcome(call, *made()) for made in calls] == expected


def again(*shapes):
    """Twice the first, then the others, then the first once more."""
    first, *others = shapes
    return [lambda shape=shape: shaped(*shape) for shape in (first, first, *others, first)]


def reshaped(x, shape):
    return x.reshape(shape)


def unpacked(x, shape):
    rows, columns = shape
    return x * rows + columns


def starred(x, shape):
    first, *rest = shape
    return (x * first).reshape([*shape, 1]), rest


def indexed(x, shape):
    return x * shape[0], shape[-1], shape[1]


def sliced(x, shape):
    return x * 2, shape[:1], shape[1:], shape[::-1], shape[:], shape[5:]


def added(x, shape):
    return x * 2, shape + [1], [1] + shape, shape + shape, shape[:1] + [-1], shape * 2, 2 * shape


def compared(x, shape):
    return x * 2, shape == [2, 3], shape != [2, 3], [2, 3] == shape, shape < [3], shape == (2, 3), x.shape == shape, shape is shape


def written_out(x, shape):
    return x * 2, repr(shape), str(shape), f"{shape}", "%s" % (shape,)


def asked(x, shape):
    return x * 2, len(shape), 2 in shape, shape.index(3), shape.count(3), shape.numel(), sum(shape), max(shape), sorted(shape), bool(shape)


def of_class(x, shape):
    return x * 2, type(shape) is Size, isinstance(shape, list), isinstance(shape, Size), shape.__class__ is Size, type(shape) is list


def copied(x, shape):
    return x * 2, list(shape), tuple(shape), shape.copy(), [*shape], [extent * 2 for extent in shape]


def matched(x, shape):
    match shape:
        case [rows, columns]:
            return x * rows + columns
        case _:
            return x * 3


def through_interfaces(x, shape):
    return paddle.zeros(shape) + 1, paddle.broadcast_to(x, shape), x.expand(shape)


def not_there(x, shape):
    try:
        return x * shape[7]
    except IndexError as error:
        found = str(error)
    try:
        return x * shape.unheard
    except AttributeError as error:
        return x * 2, found, str(error)


def changed(x, shape):
    shape.append(7)
    shape[0] = 9
    shape.extend([1])
    del shape[1]
    shape.insert(0, 5)
    last = shape.pop()
    shape.reverse()
    return x * last, shape


def from_inside(x, shape):
    """Its own shape, which is of the same class and has no path."""
    own = x.shape
    return x * 2, own == shape, own is shape, own + shape, [own, shape]


WITHOUT_BREAKS = [
    reshaped,
    unpacked,
    starred,
    indexed,
    sliced,
    added,
    compared,
    written_out,
    asked,
    of_class,
    copied,
    matched,
    through_interfaces,
    not_there,
    changed,
    from_inside,
]


@pytest.mark.parametrize("f", WITHOUT_BREAKS)
def test_a_shape_that_is_given_is_a_list(f, counting):
    with counting() as count:
        same_as_eager(f, again((2, 3)))
    assert (count.captures, count.graphs, count.breaks, count.fallbacks) == (1, 1, 0, 0)


@pytest.mark.parametrize("f", WITHOUT_BREAKS)
def test_another_shape_is_seen(f, counting):
    """Of other extents, of another rank, a list, a tuple."""
    with counting() as count:
        same_as_eager(f, again((2, 3), (4, 3), (2, 5), (6,), (2, 3, 1)))
        same_as_eager(f, [lambda: shaped(2, 3), lambda: (ones(2, 3), [2, 3]), lambda: (ones(2, 3), (2, 3)), lambda: shaped(2, 3)])
    assert count.hits > 0


def to_another(x, shape):
    kept = shape
    shape += [4]
    return x * 2, shape, kept, shape is kept


def to_more(x, shape):
    kept = shape
    shape *= 2
    return x * 2, shape, kept, shape is kept


def to_a_list(x, shape):
    kept = made = [1]
    made += shape
    return x * 2, made, kept, made is kept


def by_function(x, shape):
    return x * 2, operator.iadd(shape, [1]), shape, operator.add([3], shape)


@pytest.mark.parametrize("f", [to_another, to_more, to_a_list, by_function])
def test_operators_in_place(f, counting):
    """`Size` adds as numbers do, so that its own way, which makes a new one, comes before that of lists."""
    with counting() as count:
        same_as_eager(f, again((2, 3), (4, 3)))
        same_as_eager(lambda x: f(x, x.shape), [lambda: (ones(2, 3),)] * 3)
    assert count.fallbacks == 0
    # It is repeated in place, which is left to Python, and so is a list to which it has itself added.
    assert (count.breaks == 0) == (f in (to_another, by_function))


def of_text(x, shape):
    shape.append("text")
    return x * 2, shape, shape[0], shape[-1], len(shape)


def of_tensors(x, shape):
    shape.append(x * 2)
    return shape


def of_truth(x, shape):
    shape[0] = True
    return x * 2, shape, shape[0]


@pytest.mark.parametrize("f", [of_text, of_tensors, of_truth])
def test_what_its_constructor_refuses_may_be_put_into_it(f, counting):
    with counting() as count:
        same_as_eager(f, again((2, 3), (4, 3)))
        same_as_eager(lambda x: f(x, x.shape), [lambda: (ones(2, 3),)] * 3)
        same_as_eager(sliced, [lambda: (ones(2, 3), of_text(*shaped(2, 3))[1])] * 2 + again((2, 3)))
    assert count.fallbacks == 0


def test_copies():
    def f(x, shape):
        return x * 2, copy.copy(shape), copy.deepcopy(shape), copy.copy(shape) is shape

    same_as_eager(f, again((2, 3), (4, 3)))


def test_shapes_that_are_one_object():
    def f(x, one, other):
        one.append(8)
        return x * len(other), one is other, one == other

    def apart():
        return (*shaped(2, 3), ones(2, 3).shape)

    def one():
        shape = ones(2, 3).shape
        return ones(2, 3), shape, shape

    same_as_eager(f, [apart, apart, one, one, apart])


def after_a_break(x):
    shape = x.shape
    sot.graph_break()
    return (x * 2).reshape([*shape, 1]), shape


def sliced_after_a_break(x):
    shape = x.shape
    sot.graph_break()
    return (x * 2).reshape(shape[:1] + [-1]), shape


def held_over_a_break(x):
    shape = x.shape
    held = shape, {"shape": shape}
    sot.graph_break()
    held[0].append(1)
    return x * held[0][0], held, held[0] is held[1]["shape"]


@pytest.mark.parametrize("f", [after_a_break, sliced_after_a_break, held_over_a_break])
def test_over_a_break(f, counting):
    with counting() as count:
        same_as_eager(f, [lambda: (ones(2, 3),)] * 3)
    assert (count.captures, count.breaks, count.fallbacks) == (2, 1, 0)
    same_as_eager(f, [lambda: (ones(2, 3),), lambda: (ones(4, 3),), lambda: (ones(5, 3),), lambda: (ones(5, 3, 1),)])


class Remembers(nn.Layer):
    """As layers do that prepare themselves again for another shape."""

    def __init__(self):
        super().__init__()
        self.seen = None
        self.prepared = 0

    def forward(self, x):
        if self.seen != x.shape:
            self.prepared = 3
        self.seen = x.shape
        return x * 2, self.seen


class RemembersPart(Remembers):
    def forward(self, x):
        before, self.seen = self.seen, x.shape[1:]
        return x * 2, before, self.seen, before == self.seen


class RemembersInside(Remembers):
    def __init__(self):
        super().__init__()
        self.all = {}

    def forward(self, x):
        self.seen = {"shape": x.shape, "both": [x.shape, x.shape[:1]]}
        self.all["last"] = x.shape
        return x.reshape(self.all["last"]), self.seen


@pytest.mark.parametrize("made", [Remembers, RemembersPart, RemembersInside])
def test_attributes_of_layers(made, counting):
    def run(translate):
        layer = made()
        call, seen = translate(layer), []
        for shape in [(2, 3), (2, 3), (2, 3), (4, 3), (4, 3), (2, 3), (2, 3, 1), (2, 3)]:
            seen.append((told(call(ones(*shape))), told(layer.seen), layer.prepared))
        layer.seen = [2, 3]
        seen.append((told(call(ones(2, 3))), told(layer.seen)))
        layer.seen = ones(7).shape
        return [*seen, told(call(ones(2, 3))), told(layer.seen), "seen" in layer.__dict__]

    expected = run(lambda layer: layer)
    with counting() as count:
        assert run(sot.to_static) == expected
    assert (count.breaks, count.fallbacks) == (0, 0)


def test_other_values_of_the_framework_as_attributes():
    class Given(nn.Layer):
        def forward(self, x, value):
            self.given = value
            return x * 2, self.given is value

    def run(translate):
        layer = Given()
        call, seen = translate(layer), []
        for value in [ones(2).shape, paddle.float32, paddle.CPUPlace(), paddle.ParamAttr(), ones(3).shape, nn.ReLU(), None]:
            seen.append((told(call(ones(2), value)), "given" in layer.__dict__, list(layer._sub_layers)))
        return seen

    assert run(sot.to_static) == run(lambda layer: layer)
