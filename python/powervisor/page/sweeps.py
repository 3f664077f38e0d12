"""Plots of a sweep: figures by the values of its grid, and which guess moves which figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from powervisor.page.plot import Plot, bars, colour
from powervisor.sweep.sensitivity import FIGURE, sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

#: Columns of a sweep's results that are no value of a machine.
FIXED = {"key", "experiment", "variant", "seed", "guess", "end", "metric", "value", "low", "high", "unit", "published"}
#: Guesses in a tornado plot.
LARGEST = 15


def plots(table: pd.DataFrame, name: str) -> Iterator[Plot]:
    """Plot the results of one sweep."""
    guesses = set(table["guess"].dropna())
    axes = [column for column in table.columns if column not in FIXED and column not in guesses]
    table = table.fillna({"variant": ""})
    is_drawn = bool(guesses)
    for axis in axes:
        choices = {
            f"{experiment}, {metric}": _curve(lines, axis, [other for other in axes if other != axis])
            for (experiment, metric), lines in table.groupby(["experiment", "metric"], sort=False)
            if lines["value"].min() < lines["value"].max()
        }
        is_drawn |= bool(choices)
        if choices:
            yield Plot(f"{name}: by {axis}", "A line for each variant, and for each point of the rest of the grid.", choices)
    if not is_drawn:
        # What no value of the grid moves, or where there is none.
        choices = {
            f"{experiment}, {metric}": _bars(lines)
            for (experiment, metric), lines in table.groupby(["experiment", "metric"], sort=False)
        }
        yield Plot(f"{name}: figures", "A bar for each run, with a whisker from one end of the guesses to the other.", choices)
    if guesses:
        moves = sensitivity(table)
        choices = {
            ", ".join(str(part) for part in key if part): _tornado(lines) for key, lines in moves.groupby(FIGURE, sort=False)
        }
        note = (
            "The figure with each guess at its low and at its high end; dotted lines are what others published. "
            "A figure that no guess moves is not here."
        )
        if choices:
            yield Plot(f"{name}: which guess matters", note, choices)


def _bars(table: pd.DataFrame) -> go.Figure:
    has_seeds = table["seed"].min() < table["seed"].max()
    axes = [column for column in table.columns if column not in FIXED]
    words = [
        ", ".join(
            [str(line["variant"]) or "all"]
            + ([f"seed {line['seed']}"] if has_seeds else [])
            + [f"{axis.rsplit('.', 1)[-1]} {line[axis]:g}" for axis in axes]
        )
        for _, line in table.iterrows()
    ]
    unit = table["unit"].iloc[0]
    figure = go.Figure(
        go.Bar(
            orientation="h",
            y=words,
            x=table["value"],
            marker_color=colour(0),
            error_x={
                "symmetric": False,
                "array": table["high"] - table["value"],
                "arrayminus": table["value"] - table["low"],
                "color": colour(1),
            },
            hovertemplate=f"%{{y}}: %{{x:.2f}} {unit}<extra></extra>",
        )
    )
    figure.update_layout(bars(len(table)))
    figure.update_xaxes(title=unit)
    return figure


def _curve(table: pd.DataFrame, axis: str, others: list[str]) -> go.Figure:
    figure = go.Figure()
    has_seeds = table["seed"].min() < table["seed"].max()
    by = ["variant", "seed", *others]
    for index, (key, lines) in enumerate(table.groupby(by, sort=False)):
        points = lines.sort_values(axis)
        known = [f"{name} {value:g}" for name, value in zip(by[2:], key[2:], strict=True)]
        seed = [f"seed {key[1]}"] if has_seeds else []
        figure.add_scatter(
            mode="lines+markers",
            name=", ".join([str(key[0]), *seed, *(text.rsplit(".", 1)[-1] for text in known)]),
            x=points[axis],
            y=points["value"],
            line_color=colour(index),
            error_y={
                "symmetric": False,
                "array": points["high"] - points["value"],
                "arrayminus": points["value"] - points["low"],
            },
        )
    figure.update_layout(
        height=440,
        xaxis={"title": axis, "automargin": True},
        yaxis={"title": table["unit"].iloc[0], "automargin": True},
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0},
    )
    return figure


def _tornado(moves: pd.DataFrame) -> go.Figure:
    moves = moves.head(LARGEST)
    figure = go.Figure()
    for index, end in enumerate(["low", "high"]):
        figure.add_bar(
            orientation="h",
            name=f"guess at its {end} end",
            y=moves["guess"].str.removeprefix("timing."),
            base=moves["value"],
            x=moves[end] - moves["value"],
            marker_color=colour(index),
            customdata=moves[end],
            hovertemplate="%{y}: %{customdata:.2f}<extra></extra>",
        )
    figure.update_layout(bars(len(moves) + 2))
    first = moves.iloc[0]
    figure.add_vline(x=first["value"], line={"color": "#8c8c8c"})
    for published in first["published"]:
        # Far away it would make all bars one line.
        if 0 < published < 3 * max(moves["high"].max(), moves["low"].max()):
            figure.add_vline(x=published, line={"dash": "dot", "color": colour(3)})
    figure.update_xaxes(title=first["unit"], rangemode="normal")
    return figure
