"""Pages to print in exact millimetres: a few shapes and words as PDF."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

A4_MM = (210.0, 297.0)
_PT_PER_MM = 72 / 25.4
_ROUND = 0.5523  # of a radius: where a circle's curves are pulled to
Ink = tuple[float, float, float]
"""Red, green, blue, each 0 to 1."""
BLACK: Ink = (0.0, 0.0, 0.0)
Point = tuple[float, float]


class Page:
    """Drawing on A4 in mm from the page's top left, kept as PDF operators. What is drawn later lies on top."""

    def __init__(self) -> None:
        """An empty page."""
        self._operators: list[str] = []

    def rectangle(self, x: float, y: float, width: float, height: float, ink: Ink = BLACK) -> None:
        """A filled rectangle."""
        left, bottom = x * _PT_PER_MM, (A4_MM[1] - y - height) * _PT_PER_MM
        size = f"{width * _PT_PER_MM:.3f} {height * _PT_PER_MM:.3f}"
        self._operators.append(f"{_ink(ink)} rg")
        self._operators.append(f"{left:.3f} {bottom:.3f} {size} re f")

    def dashed(self, x: float, y: float, width: float, height: float) -> None:
        """A dashed outline, to cut along."""
        left, bottom = x * _PT_PER_MM, (A4_MM[1] - y - height) * _PT_PER_MM
        size = f"{width * _PT_PER_MM:.3f} {height * _PT_PER_MM:.3f}"
        self._operators.append(f"q [4 3] 0 d 0.4 w {left:.3f} {bottom:.3f} {size} re S Q")

    def polygon(
        self,
        corners: Sequence[Point],
        *,
        fill: Ink | None = None,
        line: Ink | None = None,
        line_mm: float = 0.5,
    ) -> None:
        """A closed shape, filled or outlined or both."""
        path = " ".join(f"{_at(corner)} {'l' if n else 'm'}" for n, corner in enumerate(corners))
        self._paint(f"{path} h", fill, line, line_mm)

    def circle(self, middle: Point, radius: float, *, fill: Ink) -> None:
        """A filled circle."""
        (x, y), pull = middle, radius * _ROUND
        quarters = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 0))
        path = [f"{_at((x + radius, y))} m"]
        for (ax, ay), (bx, by) in pairwise(quarters):
            one = (x + ax * radius + bx * pull, y + ay * radius + by * pull)
            two = (x + bx * radius + ax * pull, y + by * radius + ay * pull)
            path.append(f"{_at(one)} {_at(two)} {_at((x + bx * radius, y + by * radius))} c")
        self._paint(f"{' '.join(path)} h", fill, None, 0.0)

    def line(self, one: Point, other: Point, line_mm: float = 0.2, ink: Ink = BLACK) -> None:
        """A straight line."""
        self._paint(f"{_at(one)} m {_at(other)} l", None, ink, line_mm)

    def text(self, x: float, y: float, words: str, size_pt: float, ink: Ink = BLACK) -> None:
        """Words that begin at x on the line y."""
        safe = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self._operators.append(f"q {_ink(ink)} rg BT /F1 {size_pt:g} Tf {_at((x, y))} Td ({safe}) Tj ET Q")

    def _paint(self, path: str, fill: Ink | None, line: Ink | None, line_mm: float) -> None:
        how = {(True, True): "B", (True, False): "f", (False, True): "S"}[fill is not None, line is not None]
        inks = (f"{_ink(fill)} rg " if fill else "") + (
            f"{_ink(line)} RG {line_mm * _PT_PER_MM:.3f} w 0 j " if line else ""
        )
        self._operators.append(f"q {inks}{path} {how} Q")

    @property
    def content(self) -> bytes:
        """The page's operators."""
        return "\n".join(self._operators).encode("latin-1", "replace")


def pdf(pages: Sequence[Page]) -> bytes:
    """The pages as one PDF file that asks a printer not to scale it."""
    width, height = (side * _PT_PER_MM for side in A4_MM)
    numbers = [4 + 2 * n for n in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode("ascii"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, page in zip(numbers, pages, strict=True):
        content = page.content
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.3f} {height:.3f}] /Contents {number + 1} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode("ascii")
        )
        objects.append(b"<< /Length %d >>\nstream\n" % len(content) + content + b"\nendstream")
    out = bytearray(b"%PDF-1.4\n")
    starts = []
    for n, body in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n" % n + body + b"\nendobj\n"
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % start for start in starts)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(out)


def _at(point: Point) -> str:
    return f"{point[0] * _PT_PER_MM:.3f} {(A4_MM[1] - point[1]) * _PT_PER_MM:.3f}"


def _ink(ink: Ink) -> str:
    return " ".join(f"{share:.3f}" for share in ink)
