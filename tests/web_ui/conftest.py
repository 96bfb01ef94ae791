"""A table with its pages for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from web_house import House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A table of three that no referee has claimed yet."""
    made = House(tmp_path)
    yield made
    made.close()
