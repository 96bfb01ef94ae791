"""Which rulings a fact implies: the rule, the verdict and the sentence why."""

from __future__ import annotations

from companion.core.event import Event, Left
from companion.core.ruling import Ruling, breach, ok
from companion.games.tahwars import events as e
from companion.games.tahwars.deck import OF_TERRAIN, RESOURCES, Quest, Reward, goods_in_words
from companion.games.tahwars.model import Player, Strike, Table, TahWars, data_of, quest_of, title, titles


def rule(before: Table, event: Event, after: Table) -> tuple[Ruling, ...]:
    """The rulings that a fact implies, `before` and `after` it."""
    found = _of_event(before, event, after)
    return (*found, *_of_game(before, after))


def _of_event(before: Table, event: Event, after: Table) -> tuple[Ruling, ...]:
    name = after.name
    match event:
        case e.MapLaid(map=laid):
            return (ok("TAH-2", f"The map {laid.name or 'of the house'} lies in the middle."),)
        case e.CastlePlaced(seat=seat, castle=castle):
            return (ok("TAH-2", f"{name(seat)}'s castle stands on {lands(castle.terrains)}.", seat),)
        case e.FirstChosen(first=first):
            because = f"{name(first)} has the first-player marker; each launches D4, D6 and D8."
            return (ok("TAH-3", because, first),)
        case e.CardTurnedUp(quest=quest):
            return (ok("TAH-6", f"Turned up: {_quest(after, quest)}."),)
        case e.QuestTaken(seat=seat, quest=quest):
            return (ok("TAH-6", f"{name(seat)} takes the quest {_quest(after, quest)}.", seat),)
        case e.QuestDrawn(seat=seat):
            drawn = _new_quest(before, after, seat)
            return (ok("TAH-6", f"{name(seat)} draws the quest {_quest(after, drawn)}.", seat),)
        case e.QuestDropped(seat=seat, quest=quest):
            return (ok("TAH-6", f"{name(seat)} discards the quest {_quest(after, quest)}.", seat),)
        case e.QuestPassed(seat=seat):
            return (ok("TAH-6", f"No card is left for {name(seat)} to choose.", seat),)
        case e.CastleGathered() | e.DieGathered():
            return _gathered(before, event, after)
        case e.DieStayed(seat=seat, kind=kind, number=number):
            because = f"{name(seat)}'s {title(kind)} stays and counts {number} now."
            return (ok("TAH-11", because, seat),)
        case e.DieRecruited(seat=seat, kind=kind, paid=paid):
            because = f"{name(seat)} recruits the {title(kind)} for {goods_in_words(paid) or 'nothing'}."
            return (ok("TAH-12", because, seat),)
        case e.CrownBought(seat=seat):
            return (ok("TAH-12", f"{name(seat)} buys a crown for 3 of each resource.", seat),)
        case e.TradeFinished(seat=seat):
            return (ok("TAH-12", f"{name(seat)} is through with phase 3.", seat),)
        case e.QuestCompleted():
            return (_completed(event, after),)
        case e.TurnEnded(seat=seat):
            back = _off(before.game.players.get(seat))
            told = f" {titles(back)} from beside the board: back in the population." if back else ""
            return (ok("TAH-25" if back else "TAH-5", f"{name(seat)}'s turn is over.{told}", seat),)
        case e.CubesSet(seat=seat, item=item, value=value):
            return (ok("TAH-10", f"{name(seat)}'s {item} is put right: {value}.", seat),)
        case Left(seat=seat) if seat in before.game.players and before.game.phase != "setup":
            return (_out(after, seat, "leaves"),)
        case _:
            return _of_actions(before, event, after)


