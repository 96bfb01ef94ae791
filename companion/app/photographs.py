"""Counting a finished table of Tacta on photographs that are sent to a page, at a table or without one."""

from __future__ import annotations

import logging
import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from companion.app.tables import most_dots as most_of_a_deck
from companion.core import command as core
from companion.core.score import standings
from companion.core.seat import Actor
from companion.games.tacta import commands as c
from companion.games.tacta.model import Table, illegal_cards, most_dots
from companion.games.tacta.rulebook import MATCH_TOTAL
from companion.games.tacta.verdicts import words
from companion.games.tacta.view import GLYPHS
from companion.runtime.desk import Desk
from companion.runtime.journal import JournalError
from companion.runtime.loop import TableClosedError
from companion.runtime.private_file import write_private
from companion.sight.tacta import HUES, dots
from vision.dots.reading import LONGEST_PX, DotsRead
from vision.encoding import jpeg, smaller
from vision.frame import Frame, Unreadable, decode
from web_ui.photographs import Colour, Dot, Photograph, PhotographError, Place, Rounds

KEPT = 24
MOST_DOTS = 600
MOST_ROUNDS = 100
_QUALITY = 88
_PATIENCE_S = 10.0
_SURE = 0.5
FLAGS = {
    "no_dots": "No dot was found. Photograph the table from above, near enough that dots are seen as discs.",
    "few_dots": "Hardly any dots were found: is the whole table in the picture?",
    "no_cards": "The dots that were found lie on no dark cards: this may be something else than a table of Tacta.",
    "other_cards": "A card of another game, or a sheet of a card's size, lies there: it was not counted.",
    "hand": "A hand, or something of its colour, lies over the cards: what is under it was not counted.",
    "glare": "A lamp is mirrored in the cards or in glass over them: dots under it were not seen. Move, and try again.",
    "too_small": "The dots are very small on this picture: go nearer, or send it larger.",
    "partly_covered": "Some dots may be partly covered: they are dashed and not counted. Tap those that count.",
    "colours_near": "Two colours nearly look alike under this lamp: compare them.",
    "too_dark": "The picture is very dark: more light, or the flash.",
}
"""What the reader's flags mean for whoever took the picture."""
_log = logging.getLogger(__name__)


class _Sheet(msgspec.Struct):
    """A kept photograph and its picture."""

    photograph: Photograph
    jpeg: bytes


