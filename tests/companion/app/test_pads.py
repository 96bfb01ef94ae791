"""Pads on the command line: places by pressing, names and keys in a private file, and who feels whose slam."""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from bridge_rig import Table, bridged, until
from rich.console import Console

from companion.app import pads as pads_command
from companion.app import slams as slams_command
from companion.app.cli import main
from companion.app.pad_desk import open_book
from companion.app.pads import Places
from companion.app.settings import SettingsError, game_named, parse_seats
from companion.app.slams import SlamTest, report_of, row_of, status_of, text
from companion.core.observation import Observation, Pressed, Released
from firmware_bridge.fake_device import FakePad
from firmware_bridge.link import Bridge
from firmware_bridge.pairing import PadInput
from firmware_bridge.serial_link import SerialLink

MS = 1_000_000
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs one command of the program here; gives exit status, output and errors."""

    def ran(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*words, "--book", str(tmp_path / "pads.json")] if words[0] == "pads" else list(words))
        told = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, told.out, told.err

    return ran


def press(source: str, at_ms: float, force: int | None = None, **more: object) -> Pressed:
    return Pressed(source=source, seen_ns=round(at_ms * MS), uncertainty_ns=MS // 2, input=0, boot=1, n=1,
                   force=force, **more)  # type: ignore[arg-type]  # fmt: skip # handed on


def has_let_go(table: Table, times: int) -> bool:
    return sum(isinstance(seen, Released) for seen in table.seen) == times


def test_presses_give_places_in_their_order_and_one_place_to_a_spare(tmp_path: Path) -> None:
    path = tmp_path / "pads.json"
    with FakePad.on_pty("box", inputs=2) as box, FakePad.on_pty("spare") as spare:
        places = Places(open_book(path))
        with bridged(SerialLink([box.port, spare.port])) as table:
            table.wait_ready("box", "spare")
            places.bridge = table.bridge
            for pad, input_ in ((box, 1), (box, 0), (box, 1)):
                pad.press(input_)
                table.wait_presses(len(places.told) + 1)
                places.observe(table.presses[-1])
                let_go = len(places.told)
                until(partial(has_let_go, table, let_go), "it is let go")
            until(lambda: any(p.pattern == "ready" for _, p in box.played), "the pad shows that it was heard")
            assert places.told == ["box:2 has place 1 now", "box:1 has place 2 now", "box:2 has place 1"]
            only = Places(open_book(path), place=2)
            only.bridge = table.bridge
            spare.press()
            table.wait_presses(4)
            only.observe(table.presses[-1])
            assert only.is_done.is_set()
    again = open_book(path).places
    assert again == {1: PadInput("box", 1), 2: PadInput("spare", 0)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_names_are_shown_as_they_were_written() -> None:
    book = open_book(None)
    book.note("pad1", name="[/red] [bold]Ann")
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        places = Places(book)
        places.bridge = table.bridge
        until(lambda: getattr(table.device("pad1"), "battery", None) == 100, "its heartbeat")
        console = Console(width=200, record=True, file=io.StringIO())
        console.print(pads_command.drawn(places))
    shown = console.export_text()
    assert "[/red] [bold]Ann" in shown
    assert "good, 100 %" in shown


def test_a_press_that_is_doubtful_gives_no_place() -> None:
    places = Places(open_book(None))
    places.observe(press("box", 0, suspect="crosstalk"))
    places.observe(press("box", 0, resent=True))
    assert places.book.places == {}


def test_auto_is_the_pad_of_the_place() -> None:
    game = game_named("tada")
    seats = parse_seats(game, ("Ann=auto", "Ben", "Cem=auto"), {1: ("box", 2), 3: ("pad", 0)})
    assert [(seat.device, seat.input) for seat in seats] == [("box", 2), ("", 0), ("pad", 0)]
    with pytest.raises(SettingsError, match="place 2 has no pad; companion pads gives it one"):
        parse_seats(game, ("Ann", "Ben=auto"))


def test_names_keys_and_delays_are_kept_and_forgotten(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pads_command, "HEARD_S", 2.0)
    with FakePad.on_pty("pad1") as pad:
        assert run("pads", "--serial", pad.port, "--pair", "pad1")[0] == 0
        assert pad.key is not None
        assert run("pads", "--name", "pad1=Ann’s cup", "--measured", "phone-1=9.5")[:2] == (
            0,
            "pad1 is called Ann’s cup\nphone-1 stamps a press at most 9.5 ms late\n",
        )
        status, out, _ = run("pads", "--serial", pad.port, "--json")
        assert status == 0
        (shown,) = json.loads(out)["pads"]
        assert (shown["id"], shown["name"], shown["is_paired"]) == ("pad1", "Ann’s cup", True)
        assert pad.key.hex() not in out
        assert shown["race_class"] == "ranked"
    book = open_book(tmp_path / "pads.json")
    assert book.keys == {"pad1": pad.key}
    assert book.stamp_us("phone-1") == 9500
    assert run("pads", "--forget", "pad1")[0] == 0
    assert open_book(tmp_path / "pads.json").keys == {}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--name", "pad1"), "write it as PAD=..."),
        (("--name", "Pad 1=x"), "matching regex"),
        (("--name", "pad1=" + "x" * 41), "Expected"),
        (("--measured", "pad1=soon"), "give milliseconds"),
        (("--measured", "pad1=inf"), "give milliseconds"),
        (("--forget", "pad1"), "nothing is known of it; no pad is known yet"),
        (("--place", "0"), "1<=x<=32"),
        (("--serial", "http://x", "--json"), "no serial port"),
        (("--buzzer", "x@fast", "--json"), "must be a number"),
        (("--mqtt", "http://x", "--json"), "no broker's address"),
    ],
)
def test_what_cannot_be_is_one_line(run: Run, words: tuple[str, ...], why: str) -> None:
    status, out, err = run("pads", *words)
    assert status in (1, 2)
    assert out == ""
    assert why in err
    assert err.count("\n") == 1


def test_a_damaged_book_says_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pads.json").write_text("{")
    status, _, err = run("pads", "--json")
    assert status == 1
    assert "remove it to pair the pads anew" in err
    assert err.count("\n") == 1


def test_pairing_what_is_not_there_fails_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pads_command, "PATIENCE_S", 0.2)
    with FakePad.on_pty("pad1") as pad:
        status, out, err = run("pads", "--serial", pad.port, "--pair", "pad9")
    assert (status, out) == (1, "")
    assert "no pad9 is heard" in err


def test_each_pad_is_slammed_and_the_one_that_takes_it_for_its_own_needs_foam(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Rule: trap 29 of the hardware notes"""
    with (
        FakePad.on_pty("pad1", kind="piezo") as one,
        FakePad.on_pty("pad2", kind="piezo") as two,
        FakePad.on_pty("pad3") as three,
    ):
        links = (SerialLink([pad.port for pad in (one, two, three)]),)
        test, felt_by = SlamTest(patience_s=1.5), set[str]()

        def observe(seen: Observation) -> None:
            test.observe(seen)
            if isinstance(seen, Pressed):
                felt_by.add(seen.source)

        bridge = Bridge(links, observe)
        bridge.start()
        try:
            until(lambda: sum(d.state == "ready" for d in bridge.devices()) == 3, "three pads")

            def slam(pad: str) -> None:
                if pad == "pad1:1":
                    now_ns = clock_ns()
                    one.press(0, now_ns, force=800)
                    # The first slam of all tells how strong slams are: what is weak beside it is known after it.
                    until(lambda: "pad1" in felt_by, "the slam itself")
                    two.press(0, now_ns + 1_500_000, force=120)
                if pad == "pad2:1":
                    now_ns = clock_ns()
                    two.press(0, now_ns, force=700)
                    one.press(0, now_ns + 2_000_000, force=500)

            report = test.run(bridge, slam)
        finally:
            bridge.stop()
    assert report.pads == ("pad1:1", "pad2:1", "pad3:1")
    felt = {(row.slammed, f.pad): f for row in report.matrix for f in row.felt}
    assert set(felt) == {("pad1:1", "pad2:1"), ("pad2:1", "pad1:1")}
    assert felt["pad1:1", "pad2:1"].is_set_aside
    assert felt["pad1:1", "pad2:1"].share == pytest.approx(0.15)
    assert felt["pad1:1", "pad2:1"].delay_ms == pytest.approx(1.5, abs=felt["pad1:1", "pad2:1"].u_ms)
    assert report.foam == ("pad1:1",)
    assert report.missed == ("pad3:1",)
    assert status_of(report) == 1
    slams_command.told(report, as_json=True)
    assert json.loads(capsys.readouterr().out)["foam"] == ["pad1:1"]
    slams_command.told(report, as_json=False)
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["slammed", "pad1:1", "pad2:1", "pad3:1"]
    assert "pad1:1 needs foam" in out


