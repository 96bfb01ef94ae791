// A MicroPython board without a board: the pad's firmware in MicroPython's WebAssembly build, on the terminal FD (the master
// side of a pty). Arguments: FD, the package's micropython.mjs, then the modules to load.
//
// Standard input takes `p US PIN LEVEL` (a pin moves so many us from now on); told are `= NS US PIN LEVEL` (it moved, by the
// host's monotonic clock and the board's) and `~ NS PIN LEVEL` (an output did).
import { readFileSync, readSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const [fd, micropython, ...modules] = process.argv.slice(2);
const terminal = Number(fd);
const { loadMicroPython } = await import(pathToFileURL(micropython));
const board = await loadMicroPython({ heapsize: 1 << 20 });
for (const path of modules) board.FS.writeFile("/" + basename(path), readFileSync(path));

const origin = process.hrtime.bigint();
const hostUs = () => Number((process.hrtime.bigint() - origin) / 1000n);
let arrived = [];
let isOver = false;

// The terminal does not block: reading finds what there is.
const buffer = Buffer.alloc(4096);
function poll() {
  try {
    const count = readSync(terminal, buffer);
    for (let k = 0; k < count; k++) arrived.push(buffer[k]);
  } catch (error) {
    if (error.code !== "EAGAIN") isOver = true;
  }
}

board.registerJsModule("js_board", {
  host_us: hostUs,
  read() {
    const taken = arrived;
    arrived = [];
    return new Uint8Array(taken);
  },
  write(text) {
    try {
      writeSync(terminal, text);
    } catch (error) {
      if (error.code !== "EAGAIN") isOver = true; // nobody reads: lost, as on a real line
    }
  },
  told(text) {
    const [mark, us, ...rest] = text.split(" ");
    writeSync(1, [mark, origin + BigInt(us) * 1000n, ...rest].join(" ") + "\n");
  },
});
board.runPython(`
import sys
sys.path.insert(0, "/")
import wasm_board
wasm_board.install()
import board_pico
from tada_board import Board
from tada_pad import Pad
from tada_main import Runner
pad = Pad("wasm", [port[:2] for port in board_pico.INPUTS], [port[:2] for port in board_pico.OUTPUTS], ${
  (Date.now() ^ (process.pid << 12)) >>> 0
}, hw="wasm", st=20)
runner = Runner(pad, Board(board_pico), wasm_board.Cable(), None)
`);
const turn = board.globals.get("runner").once;
const at = board.pyimport("wasm_board").at;
let typed = "";
process.stdin.on("data", (data) => {
  typed += data;
  const lines = typed.split("\n");
  typed = lines.pop();
  const now = hostUs(); // one for all that came together: what bounces must not be torn apart
  for (const line of lines) {
    const [, us, pin, level] = line.split(" ").map(Number);
    at(now + us, pin, level);
  }
});
process.stdin.on("end", () => (isOver = true));
function loop() {
  if (isOver) process.exit(0);
  poll();
  turn();
  setTimeout(loop, 1);
}
loop();
