"""The firmware under test: built for this computer, for an AVR, or loaded into MicroPython.

What a machine lacks is said in the reason of the skip, with the command that installs it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOARDS = Path(__file__).parent / "boards"
SKETCH = ROOT / "firmware_bridge" / "firmware" / "arduino" / "tada_pad"
MICROPYTHON = ROOT / "firmware_bridge" / "firmware" / "micropython"
CORE = tuple(MICROPYTHON / name for name in ("tada_patterns.py", "tada_wire.py", "tada_pad.py"))
WASM = ROOT / ".venv" / "boards" / "node_modules" / "@micropython" / "micropython-webassembly-pyscript"
ARDUINO = Path("/usr/share/arduino/hardware/arduino/avr")
STRICT = ("-Wall", "-Wextra", "-Werror")
UNO = ("atmega328p", "standard")
LEONARDO = ("atmega32u4", "leonardo", "-DUSB_VID=0x2341", "-DUSB_PID=0x8036")
TOWER = ("-DPAD_BUTTONS=0", "-DPAD_BEAM=1", "-DPAD_TOWER=1", "-DPAD_LEDS=0", "-DPAD_BUZZER=0")
_built = tempfile.TemporaryDirectory(prefix="tada-firmware-")


def need(*programs: str) -> None:
    """Skip the test, aloud, where one of the programs is missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"NOT RUN: {', '.join(missing)} not here; tools/prepare.sh test installs it where it may")


def need_micropython() -> Path:
    """The loader of MicroPython's WebAssembly build; skips aloud where it is missing."""
    need("node")
    if not WASM.is_dir():
        pytest.skip(
            "NOT RUN: MicroPython's npm package is not here; tools/prepare.sh test installs it where it may"
        )
    return WASM / "micropython.mjs"


def need_avr() -> None:
    """Skip aloud where an AVR program cannot be built."""
    need("avr-g++", "avr-size")
    if not ARDUINO.is_dir():
        pytest.skip("NOT RUN: the Arduino core is not here; on Debian: apt-get install arduino-core-avr")


def run(*words: str | Path, text: str | None = None) -> str:
    """Run a program to its end; what it printed. Fails the test with what it complained of."""
    done = subprocess.run(
        [str(word) for word in words], check=False, input=text, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stderr[-3000:]}"
    return done.stdout


def folder(name: str) -> Path:
    """A new folder that goes away with the tests."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_built.name))


@cache
def replayer() -> Path:
    """The C++ core with a reader of traces, built for this computer; it stops at whatever C++ leaves undefined."""
    need("g++")
    made = folder("replay") / "replay"
    strict = ("-fsanitize=undefined", "-fno-sanitize-recover=all", *STRICT, "-Wshadow")
    sources = (*sorted(SKETCH.glob("tada_*.cpp")), BOARDS / "replay.cpp")
    run("g++", "-std=c++11", *strict, f"-I{SKETCH}", *sources, "-o", made)
    return made


@cache
def avr_build(mcu: str, variant: str, *defines: str) -> Path:
    """The whole sketch for a board, as an ELF file; our warnings are errors."""
    made = folder(variant)
    sources = (*sorted(SKETCH.glob("*.cpp")), SKETCH / "tada_pad.ino")
    flags = ("-std=gnu++11", *STRICT, *defines, "-x", "c++")
    theirs = _arduino(mcu, variant, *(flag for flag in defines if "USB" in flag))
    objects = (*_compiled(made, "avr-g++", mcu, variant, flags, sources), *theirs)
    run("avr-gcc", f"-mmcu={mcu}", "-Os", "-flto", "-Wl,--gc-sections", *objects, "-o", made / "pad.elf")
    return made / "pad.elf"


@cache
def _arduino(mcu: str, variant: str, *defines: str) -> tuple[Path, ...]:
    """What the sketch needs of Arduino's own part; its warnings are its own."""
    need_avr()
    core = ARDUINO / "cores" / "arduino"
    c = tuple(core / f"{name}.c" for name in ("hooks", "wiring", "wiring_analog", "wiring_digital"))
    names = ["main", "abi", "Print", "Tone"]
    names += ["CDC", "USBCore", "PluggableUSB"] if defines else ["HardwareSerial", "HardwareSerial0"]
    cpp = tuple(core / f"{name}.cpp" for name in names)
    made = folder(f"{variant}-core")
    return (
        *_compiled(made / "c", "avr-gcc", mcu, variant, ("-std=gnu11", "-w", *defines), c),
        *_compiled(made / "cpp", "avr-g++", mcu, variant, ("-std=gnu++11", "-w", *defines), cpp),
    )


def _compiled(
    made: Path, compiler: str, mcu: str, variant: str, flags: tuple[str, ...], sources: tuple[Path, ...]
) -> tuple[Path, ...]:
    made.mkdir(exist_ok=True)
    words = [
        compiler, f"-mmcu={mcu}", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_ARCH_AVR", "-Os", "-flto",
        "-ffunction-sections", "-fdata-sections", f"-I{ARDUINO / 'cores/arduino'}",
        f"-I{ARDUINO / 'variants' / variant}", f"-I{ARDUINO / 'libraries/EEPROM/src'}", *flags, "-c",
    ]  # fmt: skip
    if compiler == "avr-g++":
        words += ["-fno-exceptions", "-fno-threadsafe-statics"]
    done = subprocess.run(
        [*words, *map(str, sources)], check=False, cwd=made, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return tuple(sorted(made.glob("*.o")))
