// Everything that is said goes through here once: live region, caption, sound, vibration and the big sign.
import { atHost, hostMs } from "./clock.js";
import { play } from "./sound.js";
import { text } from "./texts.js";

const said = document.getElementById("said");
const urgent = document.getElementById("urgent");
const log = document.getElementById("log");
const KEPT = 100;
const GAP_MS = 1500;
let last = "";
let freeAt = 0;
let pumping = 0;
const waiting = [];
let audio = null;

// Tones as in sound.js. `shake` in ms for phones.
const SOUNDS = {
  ready: { tones: [[660, 0.08]], shake: [40], sign: "●" },
  countdown: { tones: [[440, 0.12]], shake: [60], sign: "…" },
  go: { tones: [[880, 0.5]], shake: [400], sign: "GO" },
  stop: { tones: [[330, 0.2], [0, 0.08], [247, 0.4]], shake: [200, 80, 200], sign: "■" },
  false_start: { tones: [[247, 0.15], [0, 0.06], [247, 0.15]], shake: [80, 60, 80], sign: "!" },
  slam: { tones: [[196, 0.1]], shake: [50], sign: "▼" },
  place_1: { tones: [[523, 0.12], [659, 0.12], [784, 0.3]], shake: [60, 40, 60, 40, 200], sign: "1" },
  place_2: { tones: [[523, 0.12], [659, 0.3]], shake: [60, 40, 150], sign: "2" },
  place_3: { tones: [[523, 0.3]], shake: [100], sign: "3" },
  dead_heat: { tones: [[523, 0.1], [523, 0.1], [523, 0.1]], shake: [60, 60, 60], sign: "≈" },
  void: { tones: [[392, 0.15], [294, 0.3]], shake: [120], sign: "∅" },
  breach: { tones: [[311, 0.12], [277, 0.3]], shake: [150], sign: "✕" },
  end: { tones: [[392, 0.2], [330, 0.2], [262, 0.4]], shake: [300], sign: "■" },
  win: { tones: [[523, 0.12], [659, 0.12], [784, 0.12], [1047, 0.5]], shake: [80, 40, 80, 40, 300], sign: "★" },
  notice: { tones: [], shake: [], sign: "i" },
};

// Two equal texts in a row: a screen reader only speaks what changed, so the region is emptied first and filled
// on a later frame.
function fill(region, words) {
  region.textContent = "";
  region.classList.toggle("long", words.length > 90);
  setTimeout(() => { region.textContent = words; }, 60);
}

function write(words) {
  const line = document.createElement("p");
  line.textContent = words;
  log.prepend(line);
  while (log.childElementCount > KEPT) log.lastElementChild.remove();
}

// Whatever is told at once is heard at once: answers to a key, and what is urgent.
export function tell(words, isUrgent = false) {
  last = words;
  freeAt = performance.now() + GAP_MS;
  if (isUrgent) {
    said.textContent = "";
    fill(urgent, words);
  } else {
    urgent.textContent = "";
    fill(said, words);
  }
}

// All else waits its turn, so that a reader can finish; what piles up is said in one go, nothing is dropped.
export function later(words) {
  waiting.push(words);
  pump();
}

function pump() {
  if (!waiting.length || pumping) return;
  const wait = freeAt - performance.now();
  if (wait > 0) {
    pumping = setTimeout(() => { pumping = 0; pump(); }, wait);
    return;
  }
  tell(waiting.splice(0).join(" "));
}

export function answer(words) {
  document.getElementById("sign").textContent = "?";
  tell(words);
}

export function again() {
  tell(last || text("nothing"));
}

export function announce(cue) {
  // What was missed while the page was away is told without sound, unless its instant is still to come.
  if (cue.late && !(cue.at_ns && hostMs() !== null && cue.at_ns / 1e6 > hostMs())) {
    if (cue.text) {
      later(cue.text);
      write(cue.text);
    }
    return;
  }
  atHost(cue.at_ns, () => {
    const sound = SOUNDS[cue.pattern] || SOUNDS.notice;
    document.getElementById("sign").textContent = sound.sign;
    if (cue.text) {
      if (cue.urgent || cue.pattern === "go" || cue.pattern === "stop") tell(cue.text, true);
      else later(cue.text);
      write(cue.text);
    }
    play(audio, sound.tones);
    if (navigator.vibrate && sound.shake.length && navigator.userActivation?.hasBeenActive) {
      navigator.vibrate(sound.shake);
    }
    flash(cue.pattern, cue.text);
  });
}

// The big sign is shown steadily, never blinking.
const SIGNS = { countdown: 900, go: 1800, stop: 2500 };
let hiding = 0;

function flash(pattern, words) {
  const shown = SIGNS[pattern];
  if (!shown || document.body.dataset.role === "referee") return;
  const sign = document.getElementById("flash");
  document.getElementById("flash-text").textContent = pattern === "go" ? "GO" : words;
  sign.dataset.pattern = pattern;
  sign.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { sign.hidden = true; }, shown);
}

// Sound needs a press first: browsers want it so, and nobody is startled.
export function start() {
  const button = document.getElementById("sound");
  button.addEventListener("click", async () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    if (on) {
      audio ||= new AudioContext();
      await audio.resume();
      play(audio, SOUNDS.ready.tones);
    } else {
      await audio.suspend();
    }
    button.setAttribute("aria-pressed", String(on));
    button.textContent = text(on ? "soundon" : "soundoff");
  });
}
