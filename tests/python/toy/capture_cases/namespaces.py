"""`types.SimpleNamespace`: found, given and made; and classes that extend it."""

from types import SimpleNamespace

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Config(SimpleNamespace):
    kind = 3

    def get(self, name, default=None):
        return getattr(self, name, default)

    @property
    def twice(self):
        return self.a * 2


class Scaled(SimpleNamespace):
    def __init__(self, scale, **rest):
        super().__init__(scale=scale, **rest)
        self.ready = True


class Hidden(SimpleNamespace):
    @property
    def a(self):
        return 7


class Told(SimpleNamespace):
    told = []

    def __setattr__(self, name, value):
        Told.told.append(name)
        super().__setattr__(name, value)


@case()
def made_and_changed():
    def f(x):
        made = SimpleNamespace(a=x, b=2)
        made.c = made.a * made.b
        del made.b
        return made.c, hasattr(made, "b"), made

    return {"f": f, "args": x1}


@case()
def given_and_changed():
    def f(x, given):
        del given.old
        given.y = x * given.scale
        return given, given.y

    return {"f": f, "args": lambda: (t([1.0, 2.0]), SimpleNamespace(scale=3.0, old=1))}


@case(captures=2, graphs=2)
def counted_in():
    config = SimpleNamespace(a=2.0, n=0)

    def f(x):
        config.n += 1
        config.last = x
        return x * config.a + config.n

    return {"f": f, "args": x1, "watch": lambda: [config]}


@case()
def made_of_a_subclass():
    def f(x):
        made = Config(a=x, b=1)
        return made.twice, made.get("b"), made.get("none", 5), made, made.kind

    return {"f": f, "args": x1}


@case()
def made_by_an_init_of_its_own():
    def f(x):
        made = Scaled(2.0, b=x)
        return made.b * made.scale, made

    return {"f": f, "args": x1}


@case()
def initialised_again():
    config = SimpleNamespace(a=2.0, n=0)

    def f(x):
        config.__init__(a=3.0, b=x * config.a)
        config.a = 2.0
        return config.b, config.n

    return {"f": f, "args": x1, "watch": lambda: [config]}


@open_case
def given_what_its_class_hides():
    def f(x):
        made = Hidden(a=1)
        return x * made.a, vars(made)["a"]

    return {"f": f, "args": x1}


@case()
def asked_for_its_dict():
    def f(x):
        made = SimpleNamespace(a=x, b=3)
        names = vars(made)
        names["q"] = x * 2
        return made.q + 1, names, made.__dict__ is names, sorted(made.__dict__)

    return {"f": f, "args": x1}


@case()
def made_of_another():
    def f(x):
        made = SimpleNamespace(a=1, b=2)
        out = {key: value for key, value in made.__dict__.items()}
        return x * out["b"], SimpleNamespace(**out), SimpleNamespace(**{**vars(made), "z": x})

    return {"f": f, "args": x1}


@open_case
def asked_for_the_dict_of_one_from_before():
    config = SimpleNamespace(a=2.0, n=0)

    def f(x):
        vars(config)["n"] = vars(config)["n"] + 1
        return x * config.n, sorted(vars(config))

    return {"f": f, "args": x1, "watch": lambda: [config]}


@open_case
def compared_and_shown():
    config = SimpleNamespace(a=2.0, n=0)

    def f(x):
        same = SimpleNamespace(a=1) == SimpleNamespace(a=1), config == SimpleNamespace(a=2.0, n=0), config != 3
        return x + 1, same, repr(SimpleNamespace(a=1, b="q")), str(SimpleNamespace()), config

    return {"f": f, "args": x1}


@case()
def asked_for_what_is_missing():
    config = SimpleNamespace(a=2.0)

    def f(x):
        told = []
        for ask in (lambda: SimpleNamespace(a=1).b, lambda: config.b):
            try:
                ask()
            except AttributeError as error:
                told.append(str(error))
        return x + 1, told

    return {"f": f, "args": x1}


@open_case
def rid_of_what_is_missing():
    config = SimpleNamespace(a=2.0)

    def f(x):
        try:
            del config.b
        except AttributeError as error:
            return x + 1, str(error)

    return {"f": f, "args": x1}


@open_case
def made_of_what_it_does_not_take():
    def f(x):
        try:
            SimpleNamespace(1)
        except TypeError as error:
            return x + 1, str(error)

    return {"f": f, "args": x1}


@case()
def held_by_another():
    config = SimpleNamespace(model=SimpleNamespace(width=2, act="relu"), rate=0.1)

    def f(x):
        y = x * config.model.width
        if config.model.act == "relu":
            y = y * 2
        return y * config.rate

    return {"f": f, "args": x1}


@case(graphs=1, captures=3, breaks=2, reasons=("builtin-with-output",))
def kept_over_breaks():
    def f(x):
        made = SimpleNamespace(a=x)
        toy.show(made.a)
        made.b = made.a + 1
        toy.show(made.b)
        return made

    return {"f": f, "args": x1}


@case()
def holding_itself():
    def f(x):
        made = SimpleNamespace(x=x)
        made.me = made
        return made, made.me.x + 1

    return {"f": f, "args": x1}


@case()
def attributes_by_computed_names():
    def f(x):
        made = SimpleNamespace()
        for i in range(3):
            setattr(made, f"w{i}", x * i)
        return made.w2, made, isinstance(made, SimpleNamespace), type(made).__name__

    return {"f": f, "args": x1}


@open_case
def a_set_attribute_of_its_own():
    Told.told.clear()

    def f(x):
        made = Told(a=1)
        made.b = x * made.a
        return made

    return {"f": f, "args": x1, "watch": lambda: list(Told.told)}


@case(graphs=0, captures=2, breaks=1, reasons=("opaque-call",))
def not_by_the_hand_of_object():
    def f(x):
        try:
            return object.__new__(Config)
        except TypeError as error:
            return x, str(error)

    return {"f": f, "args": x1}
