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
    # The numbers at the beginning are added by Python itself, which may compensate for rounding.
    iterator = iter(iterable)
    numbers = []
    for item in iterator:
        if not is_number(item):
            break
        numbers.append(item)
        del item
    else:
        return sum(numbers, total)
    total = sum(numbers, total) + item
    del item, numbers
    for item in iterator:
        total = total + item
        del item
    return total


def sum_from(iterable, total):
    for item in iterable:
        total = total + item
        del item
    return total


def list_of(iterable):
    items = []
    for item in iterable:
        items.append(item)
        del item
    return items


def list_of_sized(iterable):
    # The length is asked for once there is an iterator; who has none says so by a TypeError.
    iterator = iter(iterable)
    try:
        len(iterable)
    except TypeError:
        pass
    items = []
    for item in iterator:
        items.append(item)
        del item
    return items


def list_of_sized_first(iterable):
    try:
        len(iterable)
    except TypeError:
        pass
    iterator = iter(iterable)
    try:
        len(iterable)
    except TypeError:
        pass
    items = []
    for item in iterator:
        items.append(item)
        del item
    return items


def tuple_of(iterable):
    items = []
    for item in iterable:
        items.append(item)
        del item
    return tuple(items)


def tuple_of_sized(iterable):
    iterator = iter(iterable)
    try:
        len(iterable)
    except TypeError:
        pass
    items = []
    for item in iterator:
        items.append(item)
        del item
    return tuple(items)


def dict_of(iterable):
    table = {}
    index = 0
    for item in iterable:
        key, value = pair(item, index)
        table[key] = value
        index = index + 1
        del item, key, value
    return table


def extend(target, iterable):
    for item in iterable:
        target.append(item)
        del item


def extend_sized(target, iterable):
    iterator = iter(iterable)
    try:
        len(iterable)
    except TypeError:
        pass
    for item in iterator:
        target.append(item)
        del item


def with_all(function, iterable):
    items = []
    for item in iterable:
        items.append(item)
        del item
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


def sorted_of(iterable, reverse):
    items = []
    for item in iterable:
        items.append(item)
        del item
    return sorted(items, reverse=reverse)


def sorted_by(iterable, key, reverse):
    items = []
    for item in iterable:
        items.append(item)
        del item
    keys = []
    for item in items:
        keys.append(key(item))
        del item
    return sort(items, keys, reverse)


def sort_list(target, key, reverse):
    # Meanwhile the list is empty.
    items = target.copy()
    target.clear()
    try:
        if key is None:
            keys = items.copy()
        else:
            keys = []
            for item in items:
                keys.append(key(item))
                del item
        items = sort(items, keys, reverse)
        modified = len(target) > 0
    except:
        target.clear()
        target.extend(items)
        raise
    target.clear()
    target.extend(items)
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


def next_or(iterator, default):
    for item in iterator:
        return item
    return default


def next_mapped(function, inners):
    items = []
    for inner in inners:
        for item in inner:
            items.append(item)
            break
        else:
            raise StopIteration
    return function(*items)


def next_filtered(function, inner):
    for item in inner:
        if function(item):
            return item
        del item
    raise StopIteration


def next_true(inner):
    for item in inner:
        if item:
            return item
        del item
    raise StopIteration


def next_zipped(inners):
    items = []
    for inner in inners:
        for item in inner:
            items.append(item)
            break
        else:
            raise StopIteration
    return tuple(items)


def found(iterable, wanted):
    for item in iterable:
        if same(item, wanted):
            return True
        if item == wanted:
            return True
        del item
    return False


def not_found(iterable, wanted):
    for item in iterable:
        if same(item, wanted):
            return False
        if item == wanted:
            return False
        del item
    return True


def length_of(method):
    return length(method())


def truth_of_value(value):
    if value:
        return True
    return False


def attribute_or(object, name, default):
    try:
        return getattr(object, name)
    except AttributeError:
        return default


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


def compared(attempts, otherwise):
    for method, argument, inverted in attempts:
        result = method(argument)
        if result is not NotImplemented:
            if inverted:
                return not result
            return result
    return otherwise


def truth_of_compared(attempts, otherwise):
    for method, argument, inverted in attempts:
        result = method(argument)
        if result is not NotImplemented:
            if result:
                return not inverted
            return inverted
    return otherwise


def ordered(attempts, message):
    for method, argument, _ in attempts:
        result = method(argument)
        if result is not NotImplemented:
            return result
    raise TypeError(message)


def truth_of_ordered(attempts, message):
    for method, argument, _ in attempts:
        result = method(argument)
        if result is not NotImplemented:
            if result:
                return True
            return False
    raise TypeError(message)


def extended(target, iterable):
    for item in iterable:
        target.append(item)
        del item
    return target


def extended_sized(target, iterable):
    iterator = iter(iterable)
    try:
        len(iterable)
    except TypeError:
        pass
    for item in iterator:
        target.append(item)
        del item
    return target
