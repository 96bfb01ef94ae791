"""The composition root: one running table with its links, its camera, its pages and its evidence."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from companion.app import boards
from companion.app.beacon import beacon_for
from companion.app.dice_desk import DiceDesk
from companion.app.enrolling import FaceDesk
from companion.app.evidence import EvidenceKeeper
from companion.app.health import camera_shown, devices_shown, journal_shown
from companion.app.outputs import PadOutputs
from companion.app.pad_desk import PadDesk, open_book
from companion.app.photographs import PhotographDesk
from companion.app.settings import Settings, game_named
from companion.app.verdicts import VerdictTeller
from companion.catalogue import GAMES
from companion.core.cue import Cue
from companion.core.geometry import Pose
from companion.core.observation import BoardRested, DeviceChanged, Observation, Observed
from companion.core.seat import Seat
from companion.runtime.desk import Announcement, Snapshot
from companion.runtime.evidence import EvidenceStore, folder_of
from companion.runtime.journal import is_unused
from companion.runtime.loop import TableLoop
from companion.runtime.opening import Opening, create, reopen
from companion.sight import tacta as tacta_sight
from companion.sight import tada as tada_sight
from companion.sight import zingazam as zingazam_sight
from firmware_bridge.broker import EmbeddedBroker
from firmware_bridge.byte_link import ByteLink
from firmware_bridge.discovery import AUTO, AutoMqttLink
from firmware_bridge.link import Bridge
from firmware_bridge.mqtt_link import MqttLink
from firmware_bridge.page_link import PageLink
from firmware_bridge.serial_link import SerialLink
from firmware_bridge.wire import Link
from vision.camera import CameraChild, check_source
from vision.cards.beside import BesideSpec
from vision.eye import LookoutSpec, ReaderSpec
from vision.surface import Marks
from web_ui.access import Access
from web_ui.addresses import lan_addresses
from web_ui.app import create_app
from web_ui.health import Health
from web_ui.serve import Server

SIGHTS = {"tada": tada_sight}
"""Which readers each game needs; a game without an entry here or below is played without a camera."""
LOOKOUTS: Mapping[str, Callable[[str], LookoutSpec]] = {
    "tacta": tacta_sight.lookout,
    "tahwars": boards.lookout,
}
"""Games at whose tables everything that lies is followed, with what their data file asks to look at."""
DECKS: Mapping[str, Callable[[Path], LookoutSpec]] = {"zingazam": zingazam_sight.lookout}
"""Games whose cards are known again, wherever they are laid, by the enrolled deck in a folder."""
BESIDE = frozenset({"tahwars"})
"""Games of LOOKOUTS in which cards are laid beside what is followed, and known again by an enrolled deck."""
COUNTED = "tacta"
"""The game whose finished table is counted on photographs."""
DEFAULT_TABLE_MM = (480.0, 320.0)
LOST = ("silent", "lost")
_log = logging.getLogger(__name__)


def heads_path(journal: Path) -> Path:
    """The text file beside a journal that holds its head at the end of each round."""
    return journal.with_name(f"{journal.name}.heads")


def open_table(settings: Settings) -> Opening:
    """The journal taken up again where it exists, else a new one. Raises JournalError."""
    if not is_unused(settings.journal):
        return reopen(settings.journal, GAMES)
    settings.journal.parent.mkdir(parents=True, exist_ok=True)
    return create(
        settings.journal,
        game_named(settings.game),
        seats=settings.seats,
        seed=settings.seed,
        options=settings.options,
        table=settings.journal.stem,
        data=settings.data,
    )


def links_of(settings: Settings, broker: EmbeddedBroker | None) -> tuple[Link, ...]:
    """The links that are asked for. Raises ValueError for an address that is none."""
    found: list[Link] = []
    if settings.serial:
        found.append(SerialLink(settings.serial))
    if settings.buzzers:
        found.append(ByteLink(settings.buzzers))
    if settings.mqtt == AUTO:
        found.append(AutoMqttLink())
    elif settings.mqtt:
        found.append(MqttLink(broker.url if broker else settings.mqtt))
    return tuple(found)


class RunningTable:
    """Everything of one table from `start` to `stop`. Use it as a context manager.

    Every device is optional and may come late: what is missing is named on the devices page. `board_rested_ns`: when
    (``time.monotonic_ns``) the board lay as the camera told it last, 0 before it told of any.
    """

    def __init__(self, settings: Settings) -> None:
        """Nothing is opened yet."""
        self.settings = settings
        self.board_rested_ns = 0
        self._stack = ExitStack()
        self._seen_n = 0
        self._layouts: object = None
        self._part = (0, False)

    def __enter__(self) -> RunningTable:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Open the journal and start everything. Raises JournalError, ValueError or OSError, one line each."""
        settings, stack = self.settings, self._stack
        if settings.camera:
            check_source(settings.camera)
        broker = EmbeddedBroker() if settings.mqtt == "embedded" else None
        if broker:
            broker.start()
            stack.callback(broker.stop)
        self.broker_url = broker.url if broker else settings.mqtt
        book = open_book(settings.book)
        pages = PageLink(book.stamp_us)
        links = (*links_of(settings, broker), pages)
        opening = open_table(settings)
        stack.callback(opening.journal.close)
        self.clock = opening.clock
        self.ahead_ns = opening.clock.now_ns() - time.monotonic_ns()
        self.bridge = Bridge(
            links,
            self._observe,
            opening.clock.now_ns,
            keys={**book.keys, **settings.keys},
            mode="strict" if settings.is_strict else "open",
            moved=self._moved,
        )
        self.camera = self._make_camera(opening)
        self.evidence = EvidenceKeeper(
            EvidenceStore(folder_of(settings.journal), settings.retention_h * 3600),
            self.camera,
            self.ahead_ns,
        )
        self.loop = TableLoop(
            opening.table,
            opening.journal,
            opening.clock,
            watermark=self.bridge.watermark_ns,
            ask=self.bridge.ask_all,
            waiting_for=self.bridge.silent,
        )
        stack.callback(self.loop.close)
        self.dice = DiceDesk(
            self.camera, self.settings.profile, self.settings.journal.with_suffix(".lessons"), self.loop
        )
        first = self.loop.snapshot()
        self._seen_n = first.version
        self._part = (self.loop.game.part(first.sitting), self.loop.game.is_over(first.sitting))
        self._outputs = PadOutputs(self.bridge, opening.clock.now_ns)
        self.pads = PadDesk(self.loop, self.bridge, pages, book)
        self._book = book
        self._verdicts = VerdictTeller(self.loop.game, self.bridge.tell_verdict)
        self.evidence.shade(self.loop.game.is_private(first.sitting), first.at_ns)
        self.loop.subscribe(self._changed)
        self.loop.announcer.subscribe(self._announced)
        self.evidence.start()
        stack.callback(self.evidence.stop)
        self.dice.start()
        stack.callback(self.dice.stop)
        self.bridge.start()
        stack.callback(self.bridge.stop)
        if self.camera:
            self.camera.start()
            stack.callback(self.camera.stop)
        self._show_layouts(self.loop.snapshot())
        self._serve()

    def stop(self) -> None:
        """End everything in order; the journal is closed last."""
        self._stack.close()

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats as they are now."""
        return self.loop.snapshot().sitting.seats

    def health(self) -> Health:
        """The state of all devices, the camera and the journal."""
        snapshot = self.loop.snapshot()
        journal = journal_shown(self.settings.journal, snapshot.at_ns)
        cameras = (camera_shown(self.camera, self.ahead_ns),) if self.camera else ()
        devices = devices_shown(self.bridge, snapshot.sitting.seats, self._book)
        return Health(devices=devices, cameras=cameras, journal=journal)

    def _serve(self) -> None:
        settings = self.settings
        self.access = Access(settings.journal.with_suffix(".access"))
        sight = SIGHTS.get(self.loop.game.name)
        shown = (
            None if self.loop.game.name in DECKS else self.camera
        )  # it sees cards that are hidden from some
        faces = FaceDesk(settings.profile, self.loop.game.name, shown, sight.FACES if sight else ())
        app = create_app(
            self.loop,
            self.access,
            self.health,
            self.evidence,
            pad_host=self.pads,
            dice_desk=self.dice,
            face_desk=faces,
            photograph_desk=PhotographDesk(self.loop) if self.loop.game.name == COUNTED else None,
        )
        self.server = Server(app, settings.host, settings.port)
        self.server.start()
        self._stack.callback(self.server.stop)
        served = (self.server.host, self.server.port)
        name = f"{self.loop.game.title} {settings.journal.stem}"
        beacon = beacon_for(name, served, lan_addresses(), settings.mqtt)
        if beacon is not None:
            beacon.start()
            self._stack.callback(beacon.stop)

    def _make_camera(self, opening: Opening) -> CameraChild | None:
        settings, game = self.settings, opening.table.game
        sight, lookout = SIGHTS.get(game.name), LOOKOUTS.get(game.name)
        if settings.camera and lookout is not None:
            seen = lookout(opening.table.sitting.opened.data)
            if settings.deck is not None and game.name in BESIDE:
                seen = BesideSpec(seen, str(settings.deck))
            return CameraChild(
                settings.camera, seen, self._camera_saw, marks=Marks(size_mm=settings.table_mm)
            )
        known = DECKS.get(game.name)
        if settings.camera and settings.deck is not None and known is not None:
            marks = Marks(size_mm=settings.table_mm or DEFAULT_TABLE_MM)
            return CameraChild(settings.camera, known(settings.deck), self._camera_saw, marks=marks)
        if not settings.camera or sight is None:
            return None
        size, profile = settings.table_mm or DEFAULT_TABLE_MM, str(settings.profile or "")
        looks: ReaderSpec | LookoutSpec | None = sight.reader(profile) if profile else None
        if settings.deck is not None:
            looks = sight.lookout(settings.deck, profile)
        return CameraChild(settings.camera, looks, self._camera_saw, marks=Marks(size_mm=size))

    def _moved(self) -> None:
        """The bridge has heard more: what waited may be final now."""
        self.loop.wake()

    def _camera_saw(self, seen: Observed) -> None:
        """The camera stamps by the machine's clock; host time may be ahead of it."""
        self.dice.saw(seen)
        self._observe(msgspec.structs.replace(seen, seen_ns=seen.seen_ns + self.ahead_ns))
        if isinstance(seen, BoardRested):
            self.board_rested_ns = seen.seen_ns

    def _observe(self, seen: Observation | Observed) -> None:
        if self.pads.observe(seen):
            return
        if isinstance(seen, DeviceChanged) and seen.state in LOST:
            owners = [seat.name for seat in self.seats if seat.device == seen.source and not seat.left]
            if owners:
                text = f"The pad of {' and '.join(owners)} is {seen.state}. The referee can click for it."
                self.loop.say(Cue(target="all", pattern="notice", text=text))
        self.loop.observe(seen)  # type: ignore[arg-type]  # every Observed that is made is one of the union

    def _changed(self, snapshot: Snapshot) -> None:
        """On the writer's thread: hand new entries on and tell the eyes what lies where."""
        for entry in self.loop.entries(self._seen_n):
            self._seen_n = entry.n
            self.evidence.note(entry)
            self.dice.note(entry)
        part = (self.loop.game.part(snapshot.sitting), self.loop.game.is_over(snapshot.sitting))
        if part != self._part:
            self._note_head(snapshot, self._part[0])
            self._part = part
        self.evidence.shade(self.loop.game.is_private(snapshot.sitting), snapshot.at_ns)
        self._show_layouts(snapshot)
        self._verdicts.changed(snapshot)

    def _note_head(self, snapshot: Snapshot, part: int) -> None:
        """Keep the head at each round's end outside the journal: with it a cut-off tail is found for ever."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        line = f"{now} round {part} entries {snapshot.version} head {snapshot.head}\n"
        try:
            with heads_path(self.settings.journal).open("a", encoding="ascii") as file:
                file.write(line)
        except OSError as error:
            _log.error("the head of the journal could not be noted: %s", error)

    def _announced(self, announcement: Announcement) -> None:
        sitting = self.loop.snapshot().sitting
        self._outputs.play(announcement.cue, sitting.seats, self.loop.game.part(sitting))

    def _show_layouts(self, snapshot: Snapshot) -> None:
        sight = SIGHTS.get(self.loop.game.name)
        if self.camera is None or sight is None:
            return
        poses = self.poses(snapshot.sitting.opened.seats)
        wanted = sight.layouts(snapshot.sitting, poses)
        if self.settings.deck is not None:
            wanted += sight.places(snapshot.sitting, poses)
        if wanted != self._layouts:
            self._layouts = wanted
            self.camera.set_layouts(wanted)

    def poses(self, seats: tuple[Seat, ...]) -> Mapping[str, Pose]:
        """Where the cards of these seats lie, by seat id; for who joins later people click."""
        size = self.settings.table_mm or DEFAULT_TABLE_MM
        places: Any = SIGHTS[self.loop.game.name].card_poses(len(seats), size)
        return dict(zip((seat.id for seat in seats), places, strict=True))
