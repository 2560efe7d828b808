# What operators, comparisons and conversions of values do, where a part of it is code of the program: as `definitions.py`.


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


def equal_lists(left, right, yes, no):
    if len(left) != len(right):
        return no
    index = 0
    while index < len(left) and index < len(right):
        item, other = left[index], right[index]
        if not same(item, other):
            if not item == other:
                del item, other
                # The comparison may have changed the lists, and then it does not count.
                if index < len(left) and index < len(right):
                    return no
                break
        del item, other
        index = index + 1
    if len(left) == len(right):
        return yes
    return no


def equal_tuples(left, right, yes, no):
    for item, other in zip(left, right):
        if not same(item, other):
            if not item == other:
                return no
        del item, other
    if len(left) == len(right):
        return yes
    return no


def equal_dicts(left, right, yes, no):
    if len(left) != len(right):
        return no
    iterator = iter(left.items())
    while True:
        entry = walk(iterator)
        if entry is None:
            return yes
        key, item = entry
        del entry
        if by_hash(right, key):
            # The keys of a dict are not hashed again.
            place = placed(right, key, stored_hash(left, key))
            if len(place) == 0:
                return no
            other = value_of(right, place)
            del place
        else:
            if key not in right:
                return no
            other = right[key]
        if not same(item, other):
            if not item == other:
                return no
        del key, item, other


def ordered_items(left, right, order):
    index = 0
    while index < len(left) and index < len(right):
        item, other = left[index], right[index]
        if not same(item, other):
            if not item == other:
                del item, other
                # The comparison may have changed the lists.
                if index < len(left) and index < len(right):
                    return order(left[index], right[index])
                break
        del item, other
        index = index + 1
    return order(len(left), len(right))


def truth_of_ordered_items(left, right, order):
    index = 0
    while index < len(left) and index < len(right):
        item, other = left[index], right[index]
        if not same(item, other):
            if not item == other:
                del item, other
                if index < len(left) and index < len(right):
                    if order(left[index], right[index]):
                        return True
                    return False
                break
        del item, other
        index = index + 1
    return order(len(left), len(right))


def index_of_list(items, sought, start, stop):
    index = start
    while index < stop and index < len(items):
        item = items[index]
        if same(item, sought):
            return index
        if item == sought:
            return index
        del item
        index = index + 1
    raise ValueError(f"{sought!r} is not in list")


def index_of_tuple(items, sought, start, stop):
    index = start
    while index < stop and index < len(items):
        item = items[index]
        if same(item, sought):
            return index
        if item == sought:
            return index
        del item
        index = index + 1
    raise ValueError("tuple.index(x): x not in tuple")


def count_of(items, sought):
    count = 0
    index = 0
    while index < len(items):
        item = items[index]
        if same(item, sought):
            count = count + 1
        elif item == sought:
            count = count + 1
        del item
        index = index + 1
    return count


def remove(items, sought):
    index = 0
    while index < len(items):
        item = items[index]
        if same(item, sought):
            break
        if item == sought:
            break
        del item
        index = index + 1
    else:
        raise ValueError("list.remove(x): x not in list")
    # What compares may have taken items away.
    if index < len(items):
        del items[index]


def store_slice(target, key, iterable, message):
    refused = False
    try:
        iterator = iter(iterable)
    except TypeError:
        refused = True
    if refused:
        raise TypeError(message)
    items = []
    items.extend(iterator)
    target[key] = items


def item_of(value, item):
    return value[item]


def items_of(value, items):
    found = []
    for item in items:
        found.append(value[item])
    return tuple(found)


def attribute_of(value, path):
    for name in path:
        value = getattr(value, name)
    return value


def attributes_of(value, paths):
    found = []
    for path in paths:
        part = value
        for name in path:
            part = getattr(part, name)
        found.append(part)
        del part
    return tuple(found)


def method_called(value, name, args, keywords):
    return getattr(value, name)(*args, **keywords)


def answer_of(method, args, builtin, name, kind):
    return answer(method(*args), builtin, name, kind)


def converted(convert, value, spec):
    return format(convert(value), spec)


def made_by(new, cls, args, keywords):
    return constructed(new(cls, *args, **keywords), cls, args, keywords)


def repr_of_list(items):
    # Until the end it is `[...]` in itself.
    texts = []
    index = 0
    try:
        while index < len(items):
            texts.append(repr(items[index]))
            index = index + 1
    except:
        end_writing(items)
        raise
    end_writing(items)
    return "[" + ", ".join(texts) + "]"


