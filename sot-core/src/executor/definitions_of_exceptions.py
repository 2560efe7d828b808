# What the interpreter does with exceptions where a part of it is code of the program: as `definitions.py`.


def raise_made(exception, cause):
    # Who is a class is called.
    if isinstance(exception, type):
        made = exception()
        if not is_exception(made):
            raise TypeError(
                f"calling {exception!r} should have returned an instance of BaseException, not {type(made)!r}"
            )
        exception = made
        del made
    if isinstance(cause, type):
        made = cause()
        if not is_exception(made):
            raise TypeError(f"calling {cause!r} should have returned an instance of BaseException, not {type(made)!r}")
        cause = made
        del made
    raise exception from cause


def raise_instance(exception):
    made = exception()
    if not is_exception(made):
        raise TypeError(f"calling {exception!r} should have returned an instance of BaseException, not {type(made)!r}")
    exception = made
    del made
    raise exception


def str_of_exception(args):
    if len(args) == 0:
        return ""
    if len(args) == 1:
        return str(args[0])
    return str(args)


def repr_of_exception(name, args):
    if len(args) == 1:
        return name + "(" + repr(args[0]) + ")"
    return name + repr(args)
