"""Plays a whole evening of Ta-Da! at a running table, as people would: dice, slams, choices, a referee's clicks."""

from __future__ import annotations

from collections.abc import Mapping

from companion.core import chance
from companion.core import command as core
from companion.core.command import Command
from companion.core.fitness import why_not_race
from companion.core.game import Sitting
from companion.core.geometry import Pose
from companion.core.ruling import Ruling
from companion.core.seat import REFEREE, Role, Viewer
from companion.demo.pads import Press
from companion.demo.people import Hands, People, StuckError
from companion.demo.players import Player
from companion.demo.spells import feat_card, spell_card
from companion.demo.stage import Stage
from companion.games.tada import commands as c
from companion.games.tada.model import Tada, deck_of, must_choose, spell_of
from companion.games.tada.policy import policy
from vision.render.flat import Card

SLAM_GAP_NS = 90_000_000
LEAD_NS = 60_000_000
EYES_S = 30.0
"""So long people wait until the eyes know the cards that they have laid."""


class Director(People[Tada]):
    """People at a table of Ta-Da!. `presses`: each seat's pad. The same seed plays the same game.

    `entered`: how many cards the referee had to enter because the eyes did not know them.
    """

    def __init__(
        self,
        hands: Hands,
        stage: Stage,
        presses: Mapping[str, Press],
        poses: Mapping[str, Pose],
        *,
        seed: int,
        speed: float,
        is_by_cards: bool = False,
    ) -> None:
        """They sit down; `play` begins. `is_by_cards`: a camera knows the cards, so feats and spells are said by
        laying them."""
        super().__init__(hands, seed=seed, speed=speed)
        self._is_by_cards, self._feat = is_by_cards, tuple[Card, ...]()
        self.entered = 0
        self._stage, self._presses, self._poses = stage, presses, poses

    def play(self, most: int | None = None) -> None:
        """From the first press of each pad to the last spell, or so many steps. Raises StuckError."""
        self._prove_pads()
        super().play(most)

    def _is_over(self) -> bool:
        return self.sitting.game.phase == "over"

    # Waiting and asking

    def _ask(self, command: Command, seat: str = "") -> Ruling | None:
        return self._hands.ask(command, seat)

    def _pick(self, salt: str, below: int) -> int:
        return chance.number(self._seed, f"{salt}/{self.sitting.game.part}", below)

    # The evening

    def _prove_pads(self) -> None:
        for seat, press in self._presses.items():
            for _ in range(5):
                if seat in self.sitting.proven:
                    break
                press(None)
                self._until(lambda sitting, seat=seat: seat in sitting.proven, 2.0)  # type: ignore[misc]  # bound default
            else:
                raise StuckError(f"the pad of {self.sitting.name(seat)} was not heard")

    def _step(self) -> None:
        sitting = self.sitting
        if sitting.stopped_at_ns is not None:
            self._ask(core.Resume())
            return
        match sitting.game.phase:
            case "feat" if self._is_by_cards:
                self._turn_up()
            case "choose" if self._is_by_cards:
                self._lay_spells()
            case "choose":
                self._choose()
            case "ready":
                self._get_ready()
            case "countdown":
                if not self._until(lambda now: now.game.phase != "countdown"):
                    raise StuckError("GO did not come")
            case "cast":
                self._cast()
            case _:
                self._go_on()

    def _go_on(self) -> None:
        """What the referee, or a seat that aims an effect, does next."""
        self._pause(1.5)
        self._confirm_all()
        command = policy(self.sitting, self.sitting.game.part)
        if command is None:
            raise StuckError(f"nobody knows what to do in step {self.sitting.game.phase}")
        refused = self._ask(command, command.seat if isinstance(command, c.ChooseTarget) else "")
        if refused is not None and self.sitting.stopped_at_ns is None:
            raise StuckError(f"refused by {refused.rule}: {refused.because}")

    def _choose(self) -> None:
        for seat in self.sitting.playing():
            view = self._hands.view(Viewer(Role.SEAT, seat.id))
            offered = [a.command for a in view.actions if isinstance(a.command, c.ChooseSpell)]
            if offered and seat.id not in self.sitting.game.chosen:
                self._pause(0.7)
                self._ask(offered[self._pick(f"choose/{seat.id}", len(offered))], seat.id)
        self._ask(c.Reveal())

    def _turn_up(self) -> None:
        """The feat is laid where everybody sees it; what the eyes do not know the referee enters."""
        self._pause(1.0)
        lying = {card.layout.id for card in self._feat}
        pile = self.sitting.game.feats or self.sitting.game.feat_discard
        feats = [f for f in deck_of(self.sitting).feat if f.id in pile and f.id not in lying]
        feat = feats[self._pick("feat", len(feats))]
        self._feat = (feat_card(feat, self._middle()),)
        self._lie(self._feat)
        if not self._until(lambda now: now.game.phase != "feat", EYES_S):
            self.entered += 1
            self._ask(c.RevealFeat(feat=feat.id))

    def _lay_spells(self) -> None:
        """Each seat lays its spell face up in its place; all are revealed once the eyes know them all."""
        chosen = dict[str, str]()
        for seat in must_choose(self.sitting):
            view = self._hands.view(Viewer(Role.SEAT, seat))
            offered = [a.command.spell for a in view.actions if isinstance(a.command, c.ChooseSpell)]
            offered = [name for name in offered if name not in chosen.values()]
            if offered:
                chosen[seat] = offered[self._pick(f"choose/{seat}", len(offered))]
        spells = {spell.id: spell for spell in deck_of(self.sitting).spell}
        laid = [spell_card(seat, spells[name], self._poses[seat]) for seat, name in chosen.items()]
        self._lie((*self._feat, *laid))
        if self._until(lambda now: now.game.phase != "choose", EYES_S):
            return
        for seat, name in chosen.items():
            if self.sitting.game.chosen.get(seat) != name:
                self.entered += 1
                self._ask(c.ChooseSpell(seat=seat, spell=name), seat)
        self._ask(c.Reveal())

    def _lie(self, cards: tuple[Card, ...]) -> None:
        self._stage.show(cards, (), tuple(card.pose.apply((31.5, 44.0)) for card in cards[-1:]))

    def _middle(self) -> Pose:
        """Where the feat lies: at the table's left, between the two rows of spells."""
        ys = [pose.apply((0.0, 44.0))[1] for pose in self._poses.values()]
        return Pose(12.0, (min(ys) + max(ys)) / 2 - 44.0)

    def _get_ready(self) -> None:
        self._stage.show((*self._feat, *(p.card() for p in self._players())), (), self._reaches())
        self._pause(1.5)
        self._ask(c.ReadyAll())
        seats = list(self.sitting.game.casters)
        self._until(lambda now: now.game.phase != "ready" or not why_not_race(now, seats))
        refused = self._ask(c.CallGo())
        if refused is None and self._pick("hasty", 5) == 0:
            hasty = seats[self._pick("who", len(seats))]
            self._presses[hasty](None)

    def _players(self) -> list[Player]:
        sitting = self.sitting
        found = []
        for seat in sitting.seats:
            spell = spell_of(sitting, seat.id)
            if spell is None or seat.left:
                continue
            pose = self._poses[seat.id]
            x, y = pose.apply((31.5, 0.0))
            away = 34.0 if pose.angle_deg else -34.0
            found.append(
                Player(seat=seat.id, colour=seat.colour, spell=spell, pose=pose, roll_mm=(x, y + away),
                       seed=self._seed * 1000 + sitting.game.part, is_by_cards=self._is_by_cards)
            )  # fmt: skip
        return found

    def _reaches(self) -> tuple[tuple[float, float], ...]:
        poses = [self._poses[seat] for seat in self.sitting.game.casters]
        return tuple(pose.apply((31.5, 20.0)) for pose in poses)

    # The cast

    def _cast(self) -> None:
        players = self._players()
        while not self._is_ended and self.sitting.game.phase == "cast":
            if self.sitting.stopped_at_ns is not None:
                self._ask(core.Resume())
            self._pause(0.6)
            for player in players:
                if not player.is_complete:
                    player.roll()
            dice = tuple(die for player in players for die in player.dice())
            self._stage.show((*self._feat, *(p.card() for p in players)), dice, self._reaches())
            self._watch(players)
            if self._is_end_called():
                return
            self._slam([p for p in players if p.is_finished and not p.is_complete])

    def _is_end_called(self) -> bool:
        """Call the end when the referee's page offers it as the one thing to do."""
        wait = 0.0
        while wait < 1.0:
            main = self._hands.view(REFEREE).primary
            if main is None:
                return False
            if isinstance(main.command, c.EndCast):
                self._pause(0.5)
                return self._ask(main.command) is None
            self._until(lambda _now: False, 0.05)
            wait += 0.05
        return False

    def _watch(self, players: list[Player]) -> None:
        """Wait until the camera has seen all that was done; what it does not see the referee enters."""
        self._until(lambda now: all(_is_seen(now, player) for player in players))
        for player in players:
            self._enter_unseen(player)
        self._until(lambda now: all(_is_asked(now, player) for player in players), 3.0)
        self._confirm_all()
        for player in players:
            slam = next((s for s in self.sitting.game.casters[player.seat].slams if s.complete is None), None)
            if slam is not None and player.is_complete:
                self._ask(
                    c.VerifySlam(seat=player.seat, slam=slam.n, complete=True, symbols=player.spell.symbols)
                )

    def _enter_unseen(self, player: Player) -> None:
        caster = self.sitting.game.casters.get(player.seat)
        if caster is None or caster.out:
            return
        if caster.rolls < player.rolls and player.loose:
            self._ask(c.RecordRoll(seat=player.seat, symbols=()))
        for slot, symbol in player.locked.items():
            if caster.locks[slot] is None:
                self._ask(c.LockDie(seat=player.seat, slot=slot, symbol=symbol))

    def _confirm_all(self) -> None:
        for proposal in self._hands.view(REFEREE).open_proposals:
            self._pause(0.4)
            self._ask(core.Confirm(proposal=proposal.id))

    def _slam(self, finishers: list[Player]) -> None:
        """Those whose last die fits slam in an order of their own; now and then two at once."""
        if not finishers:
            return
        order = sorted(finishers, key=lambda p: chance.number(p.seed, f"haste/{p.seat}", 10_000))
        at_ns = self._hands.now_ns() + LEAD_NS
        for place, player in enumerate(order):
            if place and self._pick(f"heat/{player.seat}", 4) != 0:
                at_ns += SLAM_GAP_NS
            self._presses[player.seat](at_ns)
        self._until(lambda now: all(now.game.casters[p.seat].slams for p in order), 3.0)


def _is_seen(sitting: Sitting[Tada], player: Player) -> bool:
    caster = sitting.game.casters.get(player.seat)
    if caster is None or caster.out or caster.finish:
        return True
    locks = sum(lock is not None for lock in caster.locks)
    return locks >= len(player.locked) and caster.rolls >= player.rolls


def _is_asked(sitting: Sitting[Tada], player: Player) -> bool:
    """Whether a slam of a complete spell has been verified, or is proposed to be."""
    caster = sitting.game.casters.get(player.seat)
    if caster is None or not player.is_complete or not any(s.complete is None for s in caster.slams):
        return True
    return any(
        isinstance(p.command, c.VerifySlam) and p.command.seat == player.seat for p in sitting.proposals
    )
