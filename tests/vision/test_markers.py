"""The printable sheet: exact millimetres, and markers that the finder knows."""

from __future__ import annotations

import re

import cv2
import numpy as np
import pytest

from vision.markers import marker_modules, marker_sheet
from vision.surface import FAMILIES, find_markers


@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_drawn_modules_are_the_markers_that_are_looked_for(family: str) -> None:
    for marker in range(4):
        ink = marker_modules(marker, family)
        picture = np.where(np.kron(ink, np.ones((14, 14), bool)), 20, 235).astype(np.uint8)
        framed = cv2.copyMakeBorder(picture, 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=235)
        assert list(find_markers(np.asarray(framed, np.uint8), family)) == [marker]


@pytest.mark.parametrize("side_mm", [20.0, 40.0, 60.0])
def test_the_black_squares_measure_what_they_should_and_stay_on_the_page(side_mm: float) -> None:
    page = marker_sheet(side_mm).decode("latin-1")
    boxes = [
        tuple(float(v) for v in m) for m in re.findall(r"([\d.-]+) ([\d.-]+) ([\d.]+) ([\d.]+) re f", page)
    ]
    mm = 25.4 / 72
    assert all(x >= 0 and x + w <= 210 / mm and y >= 0 and y + h <= 297 / mm for x, y, w, h in boxes)
    top_rows = [w * mm for _, _, w, _ in boxes if abs(w * mm - side_mm) < 0.01]
    assert len(top_rows) >= 8  # the first and the last row of each marker's border are black all along
    assert any(abs(w * mm - 100) < 0.01 and abs(h * mm - 2) < 0.01 for _, _, w, h in boxes)


def test_the_sheet_is_a_sound_pdf_that_says_what_to_do() -> None:
    page = marker_sheet()
    assert page.startswith(b"%PDF-1.4") and page.rstrip().endswith(b"%%EOF")
    table = int(page.rsplit(b"startxref\n", 1)[1].split()[0])
    assert page[table : table + 4] == b"xref"
    starts = [int(line[:10]) for line in page[table:].split(b"\n")[3:8]]
    assert all(page[start:].startswith(b"%d 0 obj" % n) for n, start in enumerate(starts, 1))
    for words in (b"0  top left", b"3  bottom left", b"100 %", b"Cut along"):
        assert words in page


def test_sizes_that_do_not_fit_and_unknown_families_are_refused() -> None:
    with pytest.raises(ValueError, match="choose 20 to 60 mm"):
        marker_sheet(90.0)
    with pytest.raises(ValueError, match="unknown marker family"):
        marker_sheet(40.0, "runes")
