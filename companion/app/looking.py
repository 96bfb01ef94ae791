"""Commands that make a table ready: enrol dice, print markers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from companion.app.settings import SettingsError, profile_path
from vision.camera import CameraChild, check_source
from vision.enrol import Shot as Picture
from vision.enrol import enrol_folder, middle_of, with_shots, without_owner
from vision.frame import Frame, decode
from vision.markers import marker_sheet
from vision.profile import EnrolError, Enrolled, Profile, closest_faces, load_profile

SHOTS = 3
"""How often each face is shown: turned a little each time."""
LITTLE = 0.1
PATIENCE_S = 20.0
Shot = TypeVar("Shot")


def print_markers(out: Path) -> None:
    """Write the sheet as a PDF."""
    out.write_bytes(marker_sheet())
    click.echo(f"{out}: print it at 100 %, cut, and lay the markers at the corners as the sheet says")


def enrol_dice(name: str, folder: Path | None, as_json: bool, *, camera: str, faces: str, owner: str) -> None:
    """Learn dice from a folder or before a camera, and keep them under a name."""
    path = profile_path(name, must_exist=False)
    try:
        if folder is not None:
            profile, result = enrol_folder(folder, name)
        else:
            words = tuple(word.strip() for word in faces.split(",") if word.strip())
            if not camera or not words:
                raise SettingsError("give --from FOLDER, or --camera SOURCE and --faces a,b,c")
            profile, result = _shown(name, camera, words, owner, path)
    except EnrolError as error:
        raise SettingsError(str(error)) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    profile.save(path)
    tell_enrolled(name, path, result, as_json)


def tell_enrolled(name: str, path: Path, result: Enrolled, as_json: bool) -> None:
    """What an enrolment gave: which faces, which two look most alike, which pictures were of no use."""
    if as_json:
        click.echo(msgspec.json.encode(result))
        return
    counts = ", ".join(f"{face} {count}" for face, count in result.faces.items())
    click.echo(f"{name}: {counts}")
    if result.closest and result.margin is not None:
        is_little = result.margin < LITTLE
        doubt = " That is little: show these faces again, closer and under even light." if is_little else ""
        click.echo(
            f"Most alike: {result.closest[0]} and {result.closest[1]}, apart by {result.margin:.2f}.{doubt}"
        )
    if result.owners:
        pair = f"{result.owners.one} and {result.owners.other}, apart by {result.owners.apart:.2f}"
        doubt = (
            " Too close under this lamp: use other dice or another lamp."
            if result.owners.is_too_close
            else ""
        )
        click.echo(f"Colours most alike: {pair}.{doubt}")
    for unused in result.unused:
        click.echo(f"No die was found in {unused}", err=True)
    click.echo(f"Kept in {path}", err=True)


def _shown(
    name: str, source: str, faces: tuple[str, ...], owner: str, path: Path
) -> tuple[Profile, Enrolled]:
    """Each face shown to the camera a few times. Dice of other owners under the same name are kept."""
    before = load_profile(path) if path.is_file() else None
    profile = before and without_owner(before, owner)

    def taken(frame: Frame, face: str) -> Profile | None:
        nonlocal profile
        try:
            profile, _ = with_shots(profile, name, owner, [Picture(face, "this picture", middle_of(frame))])
        except EnrolError:
            return None
        pair, apart = closest_faces([sample for sample in profile.samples if sample.owner == owner])
        if pair:
            click.echo(f"Most alike so far: {pair[0]} and {pair[1]}, apart by {apart:.2f}", err=True)
        return profile

    profile = shown_faces(source, faces, taken)[-1]
    return profile, profile.result()


def shown_faces(source: str, faces: Sequence[str], taken: Callable[[Frame, str], Shot | None]) -> list[Shot]:
    """Each face shown to the camera SHOTS times; `taken` gives what is kept of a frame, None where no die is found."""
    check_source(source)
    camera = CameraChild(source, None, lambda _seen: None)
    camera.start()
    try:
        ends = time.monotonic() + PATIENCE_S
        while not camera.status().seen_ns and time.monotonic() < ends:
            time.sleep(0.1)
        return [_one_shot(camera, face, shot, taken) for face in faces for shot in range(1, SHOTS + 1)]
    finally:
        camera.stop()


def _one_shot(camera: CameraChild, face: str, shot: int, taken: Callable[[Frame, str], Shot | None]) -> Shot:
    """One good picture of a face; asks again until a die is found on it."""
    while True:
        click.prompt(
            f"Put one die with {face} up alone under the camera ({shot} of {SHOTS}), then press Enter",
            default="", show_default=False, prompt_suffix=" ", err=True,
        )  # fmt: skip
        still = camera.still(max_width=1920, timeout_s=PATIENCE_S)
        if still is None:
            why = camera.status().detail or "companion doctor --camera tells more"
            raise SettingsError(f"the camera gives no picture: {why}")
        found = taken(decode(still[1]), face)
        if found is not None:
            return found
        click.echo("No die was found: one die alone, sharp, on a cloth of one colour.", err=True)
