// Keys: each button may have one; they can be switched off, changed or cleared on the referee's page.
import { text } from "./texts.js";
import { answer, again } from "./say.js";

const STORE = "keys";
let settings = { on: true, map: {} };

function load() {
  try {
    settings = { ...settings, ...JSON.parse(localStorage.getItem(STORE) || "{}") };
  } catch {
    localStorage.removeItem(STORE); // damaged settings are no settings
  }
}

function save() {
  localStorage.setItem(STORE, JSON.stringify(settings));
}

function name(button) {
  return button.dataset.action || button.id;
}

function keyOf(button) {
  return settings.map[name(button)] ?? button.dataset.key ?? "";
}

function pressed(event) {
  const pad = /^Numpad(\d)$/.exec(event.code);
  return pad ? pad[1] : event.key === " " ? "Space" : event.key;
}

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select, summary, [contenteditable]");
}

function find(key) {
  const wanted = key.toLowerCase();
  for (const button of document.querySelectorAll("[data-key]")) {
    if (keyOf(button).toLowerCase() === wanted && !button.closest("[inert]")) return button;
  }
  return null;
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
  if (!settings.on && pressed(event) !== "Space") return;
  const button = find(pressed(event));
  if (!button) return;
  event.preventDefault();
  if (event.type === "keydown" && !event.repeat) press(button);
}

function press(button) {
  if (button.tagName === "SUMMARY") {
    button.parentElement.open = true;
    const first = button.parentElement.querySelector("input:not([type=hidden]), select, button");
    first?.focus();
  } else {
    button.click();
  }
}

function row(button) {
  const key = name(button);
  const label = document.createElement("label");
  const field = document.createElement("input");
  field.type = "text";
  field.maxLength = 5; // one letter, or the word Space
  field.autocomplete = "off";
  field.value = keyOf(button);
  field.id = `set-${key}`;
  label.htmlFor = field.id;
  label.textContent = button.querySelector("span, strong")?.textContent ?? button.textContent;
  field.addEventListener("change", () => {
    settings.map[key] = field.value;
    save();
  });
  const line = document.createElement("p");
  line.append(label, field);
  return line;
}

function list() {
  const box = document.getElementById("keys-list");
  if (!box || box.contains(document.activeElement)) return;
  box.replaceChildren(...[...document.querySelectorAll("[data-key]")].filter((b) => b.dataset.key).map(row));
}

export function start() {
  load();
  const on = document.getElementById("keys-on");
  if (on) {
    on.checked = settings.on;
    on.addEventListener("change", () => {
      settings.on = on.checked;
      save();
    });
    document.getElementById("keys").addEventListener("toggle", list);
  }
  document.addEventListener("keydown", onKey);
  document.addEventListener("keyup", onKey); // a held-back key must not press the button that has the focus
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-answer], [data-again]");
    if (!button) return;
    if (button.dataset.answer) answer(button.dataset.answer);
    else again();
  });
}
