"""Ends of values that code of C has in hand when it fails, and of such as an exception holds that dies."""

from .ends import ending
from .finalizers import DEAD, Loud


class Many(Loud):
    """Its items say when they go; no operator knows them."""

    def __iter__(self):
        for k in range(2):
            yield Loud("%s %d" % (self.name, k))


def telling(fails):
    """What died before the handler, and at the end of it."""

    def told(x):
        try:
            fails()
        except (TypeError, LookupError) as error:
            DEAD.append(str(type(error)))
            str(error)
        return len(DEAD), x + 1

    told.__name__ = fails.__name__
    return ending(told)


# ----- C lets go of the item that it has, of the iterator, and of what it was given


@telling
def a_sum_that_fails():
    sum(Many("w"))


@telling
def a_sum_from_a_float_that_fails():
    sum(Many("w"), 1.5)


@ending
def a_sum_that_fails_under_a_handler(x):
    try:
        sum(Many("w"))
    except TypeError:
        DEAD.append("handled")
    return len(DEAD), x + 1


@telling
def a_map_whose_function_fails():
    list(map(lambda item: item + 1, Many("w")))


@telling
def a_dict_of_what_are_no_pairs():
    dict(Many("w"))


# ----- an exception holds what frames were given that end after it


def caught(function, *args):
    try:
        return function(*args)
    except Exception as error:
        DEAD.append(type(error).__name__)
        return None


@ending
def arguments_that_the_exception_holds_too(x):
    caught(lambda a: len(a), Loud("w"))
    return len(DEAD), x + 1


@ending
def a_result_of_none_in_between(x):
    result = caught(lambda a: a.nothing, Loud("w"))
    DEAD.append(result)
    return len(DEAD), x + 1


def misses(key):
    raise KeyError(key)


def looks(key):
    try:
        return {}[key]
    except KeyError:
        pass
    return misses(key)


def looks_twice(key):
    return looks(key)


@telling
def an_exception_through_two_frames():
    looks((Loud("key"), 1))


@telling
def an_exception_through_three_frames():
    looks_twice((Loud("key"), 1))