def _of_actions(before: Table, event: Event, after: Table) -> tuple[Ruling, ...]:
    name = after.name
    match event:
        case e.CastleMoved(ruling=found) | e.MoveTakenBack(ruling=found):
            return (found,)
        case e.AttackDeclared(seat=seat, dice=dice):
            return (ok("TAH-19", f"{name(seat)} attacks with {titles(dice)}.", seat),)
        case e.DieLaunched():
            return _launched(before, event, after)
        case e.HitNoted(seat=seat, kind=kind, tower=tower, is_hit=is_hit):
            how = "touched" if is_hit else "did not touch"
            return (ok("TAH-20", f"{name(seat)}'s {title(kind)} {how} {name(tower)}'s tower.", seat),)
        case e.DieKnocked():
            return (_knocked(event, after),)
        case e.PutBack(owner=owner, kind=kind):
            if kind:
                because = f"{name(owner)}'s {title(kind)} was moved by hand: it goes back as last seen."
                return (ok("TAH-33", because, owner),)
            return (ok("TAH-37", f"{name(owner)}'s tower was shifted: it goes back to its place.", owner),)
        case e.DieStuck(seat=seat, kind=kind):
            because = f"{name(seat)}'s {title(kind)} is stuck in the tower: it is dropped again."
            return (ok("TAH-36", because, seat),)
        case e.DieLaidFlat(owner=owner, kind=kind, number=number):
            because = f"{name(owner)}'s {title(kind)} leaned and is laid flat: it counts {number}."
            return (ok("TAH-36", because, owner),)
        case e.AttackSettled(seat=seat) if seat in before.game.players and seat in after.game.players:
            return _settled(before, event, after)
        case _:
            return ()


def lands(terrains: tuple[str, ...]) -> str:
    """Terrains in words."""
    return " and ".join(terrains) if terrains else "unpainted ground"


def quest_in_words(quest: Quest) -> str:
    """A quest card as people say it."""
    asks = f"{quest.kind} {goods_in_words(quest.pays) if quest.kind == 'trade' else quest.number}"
    named = f"{quest.name}: " if quest.name else ""
    return f"{named}{asks} on {quest.terrain}, for {reward_in_words(quest.reward)}"


def reward_in_words(reward: Reward) -> str:
    """What a quest gives."""
    parts = [f"{reward.crowns} crown{'s' if reward.crowns > 1 else ''}"] if reward.crowns else []
    parts += [goods_in_words(reward.resources)] if reward.resources else []
    parts += [f"{reward.health} health"] if reward.health else []
    return " and ".join(parts) or "nothing"


def strike_in_words(table: Table, strike: Strike) -> str:
    """The sum of an attack at one tower, and whether it is enough. Rule: TAH-21"""
    dice = " + ".join(
        f"{title(kind)} {number}" for kind, number in zip(strike.dice, strike.numbers, strict=False)
    )
    is_more = "success" if strike.is_success else "no success"
    return f"{dice} + attack {strike.attack} = {strike.total} against shield {strike.shield}: {is_more}"


def _quest(table: Table, quest_id: str) -> str:
    quest = quest_of(table, quest_id)
    return f"{quest.name or quest.id} ({quest.kind}, {quest.terrain})" if quest else quest_id or "?"


def _new_quest(before: Table, after: Table, seat: str) -> str:
    old, new = (t.game.players.get(seat) for t in (before, after))
    had = old.quests if old else ()
    return next((quest for quest in (new.quests if new else ()) if quest not in had), "")


def _gathered(before: Table, event: e.CastleGathered | e.DieGathered, after: Table) -> tuple[Ruling, ...]:
    """What was gathered, and where it went. Rule: TAH-7 TAH-9 TAH-10"""
    seat, name = event.seat, after.name(event.seat)
    old, new = before.game.players.get(seat), after.game.players.get(seat)
    if isinstance(event, e.CastleGathered):
        gives: tuple[tuple[str, int], ...] = ((event.resource, 1),) if event.resource else ()
        who, rule_id, more = f"{name}'s castle", "TAH-7", ""
    else:
        gives, rule_id = event.gives, "TAH-9"
        who = f"{name}'s {title(event.kind)}"
        more = f" It goes back to the {'population' if event.kind == 'd4' else 'player board'}."
    told = " and ".join(f"{count} {what}" for what, count in gives) or "nothing"
    found = [ok(rule_id, f"{who} gathers {told}.{more}", seat)]
    overflow = _overflow(before, old, new, gives)
    return (*found, ok("TAH-10", f"{name}: {overflow}", seat)) if overflow else tuple(found)


