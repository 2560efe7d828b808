"""Runs the snippets of one markdown file, eagerly and captured, in this process.

Reads a job from standard input: `{"file": name, "sections": [{"name", "source", "since"}]}`. Writes one JSON object a line to the
file named by the first argument: `{"begin": section}` before and the section's findings after each, so that
whoever reads it knows what a crash interrupted. Standard output belongs to the snippets.
"""

import faulthandler
import json
import os
import platform
import sys
import traceback
import warnings

os.environ.setdefault("GLOG_minloglevel", "3")
# The counts that sections state must not depend on a clock.
os.environ["SOT_MEASURE"] = "0"
warnings.filterwarnings("ignore", message="No ccache found")

import paddle  # noqa: E402,F401
import sot  # noqa: E402
from decisions import Decisions, counters  # noqa: E402
from snippet import run  # noqa: E402

LIMIT_SECONDS = 60


def section(source, file):
    """Findings of one snippet."""
    eager = run(source, file, lambda target: target, captured=False)
    sot.reset()
    captured = run(source, file, sot.to_static, captured=True)
    stats = counters()
    mismatches = []
    for i, (left, right) in enumerate(zip(eager, captured)):
        mismatches += [f"call {i}: {text}" for text in left.differences(right)]
    sot.reset()
    decisions = Decisions(file)
    run(source, file, decisions.explained, captured=True)
    raised = [seen.facts["raised"] for seen in eager]
    return {"mismatches": mismatches, "stats": stats, "raised": raised, **decisions.as_dict()}


def main():
    faulthandler.enable()
    job = json.load(sys.stdin)
    with open(sys.argv[1], "a", encoding="utf-8") as out:

        def emit(**line):
            out.write(json.dumps(line) + "\n")
            out.flush()

        emit(python=platform.python_version(), release=paddle.__version__)
        for task in job["sections"]:
            name, source = task["name"], task["source"]
            emit(begin=name)
            if task["since"] and sys.version_info[:2] < tuple(map(int, task["since"].split("."))):
                emit(end=name, too_old=True)
                continue
            faulthandler.dump_traceback_later(LIMIT_SECONDS, exit=True)
            file = f"{job['file']}/{name.replace(' ', '-')}.py"
            try:
                emit(end=name, **section(source, file))
            except Exception:
                emit(end=name, error=traceback.format_exc())
            faulthandler.cancel_dump_traceback_later()


main()
