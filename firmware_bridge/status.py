"""What people are told about a device."""

from __future__ import annotations

import msgspec

from firmware_bridge.framing import WireCounters
from firmware_bridge.session import Session

_POOR_CLOCK_NS = 10_000_000


class DeviceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A device as it stands now.

    `link`: where it is heard. `state`: ``syncing``, ``ready``, ``silent``, ``lost``. `inputs`: their names
    in order of index; `closed` the indices that are pressed by its last heartbeat. `clock_u_ns`, `rtt_ns`:
    None before the first answer; a clock worse than `clock_limit_ns` should not decide a ranked race. `doubt`:
    why the device should not take part in one, empty when it may; one of `race_class` ``party`` never should.
    `takes_key`: it hangs on a cable over which a key may be handed to it. `battery` percent, `rssi` dBm: None when
    it does not say. `lost`: events known to be sent that never came; `twins`: second deliveries dropped. `heard_ns`:
    host time. `problem` and `mend`: plain words, empty when all is well.
    """

    id: str
    link: str
    state: str
    inputs: tuple[str, ...]
    closed: tuple[int, ...]
    outputs: tuple[str, ...]
    clock_u_ns: int | None
    clock_limit_ns: int
    doubt: str
    rtt_ns: int | None
    drift_ppm: tuple[float, float]
    battery: int | None
    rssi: int | None
    counters: WireCounters
    lost: int
    twins: int
    heard_ns: int
    firmware: str
    hardware: str
    boot: int
    race_class: str = "ranked"
    takes_key: bool = False
    problem: str = ""
    mend: str = ""


def device_status(
    session: Session, counters: WireCounters, problem: str, mend: str, *, takes_key: bool, now_ns: int
) -> DeviceStatus:
    """How the session's device stands at `now_ns`; `problem` and `mend` are its link's, where it has one."""
    u_ns = session.clock.uncertainty_ns(now_ns)
    if session.state == "lost":
        problem, mend = f"{session.id}: {session.detail}", "plug it in or switch it on again"
    elif session.state == "silent":
        problem, mend = (
            f"{session.id} has not been heard for 3 s",
            "check its cable or battery, then restart it",
        )
    elif not problem and u_ns is not None and u_ns - session.hello.st * 1000 > _POOR_CLOCK_NS:
        problem = f"the clock of {session.id} is known to {u_ns / 1e6:.1f} ms only"
        mend = "use a cable, switch Wi-Fi power save off, or bring it nearer"
    elif not problem and session.lost_events:
        problem, mend = (
            f"{session.lost_events} events of {session.id} never came",
            "check its cable or radio",
        )
    elif not problem and session.refusal:
        problem = f"{session.id} refused a command: {session.refusal}"
        mend = "flash the firmware that came with this program"
    beat = session.heartbeat
    return DeviceStatus(
        id=session.id,
        link=session.link,
        state=session.state,
        inputs=tuple(found.name for _, found in sorted(session.inputs.items())),
        closed=tuple(b for b in range(session.hello.ni) if beat is not None and beat.v >> b & 1),
        outputs=tuple(found.name for _, found in sorted(session.outputs.items())),
        clock_u_ns=u_ns,
        clock_limit_ns=session.limit_ns,
        doubt=session.doubt,
        rtt_ns=session.clock.rtt_ns,
        drift_ppm=session.clock.drift_ppm,
        battery=beat.bat if beat is not None else None,
        rssi=beat.rssi if beat is not None else None,
        counters=msgspec.structs.replace(counters),
        lost=session.lost_events,
        twins=session.tally.twins,
        heard_ns=session.heard_ns,
        firmware=session.hello.fw,
        hardware=session.hello.hw,
        boot=session.hello.boot,
        race_class=session.race_class,
        takes_key=takes_key,
        problem=problem,
        mend=mend,
    )
