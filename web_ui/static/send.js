// Forms become commands without leaving the page. Each press has its own key, kept over retries, so it counts once.
import { clean } from "./morph.js";
import { later, tell } from "./say.js";
import { text } from "./texts.js";

const SETTLE_MS = 350;
const changed = new WeakMap(); // button -> when it began to mean something else
const meant = new WeakMap(); // button -> the action it stood for when last drawn

// A button that turned into another action under a finger must not fire that other action.
export function mark(root) {
  for (const button of root.querySelectorAll("[data-action]")) {
    const action = button.dataset.action;
    if (meant.has(button) && meant.get(button) !== action) changed.set(button, performance.now());
    meant.set(button, action);
  }
}

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function post(form, key) {
  const body = new FormData(form);
  body.set("key", key);
  body.set("expected", document.body.dataset.version);
  const answer = await fetch("/command", {
    method: "POST",
    body,
    headers: { Accept: "application/json", "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content },
  });
  return { status: answer.status, told: await answer.json() };
}

async function send(form, button) {
  if (form.dataset.pressed) return;
  form.dataset.pressed = "1";
  button?.setAttribute("aria-disabled", "true");
  const key = newKey();
  const label = form.dataset.label;
  try {
    let got = null;
    for (let i = 0; i < 3; i++) {
      try {
        got = await post(form, key);
      } catch {
        got = null; // the network: the same key makes another try harmless
      }
      if (got && got.status !== 503) break;
      if (i < 2) await new Promise((resolve) => setTimeout(resolve, 400 * (i + 1)));
    }
    if (!got) tell(text("unsent"), true);
    else if (got.told.error) tell(got.told.reload ? text("reload") : got.told.error, true);
    else if (!got.told.accepted) tell(text("refused", { why: `${got.told.ruling.because} (${got.told.ruling.rule})` }), true);
    else done(form, label);
  } finally {
    delete form.dataset.pressed;
    button?.removeAttribute("aria-disabled");
  }
}

function done(form, label) {
  later(text("done", { label }));
  clean(form);
  form.reset();
  const sheet = form.closest("details[open]");
  if (sheet) {
    const hadFocus = sheet.contains(document.activeElement);
    sheet.open = false;
    if (hadFocus) sheet.querySelector("summary").focus();
  }
}

export function start() {
  mark(document);
  document.addEventListener("submit", (event) => {
    // Forms that came with the stream have no token of their own.
    const plain = event.target.closest("form.plain");
    if (plain && !plain.elements.csrf_token) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "csrf_token", value: document.querySelector("meta[name=csrf-token]").content });
      plain.append(field);
    }
    const form = event.target.closest("form.send");
    if (!form) return;
    event.preventDefault();
    const button = event.submitter;
    const since = performance.now() - (changed.get(button) ?? -Infinity);
    if (since < SETTLE_MS) tell(text("again", { label: form.dataset.label }));
    else send(form, button);
  });
}
