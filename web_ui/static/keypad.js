// Keys and HID buzzers as pads: whichever key is pressed while this page has the focus belongs to the seat that learnt it.
import { Pad, order, state } from "./tada.js";

const texts = JSON.parse(document.body.dataset.padTexts);
const listen = document.getElementById("listen");
const STORE = `keys ${document.body.dataset.device}`;
const MAX_KEYS = 32;
const LOOK_MS = 1000;
const CONTROLLER_MS = 4;
let keys = load(); // [{code, label}], the place in the list is the input
let learning = null; // id of the seat whose key is waited for
let told = null;
let count = 0;
let connection = "closed";
let pad = null;
let controllers = 0;

const words = (name, values = {}) => texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

function load() {
  try {
    const found = JSON.parse(localStorage.getItem(STORE) || "[]");
    return Array.isArray(found) ? found.filter((key) => typeof key?.code === "string").slice(0, MAX_KEYS) : [];
  } catch {
    return []; // damaged settings are no settings
  }
}

function tell(id, line) {
  const region = document.getElementById(id);
  if (region.textContent !== line) region.textContent = line;
}

function begin() {
  pad?.disconnect();
  pad = keys.length ? new Pad({
    kind: "keys",
    inputs: keys.map((key) => `key ${key.label}`.replace(/[^\x20-\x7e]/g, "?").slice(0, 24)),
    outputs: [],
    play: () => {},
    changed: (now) => {
      connection = now;
      freshen();
    },
  }) : null;
  focusChanged();
}

// Without the focus no key is heard: then the host is told so, instead of waiting for a deaf pad.
function focusChanged() {
  const isHeard = document.hasFocus() && !document.hidden;
  document.body.dataset.heard = String(isHeard);
  if (isHeard) pad?.connect();
  else {
    pad?.disconnect();
    connection = "closed";
  }
  freshen();
}

function labelOf(event) {
  if (event.code.startsWith("Numpad")) return event.code;
  return event.key.length === 1 && event.key !== " " ? event.key.toUpperCase() : event.code || event.key;
}

function isControl(event) {
  const target = event.target instanceof Element ? event.target.closest("button, a, input, select, summary") : null;
  return target !== null && (event.key === "Enter" || event.key === " " || target.matches("input, select"));
}

// The first input that no key has and no other seat holds (from a time that this browser has forgotten).
function freeInput(seat) {
  const held = new Set(told.seats.filter((each) => each.device === told.device && each.id !== seat).map((each) => each.input));
  let input = 0;
  while (held.has(input) || keys[input]?.code) input += 1;
  return input;
}

async function learn(code, label) {
  const seat = told?.seats.find((each) => each.id === learning);
  learning = null;
  if (code === "Escape" || !seat) {
    tell("keys-said", texts.cancelled);
    draw();
    return;
  }
  let input = inputOf(code);
  if (input < 0) {
    input = freeInput(seat.id);
    if (input >= MAX_KEYS) {
      tell("keys-said", texts.full);
      return;
    }
    while (keys.length <= input) keys.push({ code: "", label: "" });
    keys[input] = { code, label };
    localStorage.setItem(STORE, JSON.stringify(keys));
    begin();
  }
  const answer = await order({ do: "AssignPad", seat: seat.id, device: document.body.dataset.device, input });
  if (answer.error !== undefined) tell("keys-said", answer.error || texts.unsent);
  else if (!answer.accepted) tell("keys-said", answer.ruling.because);
  else tell("keys-said", words("learnt", { name: seat.name, key: keys[input].label }));
  look();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.key === "Tab" || isControl(event)) return;
  const code = event.code || event.key;
  if (learning !== null) {
    event.preventDefault();
    if (!event.repeat) learn(code, labelOf(event));
  } else if (inputOf(code) >= 0) {
    event.preventDefault();
    if (!event.repeat) press(code, event.timeStamp);
  } else if (event.target === listen && event.key !== "Escape") {
    tell("keys-said", words("nobodys", { key: labelOf(event) }));
  }
});
addEventListener("keyup", (event) => release(event.code || event.key, event.timeStamp));