def repr_of_tuple(items):
    texts = []
    try:
        for item in items:
            texts.append(repr(item))
            del item
    except:
        item = None
        end_writing(items)
        raise
    end_writing(items)
    if len(texts) == 1:
        return "(" + texts[0] + ",)"
    return "(" + ", ".join(texts) + ")"


def repr_of_dict(items):
    texts = []
    iterator = iter(items.items())
    try:
        while True:
            entry = walk(iterator)
            if entry is None:
                break
            key, item = entry
            del entry
            text = repr(key)
            texts.append(text + ": " + repr(item))
            del key, item
    except:
        key = item = None
        end_writing(items)
        raise
    end_writing(items)
    return "{" + ", ".join(texts) + "}"


def asked(ask, values):
    # Formatting asks one value after another.
    answers = []
    while True:
        text, index, what, spec = written(ask, answers)
        if text is not None:
            return text
        if what == "repr":
            answers.append(repr(values[index]))
        elif what == "str":
            answers.append(str(values[index]))
        else:
            answers.append(format(values[index], spec))


def attribute_by(lookup, hook, object, name):
    try:
        return lookup(object, name)
    except AttributeError:
        pass
    return hook(object, name)


def read_or(reading, arguments, hook, object, name):
    try:
        return reading(*arguments)
    except AttributeError:
        pass
    return hook(object, name)


def imported(getter, name, module):
    try:
        return getter(name)
    except AttributeError:
        pass
    return imported_without(module, name)


def match_class(subject, cls, count, names, itself, shown):
    if not isinstance(subject, cls):
        return None
    seen, values, listed = [], [], ()
    if count > 0:
        missing = False
        try:
            listed = cls.__match_args__
        except AttributeError:
            missing = True
        if not missing and type(listed) is not tuple:
            raise TypeError(f"{shown}.__match_args__ must be a tuple (got {type(listed).__name__})")
        allowed = 1 if missing and itself else len(listed)
        if allowed < count:
            plural = "" if allowed == 1 else "s"
            raise TypeError(f"{shown}() accepts {allowed} positional sub-pattern{plural} ({count} given)")
        if missing:
            values.append(subject)
        else:
            listed = listed[:count]
    for name in listed + names:
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if name in seen:
            raise TypeError(f"{shown}() got multiple sub-patterns for attribute {name!r}")
        seen.append(name)
        try:
            values.append(getattr(subject, name))
        except AttributeError:
            return None
    return tuple(values)


def match_keys(subject, keys, missing):
    seen, values = {}, []
    if len(keys) == 0:
        return ()
    get = subject.get
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen[key] = None
        value = get(key, missing)
        if value is missing:
            return None
        values.append(value)
        del value
    return tuple(values)


def member_of_any(check, value, classes):
    for cls in classes:
        if check(value, cls):
            return True
    return False


def instance_by_its_word(value, cls):
    try:
        own = value.__class__
    except AttributeError:
        return False
    if isinstance(own, type):
        for base in own.__mro__:
            if base is cls:
                return True
    return False


def run_in(function, source, names, own):
    return function(source, names, own)


def class_of(metaclass, body, name, bases, names, original):
    cell = body_run(body, names)
    if original is not None:
        names["__orig_bases__"] = original
    if told_names(metaclass, names):
        return class_checked(class_told(metaclass, name, bases, names, {}), cell)
    return class_made(metaclass, cell, name, bases, names)


def class_by(metaclass, body, name, bases, keywords, names, original):
    cell = body_run(body, names)
    if original is not None:
        names["__orig_bases__"] = original
    return class_checked(metaclass(name, bases, names, **keywords), cell)


def class_prepared_by(metaclass, body, name, bases, keywords, original):
    names = plain_names(metaclass.__prepare__(name, bases, **keywords))
    cell = body_run(body, names)
    if original is not None:
        names["__orig_bases__"] = original
    return class_checked(metaclass(name, bases, names, **keywords), cell)


def class_on_entries(body, name, original, keywords):
    bases = []
    for base in original:
        stands = True
        if not is_class(base):
            try:
                entries = base.__mro_entries__
                stands = False
            except AttributeError:
                pass
        if stands:
            bases.append(base)
            continue
        entries = entries(original)
        if not isinstance(entries, tuple):
            raise TypeError("__mro_entries__ must return a tuple")
        bases.extend(entries)
    return class_on_bases(body, name, tuple(bases), keywords, original)


def told_class(metaclass, name, bases, names, keywords):
    made = quiet_class_made(metaclass, name, bases, names)
    for tell, value, key in told_names(None, names):
        try:
            tell(value, made, key)
        except BaseException:
            # Which words it comes with depends on the version.
            class_checked(None, None)
    super(made, made).__init_subclass__(**keywords)
    return made
