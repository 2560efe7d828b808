"""Attributes that layers lack: asked for under a handler, by `hasattr` and `getattr`, and in wrappers that look elsewhere then. What is
raised is eager's, the guards are that it is missing, and one that is added later is seen."""

import paddle
import pytest
import sot
from paddle import nn


class Inner(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("kept", paddle.zeros([3]))
        self.factor = 2


class Handles(Inner):
    def forward(self, x):
        try:
            added = self.missing
        except AttributeError:
            added = 1
        return x * added


class Says(Inner):
    def forward(self, x):
        try:
            return x * self.missing
        except AttributeError as error:
            told = str(error), repr(error), error.args, getattr(error, "name", None), getattr(error, "obj", self) is self
            return x * 2, told, type(error), error.__context__, error.__cause__


class Traced(Inner):
    def forward(self, x):
        try:
            return x * self.missing
        except AttributeError as error:
            entry, lines = error.__traceback__, []
            while entry is not None:
                lines.append(entry.tb_lineno)
                entry = entry.tb_next
            return x * 2, lines


class ByName(Inner):
    def forward(self, x):
        try:
            return x * getattr(self, "missing")
        except AttributeError as error:
            return x * 2, str(error)


class Called(Inner):
    def forward(self, x):
        try:
            return self.missing(x)
        except (AttributeError, TypeError) as error:
            return x * 2, str(error)


class OfSublayer(Inner):
    def forward(self, x):
        try:
            return x * self.linear.missing
        except AttributeError as error:
            return x * 2, str(error)


class Asks(Inner):
    def forward(self, x):
        found = [hasattr(self, name) for name in ("missing", "factor", "kept", "linear", "forward", "weight")]
        missing = getattr(self, "missing", None)
        return x * 2, found, missing if isinstance(missing, (int, paddle.Tensor)) else missing is None


class InOrder(Inner):
    def forward(self, x):
        """`finally`, an outer handler, and one that raises another."""
        order = []
        try:
            try:
                order.append("try")
                x = x * self.missing
            finally:
                order.append("finally")
        except AttributeError as error:
            try:
                raise KeyError("other") from error
            except KeyError as other:
                order += [str(other), str(other.__cause__), other.__context__ is error]
        return x * 2, order


class Writes(Inner):
    def forward(self, x):
        """What the same call has set."""
        self.own = 5
        try:
            return x * self.missing, self.own
        except AttributeError as error:
            return x * self.own, str(error)


class Leaves(Inner):
    def forward(self, x):
        return x * self.missing


class Wraps(nn.Layer):
    """As PEFT wraps models."""

    def __init__(self):
        super().__init__()
        self.base_model = Inner()

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.base_model, name)

    def forward(self, x):
        return self.linear(x) * self.factor + self.kept, hasattr(self, "factor"), hasattr(self, "missing"), self.what("missing")

    def what(self, name):
        found = getattr(self, name, "nothing")
        return found if isinstance(found, (str, int)) else "something"


class WrapsInVain(Wraps):
    def forward(self, x):
        try:
            return x * self.missing
        except AttributeError as error:
            return x * 2, str(error), str(error.__context__), error.__context__ is error


class Defaults(nn.Layer):
    """Its own answer to what is missing."""

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError as error:
            if name.startswith("_"):
                raise
            return f"{name}: {error}"

    def forward(self, x):
        return x * 2, str(self.missing)[:60], self.other, hasattr(self, "_hidden")


def plain(layer):
    layer.missing = 5


def buffer(layer):
    layer.missing = paddle.full([3], 7.0)


def parameter(layer):
    layer.missing = layer.create_parameter([3], default_initializer=nn.initializer.Constant(3.0))


def sublayer(layer):
    layer.missing = nn.ReLU()


def in_class(layer):
    type(layer).missing = 9


def property_of_class(layer):
    type(layer).missing = property(lambda self: 4)


def by_dict(layer):
    layer.__dict__["missing"] = 6


def nothing(layer):
    pass


def told(value):
    if isinstance(value, tuple):
        return [told(part) for part in value]
    return value.tolist() if isinstance(value, paddle.Tensor) else value


LAYERS = [Handles, Says, Traced, ByName, Called, OfSublayer, Asks, InOrder, Writes, Leaves, Wraps, WrapsInVain, Defaults]
WAYS = [nothing, plain, buffer, parameter, sublayer, in_class, property_of_class, by_dict]


def run(made, translate, adds):
    """Three calls, three with the attribute, and three without it again."""
    paddle.seed(1)
    # Each run has a class of its own.
    made = type(made.__name__, (made,), {})
    layer = made()
    call, seen = translate(layer), []
    for number in range(9):
        if number == 3:
            adds(layer)
        if number == 6 and adds is not nothing:
            target = made if "missing" in made.__dict__ else layer
            del target.missing
        try:
            seen.append(told(call(paddle.full([3], number + 1.0))))
        except (AttributeError, TypeError) as error:
            seen.append((type(error), str(error), getattr(error, "name", None), getattr(error, "obj", layer) is layer))
    return seen


@pytest.mark.parametrize("adds", WAYS)
@pytest.mark.parametrize("made", LAYERS)
def test_same_as_eager(made, adds):
    expected = run(made, lambda layer: layer, adds)
    assert run(made, sot.to_static, adds) == expected


@pytest.mark.parametrize("made", [made for made in LAYERS if made not in (Traced, Leaves)])
def test_what_is_missing_is_no_break(made, counting):
    with counting() as count:
        run(made, sot.to_static, nothing)
    assert (count.breaks, count.fallbacks) == (0, 0)
    # What is set in the first call is there in the second.
    captures = 2 if made is Writes else 1
    assert (count.captures, count.hits) == (captures, 9 - captures)


@pytest.mark.parametrize("adds", [way for way in WAYS if way not in (nothing, sublayer)])
def test_one_capture_more_for_what_is_added(adds, counting):
    with counting() as count:
        run(Handles, sot.to_static, adds)
    assert (count.breaks, count.fallbacks) == (0, 0)
    assert count.captures <= 3


def test_an_unrelated_attribute_is_no_miss(counting):
    layer = Handles()
    call = sot.to_static(layer)
    call(paddle.ones([3]))
    layer.unrelated = 3
    layer.other_buffer = paddle.ones([2])
    with counting() as count:
        call(paddle.ones([3]))
    assert (count.hits, count.captures) == (1, 0)


def test_layers_that_are_not_initialised_yet():
    """Without its dicts a layer lacks whatever is asked for."""

    class Early(nn.Layer):
        def __init__(self):
            self.__dict__["limit"] = 3

        def ask(self, x):
            try:
                return x * self.missing
            except AttributeError as error:
                return x * self.limit, str(error)

    layer = Early()
    call = sot.to_static(lambda x: layer.ask(x))
    for _ in range(3):
        assert told(call(paddle.ones([2]))) == told(layer.ask(paddle.ones([2])))
