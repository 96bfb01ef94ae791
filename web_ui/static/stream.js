// The live stream: brings views and announcements, shows how fresh the page is, locks it when it is stale.
import { morph } from "./morph.js";
import { draw, measure, roughly } from "./clock.js";
import { announce, tell } from "./say.js";
import { text } from "./texts.js";
import { mark } from "./send.js";

const STALE_MS = 12000; // the hub beats every 5 s
const view = document.getElementById("view");
const badge = document.getElementById("heard");
let source = null;
let after = document.body.dataset.after;
let heardAt = performance.now();
let isStale = false;
let isGone = false;
let tries = 0;
let build = null;

function heard(event) {
  heardAt = performance.now();
  tries = 0;
  if (event.lastEventId) after = event.lastEventId;
  if (isStale) {
    isStale = false;
    view.inert = false;
    document.body.classList.remove("is-stale");
    tell(text("back"));
    measure();
  }
  freshness();
}

function pulse(event) {
  const told = JSON.parse(event.data);
  roughly(told.now_ns);
  // The program was replaced by another build: take its pages as soon as nobody is in the middle of something.
  if (build && told.build !== build && !document.querySelector("details[open] form")) location.reload();
  build ||= told.build;
}

function open() {
  if (isGone) return;
  source = new EventSource(`${document.body.dataset.stream}?after=${encodeURIComponent(after)}`);
  const on = (name, act) => source.addEventListener(name, (event) => { heard(event); act(event); });
  on("hello", pulse);
  on("beat", pulse);
  on("say", (event) => announce(JSON.parse(event.data)));
  on("view", (event) => {
    const told = JSON.parse(event.data);
    document.body.dataset.version = told.version;
    if (told.html === undefined) return; // the page stands as it is drawn
    morph(view, told.html);
    mark(view);
    draw();
    document.dispatchEvent(new CustomEvent("shown"));
  });
  on("bye", () => {
    isGone = true;
    source.close();
    lock(text("gone"));
  });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED || isGone) return;
    tries += 1;
    setTimeout(open, Math.min(10000, 500 * 2 ** tries) * (0.5 + Math.random()));
  });
}

function lock(why) {
  isStale = true;
  view.inert = true;
  document.body.classList.add("is-stale");
  tell(why, true);
}

function freshness() {
  const ms = performance.now() - heardAt;
  if (ms > STALE_MS && !isStale) lock(text("lost"));
  badge.dataset.state = isStale ? "lost" : "live";
  const seconds = text("heard", { n: Math.floor(ms / 1000) });
  document.getElementById("heard-text").textContent =
    isStale ? seconds : `${text("live")} · ${document.body.dataset.version} · ${seconds}`;
}

export function start() {
  open();
  setInterval(freshness, 1000);
  addEventListener("offline", () => lock(text("lost")));
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
}
