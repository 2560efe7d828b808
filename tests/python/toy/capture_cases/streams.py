"""Streams of random numbers: the numbers, who gets them, and where the stream stands afterwards."""

import random

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


# Found in the globals of the functions: a stream that is given in a slot is another one at each call.
rng, other = random.Random(0), random.Random(0)


def state_of(rng):
    return lambda: [hash(rng.getstate())]


@case()
def drawn_for_the_graph_the_result_and_a_list():
    rng.seed(1)
    kept = [0.0]

    def f(x):
        a = rng.random()
        kept[0] = a
        b = rng.random()
        return x * b + a, a + b, a, kept[0] is a

    return {"f": f, "args": x1, "watch": lambda: [kept, rng.getstate()[1][-1], hash(rng.getstate())]}


@case()
def the_module_has_a_stream():
    random.seed(2)

    def f(x):
        return x * random.random(), random.getrandbits(9), random.random() - 1

    return {"f": f, "args": x1, "watch": lambda: [hash(random.getstate())]}


@case()
def methods_of_python_draw_by_others():
    rng.seed(3)

    def f(x):
        a = rng.uniform(-1.0, 1.0)
        b = rng.randint(1, 6)
        return x * a, b, b + 1, rng.randrange(10), f"{a:.3f}", -b

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case()
def two_streams_do_not_meet():
    rng.seed(4)
    other.seed(4)

    def f(x):
        return x + rng.random(), other.random(), rng.random(), rng.getrandbits(3), other.random()

    return {"f": f, "args": x1, "watch": lambda: [hash(rng.getstate()), hash(other.getstate())]}


class Noise:
    def __init__(self):
        self.rng = random.Random(5)
        self.last = None

    def of(self, x):
        self.last = self.rng.random()
        return x * self.last


noise = Noise()


@case(graphs=None, captures=None, breaks=0)
def of_an_object_of_the_program():
    noise.rng.seed(5)
    noise.last = None

    def f(x):
        return noise.of(x), noise.last

    return {"f": f, "args": x1, "watch": lambda: [noise.last, hash(noise.rng.getstate())]}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def one_that_is_given():
    rng = random.Random(6)

    def f(x, rng):
        return x * rng.random(), rng.random()

    return {"f": f, "args": lambda: (t([1.0]), rng), "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def something_is_decided():
    rng.seed(7)

    def f(x):
        a, b = rng.random(), rng.random()
        y = x * a
        if b < 0.5:
            y = y + b
        return y, [10, 20, 30][rng.randint(0, 2)], rng.choice("abc"), rng.random()

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def until_one_fits():
    rng.seed(8)

    def f(x):
        while True:
            a = rng.random()
            if a > 0.6:
                break
            x = x * a
        return x, a

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def around_a_break():
    rng.seed(9)

    def f(x):
        a = rng.random()
        y = x * a
        print("here", rng.random())
        return y + rng.random(), a

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def the_state_is_set_in_between():
    rng.seed(10)

    def f(x):
        a = rng.random()
        rng.seed(11)
        b = rng.random()
        before = rng.getstate()
        c = rng.random()
        rng.setstate(before)
        return x * a, b, c, rng.random(), rng.gauss(0, 1), rng.gauss(0, 1)

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def many_in_a_loop():
    rng.seed(12)

    def f(x):
        for _ in range(20):
            x = x * rng.random() + 1.0
        return x

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def lists_and_choices():
    rng.seed(13)

    def f(x):
        items = [1, 2, 3, 4, 5]
        rng.shuffle(items)
        return x + 1.0, items, rng.sample(items, 2), rng.choices(items, k=3), rng.choice(items)

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def where_it_raises():
    rng.seed(14)

    def f(x):
        a = rng.random()
        try:
            y = x + t([1.0, 2.0, 3.0])
        except Exception as error:
            return x * rng.random(), a, type(error).__name__
        return y

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def it_refuses_what_it_is_given():
    rng.seed(15)

    def f(x):
        try:
            rng.getrandbits(-1)
        except ValueError as error:
            return x * rng.random(), str(error)
        return x

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def of_a_class_of_the_program():
    class Mine(random.Random):
        asked = 0

        def random(self):
            self.asked += 1
            return super().random()

    rng = Mine(16)

    def f(x):
        return x * rng.random(), rng.uniform(0, 2), rng.randint(0, 3)

    return {"f": f, "args": x1, "watch": lambda: [rng.asked, hash(rng.getstate())]}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def an_instance_with_a_method_of_its_own():
    rng = random.Random(17)
    rng.random = lambda: 0.25

    def f(x):
        return x * rng.random(), rng.uniform(0, 2)

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_method_comes_later():
    rng, calls = random.Random(18), [0]

    def f(x):
        calls[0] += 1
        if calls[0] == 2:
            rng.random = lambda: 0.25
        return x * rng.random()

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case()
def a_number_drawn_is_an_operand_twice():
    rng.seed(19)

    def f(x):
        a = rng.random()
        return (x * a) + (x + a), a * a, abs(a), a // 1, str(a)

    return {"f": f, "args": x1, "watch": state_of(rng)}


@case()
def nobody_wants_the_number():
    rng.seed(20)

    def f(x):
        rng.random()
        rng.getrandbits(4)
        return x + 1.0

    return {"f": f, "args": x1, "watch": state_of(rng)}


@open_case
def what_a_stream_asks_of_itself_is_replaced():
    fixed = random.Random(4)
    fixed.getrandbits = lambda bits: 0

    def f(x):
        return x + fixed.randrange(10), fixed.randint(3, 8), fixed.random()

    return {"f": f, "args": x1, "watch": state_of(fixed)}


@open_case
def a_method_of_the_class_is_replaced_and_asked_by_the_class():
    class Drawn(random.Random):
        pass

    drawn = Drawn(5)
    log = []

    def f(x):
        if len(log) == 1:
            Drawn.random = lambda self: 0.25
        log.append(1)
        return x + drawn.random(), random.Random.random(drawn), drawn.uniform(0, 1)

    def watch():
        return [len(log), hash(drawn.getstate())]

    return {"f": f, "args": x1, "watch": watch}
