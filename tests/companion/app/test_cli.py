"""The command line as a stranger meets it: what is asked wrongly costs one line that says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.app.cli import main
from companion.catalogue import GAMES
from companion.core import command as k
from companion.core.seat import seat_at
from companion.runtime.opening import create
from firmware_bridge.fake_device import FakePad


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """(exit status, standard output, standard error) of one command."""
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out, told.err


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own settings or profiles is seen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("COMPANION_RUN_GAME", "COMPANION_RUN_SEAT"):
        monkeypatch.delenv(name, raising=False)


WRONG = {
    "unknown game": (("run", "--game", "chess", "--seat", "A"), 2, "there are: tacta, tada"),
    "no seats": (("run",), 2, "give --seat NAME"),
    "duplicate seat": (("run", "--seat", "Ann", "--seat", "ANN"), 2, "at the table already"),
    "pad on two seats": (("run", "--seat", "A=box:1", "--seat", "B=box:1"), 2, "give one of them another"),
    "input out of range": (("run", "--seat", "A=box:99"), 2, "a number from 1 to 32"),
    "unknown rule": (("run", "--seat", "A", "--rule", "fast=on"), 2, "there are: "),
    "bad value of a rule": (
        ("run", "--seat", "A", "--rule", "dead_heat=maybe"),
        2,
        "both, roll_off, referee",
    ),
    "rule without a value": (("run", "--seat", "A", "--rule", "dead_heat"), 2, "NAME=VALUE"),
    "unknown dice": (("run", "--seat", "A", "--profile", "mine"), 2, "companion enrol dice mine"),
    "dice outside the folder": (("run", "--seat", "A", "--profile", "../x"), 2, "use letters"),
    "table size": (("run", "--seat", "A", "--table-mm", "wide"), 2, "width,height"),
    "tacta camera without a size": (
        ("run", "--game", "tacta", "--seat", "A", "--seat", "B", "--camera", "0"),
        2,
        "--table-mm W,H",
    ),
    "page with photographs": (("score-tacta", "a.jpg", "--page"), 2, "from the browser"),
    "nothing to count": (("score-tacta",), 2, "give IMAGE"),
    "no such camera": (("run", "--seat", "A", "--camera", "/nowhere"), 1, "give a number"),
    "no broker's address": (("run", "--seat", "A", "--mqtt", "http://x"), 1, "mqtt://"),
    "no port": (("run", "--seat", "A", "--serial", "x://"), 1, "write a path"),
    "key": (("run", "--seat", "A", "--key", "pad=xyz"), 2, "hex digits"),
    "unknown option": (("run", "--fast"), 2, "companion --help"),
    "deck that is none": (("run", "--seat", "A", "--data", "deck.toml"), 2, "deck.toml"),
    "players": (("demo", "--players", "9"), 2, "1 to 6"),
    "json without an end": (("demo", "--json"), 2, "--exit-at-end"),
    "speed": (("demo", "--speed", "0"), 2, "above 0"),
    "cards of another game": (("demo", "--game", "tacta", "--cards"), 2, "--game tada"),
    "missing journal": (("replay", "none.sqlite"), 1, "no such journal"),
    "no folder to enrol": (("enrol", "dice", "d", "--from", "nowhere"), 2, "no folder"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_asked_wrongly_costs_one_line(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error, nothing on standard output, the promised exit status, and no file left."""
    words, status, hint = WRONG[case]
    code, out, err = run(capsys, *words)
    assert (code, out) == (status, "")
    assert err.count("\n") == 1
    assert err.startswith("companion: ")
    assert hint in err
    assert not list(Path().glob("**/*.sqlite"))


def test_a_broken_settings_file_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in TOML and an unknown name in it."""
    broken = tmp_path / "table.toml"
    broken.write_text('game = "tada"\nseat = [')
    assert "this is no TOML" in run(capsys, "run", "--config", str(broken))[2]
    broken.write_text('gaem = "tada"')
    assert "no setting 'gaem'" in run(capsys, "run", "--config", str(broken))[2]


def test_file_environment_and_line_outrank_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line outranks the environment, which outranks the file; each is read at all."""
    file = tmp_path / "table.toml"
    file.write_text('game = "from-file"\nseat = ["A"]\n[rules]\ndead_heat = "referee"\n')
    words = ["run", "--config", str(file)]
    assert "from-file" in run(capsys, *words)[2]
    monkeypatch.setenv("COMPANION_RUN_GAME", "from-environment")
    assert "from-environment" in run(capsys, *words)[2]
    assert "from-line" in run(capsys, *words, "--game", "from-line")[2]


def test_a_pad_on_two_seats_tells_which_pads_are_heard(capsys: pytest.CaptureFixture[str]) -> None:
    """The devices that spoke within three seconds are named."""
    with FakePad.on_pty("box-7", inputs=2) as pad:
        words = ("--seat", "A=box:1", "--seat", "B=box:1", "--serial", pad.port)
        code, _, err = run(capsys, "run", *words)
    assert code == 2
    assert "box-7:1, box-7:2" in err


