"""The two networks that were trained for dice: one finds top faces, one says what a cut face shows.

Both are ours (see `vision/models/README.md`) and run by onnxruntime on the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from vision.dice.finding import Spot
from vision.frame import Frame

Floats = NDArray[np.float32]

MODELS = resources.files("vision") / "models"
NOTHING, OTHER, COCKED = 0, 7, 8
"""Classes beside the values 1 to 6: no face, a face of another kind of die, a die that leans."""

_CLASSES = 9
_STRIDE = 4
_MULTIPLE = 16
_THREADS = 2
_LONG_SIDE_PX = 640
_FINE_LONG_SIDE_PX = 1280
_LEVELS = (1.0, 1 / 3, 1 / 9)
_BELIEVED_PX = (9.0, 90.0)  # edges that the finder is believed; it was taught those of 11 to 76
_TINY_PX = 12.0  # where faces are smaller at the usual size, a finer look pays
_LEAST_SCORE = 0.2
_APART = 0.55  # two faces of one size nearer than this share of the larger edge: one of them is not there
_ONE_SIZE = 1.7  # the pip of a large die may look like a small die; which it is, the classifier tells


def session(file: Path) -> ort.InferenceSession:
    """A network's file, opened for the processor."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])


class FaceFinder:
    """Finds the top faces of dice of any kind, from 10 px up to a third of the picture."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: where finder.onnx lies, by default in the package."""
        self._session = session(Path(str((folder or MODELS) / "finder.onnx")))

    def find(self, frame: Frame, side_px: float | None = None) -> tuple[Spot, ...]:
        """The faces in `frame`, surest first. `side_px`: their edge where known; others are then left out."""
        long_side = max(frame.shape[:2])
        usual = min(1.0, _LONG_SIDE_PX / long_side)
        spots = [spot for level in _LEVELS for spot in self.look(frame, usual * level)]
        best = _apart(spots)
        sides = [spot.side_px * usual for spot in best if spot.score > 0.5]
        fine = min(1.0, _FINE_LONG_SIDE_PX / long_side)
        if fine > 1.3 * usual and (not sides or float(np.median(sides)) < _TINY_PX):
            best = _apart(spots + self.look(frame, fine))
        if side_px:
            best = [spot for spot in best if 0.6 < spot.side_px / side_px < 1.6]
        return tuple(best)

    def look(self, frame: Frame, scale: float) -> list[Spot]:
        """The faces that one look sees, `frame` being shrunk to `scale` first; one face may be told twice."""
        rows, columns = (max(_MULTIPLE, round(side * scale)) for side in frame.shape[:2])
        small = cv2.resize(frame, (columns, rows), interpolation=cv2.INTER_AREA)
        down, right = -rows % _MULTIPLE, -columns % _MULTIPLE
        mean = [float(v) for v in small.mean((0, 1))]
        padded = np.asarray(
            cv2.copyMakeBorder(small, 0, down, 0, right, cv2.BORDER_CONSTANT, value=mean), np.uint8
        )
        (seen,) = self._session.run(None, {"picture": planes(padded[None])})
        heat = 1 / (1 + np.exp(-seen[0, 0]))
        peak = (heat == cv2.dilate(heat, np.ones((3, 3), np.uint8))) & (heat > _LEAST_SCORE)
        spots = []
        for row, column in np.argwhere(peak):
            side = _STRIDE * float(np.exp(np.clip(seen[0, 1, row, column], -1, 5)))
            x = _STRIDE * (column + 0.5 + float(seen[0, 2, row, column]))
            y = _STRIDE * (row + 0.5 + float(seen[0, 3, row, column]))
            if _BELIEVED_PX[0] <= side <= _BELIEVED_PX[1] and 0 <= x < columns and 0 <= y < rows:
                spots.append(Spot(x / scale, y / scale, side / scale, float(heat[row, column])))
        return spots


class FaceClassifier:
    """Says what cut faces show."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: where classifier.onnx lies, by default in the package."""
        self._session = session(Path(str((folder or MODELS) / "classifier.onnx")))

    def logs(self, faces: Sequence[Frame]) -> Floats:
        """The log-probabilities of `look` alone."""
        return self.look(faces)[0]

    def look(self, faces: Sequence[Frame]) -> tuple[Floats, Floats]:
        """What n faces as `pips.cut` makes show, and where the face in each really lies.

        Log-probabilities (n, 9) of NOTHING, the values 1 to 6, OTHER, COCKED; and moves (n, 3): x and y from the
        cut's middle to the face's, and the log of its edge, all against the edge that was cut for.
        """
        if not faces:
            return np.zeros((0, _CLASSES), np.float32), np.zeros((0, 3), np.float32)
        (seen,) = self._session.run(None, {"picture": planes(np.stack(faces))})
        names, moves = seen[:, :_CLASSES], seen[:, _CLASSES:]
        top = names.max(1, keepdims=True)
        logs = names - top - np.log(np.exp(names - top).sum(1, keepdims=True))
        return np.asarray(logs, np.float32), np.asarray(moves, np.float32)


def planes(pictures: NDArray[np.uint8]) -> Floats:
    """(n, rows, columns, 3) uint8 as (n, 3, rows, columns) of -0.5 to 0.5."""
    return np.asarray(pictures.transpose(0, 3, 1, 2), np.float32) / np.float32(255) - np.float32(0.5)


def _apart(spots: Sequence[Spot]) -> list[Spot]:
    """The surest of those that claim the same place with like sizes, surest first."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda s: -s.score):
        if not any(_is_same(spot, other) for other in kept):
            kept.append(spot)
    return kept


def _is_same(one: Spot, other: Spot) -> bool:
    small, large = sorted((one.side_px, other.side_px))
    distance = float(np.hypot(one.x_px - other.x_px, one.y_px - other.y_px))
    return large < _ONE_SIZE * small and distance < _APART * large
