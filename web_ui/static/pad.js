// The phone as a pad: one large button, by finger, key, switch or screen reader; shakes, sounds and shines.
import { play } from "./sound.js";
import { Pad, isLit, lasts, order, state } from "./tada.js";

const texts = JSON.parse(document.body.dataset.padTexts);
const shapes = JSON.parse(document.body.dataset.shapes);
const button = document.getElementById("slam");
const sign = document.getElementById("slam-sign");
const LOUD = new Set(["go", "stop", "false_start"]);
const CLICK_MS = 1000;
const LOOK_MS = { soon: 500, settled: 3000 }; // how often to ask whose pad this is
const still = matchMedia("(prefers-reduced-motion: reduce)");
const settings = { sound: true, shake: true, ...JSON.parse(localStorage.getItem("pad") || "{}") };
let audio = null;
let awake = null;
let heldBy = null; // the key or pointer that holds the button down
let actedAt = -Infinity;
let count = 0;
let told = null;
let connection = "closed";
let looking = 0;
let showing = { since: 0, shape: shapes.off };

const words = (name, values = {}) => texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

function tell(id, line) {
  const region = document.getElementById(id);
  if (region.textContent !== line) region.textContent = line;
}

const pad = new Pad({
  kind: "phone",
  inputs: ["screen"],
  outputs: [["led", "screen"], ["snd", "phone"]],
  play: (output, pattern, at) => setTimeout(() => (output === 0 ? shine(pattern, at) : sound(pattern)), at - performance.now()),
  changed: (now) => {
    connection = now;
    if (now === "open") look();
    document.body.dataset.connection = now;
    freshen();
  },
});

// what the table does back

function shine(pattern, at) {
  showing = { since: Math.max(at, performance.now()), shape: shapes[pattern] ?? shapes.off };
  sign.textContent = texts.patterns[pattern] ?? "";
  tell(LOUD.has(pattern) ? "pad-urgent" : "pad-said", texts.patterns[pattern] ?? "");
  draw();
}

function draw() {
  const since = performance.now() - showing.since;
  const ends = lasts(showing.shape);
  const isOn = still.matches ? since < ends : isLit(showing.shape, since);
  button.classList.toggle("is-lit", isOn);
  if (since < ends) {
    requestAnimationFrame(draw);
  } else {
    sign.textContent = "";
    tell("pad-urgent", "");
  }
}

function sound(pattern) {
  const shape = shapes[pattern];
  if (!shape) return;
  if (settings.sound) play(audio, shape.tones.map(([hertz, ms]) => [hertz, ms / 1000]));
  if (settings.shake && pattern !== "off") shake(shape.tones.map(([, ms]) => ms));
}

function shake(steps) {
  if (navigator.vibrate && navigator.userActivation?.hasBeenActive) navigator.vibrate(steps);
}

// what the player does

function press(by, timeStamp) {
  actedAt = performance.now();
  if (heldBy !== null) return;
  heldBy = by;
  wake();
  if (!pad.edge(0, true, timeStamp)) {
    if (connection !== "open") tell("pad-urgent", words("unheard"));
    return;
  }
  count += 1;
  button.classList.add("is-down");
  if (settings.shake) shake([40]);
  if (settings.sound) play(audio, [[220, 0.06]]);
  tell("pad-said", words("pressed", { n: count }));
}

function release(by, timeStamp) {
  if (heldBy !== by) return;
  heldBy = null;
  button.classList.remove("is-down");
  pad.edge(0, false, timeStamp);
}

button.addEventListener("pointerdown", (event) => {
  if (event.button === 0) press(`pointer ${event.pointerId}`, event.timeStamp);
});
for (const kind of ["pointerup", "pointercancel"]) {
  addEventListener(kind, (event) => release(`pointer ${event.pointerId}`, event.timeStamp));
}
button.addEventListener("contextmenu", (event) => event.preventDefault());
button.addEventListener("keydown", (event) => {
  if (event.key === "Tab" || event.key === "Escape" || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (!event.repeat) press(`key ${event.code}`, event.timeStamp);
});
addEventListener("keyup", (event) => release(`key ${event.code}`, event.timeStamp));
addEventListener("blur", (event) => { if (heldBy !== null) release(heldBy, event.timeStamp); });
// A screen reader or a switch presses without pointer and key; the click after a touch is no second press.
button.addEventListener("click", (event) => {
  if (performance.now() - actedAt < CLICK_MS) return;
  press("click", event.timeStamp);
  setTimeout(() => release("click", performance.now()), 80);
});

// sound, shaking, light

async function wake() {
  audio ||= new AudioContext();
  if (settings.sound && audio.state !== "running") audio.resume().catch(() => {});
  keepAwake();
}

async function keepAwake() {
  if (!("wakeLock" in navigator)) {
    tell("pad-awake", texts.sleeps);
    return;
  }
  if (awake && !awake.released) return;
  try {
    awake = await navigator.wakeLock.request("screen");
    tell("pad-awake", texts.awake);
  } catch {
    tell("pad-awake", texts.sleeps);
  }
}

for (const name of ["sound", "shake"]) {
  const toggle = document.getElementById(`pad-${name}`);
  const show = () => toggle.setAttribute("aria-pressed", String(settings[name]));
  toggle.addEventListener("click", () => {
    settings[name] = !settings[name];
    localStorage.setItem("pad", JSON.stringify(settings));
    show();
  });
  show();
}

// whose pad it is

const ask = document.getElementById("pad-ask");
ask.addEventListener("click", async () => {
  const seat = told?.seats.find((each) => each.id === told.mine);
  if (!seat) return;
  const answer = await order({
    do: "Propose",
    command: { do: "AssignPad", seat: seat.id, device: told.device, input: 0 },
    reading: words("reading", { name: seat.name, device: told.device }),
    confidence: 1,
  });
  tell("pad-urgent", answer.error === undefined ? answer.ruling?.because ?? "" : answer.error || texts.unsent);
  look();
});

async function look() {
  clearTimeout(looking);
  told = (await state()) ?? told;
  freshen();
  const isSettled = told?.u_ms != null && told.seats.some((seat) => seat.device === told.device);
  looking = setTimeout(look, isSettled ? LOOK_MS.settled : LOOK_MS.soon);
}

function freshen() {
  const whose = told?.seats.filter((seat) => seat.device === told.device).map((seat) => seat.name) ?? [];
  let line = texts[connection] ?? "";
  if (connection === "open") line = told?.u_ms == null ? texts.measuring : words("known", { ms: told.u_ms.toFixed(0) });
  tell("pad-state", line);
  const isAsking = Boolean(told?.is_asked) && !whose.length;
  tell("pad-whose", whose.length ? words("whose", { name: whose.join(", ") }) : isAsking ? texts.asked : texts.nobodys);
  ask.hidden = whose.length > 0 || isAsking || !told?.mine;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    pad.disconnect();
    connection = "closed";
  } else {
    if (connection !== "elsewhere" && connection !== "away") pad.connect();
    if (navigator.userActivation?.hasBeenActive) keepAwake();
    look();
  }
});
addEventListener("pagehide", () => pad.disconnect());
addEventListener("pageshow", (event) => { if (event.persisted) pad.connect(); });
pad.connect();
look();
keepAwake();
