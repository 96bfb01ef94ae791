"""Laws that no linter knows: sizes, names, docstrings, who may touch a picture, what a file may not hold."""

from __future__ import annotations

import ast
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("companion", "firmware_bridge", "vision", "web_ui")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
PYTHON = sorted(
    [
        *MODULES,
        *(path for folder in ("tests", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")),
    ]
)
MAX_LINES = 500
NAMELESS = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc", "base"}
EXCUSE = re.compile(r"#\s*(type:\s*ignore|noqa)\b(?P<rest>.*)")
# Written in halves, so that this file does not hold what it looks for.
MACHINE = re.compile(
    "|".join(["/wo" + "rk/", "/fa" + "rm/", "/ro" + "ot/", "/ho" + "me/[a-z]", r"\bC:\\Us" + "ers"])
)
REGISTRY = re.compile(
    "|".join(
        ["py" + r"pi\.org", "python" + r"hosted\.org", "registry" + r"\.npmjs", r"deb\.debian" + r"\.org"]
    )
)
TEMPORARY = re.compile("/tm" + "p/[a-z.]")
DECODERS = {"imdecode", "imdecodemulti", "imread", "imreadmulti", "imdecodeanimation", "imreadanimation"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def names_used(path: Path, wanted: set[str]) -> set[str]:
    """Which of the wanted names a module uses, as an attribute or as an imported name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.name for alias in node.names)
    return found & wanted


def users(wanted: set[str], modules: list[Path]) -> list[str]:
    return [name_of(path) for path in modules if names_used(path, wanted)]


def test_there_is_something_to_look_at() -> None:
    assert len(MODULES) > 40
    assert len(tracked()) > len(MODULES)


def test_no_module_is_longer_than_500_lines() -> None:
    long = {
        name_of(p): n for p in MODULES if (n := len(p.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert long == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [
        name_of(p) for p in PYTHON if NAMELESS & {part.lower() for part in p.with_suffix("").parts[-2:]}
    ] == []


def test_every_module_says_what_it_is() -> None:
    silent = [name_of(p) for p in MODULES if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))]
    assert silent == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_only_the_frame_decodes_pictures() -> None:
    assert users(DECODERS, MODULES) == ["vision/frame.py"]


def test_pictures_are_encoded_in_one_place() -> None:
    assert users({"imencode", "imwrite"}, MODULES) == ["vision/encoding.py"]


def test_only_the_camera_opens_a_camera() -> None:
    assert users({"VideoCapture"}, MODULES) == ["vision/camera.py"]


def test_no_file_names_a_machine_or_a_registry() -> None:
    wrong = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        sought = (
            [MACHINE, REGISTRY]
            if name_of(path).startswith(("tests/", ".ci/"))
            else [MACHINE, REGISTRY, TEMPORARY]
        )
        wrong += [f"{name_of(path)}: {m.group()}" for pattern in sought if (m := pattern.search(text))]
    assert wrong == []


def test_every_excuse_to_a_checker_names_its_code_and_its_reason() -> None:
    wrong = []
    for path in PYTHON:
        with tokenize.open(path) as source:
            comments = [t for t in tokenize.generate_tokens(source.readline) if t.type == tokenize.COMMENT]
        for comment in comments:
            excuse = EXCUSE.search(comment.string)
            if excuse is None:
                continue
            rest = re.sub(r"^\s*(\[[\w, -]+\]|:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*)", "", excuse["rest"])
            if rest == excuse["rest"] or len(re.findall(r"\w+", rest)) < 2:
                wrong.append(f"{name_of(path)}:{comment.start[0]}: {comment.string}")
    assert wrong == []
