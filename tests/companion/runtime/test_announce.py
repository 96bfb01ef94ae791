"""The announcement queue: numbered, kept, and never the same text twice in a row in anybody's ear."""

from __future__ import annotations

import threading
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from companion.core.cue import Cue
from companion.runtime.announce import Announcer
from companion.runtime.desk import Announcement

TARGETS = ("all", "referee", "public", "s1", "s2")


def cue(text: str, target: str = "all") -> Cue:
    return Cue(target=target, pattern="notice", text=text)


def test_numbers_from_one_in_order() -> None:
    announcer = Announcer()
    made = announcer.say([cue("a"), cue("b")])
    assert [(a.id, a.cue.text) for a in made] == [(1, "a"), (2, "b")]
    assert announcer.after(0) == made
    assert announcer.after(1) == made[1:]


def test_the_same_text_again_can_be_told_apart() -> None:
    announcer = Announcer()
    said = announcer.say([cue("rolled 3, 3")] * 3 + [cue("other"), cue("rolled 3, 3")])
    assert [a.cue.text for a in said] == [
        "rolled 3, 3", "again: rolled 3, 3", "again (3): rolled 3, 3", "other", "rolled 3, 3",
    ]  # fmt: skip


def test_what_all_heard_is_not_said_again_to_one() -> None:
    announcer = Announcer()
    said = announcer.say([cue("Stop"), cue("Stop", "s1"), cue("Stop", "s2")])
    assert [a.cue.text for a in said] == ["Stop", "again: Stop", "again: Stop"]


@given(st.lists(st.tuples(st.sampled_from(TARGETS), st.sampled_from(["x", "again: x", "again (3): x", "y"]))))
def test_nobody_hears_the_same_twice_in_a_row(cues: list[tuple[str, str]]) -> None:
    announcer = Announcer()
    said = announcer.say(cue(text, target) for target, text in cues)
    for listener in TARGETS[1:]:
        heard = [a.cue.text for a in said if a.cue.target in ("all", listener)]
        assert all(one != two for one, two in pairwise(heard))
    assert all(text in a.cue.text for a, (_, text) in zip(said, cues, strict=True))


def test_at_least_200_are_kept_and_not_all() -> None:
    announcer = Announcer()
    announcer.say(cue(str(n)) for n in range(1000))
    kept = announcer.after(0)
    assert 200 <= len(kept) < 1000
    assert kept[-1].id == 1000


def test_a_page_from_before_a_restart_gets_all_that_is_kept() -> None:
    announcer = Announcer()
    made = announcer.say([cue("a"), cue("b")])
    assert announcer.after(57) == made


def test_outputs_hear_each_until_they_stop() -> None:
    announcer = Announcer()
    heard: list[Announcement] = []
    stop = announcer.subscribe(heard.append)
    announcer.say([cue("a")])
    stop()
    stop()
    announcer.say([cue("b")])
    assert [a.cue.text for a in heard] == ["a"]


def test_numbers_stay_unique_from_many_threads() -> None:
    announcer = Announcer()
    threads = [
        threading.Thread(target=lambda: [announcer.say([cue(f"{n}")]) for n in range(50)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [a.id for a in announcer.after(0)] == list(range(1, 201))
