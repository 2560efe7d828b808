# What sets do with members whose `__hash__` or `__eq__` is code of the program: as `definitions_of_keys.py`.


def add_by_hash(table, key):
    hash = hashed(key)
    if len(placed(table, key, hash)) == 0:
        put_member(table, key, hash)


def discard_by_hash(table, key):
    hash = hashed(key)
    place = placed(table, key, hash)
    if len(place) != 0:
        drop_member(table, place, hash)


def remove_by_hash(table, key):
    hash = hashed(key)
    place = placed(table, key, hash)
    if len(place) == 0:
        raise KeyError(key)
    drop_member(table, place, hash)


def done_by_asking(operation, log):
    # Real sets say what they have to know, one question after the other.
    question = asked(operation, log)
    while len(question) != 0:
        try:
            if len(question) == 1:
                answer = hashed(question[0])
            else:
                answer = False
                if question[0] == question[1]:
                    answer = True
        except BaseException:
            # What a set was changed to so far stays.
            cut_short(operation, log)
            raise
        log = log + (answer,)
        question = asked(operation, log)
    return answered(operation, log)


def keyed_by_hash(source, value):
    # The members of a set, or keys of a dict, are not hashed again.
    table = {}
    entries = entries_of(source)
    for key, hash, _ in entries:
        if hash is None:
            table[key] = value
        else:
            put(table, placed(table, key, hash), key, hash, value)
        del key
        unchanged(source, entries)
    return table


def update_by_each(table, others):
    for other in others:
        table.update(other)


def united_members(parts):
    table = set()
    for part in parts:
        table.update(part)
    return table
