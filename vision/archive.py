"""Files of arrays that an owner may keep, copy and hand on: written whole, read with suspicion."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]

_EXPANDED = 4  # times the most bytes that a packed file may unpack to


class ArchiveError(ValueError):
    """The file is no archive of arrays, or too large; the text says which."""


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Writes `arrays` as one file; whoever reads it meanwhile sees the old or the new one whole. Raises OSError."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]  # the stub takes the names for allow_pickle
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(packed.getvalue())
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def read_arrays(path: Path, most_bytes: int) -> dict[str, NDArray[Any]]:
    """All arrays of a file that may come from anybody; nothing in it is run. Raises ArchiveError."""
    try:
        if path.stat().st_size > most_bytes:
            raise ArchiveError("too large")
        data = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(part.file_size for part in packed.infolist()) > _EXPANDED * most_bytes:
                raise ArchiveError("too large")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise ArchiveError(error.strerror or str(error)) from error
    except ArchiveError:
        raise
    except Exception as error:  # numpy's and zipfile's own readers give up in a dozen ways
        raise ArchiveError("damaged") from error
    if any(not isinstance(array, np.ndarray) or array.dtype.hasobject for array in arrays.values()):
        raise ArchiveError("damaged")
    return arrays
