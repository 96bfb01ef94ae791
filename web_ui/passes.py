"""Who holds a pass to the pages: short codes that are traded for long tokens, and the file they live in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from companion.core.seat import REFEREE, Role, Viewer
from companion.runtime.private_file import write_private

ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of a code: none that is mistaken for another (no 0 O 1 I)."""
SEAT_LETTERS = 6
REFEREE_LETTERS = 8


class Holder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One browser that was let in. `digest`: SHA-256 of its token; `device`: what it calls itself."""

    id: str
    digest: str
    role: Role
    seat: str = ""
    device: str = ""
    made_ms: int = 0

    @property
    def viewer(self) -> Viewer:
        """For whose eyes its pages are."""
        return Viewer(self.role, self.seat)


class _Stored(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The file: `turns` counts how often a code was made anew, `used` lists the codes that were traded in."""

    table: str
    secret: str
    is_claimed: bool = False
    holders: dict[str, Holder] = {}
    turns: dict[str, int] = {}
    used: set[str] = set()


def _label(whom: Viewer) -> str:
    return f"{whom.role.value}:{whom.seat}"


def plain(code: str) -> str:
    """A code as it is compared: upper case, no blanks and dashes, the letters people mistake mended."""
    mended = code.upper().translate(str.maketrans("01OI", "QLQL"))
    return "".join(letter for letter in mended if letter in ALPHABET)


class Passes:
    """Codes and holders of one table. Safe from any thread; every change is in the file before it counts.

    A code is good once. It is derived from a secret in the file, so a printed sheet stays good over a restart
    and nothing but that secret has to be kept; tokens are random and only their digests are stored.
    """

    def __init__(self, path: Path | None) -> None:
        """Reads the file (mode 0600) or makes it; None keeps all in memory.

        Raises ValueError when the file is not one of these: it says to remove it. A file belongs to one
        journal: with another one the seats would be other people.
        """
        self._path = path
        self._lock = threading.RLock()
        self._listeners: list[Callable[[str], None]] = []
        self._stored = self._load()

    def _load(self) -> _Stored:
        if self._path is not None and self._path.exists():
            try:
                return msgspec.json.decode(self._path.read_bytes(), type=_Stored)
            except msgspec.MsgspecError as wrong:
                raise ValueError(
                    f"{self._path} is no access file ({wrong}); remove it to start anew"
                ) from wrong
        stored = _Stored(table=secrets.token_hex(4), secret=secrets.token_hex(32))
        self._stored = stored
        self._save()
        return stored

    def _save(self) -> None:
        if self._path is None:
            return
        write_private(self._path, msgspec.json.encode(self._stored))

    @property
    def table(self) -> str:
        """A short name of this table, for cookies: two tables on one host do not share them."""
        return self._stored.table

    @property
    def is_claimed(self) -> bool:
        """Whether a referee has come in at least once."""
        return self._stored.is_claimed

    def secret(self, purpose: str) -> bytes:
        """32 bytes that stay the same over restarts, other ones for each purpose."""
        return hmac.digest(bytes.fromhex(self._stored.secret), purpose.encode(), "sha256")

    def code(self, whom: Viewer) -> str | None:
        """The code that lets somebody in as `whom`, None when it was used."""
        with self._lock:
            label = _label(whom)
            if label in self._stored.used:
                return None
            digest = self.secret(f"code {label} {self._stored.turns.get(label, 0)}")
        length = REFEREE_LETTERS if whom.role is Role.REFEREE else SEAT_LETTERS
        return "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:length])

    def renew(self, whom: Viewer) -> str:
        """A fresh code for `whom`; an older one that nobody used is void."""
        with self._lock:
            label = _label(whom)
            self._stored.turns[label] = self._stored.turns.get(label, 0) + 1
            self._stored.used.discard(label)
            self._save()
        code = self.code(whom)
        if code is None:
            raise RuntimeError("a code that was just made is used")
        return code

    def whose(self, code: str, seats: Iterable[str]) -> Viewer | None:
        """Whom a code lets in, None for a wrong or used one. `seats`: ids of the seats there are."""
        given = plain(code)
        found = None
        for whom in (REFEREE, *(Viewer(Role.SEAT, seat) for seat in seats)):
            right = self.code(whom)
            if right is not None and hmac.compare_digest(right.encode(), given.encode()):
                found = whom
        return found

    def redeem(self, code: str, seats: Iterable[str], device: str) -> tuple[Holder, str] | None:
        """Trade a code for a pass: the holder and its token, which is told this once. None for a bad code."""
        with self._lock:
            whom = self.whose(code, seats)
            if whom is None:
                return None
            token = secrets.token_urlsafe(32)
            holder = Holder(
                id=secrets.token_hex(6),
                digest=hashlib.sha256(token.encode()).hexdigest(),
                role=whom.role,
                seat=whom.seat,
                device=device[:60],
                made_ms=time.time_ns() // 1_000_000,
            )
            self._stored.used.add(_label(whom))
            self._stored.holders[holder.id] = holder
            if whom.role is Role.REFEREE:
                self._stored.is_claimed = True
            self._save()
        return holder, token

    def holder(self, token: str) -> Holder | None:
        """Who bears this token, None for nobody."""
        if not token:
            return None
        digest = hashlib.sha256(token.encode()).hexdigest()
        with self._lock:
            return next((h for h in self._stored.holders.values() if h.digest == digest), None)

    def holders(self) -> tuple[Holder, ...]:
        """Everybody who was let in and not sent away, oldest first."""
        with self._lock:
            return tuple(sorted(self._stored.holders.values(), key=lambda holder: holder.made_ms))

    def revoke(self, holder_id: str) -> bool:
        """Send a browser away: its token is worth nothing from now on. False when there is none."""
        with self._lock:
            if self._stored.holders.pop(holder_id, None) is None:
                return False
            self._save()
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(holder_id)
        return True

    def on_revoke(self, listener: Callable[[str], None]) -> None:
        """Call `listener(holder id)` whenever a browser was sent away."""
        with self._lock:
            self._listeners.append(listener)
