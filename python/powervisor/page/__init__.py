"""A page of results: one HTML file that opens without a network.

``inputs`` says what a file or folder holds, ``figures``, ``ledgers``, ``calibration`` and ``sweeps`` make plots of it, and
``plot`` puts them into the page with Plotly's library.
"""

from powervisor.page.write import write

__all__ = ["write"]
