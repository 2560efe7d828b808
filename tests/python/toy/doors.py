"""The ways to meet a captured function, and a call that breaks each of them."""

from toy_framework import toy


def entry(f):
    return toy.to_static(f)


def inlined(f):
    return toy.to_static(lambda *args: f(*args))


def hook(f):
    def outer(*args):
        toy._psdb.fallback()
        return f(*args)

    return toy.to_static(outer)


def after_a_break(f):
    def outer(*args):
        toy.show(args[0])
        return f(*args)

    return toy.to_static(outer)


DOORS = [entry, inlined, hook, after_a_break]


@toy.disable
def opaque(*values):
    return None
