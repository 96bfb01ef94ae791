"""Brokers for tests: mosquitto with a configuration of its own, and the mark of tests that need it."""

from __future__ import annotations

import pytest

from benchmarks.brokers import MOSQUITTO, Mosquitto, free_port, mosquitto

__all__ = ["MOSQUITTO", "Mosquitto", "free_port", "mosquitto", "needs_mosquitto"]

needs_mosquitto = pytest.mark.skipif(
    MOSQUITTO is None, reason="NOT RUN: mosquitto is missing; apt-get install mosquitto"
)
