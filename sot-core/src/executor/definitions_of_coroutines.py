

def awaited(method):
    return checked_awaited(method())


def awaited_item(method):
    return awaited_in_turn(method())


def async_iterator(method):
    return checked_async(method())
