"""Plots of what `powervisor calibrate` prints: the model's figures beside the published ones, and curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from powervisor.page.plot import Plot, bars, colour, short

if TYPE_CHECKING:
    from collections.abc import Iterator


def plots(contents: dict[str, Any], name: str) -> Iterator[Plot]:
    """Plot the figures of one calibration."""
    rows = pd.DataFrame(contents["rows"])
    choices = {f"group {group}": _rows(lines) for group, lines in rows.groupby("group")}
    note = "The model's figure as a part of the published one, with a whisker from one end of the guesses to the other."
    yield Plot(f"{name}: the model and what is published", note, choices)
    curves = {curve["name"]: _curve(curve) for curve in contents.get("curves", [])}
    if curves:
        yield Plot(f"{name}: curves", "In cycles; whiskers are the guesses at their ends.", curves)


def _rows(rows: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    for index, (role, lines) in enumerate(rows.groupby("role")):
        ratio = lines["model"] / lines["published"]
        figure.add_scatter(
            mode="markers",
            name=str(role),
            y=lines["name"].map(short),
            x=ratio,
            marker={"color": colour(index), "size": 9, "symbol": ["circle" if met else "x" for met in lines["is_met"]]},
            error_x={
                "symmetric": False,
                "array": (lines["high"] - lines["model"]) / lines["published"],
                "arrayminus": (lines["model"] - lines["low"]) / lines["published"],
            },
            customdata=lines[["name", "model", "published", "unit", "source"]],
            hovertemplate="%{customdata[0]}: %{customdata[1]:.2f}, published %{customdata[2]} %{customdata[3]}"
            "<br>%{customdata[4]}<extra></extra>",
        )
    figure.add_vline(x=1, line={"dash": "dot", "color": "#8c8c8c"})
    figure.update_layout(bars(len(rows)))
    figure.update_xaxes(title="model / published; a cross misses its tolerance", rangemode="normal")
    return figure


def _curve(curve: dict[str, Any]) -> go.Figure:
    figure = go.Figure()
    for index, series in enumerate(curve["series"]):
        points = pd.DataFrame(series["points"])
        figure.add_scatter(
            mode="lines+markers",
            name=series["name"],
            x=points["at"],
            y=points["cycles"],
            line_color=colour(index),
            error_y={
                "symmetric": False,
                "array": points["high"] - points["cycles"],
                "arrayminus": points["cycles"] - points["low"],
            },
        )
    is_wide = points["at"].min() > 0 and points["at"].max() > 50 * points["at"].min()
    figure.update_layout(
        height=420,
        xaxis={"title": curve["by"], "type": "log" if is_wide else "linear", "automargin": True},
        yaxis={"title": "cycles", "rangemode": "tozero", "automargin": True},
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0},
    )
    return figure
