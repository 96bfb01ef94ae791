"""A pad is known again by its id alone: its name, its key and its place outlive restarts, ports and this program."""

from __future__ import annotations

from pathlib import Path

import pytest
from bridge_rig import Table, bridged, until
from brokers import mosquitto, needs_mosquitto

from firmware_bridge import pairing
from firmware_bridge.fake_device import FakePad
from firmware_bridge.mqtt_link import MqttLink
from firmware_bridge.pairing import MAX_PADS, PadBook, PadInput, PairingError, pair
from firmware_bridge.serial_link import SerialLink


def keys_of(table: Table) -> dict[str, bytes]:
    """The keys that the bridge knows."""
    return table.bridge._hub.keys


class Shelf:
    """Where a book is kept, or not."""

    def __init__(self) -> None:
        self.data: bytes | None = None
        self.is_full = False

    def keep(self, data: bytes) -> None:
        if self.is_full:
            raise OSError("no space left")
        self.data = data

    def book(self) -> PadBook:
        return PadBook(self.data, self.keep)


@needs_mosquitto
def test_a_key_that_was_given_over_a_cable_counts_on_the_radio(tmp_path: Path) -> None:
    shelf = Shelf()
    link = tmp_path / "ttyUSB0"
    with FakePad.on_pty("pad1", link) as pad:
        with bridged(SerialLink([str(tmp_path / "ttyUSB*")])) as table:
            table.wait_ready("pad1")
            pair(table.bridge, shelf.book(), "pad1")
            pad.unplug()
            pad.reboot()
            pad.replug(tmp_path / "ttyUSB1")
            table.wait_ready("pad1")
        key = pad.key
    assert key is not None
    assert shelf.book().keys == {"pad1": key}
    assert len(key) == 16
    with mosquitto(tmp_path) as broker, FakePad.on_mqtt(broker.url, "pad1", key=key) as pad:
        with bridged(MqttLink(broker.url), keys=shelf.book().keys, mode="strict") as table:
            table.wait_ready("pad1")
            pad.press()
            table.wait_presses(1)
            with pytest.raises(PairingError, match="only handed over a cable"):
                pair(table.bridge, shelf.book(), "pad1")
        assert pad.key == key


def test_a_key_is_kept_only_once_the_pad_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        assert [device.takes_key for device in table.bridge.devices()] == [True]
        with pytest.raises(PairingError, match="no pad2 is heard"):
            pair(table.bridge, shelf.book(), "pad2")
        monkeypatch.setattr(pairing, "PATIENCE_S", 0.2)
        pad.mute()
        with pytest.raises(PairingError, match="does not answer"):
            pair(table.bridge, shelf.book(), "pad1")
        assert pad.key is not None
        assert shelf.data is None
        assert keys_of(table) == {}
        pad.mute(False)
        monkeypatch.setattr(pairing, "PATIENCE_S", 5)
        pair(table.bridge, shelf.book(), "pad1")
        assert shelf.book().keys == {"pad1": pad.key}
        until(lambda: keys_of(table) == shelf.book().keys, "bridge and book agree")


def test_bridge_and_book_agree_when_the_disk_is_full_or_the_book_is() -> None:
    shelf = Shelf()
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        shelf.is_full = True
        with pytest.raises(PairingError, match=r"could not be kept here \(no space left\)"):
            pair(table.bridge, shelf.book(), "pad1")
        assert pad.key is not None
        assert keys_of(table) == {}
        shelf.is_full, before = False, pad.key
        book = shelf.book()
        for n in range(MAX_PADS):
            book.note(f"old{n}", name="x")
        with pytest.raises(PairingError, match="companion pads --forget PAD"):
            pair(table.bridge, book, "pad1")
        assert pad.key == before
        book.forget("old0")
        pair(table.bridge, book, "pad1")
        assert book.keys == {"pad1": pad.key}


def test_a_key_that_is_on_its_way_when_the_cable_is_pulled_is_told_of_at_once() -> None:
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        pad.mute()
        first = table.bridge.give_key("pad1", bytes(16))
        second = table.bridge.give_key("pad1", bytes(16))
        assert first.result(5) == "it was given another key meanwhile"
        pad.unplug()
        assert second.result(5) == "it was lost meanwhile"


def test_names_keys_and_places_come_back() -> None:
    shelf = Shelf()
    book = shelf.book()
    book.note("pad1", name="Ann's red cup", stamp_us=900)
    book.note("pad1", key="0f" * 16)
    book.seat(1, PadInput("pad1", 0))
    book.seat(2, PadInput("box", 3))
    again = shelf.book()
    assert again.name("pad1") == "Ann's red cup"
    assert again.keys == {"pad1": bytes([15] * 16)}
    assert again.stamp_us("pad1") == 900
    assert again.places == {1: PadInput("pad1", 0), 2: PadInput("box", 3)}
    again.seat(3, PadInput("pad1", 0))
    assert again.places == {2: PadInput("box", 3), 3: PadInput("pad1", 0)}
    again.seat(2, None)
    again.forget("pad1")
    assert shelf.book().places == {}
    assert shelf.book().name("pad1") == ""
    assert shelf.book().keys == {}


@pytest.mark.parametrize(
    "facts",
    [
        {"name": "x" * 41},
        {"name": "a\u202eb"},
        {"name": "a\nb"},
        {"key": "zz"},
        {"key": "abc"},
        {"stamp_us": 0},
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(facts: dict[str, object]) -> None:
    shelf = Shelf()
    book = shelf.book()
    book.note("pad1", name="Ann")
    before = shelf.data
    with pytest.raises(ValueError, match="Expected"):
        book.note("pad1", **facts)
    with pytest.raises(ValueError, match="Expected"):
        book.note("no id", name="Ben")
    assert shelf.data == before
    assert book.name("pad1") == "Ann"


def test_a_full_disk_changes_nothing() -> None:
    shelf = Shelf()
    book = shelf.book()
    book.note("pad1", name="Ann")
    shelf.is_full = True
    with pytest.raises(OSError, match="no space"):
        book.note("pad1", name="Ben")
    assert book.name("pad1") == "Ann"


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{", b'{"pads": {"pad1": {"key": 1}}}', b'{"more": 1}', b"\xff", b'{"pads": {"A B": {}}}'],
)
def test_a_damaged_book_says_so(data: bytes) -> None:
    with pytest.raises(ValueError, match="the list of pads is damaged"):
        PadBook(data, lambda _data: None)


def test_there_is_an_end_to_pads() -> None:
    shelf = Shelf()
    book = shelf.book()
    with pytest.raises(ValueError, match="length"):
        for n in range(MAX_PADS + 1):
            book.note(f"pad{n}", name="x")
    assert len(book.pads) == MAX_PADS
