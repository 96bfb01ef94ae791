"""The sheet of four corner markers, as a PDF in exact millimetres."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.sheet import Page, pdf
from vision.surface import FAMILIES, PLACES

_QUIET_MM = 8.0  # white around a marker; the finder needs one module of it
_STEPS = (
    "1. Print at 100 % (no fit to page). The bar below must measure 100 mm; if it does not, print again.",
    "2. Cut along the dashed lines. Keep the white edge around each black square.",
    "3. Lay or tape them flat in the corners of the part of the table that the camera shall watch:",
    "    0 top left, 1 top right, 2 bottom right, 3 bottom left, as the camera's picture shows them.",
    "    They need not lie exactly straight. Between them the table is measured by itself.",
    "4. If one is covered for a moment, play goes on. If the camera is pushed, it finds itself again.",
)


def marker_sheet(marker_mm: float = 40.0, family: str = "apriltag") -> bytes:
    """An A4 page as PDF: the four markers with their places, cutting lines, a bar to check the printer's
    scale and what to do. `marker_mm`: side of a black square, 20 to 60. Raises ValueError for another size
    or family."""
    if not 20.0 <= marker_mm <= 60.0:
        raise ValueError(f"a marker of {marker_mm:g} mm does not fit: choose 20 to 60 mm")
    if family not in FAMILIES:
        raise ValueError(f"unknown marker family {family}: choose one of {', '.join(FAMILIES)}")
    page = Page()
    page.text(20, 18, "Table markers", 16)
    page.text(20, 25, f"{family}, {marker_mm:g} mm", 9)
    piece = marker_mm + 2 * _QUIET_MM
    for i, place in enumerate(PLACES):
        x, y = 20 + (i % 2) * (piece + 12), 32 + (i // 2) * (piece + 14)
        page.dashed(x, y, piece, piece + 6)
        _draw_marker(page, (x + _QUIET_MM, y + _QUIET_MM), marker_mm, marker_modules(i, family))
        page.text(x + _QUIET_MM, y + piece + 2, f"{i}  {place}", 10)
    below = 32 + 2 * (piece + 14) + 8
    page.rectangle(20, below, 100, 2)
    page.text(124, below + 2.5, "100 mm", 9)
    for n, line in enumerate(_STEPS):
        page.text(20, below + 12 + 6 * n, line, 9)
    return pdf([page])


def marker_modules(marker: int, family: str = "apriltag") -> NDArray[np.bool_]:
    """The marker's black modules as bool (rows, columns), True is black, the black border included."""
    dictionary = cv2.aruco.getPredefinedDictionary(FAMILIES[family])
    count = dictionary.markerSize + 2
    return np.asarray(cv2.aruco.generateImageMarker(dictionary, marker, count) == 0)


def _draw_marker(page: Page, at_mm: tuple[float, float], side: float, modules: NDArray[np.bool_]) -> None:
    x, y = at_mm
    step = side / len(modules)
    for row, line in enumerate(modules):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
        for first, end in zip(edges[::2], edges[1::2], strict=True):
            # A hair taller than the module, lest a printer leaves white lines between the rows.
            more = 0.05 if row + 1 < len(modules) and modules[row + 1, first:end].all() else 0.0
            page.rectangle(x + first * step, y + row * step, (end - first) * step, step + more)
