// Plays traces (firmware_traces.py says their form) on the MicroPython core in MicroPython: standard input to standard
// output. Arguments: the package's micropython.mjs, then the modules to load, the replayer last.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const [micropython, ...modules] = process.argv.slice(2);
const { loadMicroPython } = await import(pathToFileURL(micropython));
const board = await loadMicroPython({ heapsize: 8 << 20 });
for (const path of modules) board.FS.writeFile("/" + basename(path), readFileSync(path));
board.globals.set("traces", readFileSync(0, "utf8"));
board.runPython(`
import sys
sys.path.insert(0, "/")
import replay
told = "".join(replay.replay(trace + "end\\n") for trace in traces.split("end\\n")[:-1])
`);
process.stdout.write(board.globals.get("told"));
