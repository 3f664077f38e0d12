"""Which guess moves which figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: What names a figure of a sweep.
FIGURE = ["experiment", "variant", "metric"]


def sensitivity(table: pd.DataFrame) -> pd.DataFrame:
    """Return what each guess does to each figure, of a sweep with ``guesses = "each"``, see ``results``.

    A line per figure and guess that moves it, largest first: the figure with the guess at its ``low`` and at its ``high``
    end, both in ``unit`` and of the first seed, the figure at the values (``value``), and the ``swing`` as a part of that.
    """
    first = table.groupby("experiment")["seed"].transform("min")
    table = table[table["seed"] == first].fillna({"variant": ""})
    base = table[table["guess"].isna()].set_index(FIGURE)
    base = base[~base.index.duplicated()]
    moved = table[table["guess"].notna()]
    ends = moved.pivot_table("value", [*FIGURE, "guess"], "end").reset_index()
    ends = ends.join(base[["value", "unit", "published"]], on=FIGURE)
    for end in ("low", "high"):
        # A guess that is at one of its ends has no run there.
        ends[end] = ends[end].fillna(ends["value"]) if end in ends else ends["value"]
    around = ends[["low", "high", "value"]]
    ends["swing"] = (around.max(axis=1) - around.min(axis=1)) / ends["value"].abs()
    ends = ends[ends["swing"] > 0].sort_values("swing", ascending=False, kind="stable")
    return ends.sort_values(FIGURE, kind="stable", ignore_index=True).rename_axis(columns=None)
