"""The built wheel, alone in an empty environment and run from an empty folder, is the whole program."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PACKAGES = ("companion", "firmware_bridge", "vision", "web_ui")
PATIENCE_S = 300
SHORT_GAME = "4"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `make wheel` builds it, from what stands in the tree now."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation", "-w", str(folder),
        str(ROOT), cwd=folder,
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed command. Of this environment the new one sees the dependencies, never the source tree.

    A path that comes by a .pth file has its own .pth files ignored, so the editable install stays out.
    """
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    python = folder / "env" / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "-qq",
        "--no-deps",
        "--no-index",
        str(wheel),
    )
    home = next((folder / "env" / "lib").glob("python*/site-packages"))
    dependencies = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    (home / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n", encoding="utf-8")
    return folder / "env" / "bin" / "companion"


def run(*words: str, cwd: Path | None = None) -> str:
    """Run a command with nothing in its environment that points into the source tree; what it prints.

    It is given PATIENCE_S; whatever it started is ended with it.
    """
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(
        words, cwd=cwd, env=surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as running:  # fmt: skip
        try:
            told, complained = running.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            told, complained = running.communicate()
            pytest.fail(f"{' '.join(words)}: not done after {PATIENCE_S} s\n{told}\n{complained}")
    assert running.returncode == 0, f"{' '.join(words)}\n{told}\n{complained}"
    return told


def test_the_wheel_holds_every_file_of_the_four_packages_and_nothing_else(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard", *PACKAGES],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    sources = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == sources


@pytest.mark.parametrize(
    "pattern",
    [
        "companion/games/tada/data/*.toml",
        "vision/models/*",
        "web_ui/templates/*.html",
        "web_ui/static/**/*.js",
    ],
)
def test_what_is_not_python_is_there_at_all(pattern: str) -> None:
    assert [path for path in ROOT.glob(pattern) if path.is_file()]


def test_the_wheel_says_its_licence_and_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        told = {
            Path(name).name: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }
    assert "companion = companion.app.cli:main" in told["entry_points.txt"]
    assert "MIT License" in told["LICENSE"]
    assert "License-Expression: MIT" in told["METADATA"]


def test_what_is_imported_comes_with_a_plain_install() -> None:
    """The environment of these tests holds more than a plain install brings: hence a look at it by itself."""
    waiting, brought = ["tabletop-companion"], set()
    while waiting:
        for requirement in map(Requirement, metadata.requires(waiting.pop()) or ()):
            name = canonicalize_name(requirement.name)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if wanted and name not in brought:
                brought.add(name)
                waiting.append(name)
    makers = metadata.packages_distributions()
    found = {
        module: {canonicalize_name(maker) for maker in makers.get(module, [])}
        for module in imported()
        if module not in sys.stdlib_module_names and module not in PACKAGES
    }
    assert len(found) > 5
    assert {module: makers for module, makers in found.items() if not makers & brought} == {}


def imported() -> set[str]:
    """The first words of everything that the four packages import, wherever in a module they do it.

    What runs on a board imports what a board has.
    """
    names: set[str] = set()
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        if path.is_relative_to(ROOT / "firmware_bridge" / "firmware"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_the_installed_program_is_not_the_source_tree(program: Path, tmp_path: Path) -> None:
    where = "import companion, firmware_bridge, vision, web_ui; print(companion.__file__, vision.__file__)"
    for file in run(str(program.parent / "python"), "-c", where, cwd=tmp_path).split():
        assert Path(file).is_relative_to(program.parents[1])


def test_it_says_its_version(program: Path, tmp_path: Path) -> None:
    assert run(str(program), "--version", cwd=tmp_path).split()[-1] == "0.1.0"


@pytest.mark.timeout(PATIENCE_S + 40)
def test_it_plays_the_demo_from_an_empty_folder(program: Path, tmp_path: Path) -> None:
    words = ["demo", "--exit-at-end", "--json", "--speed", "40", "--players", "2", "--seed", SHORT_GAME]
    told = json.loads(run(str(program), *words, cwd=tmp_path))
    assert told["game"] == "tada"
    assert len(told["players"]) == len(told["standings"]) == 2
    assert max(standing["score"] for standing in told["standings"]) == 6
    assert told["refold_equal"] is True
