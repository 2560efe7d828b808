# What builtins do, where a part of it is code of the program. Names that no function binds are builtins, and the helpers of
# `definitions.rs`. Where a builtin lets go of an item before it asks for the next, so does its definition.


def any_of(iterable):
    for item in iterable:
        if item:
            return True
        del item
    return False


def all_of(iterable):
    for item in iterable:
        if not item:
            return False
        del item
    return True


def sum_of(iterable, total):
    # Whole numbers are added one by one. From the first other one on Python itself adds, which may compensate for rounding.
    iterator = iter(iterable)
    if is_whole(total):
        for item in iterator:
            if not is_whole(item):
                break
            total = total + item
            del item
        else:
            return total
    else:
        for item in iterator:
            break
        else:
            return total
    if is_number(item):
        numbers = [item]
        del item
        for item in iterator:
            if not is_number(item):
                break
            numbers.append(item)
            del item
        else:
            return sum(numbers, total)
        total = sum(numbers, total) + item
        del item, numbers
    else:
        total = total + item
        del item
    for item in iterator:
        total = total + item
        del item
    return total


def sum_from(iterable, total):
    for item in iterable:
        total = total + item
        del item
    return total


def hint_of(iterable, sized, method, length_hint, name, kind):
    # Who has no length after all says so by a TypeError.
    if sized:
        try:
            len(iterable)
            return
        except TypeError:
            pass
    if method is None:
        return
    try:
        hint = method()
    except TypeError:
        return
    if hint is not NotImplemented:
        answer(hint, length_hint, name, kind)


def extend(target, iterable, result):
    # How many there may be is asked for once there is an iterator.
    iterator = iter(iterable)
    hint(iterable)
    for item in iterator:
        target.append(item)
        del item
    return result


def extend_by_c(target, iterable, result):
    # An iterator of C says nothing: it may be asked for when the length is known.
    hint(iterable)
    for item in iterable:
        target.append(item)
        del item
    return result


def list_of_sized_first(iterable):
    try:
        len(iterable)
    except TypeError:
        pass
    items = []
    items.extend(iterable)
    return items


def tuple_of(iterable):
    items = []
    items.extend(iterable)
    return tuple(items)


def joined(iterables, make):
    items = []
    for iterable in iterables:
        items.extend(iterable)
    return make(items)


def unpacked(iterable, before):
    # What is left of the iterator is asked for as any list is.
    iterator = iter(iterable)
    items = []
    if before > 0:
        left = before
        for item in iterator:
            items.append(item)
            del item
            left = left - 1
            if left == 0:
                break
        else:
            return items
    items.extend(iterator)
    return items


def pair_of_items(item, index):
    refused = False
    items = []
    try:
        items.extend(iter(item))
    except TypeError:
        refused = True
    if refused:
        raise TypeError(f"cannot convert dictionary update sequence element #{index} to a sequence")
    return items


def extend_part(append, target, iterable):
    # Whatever the program has in the place of `append`.
    iterator = iter(iterable)
    hint(iterable)
    for item in iterator:
        append(target, item)
        del item


def fill(table, iterable, rest, result):
    index = 0
    for item in iterable:
        found = pair(item, index)
        if len(found) != 2:
            # Here the item goes before its parts.
            length = len(found)
            del item, found
            raise ValueError(f"dictionary update sequence element #{index} has length {length}; 2 is required")
        key, value = found
        table[key] = value
        index = index + 1
        # And behind them, where they are one.
        del key, value, found, item
    table.update(rest)
    return result


def keys_of_mapping(source):
    keys = source.keys()
    if type(keys) is list:
        return keys
    refused = False
    try:
        iterator = iter(keys)
    except TypeError:
        refused = True
    if refused:
        raise TypeError(f"{type(source).__name__}.keys() returned a non-iterable (type {type(keys).__name__})")
    names = []
    names.extend(iterator)
    return names


def fill_ordered(table, iterable, rest, result):
    for item in iterable:
        key, value = ordered_pair(item)
        table[key] = value
        del item, key, value
    table.update(rest)
    return result


def fill_asking(target, iterable, rest):
    for item in iterable:
        key, value = ordered_pair(item)
        target[key] = value
        del item, key, value
    for key, value in rest:
        target[key] = value
        del key, value


def count_elements(table, iterable, get, set_item):
    for key in iterable:
        if by_hash(table, key):
            # It is hashed once, and looked for twice.
            hash = hashed(key)
            place = placed(table, key, hash)
            count = 1
            if len(place) != 0:
                count = value_of(table, place) + 1
            put(table, placed(table, key, hash), key, hash, count)
            del place, count
        else:
            set_item(table, key, get(table, key, 0) + 1)
        del key


def fill_deque(target, iterable, result):
    for item in iterable:
        target.append(item)
        del item
    return result


