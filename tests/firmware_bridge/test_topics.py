"""Topic names: strict both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import topics

ids = st.from_regex(r"\A[a-z0-9][a-z0-9-]{0,23}\Z")


@given(ids, ids, st.sampled_from(topics.FROM_DEVICE + topics.TO_DEVICE))
def test_a_topic_comes_back(table: str, device: str, channel: str) -> None:
    assert topics.parse(topics.topic(table, device, channel)) == (table, device, channel)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "tada/1/t/pad1",
        "tada/2/t/pad1/ev",
        "tada/1/t/pad1/ev/x",
        "tada/1/t/Pad1/ev",
        "tada/1/t/+/ev",
        "tada/1/t/pad 1/ev",
        "tada/1/t/pad1/ev\n",
        "tada/1/t/-pad/ev",
        f"tada/1/t/{'x' * 25}/ev",
        "tada/1/t/pad1/$STATE",
        "x/tada/1/t/pad1/ev",
        "tada/1/t/päd/ev",
    ],
)
def test_what_does_not_fit_is_nobodys(name: str) -> None:
    assert topics.parse(name) is None


@given(st.text(max_size=60))
def test_no_text_raises(name: str) -> None:
    topics.parse(name)


def test_bad_names_are_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match="no such topic"):
        topics.topic("t", "a/b", topics.EVENTS)
    with pytest.raises(ValueError, match="table's name"):
        topics.pattern("T", topics.EVENTS)
    with pytest.raises(ValueError, match="table's name"):
        topics.verdict("#")
    assert topics.pattern("t", topics.EVENTS) == "tada/1/t/+/ev"
    assert topics.verdict("t") == "tada/1/t/verdict"