def test_journal_commands_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Replay, verify, export and import name one head; a lost tail and a flipped byte are seen."""
    from companion.app.settings import shipped_data

    game = GAMES["tada"]
    path = tmp_path / "j.sqlite"
    opening = create(path, game, seats=(seat_at(1, "Ann"),), seed=1, data=shipped_data(game))
    head = opening.journal.head
    code, out, _ = run(capsys, "verify", str(path))  # beside its live writer
    assert code == 0
    assert json.loads(out) == {"ok": True, "events": 2, "head": head, "first_bad": None}
    code, out, _ = run(capsys, "replay", "--json", str(path))
    last = json.loads(out.splitlines()[-1])
    assert (code, last["head"], last["view"]["phase"]) == (0, head, "draw")
    code, out, _ = run(capsys, "export", str(path))
    (tmp_path / "lines.jsonl").write_text(out, encoding="utf-8")
    code, out, _ = run(capsys, "import", str(tmp_path / "lines.jsonl"), str(tmp_path / "again.sqlite"))
    assert (code, out.strip()) == (0, head)
    assert run(capsys, "verify", str(path), "--head", "0" * 64)[0] == 1
    opening.journal.close()


def test_hidden_cards_are_printed_only_when_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from companion.app.settings import shipped_data
    from companion.core.command import Order
    from companion.core.seat import Actor, Role
    from companion.games.zingazam import commands as c

    game, path = GAMES["zingazam"], tmp_path / "j.sqlite"
    seats = (seat_at(1, "Ann"), seat_at(2, "Ben"))
    opening = create(path, game, seats=seats, seed=1, options={"hands": "full"}, data=shipped_data(game))
    words = (k.Resume(), c.NameOldest(seat="s1"), c.Begin(), c.Deal(seat="s1", number=5))
    for n, command in enumerate(words):
        order = Order(command=command, actor=Actor(Role.REFEREE), at_ns=opening.clock.now_ns(), key=str(n))
        opening.table.step([order], order.at_ns, order.at_ns)
    opening.journal.close()
    for command in (("export",), ("replay", "--json")):
        code, out, err = run(capsys, *command, str(path))
        assert (code, out) == (2, "") and err.count("\n") == 1 and "still hidden" in err
        code, out, _ = run(capsys, *command, "--hidden", str(path))
        assert code == 0 and '"number":5' in out
    code, out, _ = run(capsys, "replay", str(path))
    assert code == 0 and "CardDealt" in out and "number" not in out


def test_reading_goes_on_behind_an_unreadable_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bad one is named, the good ones are read, the status is 1."""
    import numpy as np

    from vision.encoding import save

    (tmp_path / "note.jpg").write_text("no picture")
    save(tmp_path / "cloth.png", np.full((200, 300, 3), 90, np.uint8))
    code, out, _ = run(capsys, "read-dice", "--json", "note.jpg", "cloth.png", "gone.png")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [row["image"] for row in rows] == ["note.jpg", "cloth.png", "gone.png"]
    assert ["error" in row for row in rows] == [True, False, True]
    assert rows[1]["flags"] == ["no_dice"]


def test_markers_are_a_pdf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sheet that a printer takes."""
    assert run(capsys, "print", "markers", "-o", "m.pdf")[0] == 0
    assert (tmp_path / "m.pdf").read_bytes().startswith(b"%PDF")


def test_doctor_tells_each_thing_and_its_mend(capsys: pytest.CaptureFixture[str]) -> None:
    """Every check has the promised keys; a pad on a line is heard with its clock; a bad camera has a mend."""
    with FakePad.on_pty("box-7", inputs=2) as pad:
        code, out, _ = run(
            capsys, "doctor", "--json", "--serial", pad.port, "--camera", "/nowhere", "--port", "0"
        )
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert all(set(check) == {"name", "ok", "detail", "mend"} for check in checks.values())
    assert "button 1, button 2" in checks["pad box-7"]["detail"]
    assert checks["pad box-7"]["ok"]
    assert "ms" in checks["journal disk"]["detail"]
    assert not checks["camera"]["ok"]
    assert checks["camera"]["mend"]
    assert code == 1


def test_dice_are_enrolled_live(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each face is asked for by name, taken when Enter is pressed, and read afterwards by that profile."""
    from io import StringIO

    from companion.demo.stage import livery
    from vision.encoding import save
    from vision.render.cube import Die
    from vision.render.lens import Camera
    from vision.render.scene import Scene

    camera = Camera(lens_mm=(60, 62, 260), look_mm=(60, 60), across_deg=26, size_px=(360, 360))
    die = Die(value="burst", owner="red", livery=livery("red"), xy_mm=(60, 60), angle_deg=20)
    scene = Scene(size_mm=(120, 120), marks=None, dice=(die,), cloth="felt", seed=3)
    save(tmp_path / "die.png", scene.picture(camera))
    monkeypatch.setattr("sys.stdin", StringIO("\n\n\n"))
    code, out, err = run(
        capsys, "enrol", "dice", "mine", "--camera", "die.png", "--faces", "burst", "--owner", "red", "--json"
    )
    assert (code, json.loads(out)["faces"]) == (0, {"burst": 3}), err
    assert err.count("with burst up") == 3
    code, out, _ = run(capsys, "read-dice", "--kind", "mine", "--json", "die.png")
    assert [d["value"] for d in json.loads(out)["dice"]] == ["burst"]


def test_whoever_stands_at_the_machine_gets_another_code(tmp_path: Path) -> None:
    """The first start prints a code, a later one only when it is asked for, and then another one."""
    import re
    import subprocess
    import sys

    printed = []
    for more in ([], ["--new-code"]):
        words = [
            sys.executable,
            "-m",
            "companion",
            "run",
            "--seat",
            "A",
            "--port",
            "0",
            "--journal",
            "t.sqlite",
            *more,
        ]
        with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as program:
            assert program.stderr is not None
            lines = [program.stderr.readline() for _ in range(3)]
            program.terminate()
        printed.append(re.findall(r"Code\s+([0-9A-Z]{8})", "".join(lines)))
    assert len(printed[0]) == len(printed[1]) == 1
    assert printed[0] != printed[1]
