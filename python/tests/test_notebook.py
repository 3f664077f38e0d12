"""The notebook of the examples runs to its end."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}})
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.outputs for cell in cells)
    # The last cell shows a table with a line for each value, and cycles that grow with it.
    last = cells[-1].outputs[-1]["data"]["text/plain"].splitlines()[-3:]
    cycles = [float(line.split()[-1]) for line in last]
    assert cycles == sorted(cycles)
    assert cycles[0] < cycles[-1]


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
