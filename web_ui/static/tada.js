// A pad that is a page: speaks tada/1 over a socket, with this page's own clock in microseconds.
// Times in here are milliseconds of performance.now(), on which event.timeStamp runs too.

const WRAP = 2 ** 32;
const RING = 32;
const RESEND_MS = 200;
const BEAT_MS = 1000;
const SETTLE_MS = 30;
const FOR_GOOD = new Set(["elsewhere", "away"]); // nothing to come back for

const micros = (ms) => Math.floor(ms * 1000) % WRAP;

// The least step in which this page's clock moves, in microseconds.
function tick() {
  let least = Infinity;
  const until = performance.now() + 20;
  for (let last = performance.now(); last < until;) {
    const now = performance.now();
    if (now > last) least = Math.min(least, now - last);
    last = now;
  }
  return Math.min(1e6, Math.max(1, Math.ceil((Number.isFinite(least) ? least : 20) * 1000)));
}

export class Pad {
  // `inputs`: names. `outputs`: [kind, name] pairs. `play(output, pattern, ms)`: show it from that instant on.
  // `changed(state)`: "open", "closed", "elsewhere", "away".
  constructor({ kind, inputs, outputs, play, changed }) {
    Object.assign(this, { kind, inputs, outputs, play, changed });
    this.socket = null;
    this.tick = tick();
    this.tries = 0;
    this.isWanted = false;
    this.closed = 0;
    this.battery = undefined;
    this.beating = 0;
    navigator.getBattery?.().then((battery) => { this.battery = battery; }).catch(() => {});
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    this.isWanted = true;
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/live/pad?kind=${this.kind}`);
    this.socket = socket;
    socket.addEventListener("open", () => this.begin());
    let why = "closed";
    socket.addEventListener("message", (event) => {
      const at = performance.now();
      const message = JSON.parse(event.data);
      if (message.t === "bye") {
        why = FOR_GOOD.has(message.why) ? message.why : "closed";
        socket.close();
      } else this.hear(message, at);
    });
    socket.addEventListener("close", () => {
      if (this.socket !== socket) return;
      this.socket = null;
      clearInterval(this.beating);
      this.changed(why);
      if (!this.isWanted || FOR_GOOD.has(why)) return;
      this.tries += 1;
      setTimeout(() => { if (this.isWanted) this.connect(); }, Math.min(5000, 250 * 2 ** this.tries) * (0.5 + Math.random()));
    });
  }

  disconnect() {
    this.isWanted = false;
    const socket = this.socket;
    this.socket = null;
    clearInterval(this.beating);
    socket?.close();
  }

  // Each connection is a start of its own: the clock of a page that slept may have stood still.
  begin() {
    this.tries = 0;
    this.boot = crypto.getRandomValues(new Uint32Array(1))[0];
    this.n = 0;
    this.ring = [];
    this.closed = 0;
    this.settled = this.inputs.map(() => -Infinity);
    this.isLetGo = this.inputs.map(() => false);
    this.armed = { mask: 0, at: 0 };
    this.hello();
    this.changed("open");
    this.beat();
    this.beating = setInterval(() => this.beat(), BEAT_MS);
  }

  say(message) {
    if (this.isOpen) this.socket.send(JSON.stringify(message));
  }

  hello() {
    this.say({
      t: "hello", p: 1, id: document.body.dataset.device, fw: "page", hw: this.kind, boot: this.boot, ni: this.inputs.length,
      no: this.outputs.length, tick: this.tick, st: 0, us: micros(performance.now()),
    });
    this.inputs.forEach((name, b) => this.say({ t: "in", b, kind: this.kind === "phone" ? "touch" : "key", name }));
    this.outputs.forEach(([kind, name], b) => this.say({ t: "out", b, kind, name }));
  }

  beat() {
    if (!this.isOpen) return;
    const told = { t: "hb", n: this.n, us: micros(performance.now()), v: this.closed };
    if (this.battery) told.bat = Math.round(this.battery.level * 100);
    this.say(told);
  }

  hear(message, at) {
    if (message.t === "sync") {
      this.say({ t: "sync", id: message.id, h: message.h, r: micros(at), x: micros(performance.now()), n: this.n });
    } else if (message.t === "who") {
      this.hello();
      this.ring.forEach((event) => this.say({ ...event, re: 1 }));
    } else if (message.t === "ack") {
      this.ring = this.ring.filter((event) => event.n !== message.n);
    } else if (message.t === "nak") {
      const missing = this.ring.find((event) => event.n === message.n);
      if (missing) this.say({ ...missing, re: 1 });
    } else if (message.t === "arm") {
      this.armed = { mask: message.mask, at: this.near(message.at, at) };
    } else if (message.t === "led" || message.t === "snd") {
      this.play(message.b, message.pattern, message.at === undefined ? at : this.near(message.at, at));
    }
  }

  // The instant that a 32-bit device time means, near `ms`.
  near(us, ms) {
    const away = (((us - micros(ms) + WRAP / 2) % WRAP) + WRAP) % WRAP - WRAP / 2;
    return ms + away / 1000;
  }

  // An input moved, as the browser stamped it. True when it counted (no bounce, and connected).
  edge(b, isDown, timeStamp) {
    const now = performance.now();
    // Old browsers stamp with other clocks: a stamp that cannot be is not used.
    const at = timeStamp <= now && now - timeStamp < 1000 ? timeStamp : now;
    if (!this.isOpen) return false;
    this.settle(b, at);
    const isClosed = Boolean((this.closed >>> b) & 1);
    const settles = this.settled[b] + SETTLE_MS;
    if (at < settles) {
      // A tap may be shorter than a contact bounces: it is let go of when the bouncing would be over.
      this.isLetGo[b] = isClosed && !isDown;
      if (this.isLetGo[b]) setTimeout(() => this.settle(b, performance.now()), settles - now + 1);
      return false;
    }
    if (isClosed === isDown) return false;
    this.settled[b] = at;
    this.move(b, isDown, at);
    return true;
  }

  // Timers of a busy page are late, and the next press must find the last one let go of.
  settle(b, at) {
    const settles = this.settled[b] + SETTLE_MS;
    if (!this.isLetGo[b] || at < settles) return;
    this.isLetGo[b] = false;
    this.move(b, false, settles);
  }

  move(b, isDown, at) {
    this.closed = (this.closed ^ (1 << b)) >>> 0;
    this.n += 1;
    const event = { t: isDown ? "dn" : "up", b, n: this.n, us: micros(at) };
    if (isDown && (this.armed.mask >>> b) & 1 && at < this.armed.at) event.early = 1;
    this.ring.push(event);
    if (this.ring.length > RING) this.ring.shift();
    this.say(event);
    const boot = this.boot;
    setTimeout(() => {
      if (this.boot === boot && this.ring.includes(event)) this.say({ ...event, re: 1 });
    }, RESEND_MS);
  }
}

// What `companion/core/cue.py` says of a light: is it on `since` ms after it began?
export function isLit(shape, since) {
  const flashes = shape.flashes * (shape.on_ms + shape.off_ms);
  const round = flashes + shape.pause_ms;
  if (since < 0 || since >= round * shape.rounds) return false;
  const into = since % round;
  return into < flashes && into % (shape.on_ms + shape.off_ms) < shape.on_ms;
}

export function lasts(shape) {
  return (shape.flashes * (shape.on_ms + shape.off_ms) + shape.pause_ms) * shape.rounds;
}

// Orders something at the table as a form of the referee's page would; gives what was told, {error} when it failed.
export async function order(command) {
  const key = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const answer = await fetch("/command", {
      method: "POST",
      body: JSON.stringify({ command, key }),
      headers: {
        Accept: "application/json", "Content-Type": "application/json",
        "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content,
      },
    });
    return await answer.json();
  } catch {
    return { error: null };
  }
}

export async function state() {
  try {
    const answer = await fetch(`/pad/state?kind=${document.body.dataset.kind}`, { headers: { Accept: "application/json" } });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}
