"""Measurements of the real paths; each module runs as `python -m benchmarks.NAME [--json]`."""

import os

# Linear algebra in one thread, as the cameras' own processes have it; read when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