// Buzzers that are game controllers send no events: they are looked at as often as a page may.
const wasDown = new Set();

function lookAtControllers() {
  for (const [place, controller] of [...navigator.getGamepads()].entries()) {
    controller?.buttons.forEach((button, n) => {
      const code = `controller ${place + 1} button ${n + 1}`;
      if (button.pressed === wasDown.has(code)) return;
      if (!button.pressed) {
        wasDown.delete(code);
        release(code, controller.timestamp);
        return;
      }
      wasDown.add(code);
      if (document.body.dataset.heard !== "true") return;
      if (learning !== null) learn(code, code);
      else if (inputOf(code) >= 0) press(code, controller.timestamp);
      else tell("keys-said", words("nobodys", { key: code }));
    });
  }
}

function watchControllers() {
  if (navigator.getGamepads && !controllers) controllers = setInterval(lookAtControllers, CONTROLLER_MS);
}

function inputOf(code) {
  return keys.findIndex((key) => key.code === code);
}

function press(code, timeStamp) {
  const input = inputOf(code);
  if (!pad?.edge(input, true, timeStamp)) return;
  count += 1;
  const owner = told?.seats.find((seat) => seat.device === told.device && seat.input === input);
  tell("keys-said", words("pressed", { key: keys[input].label, name: owner?.name ?? texts.nobody, n: count }));
  const row = owner && document.getElementById(`row-${owner.id}`);
  row?.classList.add("is-down");
  setTimeout(() => row?.classList.remove("is-down"), 400);
}

function release(code, timeStamp) {
  const input = inputOf(code);
  if (input >= 0) pad?.edge(input, false, timeStamp);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-learn], [data-drop]");
  if (!button) return;
  const seat = told?.seats.find((each) => each.id === (button.dataset.learn ?? button.dataset.drop));
  if (!seat) return;
  if (button.dataset.learn) {
    learning = seat.id;
    tell("keys-said", words("press", { name: seat.name }));
    draw();
    listen.focus();
    return;
  }
  const input = seat.input;
  const answer = await order({ do: "AssignPad", seat: seat.id });
  if (answer.accepted) {
    keys[input] = { code: "", label: "" };
    while (keys.length && keys.at(-1).code === "") keys.pop();
    localStorage.setItem(STORE, JSON.stringify(keys));
    begin();
    tell("keys-said", words("dropped", { name: seat.name }));
  } else tell("keys-said", answer.ruling?.because ?? answer.error ?? texts.unsent);
  await look();
  document.querySelector(`[data-learn="${seat.id}"]`)?.focus();
});

async function look() {
  told = (await state()) ?? told;
  draw();
  freshen();
}

function draw() {
  for (const seat of told?.seats ?? []) {
    const now = document.getElementById(`now-${seat.id}`);
    if (!now) continue;
    const isHere = seat.device === told.device;
    const label = isHere ? keys[seat.input]?.label : "";
    let line = seat.device ? words("other", { device: seat.device }) : texts.clicked;
    if (isHere) line = label ? words("key", { key: label }) : texts.unknown;
    if (learning === seat.id) line = texts.waiting;
    if (now.textContent !== line) now.textContent = line;
    document.querySelector(`[data-drop="${seat.id}"]`).hidden = !isHere;
    document.getElementById(`row-${seat.id}`).classList.toggle("is-waiting", learning === seat.id);
  }
}

function freshen() {
  let line = texts.deaf;
  if (document.body.dataset.heard === "true") {
    if (!keys.length) line = texts.nokeys;
    else if (connection !== "open") line = texts[connection];
    else line = told?.u_ms == null ? texts.measuring : words("known", { ms: told.u_ms.toFixed(0) });
  }
  tell("keys-state", line);
}

addEventListener("gamepadconnected", watchControllers);
addEventListener("focus", focusChanged);
addEventListener("blur", focusChanged);
document.addEventListener("visibilitychange", focusChanged);
addEventListener("pagehide", () => pad?.disconnect());
begin();
look();
setInterval(look, LOOK_MS);
