"""Entries, commands and states to bytes and back, for one game."""

from __future__ import annotations

import hashlib
from functools import reduce
from operator import or_
from typing import Any, Generic

import msgspec

from companion.core import command as c
from companion.core import event as e
from companion.core.game import Game, S, Sitting


class Codec(Generic[S]):
    """Reads and writes the words of one game. Stateless, safe from any thread.

    JSON; keys of a state are sorted so that equal states have equal bytes.
    """

    def __init__(self, game: Game[S]) -> None:
        """Builds the unions of the common words and the game's own."""
        self._commands: Any = reduce(or_, (*c.COMMANDS, *game.commands))
        self._events: Any = reduce(or_, (*e.EVENTS, *game.events))
        self._entry = msgspec.json.Decoder(e.Entry, dec_hook=self._hook)
        self._command = msgspec.json.Decoder(self._commands, dec_hook=self._hook)
        self._event = msgspec.json.Decoder(self._events, dec_hook=self._hook)

    def _hook(self, wanted: type, plain: object) -> object:
        if wanted is c.Command:
            return msgspec.convert(plain, self._commands, dec_hook=self._hook)
        if wanted is e.Event:
            return msgspec.convert(plain, self._events, dec_hook=self._hook)
        raise NotImplementedError(f"no codec for {wanted}")

    def encode(self, word: msgspec.Struct | c.Command | e.Event) -> bytes:
        """One entry, command, event, view or state as JSON without line breaks."""
        return msgspec.json.encode(word)

    def entry(self, raw: bytes) -> e.Entry:
        """One journal entry. Raises msgspec.DecodeError or ValidationError on anything else."""
        return self._entry.decode(raw)

    def command(self, raw: bytes) -> c.Command:
        """One command from untrusted JSON; unknown names or fields raise msgspec.ValidationError."""
        decoded: c.Command = self._command.decode(raw)
        return decoded

    def event(self, raw: bytes) -> e.Event:
        """One event. Raises as `entry` does."""
        decoded: e.Event = self._event.decode(raw)
        return decoded

    def state_hash(self, sitting: Sitting[S]) -> str:
        """SHA-256 over the whole state of a table, as hex."""
        return hashlib.sha256(msgspec.json.encode(sitting, order="deterministic")).hexdigest()