def fill_deque_left(target, iterable, result):
    for item in iterable:
        target.appendleft(item)
        del item
    return result


def missing(table, key, factory):
    value = factory()
    table[key] = value
    return value


def fill_by_keys(table, source, rest, result):
    for key in keys_of(source):
        table[key] = source[key]
        del key
    table.update(rest)
    return result


def fill_display(table, source, message):
    # What is left to add is nothing.
    missing = False
    try:
        for key in keys_of(source):
            table[key] = source[key]
            del key
    except AttributeError:
        missing = True
    if missing:
        raise TypeError(message)
    return {}


def fill_keywords(table, source, callee, kind, result):
    # A call that goes wrong the same way says what is wrong.
    wrong = None
    try:
        for key in keys_of(source):
            if key in table:
                wrong = {key: None}, {key: None}
                break
            table[key] = source[key]
            del key
    except AttributeError:
        wrong = {}, no_mapping(kind)
    except KeyError as error:
        given_twice = len(error.args) == 1
        if not given_twice:
            raise
        wrong = {error.args[0]: None}, {error.args[0]: None}
    if wrong is not None:
        callee(**wrong[0], **wrong[1])
    return result


def united_display(parts, messages):
    table = {}
    for part, message in zip(parts, messages):
        missing = False
        if message is None:
            table.update(part)
        else:
            try:
                for key in keys_of(part):
                    table[key] = part[key]
                    del key
            except AttributeError:
                missing = True
        if missing:
            raise TypeError(message)
    return table


def united_keywords(parts, kinds, callee):
    table = {}
    for part, kind in zip(parts, kinds):
        wrong = None
        try:
            keys = part
            if kind is not None:
                keys = keys_of(part)
            for key in keys:
                if key in table:
                    wrong = {key: None}, {key: None}
                    break
                table[key] = part[key]
                del key
            del keys
        except AttributeError:
            wrong = {}, no_mapping(kind)
        except KeyError as error:
            given_twice = len(error.args) == 1
            if not given_twice:
                raise
            wrong = {error.args[0]: None}, {error.args[0]: None}
        if wrong is not None:
            callee(**wrong[0], **wrong[1])
    return table


def keyed(iterable, value):
    table = {}
    for key in iterable:
        table[key] = value
        del key
    return table


def keyed_into(table, iterable, value):
    for key in iterable:
        table[key] = value
        del key
    return table


def set_of(make, iterable, frozen):
    # An item that asks the program for its hash, or has none, is hashed before the next one is asked for.
    iterator = iter(iterable)
    items = []
    for item in iterator:
        if not is_quiet(item):
            break
        items.append(item)
        del item
    else:
        return make(items)
    table = set(items)
    del items
    table.add(item)
    del item
    for item in iterator:
        table.add(item)
        del item
    if frozen:
        return frozen_as(table)
    return table


def update_set(table, iterable):
    for item in iterable:
        table.add(item)
        del item


def items_of_set(table, iterable, nothing):
    iterator = iter(iterable)
    items = []
    for item in iterator:
        if not is_quiet(item):
            break
        items.append(item)
        del item
    else:
        return items
    table.update(items)
    del items
    table.add(item)
    del item
    for item in iterator:
        table.add(item)
        del item
    return nothing


def close_and_throw(close, throw, exception):
    try:
        close()
    except BaseException as failed:
        exception = failed
    del close
    return throw(exception)


def close(throw, ignored):
    # What is being handled is its context.
    try:
        raise GeneratorExit
    except GeneratorExit as end:
        ending = end
    try:
        throw(ending)
    except StopIteration as end:
        return end.value
    except GeneratorExit:
        return None
    raise RuntimeError(ignored)


def done_with_each(method, arguments):
    for argument in arguments:
        method(argument)


def done(method, args):
    method(*args)


def join(function, iterable):
    refused = False
    try:
        iterator = iter(iterable)
    except TypeError:
        refused = True
    if refused:
        raise TypeError("can only join an iterable")
    items = []
    # A list is made of the iterator, which is asked for one as well.
    items.extend(iterator)
    return function(items)


def at_most(iterable, count):
    items = []
    left = count
    for item in iterable:
        items.append(item)
        del item
        left = left - 1
        if left == 0:
            break
    return items


def sorted_by(iterable, key, reverse):
    items = []
    items.extend(iterable)
    items.sort(key=key, reverse=reverse)
    return items


