# What dicts do with keys whose `__hash__` or `__eq__` is code of the program: as `definitions.py`. A key is hashed once, and
# compared with those of its hash alone.


def hash_of_tuple(items, combine):
    hashes = []
    for item in items:
        hashes.append(hashed(item))
        del item
    return combine(hashes)


def place_of(table, key, hash):
    # The key that is there, or nothing.
    others = alike(table, key, hash)
    index = 0
    while index < len(others):
        other = others[index]
        if same(other, key):
            return (other,)
        equal = False
        if other == key:
            equal = True
        if moved(table, key, hash, others):
            # It begins again.
            others = alike(table, key, hash)
            index = 0
        elif equal:
            return (other,)
        else:
            # Where the search comes by a place twice, it is asked twice.
            others = all_met(table, key, hash, others)
            index = index + 1
        del other
    return ()


def item_by_hash(table, key):
    place = placed(table, key, hashed(key))
    if len(place) == 0:
        return lacking(table, key)
    return value_of(table, place)


def item_or_missing(table, key, missing):
    place = placed(table, key, hashed(key))
    if len(place) == 0:
        return missing(key)
    return value_of(table, place)


def get_by_hash(table, key, default):
    place = placed(table, key, hashed(key))
    if len(place) == 0:
        return default
    return value_of(table, place)


def has_by_hash(table, key, yes, no):
    if len(placed(table, key, hashed(key))) == 0:
        return no
    return yes


def store_by_hash(table, key, value):
    hash = hashed(key)
    put(table, placed(table, key, hash), key, hash, value)


def set_default_by_hash(table, key, default):
    hash = hashed(key)
    place = placed(table, key, hash)
    if len(place) == 0:
        put(table, place, key, hash, default)
        return default
    return value_of(table, place)


def delete_by_hash(table, key):
    hash = hashed(key)
    place = placed(table, key, hash)
    if len(place) == 0:
        raise KeyError(key)
    # The key goes first, and then the value.
    value = taken(table, place, hash)
    del place
    del value


def pop_by_hash(table, key, default):
    # Nothing is looked for in nothing.
    if len(table) != 0:
        hash = hashed(key)
        place = placed(table, key, hash)
        if len(place) != 0:
            value = value_of(table, place)
            taken(table, place, hash)
            return value
    if len(default) == 0:
        raise KeyError(key)
    return default[0]


def display_by_hash(items):
    table = {}
    index = 0
    while index < len(items):
        table[items[index]] = items[index + 1]
        index = index + 2
    return table


def merged_by_hash(table, source, result):
    # The keys of a dict are not hashed again.
    entries = entries_of(source)
    for key, hash, value in entries:
        if hash is None:
            table[key] = value
        else:
            put(table, placed(table, key, hash), key, hash, value)
        del key, value
        unchanged(source, entries)
    return result


def united_by_hash(parts):
    table = {}
    for part in parts:
        table.update(part)
    return table
