"""Enrolment of dice at a running table: pictures from the pages or from the table's own camera into the profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from companion.app.settings import profile_path
from vision.camera import CameraChild
from vision.dice.owners import closest_owners
from vision.encoding import enlarged, png
from vision.enrol import Shot, middle_of, with_shots, without_face
from vision.frame import Unreadable, decode
from vision.profile import NAME_LETTERS, SUFFIX, EnrolError, Profile, changed_at, closest_faces, load_profile
from web_ui.faces import FacesError, FaceShown, FacesShown, Shown

_SIDE_PX = 144
_MOST_FACES = 24
_WAIT_S = 5.0


class FaceDesk:
    """A `web_ui.faces.Faces`: keeps all in the profile's file, and has the camera that reads by it take it up."""

    def __init__(
        self, profile: Path | None, name: str, camera: CameraChild | None, faces: Sequence[str]
    ) -> None:
        """`profile`: the file that the table reads by; None: it has none yet, then the dice are kept under `name`.
        `faces`: those that are always listed."""
        self._is_read = profile is not None and camera is not None
        self._has_profile = profile is not None
        self._path = profile or profile_path(name, must_exist=False)
        self._camera, self._faces = camera, tuple(faces)

    def shown(self, owner: str) -> FacesShown:
        """What is enrolled of one owner's dice."""
        profile = self._profile()
        samples = profile.samples if profile else ()
        mine = [sample for sample in samples if sample.owner == owner]
        names = list(dict.fromkeys((*self._faces, *(sample.face for sample in mine))))
        closest, apart = closest_faces(mine) if mine else (None, None)
        owners = closest_owners(samples) if samples else None
        kind = self._path.name.removesuffix(SUFFIX)
        mend = (
            f"start the table again with --profile {kind}"
            if not self._has_profile
            else "give the table a camera: --camera SOURCE"
        )
        return FacesShown(
            faces=tuple(FaceShown(name=name, shots=sum(s.face == name for s in mine)) for name in names),
            closest=closest,
            apart=apart,
            owners=(owners.one, owners.other) if owners else (),
            are_owners_close=owners is not None and owners.is_too_close,
            is_read=self._is_read,
            mend="" if self._is_read else mend,
        )

    def add(self, owner: str, face: str, pictures: Sequence[tuple[str, bytes]]) -> Shown:
        """Learn a face from pictures. Raises FacesError."""
        shots, torn = [], []
        for number, (name, data) in enumerate(pictures):
            try:
                shots.append(Shot(face, name or f"picture {number + 1}", decode(data)))
            except Unreadable:
                torn.append(name)
        if not shots:
            raise FacesError(f"No picture could be opened: {', '.join(torn)}. Send JPEG, PNG or WebP.")
        done = self._learn(owner, shots)
        return Shown(used=done.used, unused=(*torn, *done.unused))

    def add_seen(self, owner: str, face: str) -> Shown:
        """Learn a face from what the table's camera sees now. Raises FacesError."""
        still = self._camera.still(max_width=1920, timeout_s=_WAIT_S) if self._camera else None
        if still is None:
            raise FacesError("The camera gives no picture: look at the devices page.")
        try:
            seen = middle_of(decode(still[1]))
        except Unreadable as error:
            raise FacesError(f"The camera's picture cannot be read: {error}.") from error
        return self._learn(owner, [Shot(face, "the middle of the camera's picture", seen)])

    def forget(self, owner: str, face: str) -> None:
        """Drop all pictures of a face. Raises FacesError, also for the last face: no table reads by an empty file."""

        def dropped(profile: Profile | None) -> Profile:
            left = without_face(profile, owner, face) if profile else None
            if left is None:
                raise FacesError(
                    f"No dice would be left to read by: show another face first, then forget {face}."
                )
            return left

        self._change(dropped)

    def picture(self, owner: str, face: str, number: int) -> bytes | None:
        """What was cut out of one of the face's pictures, as PNG."""
        profile = self._profile()
        mine = [s for s in profile.samples if (s.owner, s.face) == (owner, face)] if profile else []
        if number >= len(mine):
            return None
        return png(enlarged(mine[number].picture, _SIDE_PX))

    def has_camera(self) -> bool:
        """Whether a camera looks at the table."""
        return self._camera is not None

    def _learn(self, owner: str, shots: Sequence[Shot]) -> Shown:
        face = shots[0].face
        if len(owner) > NAME_LETTERS or len(face) > NAME_LETTERS:
            raise FacesError(f"A name has at most {NAME_LETTERS} letters.")
        unused: list[str] = []

        def learnt(before: Profile | None) -> Profile:
            known = {s.face for s in before.samples if s.owner == owner} if before else set()
            if face not in known and len(known) >= _MOST_FACES:
                raise FacesError(f"One die has at most {_MOST_FACES} faces with names of their own.")
            kind = before.kind if before else self._path.name.removesuffix(SUFFIX)
            profile, missed = with_shots(before, kind, owner, shots)
            unused.extend(missed)
            return profile

        self._change(learnt)
        return Shown(used=len(shots) - len(unused), unused=tuple(unused))

    def _change(self, change: Callable[[Profile | None], Profile]) -> None:
        try:
            changed_at(self._path, change)
        except EnrolError as error:
            raise FacesError(f"Nothing was changed: {error}.") from error
        except OSError as error:
            raise FacesError(f"The profile could not be written: {error.strerror}.") from error
        if self._camera and self._has_profile:
            self._camera.renew_reader()

    def _profile(self) -> Profile | None:
        if not self._path.is_file():
            return None
        try:
            return load_profile(self._path)
        except EnrolError as error:
            raise FacesError(str(error)) from error
