"""Pieces of programs that several rooms of cases put into their worlds, as text. Each writes to a list `told`."""

# Says when it goes, and what is handled then. Wants `sys`.
LOUD = """
class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append((self.name, sys.exc_info()[0]))
"""

# Says when it goes, and nothing else.
GONE = """
class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append(("gone", self.name))
"""

# A context manager that swallows some exceptions.
WITHIN = """
class Within:
    def __init__(self, *swallowed):
        self.swallowed = swallowed
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        told.append(kind)
        return kind is not None and issubclass(kind, self.swallowed)
"""

# A generator that cleans up.
NUMBERS = """
def numbers(n):
    try:
        for i in range(n):
            yield i
    finally:
        told.append("closed")
"""
