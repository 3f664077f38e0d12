"""Plots of where the cycles went, and of what became dearer or cheaper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go

from powervisor.page.plot import Plot, bars, colour, short
from powervisor.report import Report, diff

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Changes that are shown.
LARGEST = 20
#: Causes in the bars; the others are one part.
CAUSES = 7
#: The least part of a ledger that has a place of its own in its flame graph.
LEAST = 0.001


def plots(report: Report, name: str) -> Iterator[Plot]:
    """Plot the ledgers of one report."""
    ledger = report.ledger
    if len(ledger):
        per = report.contents.get("per")
        unit = f"cycles per {per}" if per else "cycles"
        yield Plot(
            f"{name}: causes", f"What each variant waited for, in {unit} of all hardware threads.", {unit: _bars(ledger, unit)}
        )
        choices = {str(variant): _flame(lines, unit) for variant, lines in ledger.groupby("variant", sort=False)}
        note = f"Who spent the {unit}, in which function, at which instruction, and why. Choose a part to see it larger."
        yield Plot(f"{name}: flame graph", note, choices)


def differences(before: Report, after: Report, names: tuple[str, str]) -> Iterator[Plot]:
    """Plot what became dearer or cheaper from one report of an experiment to another one."""
    changes = diff(before, after)
    choices = {str(variant): _changes(lines.head(LARGEST)) for variant, lines in changes.groupby("variant", sort=False)}
    if choices:
        note = f"What became dearer or cheaper by function and cause, in thread-cycles of the region; the {LARGEST} largest."
        yield Plot(f"{names[0]} to {names[1]}: differences", note, choices)


def _bars(ledger: pd.DataFrame, unit: str) -> go.Figure:
    sums = ledger.pivot_table("cycles_each", "variant", "cause", "sum", fill_value=0, sort=False)
    order = sums.sum().sort_values(ascending=False).index
    shown = sums[list(order[:CAUSES])]
    if len(order) > CAUSES:
        shown = shown.assign(**{f"{len(order) - CAUSES} more": sums[list(order[CAUSES:])].sum(axis=1)})
    figure = go.Figure(
        [
            go.Bar(
                orientation="h",
                name=str(cause),
                y=shown.index,
                x=shown[cause],
                marker_color=colour(index),
                hovertemplate=f"%{{y}}, {cause}: %{{x:.2f}} {unit}<extra></extra>",
            )
            for index, cause in enumerate(shown.columns)
        ]
    )
    figure.update_layout(bars(len(shown) + 3) | {"barmode": "stack"})
    figure.update_xaxes(title=unit)
    return figure


def _flame(ledger: pd.DataFrame, unit: str) -> go.Figure:
    places = ledger.assign(place=[f"+{line.offset:#x} {line.instruction}" for line in ledger.itertuples()])
    levels = ["owner", "function", "place", "cause"]
    whole = places["cycles_each"].sum()
    places["group"] = places["cause"].str.split(".").str[0]
    groups = {group: colour(index) for index, group in enumerate(sorted(places["group"].unique()))}
    # The identity of a part is its path from the root, whose own is empty.
    parts = [("", "", unit, whole, "#9a9a9a")]
    for depth in range(1, len(levels) + 1):
        path = levels[:depth]
        sums = places.groupby([*path, "group"], sort=False)["cycles_each"].sum().sort_values(ascending=False).reset_index()
        # A part has the colour of the group of causes that has most of it.
        largest = dict(sums.drop_duplicates(path).set_index(path)["group"].items())
        for key, cycles in sums.groupby(path, sort=False)["cycles_each"].sum().items():
            names = [str(name) for name in (key if isinstance(key, tuple) else (key,))]
            if cycles >= LEAST * whole:
                parts.append(("\t".join(names), "\t".join(names[:-1]), names[-1], cycles, groups[largest[key]]))
    identities, parents, labels, values, colours = zip(*parts, strict=True)
    root = "all"
    figure = go.Figure(
        go.Icicle(
            ids=[identity or root for identity in identities],
            parents=["" if not identity else parent or root for identity, parent in zip(identities, parents, strict=True)],
            labels=labels,
            values=values,
            branchvalues="total",
            marker_colors=colours,
            tiling={"orientation": "v", "flip": "y"},
            pathbar={"visible": False},
            hovertemplate="%{label}<br>%{value:.2f} " + unit + ", %{percentRoot:.1%}<extra></extra>",
            maxdepth=5,
        )
    )
    figure.update_layout(height=420, margin={"l": 4, "r": 4, "t": 4, "b": 4})
    return figure


def _changes(changes: pd.DataFrame) -> go.Figure:
    names = [short(f"{line.function}: {line.cause}") for line in changes.itertuples()]
    # A name that two lines share is told apart by its place.
    counts = pd.Series(names).groupby(names).cumcount()
    names = [f"{name}{'' if count == 0 else f' ({count + 1})'}" for name, count in zip(names, counts, strict=True)]
    dearer = changes["change"] > 0
    figure = go.Figure(
        go.Bar(
            orientation="h",
            y=names,
            x=changes["change"],
            marker_color=[colour(5) if is_dearer else colour(2) for is_dearer in dearer],
            customdata=changes[["owner", "before", "after"]],
            hovertemplate="%{customdata[0]}: %{customdata[1]} to %{customdata[2]}, %{x:+d}<extra></extra>",
        )
    )
    figure.update_layout(bars(len(changes)))
    figure.update_xaxes(title="thread-cycles more")
    return figure
