"""What a quest card means that the camera names, where people deal: it was turned up, or drawn. Pure."""

from __future__ import annotations

from companion.core.command import Command, Propose
from companion.core.observation import CardLaid, card_key, reference
from companion.games.tahwars import commands as c
from companion.games.tahwars.model import Table, data_of, may_draw, owes_card
from companion.games.tahwars.rulebook import MOST_QUESTS
from companion.games.tahwars.verdicts import quest_in_words


def laid(table: Table, seen: CardLaid) -> tuple[Command, ...]:
    """What is asked because of this card. While the line-up is short it lies in the line-up; later in phase 1 it may be
    what the player drew, who is asked. A card that is not sure is proposed. Rule: TAH-2 TAH-6"""
    state = table.game
    if table.options["dealing"] != "table":
        return ()
    told = [seen.card.name] if seen.card.name is not None else [each.name for each in seen.card.candidates]
    by_name = {
        card_key(word): quest for quest in data_of(table).quests for word in (quest.id, quest.name) if word
    }
    left = state.deck or state.discards
    maybe = [quest for name in told if (quest := by_name.get(card_key(name))) and quest.id in left]
    if not maybe:
        return ()
    best, what = maybe[0], " or ".join(quest_in_words(quest) for quest in maybe)
    if owes_card(table):
        turned = c.TurnUp(quest=best.id)
        return (
            turned
            if seen.card.name is not None
            else _asked(seen, turned, f"The card turned up may be {what}"),
        )
    if state.phase == "quests" and may_draw(state) and len(state.players[state.turn].quests) < MOST_QUESTS:
        drawn = c.DrawQuest(seat=state.turn, quest=best.id)
        return (_asked(seen, drawn, f"{table.name(state.turn)} may have drawn {what}"),)
    return ()


def _asked(seen: CardLaid, command: c.TurnUp | c.DrawQuest, reading: str) -> Propose:
    return Propose(
        command=command, reading=reading, confidence=seen.card.confidence, evidence=(reference(seen),)
    )
