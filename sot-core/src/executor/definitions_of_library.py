

def reduced(value, kind, make, names, has_dict, is_list, is_dict):
    # As `object.__reduce_ex__` takes an instance apart.
    empty_is_none = True
    state = None
    if has_dict:
        state = value.__dict__
        if empty_is_none and len(state) == 0:
            state = None
    if len(names) != 0:
        slots = {}
        for name in names:
            try:
                slots[name] = getattr(value, name)
            except AttributeError:
                pass
        if len(slots) != 0:
            state = state, slots
    items = iter(value) if is_list else None
    pairs = iter(value.items()) if is_dict else None
    return make, (kind,), state, items, pairs


def reduced_set(value, kind):
    return kind, (list(value),), None


def heap_pushed(heap, greatest):
    # The last item goes towards the root.
    length = len(heap)
    position = length - 1
    item = heap[position]
    while position > 0:
        parent = (position - 1) >> 1
        less = heap[parent] < item if greatest else item < heap[parent]
        less = bool(less)
        if len(heap) != length:
            raise RuntimeError("list changed size during iteration")
        if not less:
            break
        heap[position], heap[parent] = heap[parent], heap[position]
        position = parent


def heap_sifted(heap, first, greatest, result):
    # Items go towards the leaves, and from there as far back as they must.
    length = len(heap)
    while first >= 0:
        position = first
        while position < length >> 1:
            child = 2 * position + 1
            if child + 1 < length:
                less = heap[child + 1] < heap[child] if greatest else heap[child] < heap[child + 1]
                less = bool(less)
                if len(heap) != length:
                    raise RuntimeError("list changed size during iteration")
                if not less:
                    child = child + 1
            heap[position], heap[child] = heap[child], heap[position]
            position = child
        item = heap[position]
        while position > first:
            parent = (position - 1) >> 1
            less = heap[parent] < item if greatest else item < heap[parent]
            less = bool(less)
            if len(heap) != length:
                raise RuntimeError("list changed size during iteration")
            if not less:
                break
            heap[position], heap[parent] = heap[parent], heap[position]
            position = parent
        first = first - 1
    return result


def heap_push_popped(heap, item):
    if len(heap) == 0 or not heap[0] < item:
        return item
    if len(heap) == 0:
        raise IndexError("index out of range")
    result = heap[0]
    heap[0] = item
    length = len(heap)
    position = 0
    while position < length >> 1:
        child = 2 * position + 1
        if child + 1 < length:
            less = bool(heap[child] < heap[child + 1])
            if len(heap) != length:
                raise RuntimeError("list changed size during iteration")
            if not less:
                child = child + 1
        heap[position], heap[child] = heap[child], heap[position]
        position = child
    item = heap[position]
    while position > 0:
        parent = (position - 1) >> 1
        less = bool(item < heap[parent])
        if len(heap) != length:
            raise RuntimeError("list changed size during iteration")
        if not less:
            break
        heap[position], heap[parent] = heap[parent], heap[position]
        position = parent
    return result


def bisected(sequence, item, low, high, key, right, insert):
    wanted = item
    if insert and key is not None:
        wanted = key(item)
    if high is None:
        high = len(sequence)
    while low < high:
        middle = (low + high) // 2
        found = sequence[middle]
        if key is not None:
            found = key(found)
        if right:
            if wanted < found:
                high = middle
            else:
                low = middle + 1
        elif found < wanted:
            low = middle + 1
        else:
            high = middle
    if insert:
        sequence.insert(low, item)
        return None
    return low


def substituted(function, text, found, spans):
    parts = []
    at = 0
    number = 0
    while number < len(found):
        begin, end = spans[number]
        if at < begin:
            parts.append(text[at:begin])
        part = function(found[number])
        if part is not None:
            parts.append(part)
        at = end
        number = number + 1
    if at < len(text):
        parts.append(text[at:])
    return text[:0].join(parts)


def cached(function, args, keywords, missed, keep):
    # That it was called is counted before.
    cache_missed(missed)
    result = function(*args, **keywords)
    cache_keeps(keep, result)
    return result
