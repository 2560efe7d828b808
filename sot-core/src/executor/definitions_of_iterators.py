# How iterators come to their next items, where a part of that is code of the program: as `definitions.py`.


def next_or(iterator, default):
    for item in iterator:
        return item
    return default


def next_mapped(function, inners):
    items = []
    for inner in inners:
        items.append(next(inner))
    return function(*items)


def next_filtered(function, inner):
    while True:
        item = next(inner)
        if function(item):
            return item
        del item


def next_true(inner):
    while True:
        item = next(inner)
        if item:
            return item
        del item


def next_numbered(enumeration, inner):
    item = next(inner)
    return number(enumeration, item), item


def next_zipped(inners):
    items = []
    for inner in inners:
        items.append(next(inner))
    return tuple(items)


def next_zipped_strict(inners):
    items = []
    for inner in inners:
        for item in inner:
            items.append(item)
            del item
            break
        else:
            at = len(items)
            items.clear()
            if at == 1:
                raise ValueError("zip() argument 2 is shorter than argument 1")
            if at > 1:
                raise ValueError(f"zip() argument {at + 1} is shorter than arguments 1-{at}")
            at = 1
            while at < len(inners):
                inner = inners[at]
                for item in inner:
                    del item
                    if at == 1:
                        raise ValueError("zip() argument 2 is longer than argument 1")
                    raise ValueError(f"zip() argument {at + 1} is longer than arguments 1-{at}")
                at = at + 1
            raise StopIteration
    return tuple(items)


def items_by_index(sequence):
    # Nothing is held of an item that was given.
    index = 0
    while True:
        try:
            given = [sequence[index]]
        except (IndexError, StopIteration):
            return
        yield given.pop()
        index = index + 1


def next_by_index(iterator, sequence, index):
    ended = False
    try:
        item = sequence[index]
    except (IndexError, StopIteration):
        ended = True
    if ended:
        iterator_ends(iterator)
        raise StopIteration
    iterator_moves(iterator)
    return item


def reversed_by_index(sequence):
    return backwards_from(sequence, len(sequence) - 1)


def next_called(iterator, function, last):
    ended = False
    try:
        item = function()
    except StopIteration:
        ended = True
    if not ended and not has_ended(iterator, item):
        if not same(last, item):
            if not last == item:
                return item
    iterator_ends(iterator)
    del function, last
    if not ended:
        del item
    raise StopIteration


def of_iterators(make, before, iterables, after, keywords):
    # The next one is the last; who is asked is held by nobody else.
    arguments = []
    arguments.extend(before)
    while iterables:
        iterable = iterables.pop()
        arguments.append(iter(iterable))
        del iterable
    as_given(arguments, before)
    arguments.extend(after)
    return make(*arguments, **keywords)


def of_tuples(make, before, iterables, after, keywords):
    arguments = []
    arguments.extend(before)
    while iterables:
        iterable = iterables.pop()
        arguments.append(tuple(iterable))
        del iterable
    arguments.extend(after)
    return make(*arguments, **keywords)


def hint_by_length(sequence):
    try:
        len(sequence)
    except TypeError:
        pass
