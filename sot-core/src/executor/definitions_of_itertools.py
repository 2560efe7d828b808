# What the iterators of module itertools give: as `definitions.py`. Each is a generator whose name tells which class it stands
# for; `counted`: its state is another one after each item. Nothing is held of an item that was given.


def itertools_chain(iterator):
    for iterable in iterator:
        for item in iterable:
            given = [item]
            del item
            yield given.pop()
        del iterable


def itertools_islice__counted(iterator, wanted, stop, step):
    count = 0
    while True:
        while count < wanted:
            for item in iterator:
                break
            else:
                return
            del item
            count = count + 1
        if stop != -1:
            if count >= stop:
                return
        for item in iterator:
            break
        else:
            return
        count = count + 1
        wanted = wanted + step
        if stop != -1:
            if wanted > stop:
                wanted = stop
        given = [item]
        del item
        yield given.pop()


def itertools_count__counted(number, step):
    while True:
        yield number
        number = number + step


def itertools_repeat(item):
    while True:
        yield item


def itertools_repeat__counted(item, times):
    while times > 0:
        times = times - 1
        yield item


def itertools_cycle__counted(iterator):
    saved = []
    for item in iterator:
        saved.append(item)
        yield item
        del item
    while saved:
        for item in saved:
            yield item


def itertools_zip_longest(iterators, fill):
    active = len(iterators)
    while active > 0:
        items = []
        at = 0
        while at < len(iterators):
            inner = iterators[at]
            if inner is None:
                items.append(fill)
            else:
                for item in inner:
                    items.append(item)
                    del item
                    break
                else:
                    active = active - 1
                    if active == 0:
                        return
                    iterators[at] = None
                    items.append(fill)
            del inner
            at = at + 1
        given = [tuple(items)]
        del items
        yield given.pop()


def itertools_takewhile(function, iterator):
    for item in iterator:
        try:
            wanted = function(item)
        except StopIteration:
            return
        if not wanted:
            return
        given = [item]
        del item, wanted
        yield given.pop()


def itertools_dropwhile(function, iterator):
    for item in iterator:
        try:
            dropped = function(item)
        except StopIteration:
            return
        if not dropped:
            given = [item]
            del item, dropped
            yield given.pop()
            break
        del item, dropped
    else:
        return
    for item in iterator:
        given = [item]
        del item
        yield given.pop()


def itertools_filterfalse(function, iterator):
    for item in iterator:
        if function is None:
            dropped = item
        else:
            try:
                dropped = function(item)
            except StopIteration:
                return
        if dropped:
            del item, dropped
        else:
            given = [item]
            del item, dropped
            yield given.pop()


def itertools_starmap(function, iterator):
    for item in iterator:
        item = tuple(item)
        try:
            given = [function(*item)]
        except StopIteration:
            return
        del item
        yield given.pop()


def itertools_accumulate__counted(function, iterator):
    for total in iterator:
        break
    else:
        return
    yield total
    for item in iterator:
        try:
            if function is None:
                total = total + item
            else:
                total = function(total, item)
        except StopIteration:
            return
        del item
        yield total


def itertools_accumulate__counted_from(function, iterator, total):
    yield total
    for item in iterator:
        try:
            if function is None:
                total = total + item
            else:
                total = function(total, item)
        except StopIteration:
            return
        del item
        yield total


def itertools_pairwise(iterator):
    for old in iterator:
        break
    else:
        return
    for new in iterator:
        given = [(old, new)]
        old = new
        del new
        yield given.pop()


def itertools_compress(iterator, inner):
    for item in iterator:
        for wanted in inner:
            break
        else:
            return
        if wanted:
            given = [item]
            del item, wanted
            yield given.pop()
        else:
            del item, wanted


def itertools_product__counted(iterator):
    for item in iterator:
        given = [item]
        del item
        yield given.pop()


def itertools_combinations__counted(iterator):
    for item in iterator:
        given = [item]
        del item
        yield given.pop()


def itertools_combinations_with_replacement__counted(iterator):
    for item in iterator:
        given = [item]
        del item
        yield given.pop()


def itertools_permutations__counted(iterator):
    for item in iterator:
        given = [item]
        del item
        yield given.pop()


def itertools__tee__counted(iterator, items):
    at = 0
    while True:
        if at == len(items):
            for item in iterator:
                items.append(item)
                break
            else:
                return
        else:
            item = items[at]
        at = at + 1
        given = [item]
        del item
        yield given.pop()


def itertools__match_iterator__counted(found):
    at = 0
    while at < len(found):
        given = [found[at]]
        at = at + 1
        yield given.pop()


def itertools__deque_iterator__counted(target, length):
    changes = changes_of(target)
    at = 0
    while True:
        if changes_of(target) != changes:
            raise RuntimeError("deque mutated during iteration")
        if at == length:
            return
        given = [target[at]]
        at = at + 1
        yield given.pop()


def itertools__deque_reverse_iterator__counted(target, length):
    changes = changes_of(target)
    at = length
    while True:
        if changes_of(target) != changes:
            raise RuntimeError("deque mutated during iteration")
        if at == 0:
            return
        at = at - 1
        given = [target[at]]
        yield given.pop()


def itertools_groupby__counted(key, iterator):
    # The number of the group that may go on; the key of the item read last, that item until somebody has it, and the group's key.
    turn, current, waiting, wanted = [0], [], [], []
    while True:
        turn[0] = turn[0] + 1
        while True:
            if current:
                if not wanted:
                    break
                if not (wanted[0] is current[0] or wanted[0] == current[0]):
                    break
            for item in iterator:
                break
            else:
                return
            if key is None:
                named = item
            else:
                try:
                    named = key(item)
                except StopIteration:
                    return
            waiting[:] = [item]
            del item
            current[:] = [named]
            del named
        wanted[:] = current
        yield (current[0], grouper(turn, turn[0], key, iterator, current, waiting, current[0]))


def itertools__grouper__counted(turn, number, key, iterator, current, waiting, wanted):
    while turn[0] == number:
        if not waiting:
            for item in iterator:
                break
            else:
                return
            if key is None:
                named = item
            else:
                try:
                    named = key(item)
                except StopIteration:
                    return
            waiting[:] = [item]
            del item
            current[:] = [named]
            del named
        if not (wanted is current[0] or wanted == current[0]):
            return
        # Whose item was had is a key no more.
        current.clear()
        yield waiting.pop()


def itertools__token__counted(setter, variable):
    # Of a context variable: it gives nothing.
    yield
