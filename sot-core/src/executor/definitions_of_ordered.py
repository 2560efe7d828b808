# What ordered dicts do with keys whose `__hash__` or `__eq__` is code of the program: as `definitions_of_keys.py`. Beside the
# table there are the nodes of the order, and whoever comes to a node looks its key up.


def store_ordered(table, key, value):
    hash = hashed(key)
    place = placed(table, key, hash)
    put_ordered(table, place, key, hash, value)
    try:
        # The node is looked for, or where it belongs.
        placed(table, key, hash)
    except BaseException:
        unsettled(table, key)
        raise


def delete_ordered(table, key):
    hash = hashed(key)
    if len(table) != 0:
        placed(table, key, hash)
    place = placed(table, key, hash)
    if len(place) == 0:
        raise KeyError(key)
    # The key goes first, and then the value.
    value = taken(table, place, hash)
    del place
    del value


def pop_ordered(table, key, default):
    hash = hashed(key)
    if len(table) != 0:
        place = placed(table, key, hash)
        if len(place) != 0:
            # The node has been found.
            searches = 2
            while searches != 0:
                place = placed(table, key, hash)
                searches = searches - 1
            value = value_of(table, place)
            taken(table, place, hash)
            return value
    if len(default) == 0:
        # The key is the value of the exception, not its argument.
        if isinstance(key, KeyError):
            raise key
        if isinstance(key, tuple):
            raise KeyError(*key)
        raise KeyError(key)
    return default[0]


def pop_item_ordered(table, key, hash):
    place = placed(table, key, hash)
    searches = 2
    while searches != 0:
        place = placed(table, key, hash)
        searches = searches - 1
    value = value_of(table, place)
    taken(table, place, hash)
    return key, value


def move_ordered(table, key, last, end):
    # The key that is at the end already is not looked for.
    if not same(end, key):
        hash = hashed(key)
        place = placed(table, key, hash)
        if len(place) == 0:
            if isinstance(key, KeyError):
                raise key
            if isinstance(key, tuple):
                raise KeyError(*key)
            raise KeyError(key)
        shifted(table, place, last)


def set_default_ordered(table, key, default):
    place = placed(table, key, hashed(key))
    if len(place) == 0:
        table[key] = default
        return default
    return value_of(table, place)


def copy_ordered(table, entries, result):
    for key, hash, value in entries:
        del value
        if hash is None:
            hash = stored_hash(table, key)
        place = placed(table, key, hashed(key))
        if len(place) == 0:
            raise KeyError(key)
        value = value_of(table, place)
        place = placed(result, key, hash)
        put_ordered(result, place, key, hash, value)
        placed(result, key, hash)
        del key, value, place
        unchanged(table, entries)
    return result


def equal_ordered(left, right, ordered, yes, no):
    # As dicts, whose keys are not hashed again, and then in their order, if both have one.
    if len(left) != len(right):
        return no
    entries = entries_of(left)
    for key, hash, item in entries:
        # What code of the program has taken out is not compared any more.
        if not still_held(left, entries, key):
            continue
        if hash is None:
            hash = stored_hash(left, key)
        place = placed(right, key, hash)
        if len(place) == 0:
            return no
        other = value_of(right, place)
        del place
        if not same(item, other):
            if not item == other:
                return no
        del key, item, other
    del entries
    if not ordered:
        return yes
    keys, others = keys_held(left), keys_held(right)
    index = 0
    while index < len(keys):
        as_before(left, keys)
        as_before(right, others)
        if not same(keys[index], others[index]):
            if not keys[index] == others[index]:
                return no
        index = index + 1
    return yes


def itertools__ordered_keys(table, keys):
    index = 0
    while index < len(keys):
        as_before(table, keys)
        if len(placed(table, keys[index], hashed(keys[index]))) == 0:
            raise KeyError(keys[index])
        index = index + 1
        yield keys[index - 1]


def itertools__ordered_values(table, keys):
    index = 0
    while index < len(keys):
        as_before(table, keys)
        # Once for the node, and once for the value.
        if len(placed(table, keys[index], hashed(keys[index]))) == 0:
            raise KeyError(keys[index])
        place = placed(table, keys[index], hashed(keys[index]))
        if len(place) == 0:
            raise KeyError(keys[index])
        index = index + 1
        yield value_of(table, place)


def itertools__ordered_items(table, keys):
    index = 0
    while index < len(keys):
        as_before(table, keys)
        if len(placed(table, keys[index], hashed(keys[index]))) == 0:
            raise KeyError(keys[index])
        place = placed(table, keys[index], hashed(keys[index]))
        if len(place) == 0:
            raise KeyError(keys[index])
        index = index + 1
        yield keys[index - 1], value_of(table, place)


def fill_ordered_by_keys(table, source, rest, result):
    for key in source.keys():
        table[key] = source[key]
        del key
    table.update(rest)
    return result
