"""A plot of a page, and what all plots share."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Pixels of a line of a bar chart.
LINE = 24
#: What every plot needs above and below its lines, in pixels.
AROUND = 130
#: Colours that can be told apart on light and on dark ground, and by who does not see all colours (Okabe and Ito).
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#8C8C8C"]


@dataclass(frozen=True)
class Plot:
    """Figures of which the reader chooses one, by name; a single one needs no choice."""

    title: str
    #: One sentence: what is shown, and in which unit.
    note: str
    choices: dict[str, go.Figure] = field(default_factory=dict)

    def for_page(self) -> dict[str, Any]:
        """Return what the page's script draws."""
        figures = {name: json.loads(figure.to_json()) for name, figure in self.choices.items()}
        for figure in figures.values():
            # The script gives the colours of the reader's scheme.
            figure["layout"].pop("template", None)
        return {"title": self.title, "note": self.note, "choices": figures}


def colour(index: int) -> str:
    """Return the colour of the series with this index."""
    return COLOURS[index % len(COLOURS)]


def bars(lines: int) -> dict[str, Any]:
    """Return the layout of horizontal bars, so many lines of them, the first on top."""
    return {
        "height": AROUND + LINE * max(lines, 3),
        "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
        "xaxis": {"automargin": True, "rangemode": "tozero"},
        "margin": {"l": 10, "r": 10, "t": 10, "b": 40},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0},
        "barmode": "overlay",
    }


def short(text: str, most: int = 44) -> str:
    """Cut a name in its middle: what tells names apart is at both ends."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"