class PhotographDesk:
    """A `web_ui.photographs.Photographs`. The last photographs are kept in memory.

    `table`: the running table that numbers may be handed in to. Without one, rounds are kept in the file `rounds`.
    """

    title = "Tacta"

    def __init__(self, table: Desk | None = None, rounds: Path | None = None) -> None:
        """Nothing is counted yet. Raises ValueError when the file of rounds cannot be read."""
        self._table, self._file = table, rounds
        self._sheets: OrderedDict[str, _Sheet] = OrderedDict()
        self._lock = threading.RLock()
        self._reading = (
            threading.Lock()
        )  # one picture at a time: the others wait, and the table keeps its processor
        self._rounds: tuple[dict[str, int], ...] = _read(rounds)

    def colours(self) -> Sequence[Colour]:
        """The printed colours, those that are played with first."""
        played = self._played()
        names = sorted(HUES, key=lambda name: (name not in played, list(HUES).index(name)))
        return tuple(Colour(name=name, sign=GLYPHS[name]) for name in names)

    def count(self, data: bytes) -> Photograph:
        """Read a picture and keep it, at most LONGEST_PX long."""
        with self._reading:
            try:
                frame = smaller(decode(data), LONGEST_PX)
            except Unreadable as error:
                raise PhotographError(f"The picture cannot be read: {error}.") from error
            found = dots(frame)
        made = _photograph(frame, found)
        data = jpeg(frame, _QUALITY)
        with self._lock:
            self._sheets[made.id] = _Sheet(made, data)
            while len(self._sheets) > KEPT:
                self._sheets.popitem(last=False)
        return made

    def find(self, id: str) -> Photograph | None:
        """A picture that is still kept."""
        with self._lock:
            sheet = self._sheets.get(id)
            return sheet.photograph if sheet else None

    def picture(self, id: str) -> bytes | None:
        """Its JPEG."""
        with self._lock:
            sheet = self._sheets.get(id)
            return sheet.jpeg if sheet else None

    def turn(self, id: str, n: int) -> Photograph:
        """Count a dot no more, or again."""
        with self._lock:
            sheet = self._sheet(id)
            dot = next((dot for dot in sheet.photograph.dots if dot.n == n), None)
            if dot is None:
                raise PhotographError("That dot is gone already.")
            turned = () if dot.is_own else (msgspec.structs.replace(dot, is_counted=not dot.is_counted),)
            return self._put(sheet, _with(sheet.photograph.dots, n, turned))

    def add(self, id: str, colour: str, xy: tuple[float, float]) -> Photograph:
        """Put a dot of a colour at this place."""
        with self._lock:
            sheet = self._sheet(id)
            now = sheet.photograph
            x, y = xy
            if colour not in HUES:
                raise PhotographError("Choose a colour first.")
            if not (math.isfinite(x) and math.isfinite(y) and 0 <= x <= now.width and 0 <= y <= now.height):
                raise PhotographError("That place is beside the picture.")
            if len(now.dots) >= MOST_DOTS:
                raise PhotographError(f"There are {MOST_DOTS} dots already.")
            usual = [dot.r for dot in now.dots] or [max(now.width, now.height) / 200]
            dot = Dot(
                n=1 + max((dot.n for dot in now.dots), default=0), colour=colour, x=round(x, 1), y=round(y, 1),
                r=usual[0], is_own=True,
            )  # fmt: skip
            return self._put(sheet, (*now.dots, dot))

    def ranked(self, photograph: Photograph) -> Sequence[Place]:
        """The colours by their dots. Rule: TACTA-2 TACTA-14"""
        counts = {**dict.fromkeys(self._played(), 0), **photograph.counts()}
        return _places(counts, {colour: self._doubt(colour, count) for colour, count in counts.items()})

    def rounds(self) -> Rounds | None:
        """The rounds of a match; a table keeps its own. Rule: TACTA-16"""
        if self._table is not None:
            return None
        with self._lock:
            rounds = self._rounds
        totals: dict[str, int] = {}
        for counts in rounds:
            for colour, count in counts.items():
                totals[colour] = totals.get(colour, 0) + count
        places = _places(totals, {})
        best = [place for place in places if place.place == 1 and place.dots >= MATCH_TOTAL]
        said = f"{MATCH_TOTAL} end the match."
        if best:
            said = f"{' and '.join(place.colour for place in best)} {'share' if len(best) > 1 else 'wins'} the match."
        return Rounds(rounds=rounds, totals=places, goal=MATCH_TOTAL, said=said)

    def keep(self, id: str) -> None:
        """Add its dots to the totals, once."""
        with self._lock:
            sheet = self._sheet(id)
            if sheet.photograph.is_kept:
                raise PhotographError("This photograph is in the totals already.")
            if len(self._rounds) >= MOST_ROUNDS:
                raise PhotographError("So many rounds are no match: take some out first.")
            self._keep((*self._rounds, sheet.photograph.counts()))
            sheet.photograph = msgspec.structs.replace(sheet.photograph, is_kept=True)

    def drop(self) -> None:
        """Take the last round out."""
        with self._lock:
            if not self._rounds:
                raise PhotographError("There is no round in the totals.")
            self._keep(self._rounds[:-1])

    def hand_in(self, id: str, actor: Actor) -> None:
        """One order a colour in play, in the order of the seats. Rule: TACTA-14"""
        photograph = self.find(id)
        if photograph is None or self._table is None:
            raise PhotographError("That photograph is not kept any more: send it again.")
        counts = photograph.counts()
        for colour in self._played():
            command = c.EnterDots(colour=colour, dots=counts.get(colour, 0))
            self._order(command, actor, f"photo-{id}-{photograph.version}-{colour}")

    def before(self) -> Sequence[str]:
        """Which cards lie illegally and are taken away before the count. Rule: TACTA-13"""
        table = self._sitting()
        if table is None:
            return ()
        return tuple(
            f"Take card {card.n} ({words(card.card)}) away first: it lies illegally and scores nothing."
            for card in illegal_cards(table)
        )

    def _order(self, command: core.Command, actor: Actor, key: str) -> None:
        if self._table is None:
            return
        try:
            answer = self._table.submit(command, actor, key).result(timeout=_PATIENCE_S)
        except (TimeoutError, JournalError, TableClosedError) as error:
            raise PhotographError(f"The table did not take it: {error or 'no answer in time'}.") from error
        if answer.ruling is not None:
            raise PhotographError(f"{answer.ruling.because} ({answer.ruling.rule})")

    def _sitting(self) -> Table | None:
        return None if self._table is None else self._table.snapshot().sitting

    def _played(self) -> tuple[str, ...]:
        """The colours that are played with; none are known without a table."""
        table = self._sitting()
        return () if table is None else tuple(dict.fromkeys(table.game.colours.values()))

    def _doubt(self, colour: str, count: int) -> str:
        """Why a count cannot be right. Rule: TACTA-2"""
        table = self._sitting()
        if table is not None and colour not in table.game.colours.values():
            return "nobody plays with this colour" if count else ""
        most = most_of_a_deck() if table is None else most_dots(table, colour)
        return f"more than its cards hold ({most})" if count > most else ""

    def _sheet(self, id: str) -> _Sheet:
        sheet = self._sheets.get(id)
        if sheet is None:
            raise PhotographError("That photograph is not kept any more: send it again.")
        return sheet

    def _put(self, sheet: _Sheet, found: tuple[Dot, ...]) -> Photograph:
        sheet.photograph = msgspec.structs.replace(
            sheet.photograph, dots=found, version=sheet.photograph.version + 1, is_kept=False
        )
        return sheet.photograph

    def _keep(self, rounds: tuple[dict[str, int], ...]) -> None:
        """On the disk before it counts."""
        if self._file is not None:
            try:
                write_private(self._file, msgspec.json.encode(rounds))
            except OSError as error:
                raise PhotographError(f"The totals could not be written: {error.strerror}.") from error
        self._rounds = rounds