def _overflow(
    table: Table, old: Player | None, new: Player | None, gives: tuple[tuple[str, int], ...]
) -> str:
    """What went past a full resource, in words; empty when nothing did. Rule: TAH-10"""
    if old is None or new is None:
        return ""
    cap = data_of(table).resource_cap
    wanted = {name: sum(n for what, n in gives if what == name) for name in RESOURCES}
    got = {name: new.resources.get(name, 0) - old.resources.get(name, 0) for name in RESOURCES}
    full = [name for name in RESOURCES if wanted[name] and got[name] < wanted[name]]
    if not full:
        return ""
    spare = [f"1 {name}" for name in RESOURCES if got[name] > wanted[name]]
    instead = f"; instead {' and '.join(spare)} of the next line down" if spare else "; the rest is lost"
    return f"{' and '.join(full)} full at {cap}{instead}."


def _completed(event: e.QuestCompleted, after: Table) -> Ruling:
    quest = _quest(after, event.quest)
    because = f"{after.name(event.seat)} completes {quest}: {event.because}. Reward: {reward_in_words(event.reward)}."
    return ok("TAH-26", because, event.seat)


def _off(player: Player | None) -> tuple[str, ...]:
    return tuple(kind for kind, piece in player.dice.items() if piece.place == "off") if player else ()


def _launched(before: Table, event: e.DieLaunched, after: Table) -> tuple[Ruling, ...]:
    """Where a launched die lies and what it counts. Rule: TAH-3 TAH-18 TAH-19 TAH-20 TAH-25"""
    seat, die = event.seat, f"{after.name(event.seat)}'s {title(event.kind)}"
    if before.game.phase == "launch":
        if event.is_off_board:
            return (breach("TAH-3", f"{die} left the board: it is launched again.", seat),)
        because = f"{die} lies on {lands(event.terrains)} and counts {event.number}."
        return (ok("TAH-3", because, seat),)
    counts = f"counts {event.number}" if event.shows is not None else "counts 0, for nobody saw its face"
    lies = (
        f"left the board and {counts}"
        if event.is_off_board
        else f"lies on {lands(event.terrains)} and {counts}"
    )
    if not event.is_attack:
        if event.kind == "d20":
            because = f"{die} was not declared: it has no effect and returns to the player board."
            return (breach("TAH-19", because, seat),)
        rule_id = "TAH-25" if event.is_off_board else "TAH-18"
        return (ok(rule_id, f"{die} {lies}.", seat),)
    if not event.touched:
        return (ok("TAH-20", f"{die} {lies}; it touched no tower.", seat),)
    towers = " and ".join(after.name(tower) for tower in event.touched)
    return (ok("TAH-20", f"{die} {lies}; it touched the tower of {towers}.", seat),)


def _knocked(event: e.DieKnocked, after: Table) -> Ruling:
    """Rule: TAH-25 TAH-33"""
    die = f"{after.name(event.owner)}'s {title(event.kind)}"
    if not event.is_off_board:
        because = (
            f"{die} was pushed by a die: it lies on {lands(event.terrains)} now and counts {event.number}."
        )
        return ok("TAH-33", because, event.owner)
    if event.by == event.owner:
        because = f"{die} was pushed off the board by its own player: into the population when the turn ends."
    else:
        to = "population" if event.kind == "d4" else "player board"
        because = f"{die} was knocked off the board by {after.name(event.by)}: it goes to the {to}."
    return ok("TAH-25", because, event.owner)