def clock_ns() -> int:
    """The clock of the fake pads."""
    import time

    return time.monotonic_ns()


def test_the_strongest_is_the_slam_and_without_forces_the_first() -> None:
    row = row_of([press("b", 1.0, 90), press("a", 0.5, 30, suspect="crosstalk")])
    assert (row.slammed, [f.pad for f in row.felt]) == ("b:1", ["a:1"])
    assert row.felt[0].delay_ms == pytest.approx(-0.5)
    row = row_of([press("b", 1.0), press("a", 0.5)])
    assert (row.slammed, row.felt[0].share, row.felt[0].is_set_aside) == ("a:1", None, False)


def test_another_pad_than_the_one_asked_for_is_named() -> None:
    report = report_of(["a:1", "b:1"], [("a:1", row_of([press("b", 0)])), ("b:1", row_of([press("b", 0)]))])
    assert report.wrong == (("a:1", "b:1"),)
    assert "asked for a:1, b:1 was slammed" in text(report)
    assert status_of(report) == 1


def test_a_table_where_nobody_feels_anything_is_well() -> None:
    report = report_of(["a:1"], [("a:1", row_of([press("a", 0, 500)]))])
    assert status_of(report) == 0
    assert text(report)[-1] == "No pad needs foam."
    assert status_of(report_of([], [])) == 1
