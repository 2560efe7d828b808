# What groups of exceptions do, and `except*` (3.11+): as `definitions.py`.


def add_note(exception, note):
    missing = False
    try:
        notes = exception.__notes__
    except AttributeError:
        missing = True
    if missing:
        notes = []
        exception.__notes__ = notes
    elif not isinstance(notes, list):
        raise TypeError("Cannot add note: __notes__ is not a list")
    list.append(notes, note)


def matched_in_group(group, classes):
    # The group may split itself in a way of its own.
    pair = group.split(classes)
    if type(pair) is not tuple:
        raise TypeError(f"{type(group).__name__}.split must return a tuple, not {type(pair).__name__}")
    if len(pair) < 2:
        raise TypeError(f"{type(group).__name__}.split must return a 2-tuple, got tuple of size {len(pair)}")
    return (pair[0], pair[1])


def parts_of_group(exception, matcher, way, with_rest, raised):
    # Groups that are open: each with its parts, how many are judged, what of them matches, and the rest. `way`: by classes,
    # by what a function says, or by identity, for what `except*` raises again, beside what was `raised`.
    waiting = []
    while True:
        match = rest = None
        parts = parts_of(exception)
        if way == 0:
            found = is_of(exception, matcher)
        elif way == 1:
            found = False
            if matcher(exception):
                found = True
        else:
            found = parts is None and is_among(exception, matcher)
        if not found and parts is not None:
            waiting.append([exception, parts, 0, [], []])
            exception = parts[0]
            continue
        if found:
            match = exception
        elif with_rest:
            rest = exception
        while len(waiting) > 0:
            group = waiting[-1]
            if match is not None:
                group[3].append(match)
            if rest is not None:
                group[4].append(rest)
            group[2] = group[2] + 1
            if group[2] < len(group[1]):
                exception = group[1][group[2]]
                break
            waiting.pop()
            exception = group[0]
            made = []
            for kept in (group[3], group[4]):
                if len(kept) == 0:
                    made.append(None)
                    continue
                derived = exception.derive(kept)
                if not is_group(derived):
                    raise TypeError("derive must return an instance of BaseExceptionGroup")
                take_after(derived, exception)
                missing = False
                try:
                    notes = exception.__notes__
                except AttributeError:
                    missing = True
                if not missing:
                    if is_sequence(notes):
                        derived.__notes__ = list(notes)
                    del notes
                made.append(derived)
                del derived
            match, rest = made
            del made, kept, group
        else:
            if way < 2:
                return (match, rest) if with_rest else match
            if match is not None:
                raised.append(match)
            if len(raised) > 1:
                return BaseExceptionGroup("", raised)
            return raised[0] if len(raised) > 0 else None
