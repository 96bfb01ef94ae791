"""May it be done, and which facts does it make. Pure and total."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from companion.core import chance
from companion.core.clock import Stamp
from companion.core.command import Command, Order
from companion.core.event import Event, Proposed
from companion.core.fitness import why_not_race
from companion.core.game import refuse
from companion.core.seat import Role
from companion.games.tada import commands as c
from companion.games.tada import events as e
from companion.games.tada.deck import SYMBOLS
from companion.games.tada.model import (
    Caster,
    Table,
    deck_of,
    heat,
    is_turn_taken,
    is_win_open,
    may_end,
    must_choose,
    named_twice,
    open_protests,
    out_at,
    spell_of,
    takes_over,
    waiting,
    was_called,
    would_win,
)
from companion.games.tada.rulebook import CALL_AGAIN_NS, CLICK_U_NS, DICE, HAND

Facts = tuple[Event, ...]
ORDER_OF_STEPS = "A round runs draw, feat, choose, cast, resolve; this belongs to another step."


def decide(table: Table, order: Order) -> Facts:
    """The facts that an order makes at this table. Rule: TADA-5"""
    rule = RULES.get(type(order.command))
    if rule is None:
        return refuse(order.command, "TABLE-3", "This game has no such command.")
    phases, judge = rule
    if phases and table.game.phase not in phases:
        seat = getattr(order.command, "seat", "")
        if table.game.phase == "over":
            return refuse(order.command, "TADA-3", "The game is over.", seat)
        return refuse(order.command, "TADA-5", ORDER_OF_STEPS, seat)
    return judge(table, order, order.command)


def _deal(table: Table, _: Order, command: c.Deal) -> Facts:
    state = table.game
    if state.phase != "draw":
        because = "Hands are filled to two once a round: nobody draws again before the next."
        return refuse(command, "TADA-6", because)
    if table.options["dealing"] == "table":
        hands: dict[str, tuple[str, ...]] = {seat.id: () for seat in table.playing()}
        return (e.HandsDealt(drawn=hands, deck=state.deck, discard=state.discard),)
    known = {card for cards in (*state.hands.values(), *state.scored.values()) for card in cards}
    deck = [card for card in state.deck if card not in known]
    discard = [card for card in dict.fromkeys(state.discard) if card not in {*known, *deck}]
    reshuffled = False
    drawn: dict[str, tuple[str, ...]] = {}
    for seat in table.playing():
        taken: list[str] = []
        while len(state.hands.get(seat.id, ())) + len(taken) < HAND:
            if not deck and discard:
                deck = list(chance.shuffled(table.opened.seed, f"spells/{state.part}", sorted(discard)))
                discard, reshuffled = [], True
            if not deck:
                break
            taken.append(deck.pop(0))
        drawn[seat.id] = tuple(taken)
    return (e.HandsDealt(drawn=drawn, deck=tuple(deck), discard=tuple(discard), reshuffled=reshuffled),)


def _next_feat(table: Table, wanted: str) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """The feat, the pile and the discards after turning up another than lies there; None when there is none."""
    state = table.game
    pile, discard, laid = state.feats, state.feat_discard, (state.feat,) if state.feat else ()
    if wanted and (wanted in laid or wanted not in deck_of(table).feats()):
        return None
    if not pile:
        pile, discard = chance.shuffled(table.opened.seed, f"feats/{state.part}", sorted(discard)), ()
    if not (wanted or pile):
        return None
    feat = wanted or pile[0]
    rest = tuple(card for card in (*discard, *laid) if card != feat)
    return feat, tuple(card for card in pile if card != feat), rest


def _reveal_feat(table: Table, _: Order, command: c.RevealFeat) -> Facts:
    found = _next_feat(table, command.feat)
    if found is None:
        return refuse(command, "TADA-8", "There is no such feat card.")
    return (e.FeatRevealed(feat=found[0], feats=found[1], feat_discard=found[2]),)


def _replace_feat(table: Table, _: Order, command: c.ReplaceFeat) -> Facts:
    if not table.options["replace_feat"]:
        return refuse(command, "TADA-26", "The house rule replace_feat is off.")
    if table.game.chosen:
        return refuse(command, "TADA-26", "A feat is replaced before spells are chosen.")
    found = _next_feat(table, command.feat)
    if found is None:
        return refuse(command, "TADA-26", "There is no other feat card.")
    made = e.FeatRevealed(
        feat=found[0],
        feats=found[1],
        feat_discard=found[2],
        instead_of=table.game.feat,
        why=command.why[:200],
    )
    return (made,)


def _waive(table: Table, _: Order, command: c.WaiveEffect) -> Facts:
    if not any(
        h.target == command.seat
        and h.spell == command.spell
        and h.part == table.game.part
        and not h.is_waived
        for h in table.game.hexes
    ):
        return refuse(command, "TADA-22", "That seat does not suffer that effect now.", command.seat)
    return (e.EffectWaived(seat=command.seat, spell=command.spell, why=command.why[:200]),)


def _choose(table: Table, _: Order, command: c.ChooseSpell) -> Facts:
    if command.seat not in must_choose(table):
        return refuse(
            command, "TADA-24", "Who sat down after the draw casts from the next one.", command.seat
        )
    if table.options["dealing"] == "table":
        gone = [spell for cards in table.game.scored.values() for spell in cards]
        if command.spell not in deck_of(table).spells() or command.spell in gone:
            return refuse(command, "TADA-10", "That card is not in anybody's hand.", command.seat)
    elif command.spell not in table.game.hands.get(command.seat, ()):
        return refuse(command, "TADA-10", "One of the two cards in hand must be chosen.", command.seat)
    return (e.SpellChosen(seat=command.seat, spell=command.spell),)


def _reveal(table: Table, _: Order, command: c.Reveal) -> Facts:
    missing = [table.name(seat) for seat in must_choose(table) if seat not in table.game.chosen]
    if missing or not table.game.chosen:
        return refuse(command, "TADA-10", f"Not everyone has chosen: {', '.join(missing)}.")
    if twice := named_twice(table):
        because = (
            f"{' and '.join(map(table.name, twice))} named the same card: look at the cards and name again."
        )
        return refuse(command, "TADA-10", because)
    return (e.SpellsRevealed(),)


def _ready(table: Table, _: Order, command: c.Ready) -> Facts:
    if not any(k.seat == command.seat and not k.is_ready for k in waiting(table)):
        return refuse(command, "TADA-11", "That seat does not wait to be ready.", command.seat)
    return (e.CasterReady(seats=(command.seat,)),)


def _ready_all(table: Table, _: Order, command: c.ReadyAll) -> Facts:
    late = tuple(k.seat for k in waiting(table) if not k.is_ready)
    return (e.CasterReady(seats=late),) if late else refuse(command, "TADA-11", "All are ready.")


def _call_go(table: Table, order: Order, command: c.CallGo) -> Facts:
    next_up = list(waiting(table))
    if table.options["in_turn"]:
        if is_turn_taken(table):
            return refuse(command, "TADA-11", "Another seat is casting: they cast in turn.")
        next_up = [k for k in next_up if command.caster in ("", k.seat)][:1]
    elif command.caster:
        return refuse(command, "TADA-11", "GO is one for all.", command.caster)
    if not next_up:
        return refuse(command, "TADA-11", "Nobody waits for GO.", command.caster)
    late = [table.name(k.seat) for k in next_up if not k.is_ready]
    if late:
        return refuse(command, "TADA-11", f"GO comes when everyone is ready; not yet: {', '.join(late)}.")
    if unfit := why_not_race(table, (k.seat for k in next_up)):
        return refuse(command, "TABLE-12", unfit, command.caster)
    shifts = [seat.accommodation.start_shift_ms for k in next_up if (seat := table.seat(k.seat))]
    lead_ns = int(table.options["countdown_s"]) * 1_000_000_000 + max(0, -min(shifts)) * 1_000_000
    return (e.GoSet(at_ns=order.at_ns + lead_ns, seats=tuple(k.seat for k in next_up)),)


def _give_go(table: Table, order: Order, command: c.GiveGo) -> Facts:
    now = table.play_ns(order.at_ns)
    due = tuple(
        k.seat
        for k in table.game.casters.values()
        if k.go_ns is not None and not k.has_started and k.go_ns <= now
    )
    return (e.GoGiven(seats=due),) if due else refuse(command, "TADA-11", "GO is not due.")


def _casting(table: Table, command: Any) -> Caster | Facts:
    """The caster of a command, or why it may do nothing now."""
    caster = table.game.casters.get(command.seat)
    if caster is None:
        return refuse(command, "TADA-24", "That seat does not cast in this round.", command.seat)
    if caster.out:
        because = "That seat is out of the round: what it does now is void."
        return refuse(command, caster.out, because, command.seat)
    if caster.kept:
        return refuse(
            command, "TADA-25", f"{table.name(caster.seat)} keeps place {caster.kept}.", command.seat
        )
    if not caster.is_casting:
        return refuse(command, "TADA-18", "That seat has slammed already.", command.seat)
    if not caster.has_started:
        return refuse(command, "TADA-11", "Before GO nothing counts: it is done again.", command.seat)
    return caster


def _roll(table: Table, _: Order, command: c.RecordRoll) -> Facts:
    caster = _casting(table, command)
    if isinstance(caster, tuple):
        return caster
    free = DICE - caster.locked
    if len(command.symbols) > free or set(command.symbols) - set(SYMBOLS):
        return refuse(command, "TADA-12", f"A roll throws the unlocked dice: at most {free}.", command.seat)
    return (e.RollSeen(seat=command.seat, symbols=command.symbols),)


def _lock(table: Table, _: Order, command: c.LockDie) -> Facts:
    caster = _casting(table, command)
    spell = spell_of(table, command.seat)
    if isinstance(caster, tuple):
        return caster
    if spell is None or not 0 <= command.slot < len(spell.symbols):
        return refuse(command, "TADA-12", "The spell has no such place.", command.seat)
    if caster.locks[command.slot] is not None:
        return refuse(command, "TADA-12", "A locked die is never swapped: that place is taken.", command.seat)
    if spell.symbols[command.slot] != command.symbol:
        wanted = spell.symbols[command.slot]
        because = f"That place asks for {wanted}, not {command.symbol[:20]}: the die goes back in the cup."
        return refuse(command, "TADA-12", because, command.seat)
    if caster.rolls and caster.locked >= caster.rolls:
        because = (
            f"One die at most is locked after each roll, and {caster.rolls} were seen: the die goes back in the"
            " cup, or the roll that was missed is noted first."
        )
        return refuse(command, "TADA-12", because, command.seat)
    return (e.DieLocked(seat=command.seat, slot=command.slot, symbol=command.symbol),)


def _return_die(table: Table, _: Order, command: c.ReturnDie) -> Facts:
    caster = _casting(table, command)
    if isinstance(caster, tuple):
        return caster
    if not 0 <= command.slot < len(caster.locks) or caster.locks[command.slot] is None:
        return refuse(command, "TADA-12", "No die lies there.", command.seat)
    return (e.DieReturned(seat=command.seat, slot=command.slot, why=command.why[:200]),)


def _call(table: Table, order: Order, command: c.CallTaDa) -> Facts:
    caster = table.game.casters.get(command.seat)
    if caster is None or caster.out or caster.kept or not caster.has_started:
        return refuse(command, "TADA-14", "That seat is not casting.", command.seat)
    if caster.called_ns is not None and table.play_ns(order.at_ns) - caster.called_ns < CALL_AGAIN_NS:
        return refuse(command, "TADA-14", "That call is noted already.", command.seat)
    return (e.TaDaCalled(seat=command.seat),)


def _slam(table: Table, order: Order, command: c.Slam) -> Facts:
    """A slam counts from its own stamp, however late it is heard; a seat's page has no clock but the table's."""
    clicked = Stamp(at_ns=order.at_ns, u_ns=CLICK_U_NS)
    stamp = clicked if command.stamp is None or order.actor.role is Role.SEAT else command.stamp
    state, caster, play_ns = table.game, table.game.casters.get(command.seat), table.play_ns(stamp.at_ns)
    if caster is None:
        return refuse(command, "TADA-24", "That seat does not cast in this round.", command.seat)
    if caster.out:
        because = "That seat is out of the round: its slam is void."
        return refuse(command, caster.out, because, command.seat)
    if caster.kept:
        return refuse(
            command, "TADA-25", f"{table.name(caster.seat)} keeps place {caster.kept}.", command.seat
        )
    if state.ended_ns is not None and play_ns >= state.ended_ns:
        return refuse(command, "TADA-19", "The end of the cast was called before this slam.", command.seat)
    known = caster.pending or caster.finish
    if known is not None and play_ns >= known.play_ns and not takes_over(caster, play_ns):
        because = "That seat has slammed already: the first one counts."
        return refuse(command, "TADA-18", because, command.seat)
    if command.is_early or caster.go_ns is None or play_ns < caster.go_ns:
        return (e.FalseStarted(seat=command.seat, stamp=stamp),)
    is_overtaken = order.at_ns > stamp.at_ns + stamp.u_ns and any(
        claim.play_ns > play_ns
        for other in state.casters.values()
        if other.seat != command.seat and (claim := other.finish or other.pending) is not None
    )
    if state.phase == "resolve" or is_overtaken:
        return (e.ProtestNoted(seat=command.seat, stamp=stamp),)
    return (e.Slammed(seat=command.seat, stamp=stamp),)


def _verify(table: Table, _: Order, command: c.VerifySlam) -> Facts:
    caster = table.game.casters.get(command.seat)
    slam = next((s for s in caster.slams if s.n == command.slam), None) if caster else None
    if caster is None or slam is None:
        return refuse(command, "TADA-15", "There is no such slam.", command.seat)
    if caster.out and not (command.complete and caster.out == "TADA-15"):
        because = "That seat is out of the round: its slam is void."
        return refuse(command, caster.out, because, command.seat)
    if slam.complete == command.complete:
        return refuse(command, "TADA-15", "That was verified so already.", command.seat)
    if command.complete and table.options["call_required"] and not was_called(caster, slam):
        return refuse(command, "TADA-14", "TA-DA! was not called, and the house asks for it.", command.seat)
    made = e.SlamVerified(
        seat=command.seat, slam=command.slam, complete=command.complete, symbols=command.symbols[:6]
    )
    return (made,)


def _breach(table: Table, order: Order, command: c.FlagBreach) -> Facts:
    caster = table.game.casters.get(command.seat)
    if command.of not in ("feat", "effect", "lock"):
        return refuse(command, "TADA-9", "A breach is of the feat, an effect or a lock.", command.seat)
    if caster is None or caster.out:
        return refuse(command, "TADA-9", "That seat is not in the round.", command.seat)
    if command.of == "lock" and caster.is_casting:
        because = "A wrong lock that is seen before the slam goes back in the cup and costs nothing."
        return refuse(command, "TADA-12", because, command.seat)
    is_strict = table.options["strict_feats"] and command.of != "lock"
    if order.actor.role is Role.SENSOR and not is_strict:
        seen = tuple(f"{type(o).__name__.lower()}:{o.source}" for o in order.seen)
        reading = f"{table.name(command.seat)} may have broken the {command.of}: {command.note[:160]}"
        return (Proposed(command=command, reading=reading, confidence=0.5, evidence=seen),)
    return (e.BreachFound(seat=command.seat, of=command.of, note=command.note[:200]),)


def _give_up(table: Table, _: Order, command: c.GiveUp) -> Facts:
    caster = table.game.casters.get(command.seat)
    if caster is None or not caster.is_casting:
        return refuse(command, "TADA-19", "That seat is not casting.", command.seat)
    return (e.GaveUp(seat=command.seat),)


def _extend(table: Table, _: Order, command: c.ExtendClock) -> Facts:
    if table.game.clock is None:
        return refuse(command, "TADA-19", "No round clock runs.")
    if command.by_s == 0 or abs(command.by_s) > 600:
        return refuse(command, "TADA-19", "The clock is changed by 1 to 600 seconds.")
    return (e.ClockExtended(by_s=command.by_s),)


def _time_up(table: Table, order: Order, command: c.TimeUp) -> Facts:
    clock = table.game.clock
    if clock is None or clock.left_ns(table.play_ns(order.at_ns)) > 0:
        return refuse(command, "TADA-19", "The round clock has not run out.")
    if table.options["in_turn"] and waiting(table):
        on_turn = [k for k in table.game.casters.values() if k.go_ns is not None and k.is_casting]
        return (e.TurnEnded(seats=tuple(k.seat for k in on_turn)),)
    return (e.CastEnded(by_clock=True),)


def _rule_out(table: Table, order: Order, command: c.RuleOut) -> Facts:
    now = table.play_ns(order.at_ns)
    late = []
    for caster in table.game.casters.values():
        instant = out_at(table, caster)
        if caster.is_casting and not caster.is_ruled_out and instant is not None and instant <= now:
            late.append(caster.seat)
    return (e.RuledOut(seats=tuple(late)),) if late else refuse(command, "TADA-19", "Nobody is too late yet.")


def _close_protests(table: Table, order: Order, command: c.CloseProtests) -> Facts:
    ends_ns, open_ = table.game.protest_ends_ns, open_protests(table)
    if not open_ or ends_ns is None or table.play_ns(order.at_ns) < ends_ns:
        return refuse(command, "TADA-19", "No protest has waited its time.")
    return (e.ProtestsClosed(slams=tuple(slam.n for _, slam in open_)),)


def _end(table: Table, order: Order, command: c.EndCast) -> Facts:
    if any(caster.pending for caster in table.game.casters.values()):
        return refuse(command, "TADA-19", "A slam waits to be verified.")
    if not may_end(table, table.play_ns(order.at_ns)):
        return refuse(command, "TADA-19", "Places are open and somebody may still take one: cast on.")
    return (e.CastEnded(),)


def _settle(table: Table, _: Order, command: c.SettleHeat) -> Facts:
    winners = tuple(dict.fromkeys(command.winners))
    if command.of == "win" and is_win_open(table):
        among = would_win(table)
        room = len(among)
    elif command.of == "place" and heat(table)[0]:
        among, room = heat(table)
    else:
        return refuse(command, "TADA-18", "No dead heat waits to be settled.")
    if not winners or set(winners) - set(among):
        return refuse(command, "TADA-18", "Name some of those in the dead heat.")
    if len(winners) > room:
        return refuse(command, "TADA-17", f"Name at most {room}: no more places are left.")
    return (e.HeatSettled(of=command.of, winners=winners),)


def _enter_order(table: Table, _: Order, command: c.EnterOrder) -> Facts:
    named = [seat for group in command.order for seat in group]
    casters = table.game.casters
    wrong = [seat for seat in named if seat not in casters or casters[seat].out or casters[seat].kept]
    if not named or wrong or len(set(named)) != len(named):
        return refuse(command, "TADA-18", "Name casters who are in the round, each once.")
    order = tuple(tuple(group) for group in command.order if group)
    return (e.OrderEntered(order=order, why=command.why[:200]),)


def _void_round(table: Table, _: Order, command: c.VoidRound) -> Facts:
    return (e.RoundVoided(why=command.why[:200]),)


def _resolve(table: Table, _: Order, command: c.Resolve) -> Facts:
    state = table.game
    if state.phase == "effects":
        return refuse(command, "TADA-20", "This round is scored already: a spell counts once.")
    if state.by_hand is None and any(caster.pending for caster in state.casters.values()):
        return refuse(command, "TADA-15", "A slam waits to be verified.")
    if heat(table)[0] or is_win_open(table):
        return refuse(command, "TADA-18", "A dead heat waits to be settled.")
    return (e.RoundResolved(),)


def _aim(table: Table, _: Order, command: c.ChooseTarget) -> Facts:
    state = table.game
    if not state.aiming or state.aiming[0] != command.seat:
        return refuse(command, "TADA-21", "It is not this seat's turn to aim an effect.", command.seat)
    target = table.seat(command.target) if command.target else None
    if command.target and (target is None or target.left or target.id == command.seat):
        return refuse(command, "TADA-21", "An effect is aimed at one other player.", command.seat)
    return (e.EffectAimed(seat=command.seat, target=command.target),)


Judge = Callable[[Table, Order, Any], Facts]
CAST, END = frozenset({"cast"}), frozenset({"resolve"})
ROUND = frozenset({"ready", "countdown", "cast", "resolve"})
RULES: Mapping[type[Command], tuple[frozenset[str], Judge]] = {
    c.Deal: (frozenset({"draw", "feat", "choose"}), _deal),
    c.RevealFeat: (frozenset({"feat"}), _reveal_feat),
    c.ReplaceFeat: (frozenset({"choose"}), _replace_feat),
    c.WaiveEffect: (frozenset({"feat", "choose"}), _waive),
    c.ChooseSpell: (frozenset({"choose"}), _choose),
    c.Reveal: (frozenset({"choose"}), _reveal),
    c.Ready: (frozenset({"ready", "cast"}), _ready),
    c.ReadyAll: (frozenset({"ready", "cast"}), _ready_all),
    c.CallGo: (frozenset({"ready", "cast"}), _call_go),
    c.GiveGo: (frozenset({"countdown", "cast"}), _give_go),
    c.RecordRoll: (CAST, _roll),
    c.LockDie: (CAST, _lock),
    c.ReturnDie: (CAST, _return_die),
    c.CallTaDa: (CAST | END, _call),
    c.Slam: (ROUND, _slam),
    c.VerifySlam: (CAST | END, _verify),
    c.FlagBreach: (CAST | END, _breach),
    c.GiveUp: (CAST, _give_up),
    c.ExtendClock: (CAST, _extend),
    c.TimeUp: (CAST, _time_up),
    c.RuleOut: (CAST, _rule_out),
    c.CloseProtests: (END, _close_protests),
    c.EndCast: (CAST, _end),
    c.SettleHeat: (END, _settle),
    c.EnterOrder: (CAST | END, _enter_order),
    c.VoidRound: (ROUND, _void_round),
    c.Resolve: (END | {"effects"}, _resolve),
    c.ChooseTarget: (frozenset({"effects"}), _aim),
}
"""Which steps of the round each command belongs to, and who judges it. Rule: TADA-5"""
