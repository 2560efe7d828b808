"""What the translator decided for a snippet: counters, breaks, graphs, guards, rewritten code.

All of it is text that does not change from one process to the next: StatementIRs and continuations are numbered in the order
in which the reports show them, the layers of each graph in its own.
"""

import re

import sot

COUNTERS = ("captures", "graphs", "breaks", "fallbacks", "hits", "misses", "continuations", "frames", "graph_failures")
NAME = re.compile(r"\b(SIR_|__resume_fn_|layer_)(\d+)\b")


class Explained:
    """Stands for a callable; everything but a call goes to the callable itself."""

    def __init__(self, decisions, target):
        own = {"_decisions": decisions, "_target": target, "_explain": sot.explain(target)}
        self.__dict__.update(own)

    def __call__(self, *args, **kwargs):
        report = self._explain(*args, **kwargs)
        self._decisions.record(report)
        return report.result

    def __getattr__(self, name):
        return getattr(self._target, name)

    def __setattr__(self, name, value):
        setattr(self._target, name, value)


# Where it is called from captured code, the report must not be about it.
sot.disable(Explained.__call__)


class Decisions:
    """Gathers the reports of a run in which each call is explained."""

    def __init__(self, file):
        self.file = file
        self.breaks, self.sir, self.guards, self.code = [], [], [], []
        self.numbers = {}

    def explained(self, target):
        """What stands for the target and records a report of each call."""
        return Explained(self, target)

    def record(self, report):
        for b in report.breaks:
            where = f"{b.line}" if b.file == self.file else b.file.rsplit("/", 1)[-1] or "-"
            line = f"{'fallback ' if b.fallback else ''}{b.code} {where}"
            add(self.breaks, line)
        for graph in report.graphs:
            add(self.sir, self.stable(graph.sir))
        for guard in report.guards:
            add(self.guards, self.stable(guard))
        for listing in f"{report.code}\n\n{report.resume_functions}".split("\n\n"):
            if listing.strip():
                add(self.code, self.stable(listing.strip("\n")))

    def stable(self, text):
        # A number of a layer is one of its capture.
        self.numbers.pop("layer_", None)
        return NAME.sub(self.renumber, text)

    def renumber(self, match):
        kind, number = match.groups()
        known = self.numbers.setdefault(kind, {})
        return f"{kind}{known.setdefault(number, len(known))}"

    def as_dict(self):
        return {"breaks": self.breaks, "sir": self.sir, "guards": self.guards, "code": self.code}


def add(lines, line):
    if line not in lines:
        lines.append(line)


def counters():
    stats = sot.stats()
    return {name: stats[name] for name in COUNTERS if name in stats}
