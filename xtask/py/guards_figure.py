"""Draws the growths that `cargo xtask bench guards` has measured: `guards_figure.py guards.json guards.svg`."""

import json
import statistics
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402


def middles(times):
    """Medians of lists of nanoseconds, and their quartiles, in microseconds."""
    quartiles = [statistics.quantiles(of_one, n=4, method="inclusive") for of_one in times]
    return [[q[at] / 1e3 for q in quartiles] for at in (1, 0, 2)]


def line(panel, counts, times, name, **style):
    median, low, high = middles(times)
    drawn = panel.plot(counts, median, marker="o", markersize=3.5, label=name, **style)[0]
    panel.fill_between(counts, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)
    return drawn


def plainly(axis):
    axis.set_major_formatter(FuncFormatter(lambda value, at: f"{value:,.10g}"))


def entries(panel, found):
    for name, times in found["series"].items():
        line(panel, found["counts"], times, name)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(found["counts"])
    panel.set(title="Growth with entries", xlabel="entries in the cache", ylabel="one call (µs)")
    panel.legend(title="entry that is met", frameon=False)


def facts(panel, series):
    for found in series:
        drawn = line(panel, found["counts"], found["captured"], found["name"])
        if "," not in found["name"]:
            plain = middles(found["eager"])[0]
            label = f"{found['name']}, as plain Python"
            panel.plot(found["counts"], plain, "--", linewidth=1, color=drawn.get_color(), label=label)
    panel.set(xscale="log", yscale="log")
    panel.set(title="Growth with facts", xlabel="facts that the function relies on", ylabel="one call (µs)")
    panel.legend(frameon=False, fontsize="small")


def main(samples, figure):
    """The format is that of the figure's name."""
    with open(samples, encoding="utf-8") as file:
        results = json.load(file)
    # Text stays text, and the same samples give the same file.
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sot", "font.size": 10})
    drawing, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    if results["entries"]["error"] is None:
        entries(left, results["entries"])
    facts(right, [found for found in results["facts"] if found["error"] is None])
    for panel in (left, right):
        panel.grid(which="major", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
        plainly(panel.xaxis)
        plainly(panel.yaxis)
    about = ", ".join(f"{what} {which}" for what, which in results["about"].items())
    drawing.suptitle(f"Calls that check guards and do nothing else: medians and quartiles of {results['rounds']} rounds\n{about}")
    drawing.savefig(figure, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
