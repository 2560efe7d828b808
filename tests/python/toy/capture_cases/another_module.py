"""Helpers that make functions: what they make belongs to this module, wherever it is called from."""

SCALE = 5


def make_function(k):
    def inner(x: int, *, n: int = 3, m=SCALE):
        """Scaled."""
        return x * SCALE + k + n + m

    return inner


def make_lambda(base=2):
    return lambda x, offset=base: x * SCALE + offset


def sum_scaled(items):
    return sum(item * SCALE for item in items)


def make_recursive():
    def count(n):
        return SCALE if n == 0 else count(n - 1)

    return count
