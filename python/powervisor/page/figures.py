"""Plots of an experiment's figures: beside the published ones, and in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from powervisor.page.plot import Plot, bars, colour, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from powervisor.report import Report


def plots(report: Report, name: str) -> Iterator[Plot]:
    """Plot the figures of one report."""
    if report.contents.get("rows"):
        yield Plot(f"{name}: figures", _NOTE, _by_metric(report))
    if isinstance(report.contents.get("steps"), dict):
        yield _steps(report, name)


_NOTE = "Each variant, with a whisker from one end of the guesses to the other; lines are what others published."


def _by_metric(report: Report) -> dict[str, go.Figure]:
    choices = {}
    for metric, rows in report.figures.groupby("metric", sort=False):
        unit = rows["unit"].iloc[0]
        ends = rows.dropna(subset=["low", "high"])
        figure = go.Figure(
            go.Bar(
                orientation="h",
                name="ours",
                y=rows["variant"],
                x=rows["value"],
                marker_color=colour(0),
                hovertemplate=f"%{{y}}: %{{x:.2f}} {unit}<extra></extra>",
            )
        )
        if len(ends):
            figure.add_scatter(
                mode="markers",
                name="guesses at their ends",
                y=ends["variant"],
                x=ends["value"],
                marker={"symbol": "line-ns", "size": 1, "color": colour(1)},
                error_x={
                    "symmetric": False,
                    "array": ends["high"] - ends["value"],
                    "arrayminus": ends["value"] - ends["low"],
                    "color": colour(1),
                },
                customdata=ends[["low", "high"]],
                hovertemplate=f"%{{y}}: %{{customdata[0]:.2f}} to %{{customdata[1]:.2f}} {unit}<extra></extra>",
            )
        published = report.published
        of_metric = published[published["metric"] == metric].drop_duplicates(["value", "what", "source"])
        edges = [rows["variant"].iloc[0], rows["variant"].iloc[-1]]
        for index, line in enumerate(of_metric.itertuples()):
            figure.add_scatter(
                mode="lines+markers",
                name=f"{line.value:g}: {short(str(line.what))}",
                x=[line.value, line.value],
                y=edges,
                line={"color": colour(index + 2), "dash": "dot"},
                hovertemplate=f"{line.value:g} {unit}: {line.what} ({line.source})<extra></extra>",
            )
        figure.update_layout(bars(len(rows) + len(of_metric)))
        figure.update_xaxes(title=unit)
        choices[str(metric)] = figure
    return choices


def _steps(report: Report, name: str) -> Plot:
    saved = report.contents["steps"]
    steps = saved["steps"]
    figure = go.Figure()
    ours = [saved["before"], *(step["total"] for step in steps)]
    published = [saved["published_before"], *(step["published_total"] for step in steps)]
    words = [saved["from"], *(step["step"] for step in steps)]
    what = ["before the first step", *(step["what"] for step in steps)]
    for index, (whose, values) in enumerate({"ours": ours, "published": published}.items()):
        figure.add_scatter(
            mode="lines+markers",
            name=whose,
            x=words,
            y=values,
            line={"color": colour(index), "shape": "hv"},
            connectgaps=True,
            customdata=what,
            hovertemplate="%{customdata}: %{y:.0f} cycles<extra></extra>",
        )
    figure.update_layout(
        height=480,
        yaxis={"title": "cycles", "rangemode": "tozero", "automargin": True},
        xaxis={"automargin": True},
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0},
    )
    return Plot(f"{name}: steps", f"What is left after each step; published by {saved['source']}.", {"cycles": figure})
