"""A bridge on real links, and patience with a limit (see `benchmarks.bridge_rig`)."""

from __future__ import annotations

from benchmarks.bridge_rig import Table, bridged, until

__all__ = ["Table", "bridged", "until"]
