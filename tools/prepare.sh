#!/usr/bin/env bash
# Makes the environment in .venv ready, once: "prepare.sh run" for the program, "prepare.sh test" for its tests too.
# What the system must give is installed with apt-get where that is allowed, else the command is named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kind=${1:?run or test}
venv_python=.venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1 DEBIAN_FRONTEND=noninteractive

say() { printf '==> %s\n' "$*" >&2; } # standard output belongs to the program
die() { printf 'cannot go on: %s\n' "$*" >&2; exit 2; }

sudo=()
[ "$(id -u)" = 0 ] || sudo=(sudo -n)

may_apt() {
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

apt_install() {
    may_apt || return 1
    say "installing with apt-get: $*"
    local log
    log=$(mktemp)
    if ! { "${sudo[@]}" apt-get update -qq && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
        tail -n 5 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

is_python() { "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    local name
    for name in python3.11 python3.12 python3.13 python3.14 python3 python; do
        if command -v "$name" >/dev/null && is_python "$name"; then
            command -v "$name"
            return
        fi
    done
    return 1
}

make_venv() {
    local python
    if [ -n "${PYTHON:-}" ]; then
        python=$PYTHON
        is_python "$python" || die "PYTHON=$python is not Python 3.11 or later with its venv module"
    else
        python=$(find_python) || { apt_install python3 python3-venv && python=$(find_python); } ||
            die "Python 3.11 or later with its venv module is needed; on Debian: apt-get install python3 python3-venv"
    fi
    say "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
}

# What must have stayed the same for an environment to be ready still.
wanted() { cat pyproject.toml requirements.lock; pwd; "$venv_python" --version; }

is_ready() { [ -f ".venv/ready-$1" ] && [ "$(wanted | cksum)" = "$(cat ".venv/ready-$1")" ]; }

need_picture_libraries() {
    local wrong
    wrong=$("$venv_python" -c 'import cv2' 2>&1) && return
    case $wrong in *"shared object file"*) ;; *) die "OpenCV does not start: ${wrong##*$'\n'}" ;; esac
    apt_install libgl1 libglib2.0-0 && "$venv_python" -c 'import cv2' && return
    die "${wrong##*$'\n'}: OpenCV needs libGL, libxcb and GLib; on Debian and Ubuntu: apt-get install libgl1 libglib2.0-0;" \
        "on Fedora: dnf install mesa-libGL glib2"
}

need_test_programs() {
    local missing=()
    command -v mosquitto >/dev/null || missing+=(mosquitto)
    command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
    command -v espeak-ng >/dev/null || missing+=(espeak-ng)
    "$venv_python" -m playwright --version >/dev/null 2>&1 || missing+=(libatomic1) # its driver's only wish
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}" ||
        say "not here: ${missing[*]}; the tests that need them are skipped. To have them: apt-get install ${missing[*]}"
}

# What runs the pads' firmware without a board: compilers for it, a simulated AVR, MicroPython in a WebAssembly build.
need_boards() {
    local missing=()
    command -v g++ >/dev/null || missing+=(g++)
    command -v avr-g++ >/dev/null || missing+=(gcc-avr avr-libc)
    [ -d /usr/share/arduino/hardware/arduino/avr ] || missing+=(arduino-core-avr)
    command -v simavr >/dev/null && [ -d /usr/include/simavr ] || missing+=(simavr libsimavr-dev)
    command -v npm >/dev/null || missing+=(nodejs npm)
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}" ||
        say "not here: ${missing[*]}; the firmware's tests that need them are skipped. To have them: apt-get install ${missing[*]}"
    local wanted=tests/firmware_bridge/boards/package-lock.json boards=.venv/boards
    if command -v npm >/dev/null && ! cmp -s "$wanted" "$boards/package-lock.json"; then
        say "installing MicroPython for WebAssembly with npm"
        rm -rf "$boards"
        mkdir -p "$boards"
        cp tests/firmware_bridge/boards/package.json "$boards/"
        cp "$wanted" "$boards/"
        if ! (cd "$boards" && npm ci --fetch-retries=1 --no-audit --no-fund --loglevel=error >&2); then
            rm -rf "$boards"
            say "MicroPython could not be had; the tests that need it are skipped"
        fi
    fi
}

"$venv_python" -m pip --version >/dev/null 2>&1 || make_venv
if ! is_ready "$kind"; then
    rm -f .venv/ready-*
    say "installing the Python packages (the first time takes some minutes)"
    if [ "$kind" = test ]; then
        "$venv_python" -m pip install -qq -r requirements.lock
        "$venv_python" -m pip install -qq --no-deps --no-build-isolation -e .
    else
        "$venv_python" -m pip install -qq -c requirements.lock -e .
    fi
    need_picture_libraries
    wanted | cksum >".venv/ready-$kind"
    [ "$kind" = run ] || cp .venv/ready-test .venv/ready-run
fi
if [ "$kind" = test ]; then
    need_test_programs
    need_boards
fi