def _settled(before: Table, event: e.AttackSettled, after: Table) -> tuple[Ruling, ...]:
    """Each touched tower on its own, then the stats. Rule: TAH-21 TAH-22 TAH-23 TAH-24 TAH-27"""
    seat, name = event.seat, after.name
    found = []
    for strike in event.strikes:
        told = f"{name(seat)} against {name(strike.tower)}: {strike_in_words(after, strike)}."
        if strike.is_success:
            told += f" {name(strike.tower)} loses 1 health, {name(seat)} gains 1 crown."
        found.append(ok("TAH-21", told, seat))
    if len(event.strikes) > 1:
        crowns = sum(strike.is_success for strike in event.strikes)
        because = f"A trick shot: {len(event.strikes)} towers touched, {crowns} crowns; attack rises once."
        found.append(ok("TAH-23", because, seat))
    found.append(ok("TAH-22", _raised(event, before.game, after), seat))
    for strike in event.strikes:
        found += _zero_health(before.game, after, strike)
    back = _returned(before.game, after.game, seat)
    if back:
        found.append(ok("TAH-24", f"Back from the board: {titles(back)} of {name(seat)}.", seat))
    return tuple(found)


def _raised(event: e.AttackSettled, before: TahWars, after: Table) -> str:
    name, player = after.name, after.game.players[event.seat]
    if not event.is_raised:
        return f"{name(event.seat)} touched nobody: nothing rises (miss_raises is off)."
    cap = " (as high as it goes)" if before.players[event.seat].attack == player.attack else ""
    shields = [
        f"{name(strike.tower)}'s shield {after.game.players[strike.tower].shield}"
        for strike in event.strikes
        if strike.tower in after.game.players
    ]
    return (
        f"After the attack {name(event.seat)}'s attack is {player.attack}{cap}"
        + "".join(f", {each}" for each in shields)
        + "."
    )


def _zero_health(before: TahWars, after: Table, strike: Strike) -> list[Ruling]:
    """Rule: TAH-27"""
    old, new = before.players.get(strike.tower), after.game.players.get(strike.tower)
    if old is None or new is None or not strike.is_success or old.health > 1:
        return []
    who = after.name(strike.tower)
    if new.is_out:
        return [_out(after, strike.tower, "has no health left and is eliminated", "TAH-27")]
    lost = "loses 1 crown instead" if old.crowns else "has no crown to lose"
    return [ok("TAH-27", f"{who}'s health would drop to 0: it stays at 1, and {who} {lost}.", strike.tower)]


def _out(after: Table, seat: str, how: str, rule_id: str = "TAH-32") -> Ruling:
    because = f"{after.name(seat)} {how}: tower and dice leave the board, quests are discarded."
    return ok(rule_id, because, seat)


def _returned(before: TahWars, after: TahWars, seat: str) -> tuple[str, ...]:
    old, new = before.players[seat], after.players[seat]
    return tuple(
        kind
        for kind, piece in old.dice.items()
        if piece.place in ("board", "off") and new.dice[kind].place in ("home", "population")
    )


def _of_game(before: Table, after: Table) -> tuple[Ruling, ...]:
    """What became of the game: its final round, sudden death, a new round, its end. Rule: TAH-5 TAH-28 TAH-29"""
    old, new, found = before.game, after.game, []
    if new.final and not old.final:
        when = "This round is" if new.final == new.part else "The next round is"
        found.append(ok("TAH-28", f"Somebody has enough crowns. {when} the final one."))
    if new.stage and new.stage != old.stage:
        because = {
            "sudden": "Several have as many crowns as they need and nobody more: sudden death, one more crown wins.",
            "alone": "Several stand highest: the first to stand alone highest wins.",
        }.get(new.stage, "")
        found.append(ok("TAH-28" if new.stage == "sudden" else "TAH-29", because))
    if old.final and not new.final and new.phase != "over":
        found.append(ok("TAH-29", "Nobody has enough crowns any more: play goes on."))
    if new.part > old.part and new.phase != "over":
        because = f"Round {new.part} begins: {after.name(new.first)} has the first-player marker."
        found.append(ok("TAH-5", because, new.first))
    if new.phase == "over" and old.phase != "over":
        names = " and ".join(map(after.name, new.winners))
        is_last = sum(not p.is_out for p in new.players.values()) < 2
        found.append(ok("TAH-32" if is_last else "TAH-28", f"{names or 'Nobody'} wins the game."))
    return tuple(found)


def gathers(terrains: tuple[str, ...]) -> str:
    """What may be gathered on these terrains, in words."""
    return " or ".join("1 of any" if name == "city" else OF_TERRAIN[name] for name in terrains) or "nothing"