def sort_list(target, key, reverse):
    # Meanwhile the list is empty. A sort that fails leaves some order.
    items, order, keys = target.copy(), None, None
    target.clear()
    mark = emptied(target)
    try:
        if key is None:
            keys = items.copy()
        else:
            keys = []
            for item in items:
                keys.append(key(item))
                del item
        way = way_to_compare(keys)
        if way != 0:
            answers = []
            while True:
                order, left, right = question(len(items), answers, reverse)
                if left is None:
                    break
                left, right = keys[left], keys[right]
                at = 0
                if way == 2:
                    # Tuples, by the first items that differ.
                    while at < len(left) and at < len(right):
                        if not same(left[at], right[at]):
                            if not left[at] == right[at]:
                                break
                        at = at + 1
                    if at < len(left) and at < len(right):
                        left, right = left[at], right[at]
                    else:
                        left, right, at = len(left), len(right), 1
                result = NotImplemented
                if way < 3 and at == 0:
                    # Keys of one class are asked by themselves at first.
                    result = type(left).__lt__(left, right)
                if result is NotImplemented:
                    result = left < right
                if result:
                    answers.append(True)
                else:
                    answers.append(False)
                del left, right, result
            # Keys die before it is looked what became of the list, the least first: a list lets go of its last item first.
            if key is not None:
                keys = in_order(keys, order)
                if not reverse:
                    keys.reverse()
            keys = None
        modified = touched(target, mark)
    except:
        left = right = result = None
        if key is not None and order is not None:
            keys = in_order(keys, order)
            if not reverse:
                keys.reverse()
        keys = None
        target.clear()
        target.extend(in_order(items, order))
        raise
    target.clear()
    target.extend(in_order(items, order))
    del items
    if way == 0:
        sort_in_place(target, keys, reverse)
    if modified:
        raise ValueError("list modified during sort")


def least(iterable, empty):
    iterator = iter(iterable)
    for best in iterator:
        break
    else:
        return empty(())
    for item in iterator:
        if item < best:
            best = item
        del item
    return best


def greatest(iterable, empty):
    iterator = iter(iterable)
    for best in iterator:
        break
    else:
        return empty(())
    for item in iterator:
        if item > best:
            best = item
        del item
    return best


def least_or(iterable, default):
    iterator = iter(iterable)
    for best in iterator:
        break
    else:
        return default
    for item in iterator:
        if item < best:
            best = item
        del item
    return best


def greatest_or(iterable, default):
    iterator = iter(iterable)
    for best in iterator:
        break
    else:
        return default
    for item in iterator:
        if item > best:
            best = item
        del item
    return best


def least_by(iterable, empty, key):
    iterator = iter(iterable)
    for best in iterator:
        value = key(best)
        break
    else:
        return empty(())
    for item in iterator:
        new = key(item)
        if new < value:
            best = item
            value = new
        del item, new
    return best


def greatest_by(iterable, empty, key):
    iterator = iter(iterable)
    for best in iterator:
        value = key(best)
        break
    else:
        return empty(())
    for item in iterator:
        new = key(item)
        if new > value:
            best = item
            value = new
        del item, new
    return best


def least_by_or(iterable, default, key):
    iterator = iter(iterable)
    for best in iterator:
        value = key(best)
        break
    else:
        return default
    for item in iterator:
        new = key(item)
        if new < value:
            best = item
            value = new
        del item, new
    return best


def greatest_by_or(iterable, default, key):
    iterator = iter(iterable)
    for best in iterator:
        value = key(best)
        break
    else:
        return default
    for item in iterator:
        new = key(item)
        if new > value:
            best = item
            value = new
        del item, new
    return best


def reduce_from(function, iterable, value):
    for item in iterable:
        value = function(value, item)
        del item
    return value


def reduce_all(function, iterable, empty):
    iterator = iter(iterable)
    for value in iterator:
        break
    else:
        return empty(function, ())
    for item in iterator:
        value = function(value, item)
        del item
    return value


def found(iterable, wanted, yes, no, message):
    refused = False
    try:
        iterator = iter(iterable)
    except TypeError:
        refused = True
    if refused:
        raise TypeError(message)
    for item in iterator:
        if same(item, wanted):
            return yes
        if item == wanted:
            return yes
        del item
    return no


def length_of(method):
    return length(method())


def truth_of_length(method):
    return length(method()) > 0


def truth_of_value(value):
    if value:
        return True
    return False


def untruth_of_value(value):
    if value:
        return False
    return True


def attribute_by_name(object, name):
    value = getattr(object, name)
    # Until here who raises is told them.
    object, name
    return value


def attribute_or(object, name, default):
    try:
        return getattr(object, name)
    except AttributeError:
        return default


def names_of(object):
    refused = False
    try:
        names = object.__dict__
    except AttributeError:
        refused = True
    if refused:
        raise TypeError("vars() argument must have __dict__ attribute")
    return names


def has_attribute(object, name):
    try:
        getattr(object, name)
    except AttributeError:
        return False
    return True


def truth_of(function, argument):
    if function(argument):
        return True
    return False


def untruth_of(function, argument):
    if function(argument):
        return False
    return True
