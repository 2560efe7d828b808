

def awaited(method):
    return checked_awaited(method())


def awaited_item(method):
    return awaited_in_turn(method())


def async_iterator(method):
    return checked_async(method())


def itertools__async_step__counted(generator, sent):
    item = async_send(generator, sent, True)
    while async_awaits(generator):
        given = [item]
        del item
        sent = yield given.pop()
        item = async_send(generator, sent, False)
    return item


def itertools__async_throw__counted(generator, exception):
    item = async_throw(generator, exception)
    while async_awaits(generator):
        given = [item]
        del item
        sent = yield given.pop()
        item = async_send(generator, sent, False)
    return item


def itertools__async_close__counted(generator):
    if not async_waits(generator):
        return
    try:
        raise GeneratorExit
    except GeneratorExit as end:
        ending = end
    try:
        item = async_throw(generator, ending)
        del ending
        while async_awaits(generator):
            given = [item]
            del item
            sent = yield given.pop()
            item = async_send(generator, sent, False)
    except StopAsyncIteration:
        return
    except GeneratorExit:
        return
    async_goes_on(generator)
