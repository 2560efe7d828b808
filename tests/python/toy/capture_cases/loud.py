"""Values whose `__hash__` and `__eq__` are code of the program: they write down what they are asked, and say it where they are loud."""

import dataclasses


def speak(value):
    print("speak", value)
    return value


class Key:
    """Some are equal that were made apart."""

    def __init__(self, log, n, loud=""):
        self.log, self.n, self.loud = log, n, loud

    def __hash__(self):
        self.log.append(("hash", self.n))
        if "hash" in self.loud:
            speak(self.n)
        return self.n % 4

    def __eq__(self, other):
        self.log.append(("eq", self.n, getattr(other, "n", other)))
        if "eq" in self.loud:
            speak(-self.n)
        if not isinstance(other, Key):
            return NotImplemented
        return self.n == other.n

    def __repr__(self):
        return f"Key({self.n})"


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0
