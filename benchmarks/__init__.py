"""Measurements of the real paths; each module runs as `python -m benchmarks.NAME [--json]`."""
