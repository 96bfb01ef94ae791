"""A round in which a pad dies and a spare takes its place, beside a plain buzzer that plays by waiver alone."""

from __future__ import annotations

import os
import time
import tty
from pathlib import Path

from test_running_table import wait_for

from companion.app.settings import Settings, game_named, shipped_data
from companion.app.wiring import RunningTable
from companion.core import command as core
from companion.core.seat import Actor, Role, seat_at
from companion.demo.people import DeskHands
from companion.games.tada.policy import policy
from firmware_bridge.fake_device import PRESS_NS, FakePad


def test_a_spare_slams_in_the_round_in_which_the_pad_died(tmp_path: Path) -> None:
    game = game_named("tada")
    master, slave = os.openpty()
    tty.setraw(slave)
    (tmp_path / "buzzer").symlink_to(os.ttyname(slave))
    with FakePad.on_pty("pad-a") as pad, FakePad.on_pty("spare") as spare:
        settings = Settings(
            game="tada",
            seats=(seat_at(1, "Ann", "pad-a"), seat_at(2, "Ben", "byte-buzzer", 1)),
            options={"countdown_s": 1, "locks": "untracked"},
            data=shipped_data(game),
            journal=tmp_path / "t.sqlite",
            seed=3,
            serial=(pad.port, spare.port),
            buzzers=(str(tmp_path / "buzzer"),),
            port=0,
        )
        with RunningTable(settings) as table:
            hands = DeskHands(table.loop)

            def is_fit(name: str) -> bool:
                return any(
                    d.id == name and d.state == "ready" and not d.doubt for d in table.bridge.devices()
                )

            wait_for(lambda: is_fit("pad-a") and is_fit("spare"), "both pads")
            wait_for(lambda: any(d.id == "byte-buzzer" for d in table.bridge.devices()), "the buzzer")
            pad.press()
            os.write(master, b"B")
            wait_for(lambda: len(hands.sitting().proven) == 2, "pad and buzzer proven")
            assert hands.ask(core.Resume()) is None
            while hands.sitting().game.phase != "countdown":
                step = policy(hands.sitting(), 1)
                assert step is not None
                hands.ask(step)  # a pad may become fit while its waiver is under way: then that is refused
            waived = [e.command for e in table.loop.entries() if isinstance(e.command, core.WaivePad)]
            assert "byte-buzzer" in {command.device for command in waived}
            wait_for(lambda: hands.sitting().game.phase == "cast", "GO")

            pad.unplug()
            wait_for(
                lambda: any(d.id == "pad-a" and d.state == "lost" for d in table.bridge.devices()), "its end"
            )
            table.pads.expect("s1", Actor(Role.REFEREE, name="Ria"))
            awaited = table.pads.awaited()
            assert awaited is not None
            assert awaited.seat == "s1"
            spare.press()
            wait_for(lambda: table.seats[0].device == "spare", "the spare")
            entry = next(e for e in reversed(table.loop.entries()) if isinstance(e.command, core.AssignPad))
            assert entry.actor == Actor(Role.REFEREE, name="Ria")
            assert table.pads.awaited() is None
            assert not hands.sitting().game.casters["s1"].slams, (
                "the press that gave the seat its pad is no slam"
            )

            os.write(master, b"B")
            wait_for(lambda: hands.sitting().game.casters["s2"].slams, "the buzzer's slam")
            time.sleep(PRESS_NS / 1e9)  # until the spare is let go
            spare.press()
            wait_for(lambda: hands.sitting().game.casters["s1"].slams, "the spare's slam")
            slams = {r.ruling.seat: r.ruling for r in hands.sitting().rulings if r.event == "Slammed"}
            assert slams["s1"].evidence[0].startswith(f"press:spare/{spare.boot}/")
            assert slams["s2"].u_ms is not None
            assert slams["s2"].u_ms > 16
    os.close(master)
    os.close(slave)
