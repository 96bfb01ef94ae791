"""A whole table in this program, with a fake box on a line and no camera: what leaves the rooms' doors."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from companion.app.settings import Settings, game_named, shipped_data
from companion.app.wiring import RunningTable, heads_path
from companion.core import command as core
from companion.core.seat import seat_at
from companion.demo.people import DeskHands
from companion.games.tada.policy import policy
from companion.runtime.evidence import EvidenceStore, folder_of
from companion.runtime.journal import verify
from firmware_bridge.fake_device import FakePad

PATIENCE_S = 20.0


def wait_for(is_so: Callable[[], object], what: str) -> None:
    """Until it is so; the test fails after a while."""
    ends = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends, f"waited in vain for {what}"
        time.sleep(0.02)


def test_a_round_on_one_box(tmp_path: Path) -> None:
    """GO lights and sounds all outputs at one device instant and arms the pads; a slam has its evidence named; the
    head is noted at the round's end."""
    game = game_named("tada")
    lamps = (("led", "lamp 1"), ("led", "lamp 2"), ("snd", "buzzer"))
    journal = tmp_path / "t.sqlite"
    with FakePad.on_pty("box", inputs=2, outputs=lamps) as pad:
        settings = Settings(
            game="tada",
            seats=(seat_at(1, "Ann", "box", 0), seat_at(2, "Ben", "box", 1)),
            options={"countdown_s": 1, "locks": "untracked"},
            data=shipped_data(game),
            journal=journal,
            seed=3,
            serial=(pad.port,),
            port=0,
        )
        with RunningTable(settings) as table:
            hands = DeskHands(table.loop)
            wait_for(
                lambda: any(d.state == "ready" and not d.doubt for d in table.bridge.devices()), "the box"
            )
            for input_ in (0, 1):
                pad.press(input_)
            wait_for(lambda: len(hands.sitting().proven) == 2, "both pads proven")
            assert hands.ask(core.Resume()) is None
            while hands.sitting().game.phase != "countdown":
                step = policy(hands.sitting(), 1)
                assert step is not None
                assert hands.ask(step) is None
            wait_for(lambda: hands.sitting().game.phase == "cast", "GO")
            wait_for(lambda: sum(p.pattern == "go" for _, p in pad.played) >= 3, "GO on the pads")
            instants = {p.at_us for _, p in pad.played if p.pattern == "go"}
            assert len(instants) == 1, "all outputs together"

            first_ns = table.loop.now_ns() + 20_000_000
            pad.press(0, first_ns)
            pad.press(1, first_ns + 20_000_000)
            wait_for(lambda: all(k.slams for k in hands.sitting().game.casters.values()), "two slams")
            slams = [r for r in hands.sitting().rulings if r.event == "Slammed"]
            assert [r.ruling.seat for r in slams] == ["s1", "s2"]
            named = [r.ruling.evidence for r in slams]
            assert all(len(refs) == 1 and refs[0].startswith(f"press:box/{pad.boot}/") for refs in named), (
                named
            )
            assert named[0] != named[1]
            while hands.sitting().game.part == 1:
                step = policy(hands.sitting(), 1)
                assert step is not None
                assert hands.ask(step) is None
            placed = [r.ruling for r in hands.sitting().rulings if r.ruling.rule in ("TADA-17", "TADA-18")]
            assert [(r.verdict.value, r.seat) for r in placed] == [("ok", "s1"), ("ok", "s2")]
            store = EvidenceStore(folder_of(journal))
            wait_for(lambda: "No camera" in store.of(slams[0].entry).why_none, "the word about pictures")
            wait_for(
                lambda: heads_path(journal).exists() and "head" in heads_path(journal).read_text(), "its head"
            )
            head = heads_path(journal).read_text().split()[-1]
    found = verify(journal, head)
    assert found.ok
