"""What a report holds, as it shows itself in an interactive session: texts and lists as they are, but for their `repr`."""

import re

OWNER = re.compile(r"""locals\["[^"]*"\]|globals\[[^\]]*\]|<[^<>]*>""")


class Listing(str):
    """A text of several lines."""

    __slots__ = ()

    def __reduce__(self):
        return str, (str(self),)

    def __repr__(self):
        return str(self)


class Guards(list):
    """Guards as texts. Shown by what they speak of: an argument, the globals of a module, a class."""

    __slots__ = ()

    def __reduce__(self):
        return list, (list(self),)

    def by_owner(self):
        groups = {}
        for guard in self:
            found = OWNER.search(guard)
            groups.setdefault(found.group() if found else "the framework", []).append(guard)
        return groups

    def __repr__(self):
        lines = ["%d guards" % len(self)]
        for owner, guards in self.by_owner().items():
            lines.append(owner)
            lines += ["  " + guard for guard in guards]
        return "\n".join(lines)


class Graphs(list):
    """Graphs, in the order in which they run."""

    __slots__ = ()

    def __repr__(self):
        return "\n".join(str(graph) for graph in self) or "no graphs"


class Breaks(list):
    """Breaks, in the order in which they were found."""

    __slots__ = ()

    def __repr__(self):
        return "\n".join(str(found) for found in self) or "no breaks"