def _places(counts: Mapping[str, int], doubts: Mapping[str, str]) -> tuple[Place, ...]:
    return tuple(
        Place(place=row.place, colour=row.seat, dots=row.score, is_shared=row.shared, doubt=doubts.get(row.seat, ""))
        for row in standings(counts)
    )  # fmt: skip


def _photograph(frame: Frame, found: DotsRead) -> Photograph:
    rows, columns = frame.shape[:2]
    return Photograph(
        id=secrets.token_urlsafe(9),
        width=columns,
        height=rows,
        dots=tuple(
            Dot(
                n=n, colour=dot.colour, x=dot.xy_px[0], y=dot.xy_px[1], r=dot.radius_px,
                is_counted=dot.confidence >= _SURE, is_sure=dot.confidence >= _SURE,
            )
            for n, dot in enumerate(found.dots, start=1)
        ),
        flags=tuple(FLAGS.get(flag, flag.replace("_", " ")) for flag in found.flags),
    )  # fmt: skip


def _with(found: tuple[Dot, ...], n: int, instead: tuple[Dot, ...]) -> tuple[Dot, ...]:
    return tuple(each for dot in found for each in (instead if dot.n == n else (dot,)))


def _read(path: Path | None) -> tuple[dict[str, int], ...]:
    if path is None or not path.is_file():
        return ()
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[dict[str, int], ...])
    except (OSError, msgspec.MsgspecError) as error:
        raise ValueError(
            f"{path}: the rounds kept there cannot be read ({error}); move the file away"
        ) from error
