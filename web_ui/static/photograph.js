// A photograph with its dots: taps and keys correct it, the table draws the new state.
import { morph } from "./morph.js";
import "./shrink.js";

const NEAR_PX = 16; // a fingertip, in px of the screen
const SMALL_PX = 9; // a ring that is drawn smaller has no room for a sign beside it
const ZOOMS = [1, 1.5, 2, 3, 4.5];
const counted = document.getElementById("counted");
let cross = null; // where the keyboard's cross stands, in px of the picture
let zoom = 0;

const byId = (id) => document.getElementById(id);

async function correct(values) {
  const body = new FormData();
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  const answer = await fetch(`/photo/${byId("counting").dataset.photo}/dot`, {
    method: "POST",
    body,
    headers: { Accept: "application/json", "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content },
  });
  const told = await answer.json();
  if (told.error) {
    byId("told").textContent = told.error;
    return;
  }
  const chosen = document.querySelector("input[name=which]:checked")?.value;
  const open = [...counted.querySelectorAll("details[open]")].map((each) => each.id);
  morph(counted, told.html);
  if (chosen) byId(`which-${chosen}`).checked = true;
  for (const id of open) if (byId(id)) byId(id).open = true;
  showZoom();
  showCross();
  byId("told").textContent = [...byId("ranking").querySelectorAll("tbody tr")].map((row) => row.innerText.replace(/\s+/g, " ")).join("; ");
}

function place(event) {
  const box = byId("photo").getBoundingClientRect();
  const { width, height } = byId("marks").viewBox.baseVal;
  return { x: ((event.clientX - box.left) / box.width) * width, y: ((event.clientY - box.top) / box.height) * height };
}

function nearest(at) {
  const scale = byId("marks").viewBox.baseVal.width / byId("photo").getBoundingClientRect().width;
  let best = null;
  for (const mark of byId("marks").querySelectorAll("[data-n]")) {
    const ring = mark.querySelector("circle");
    const far = Math.hypot(ring.cx.baseVal.value - at.x, ring.cy.baseVal.value - at.y);
    if (far <= Math.max(ring.r.baseVal.value, NEAR_PX * scale) && (!best || far < best.far)) best = { far, n: mark.dataset.n };
  }
  return best;
}

function touch(at) {
  const dot = nearest(at);
  if (dot) correct({ n: dot.n });
  else correct({ colour: document.querySelector("input[name=which]:checked")?.value ?? "", x: at.x.toFixed(1), y: at.y.toFixed(1) });
}

function showCross() {
  if (!cross) return;
  byId("cross").setAttribute("visibility", "visible");
  byId("cross").setAttribute("transform", `translate(${cross.x} ${cross.y})`);
}

function showZoom() {
  const sheet = byId("sheet");
  sheet.style.width = `${ZOOMS[zoom] * 100}%`;
  const ring = byId("marks").querySelector("[data-n] circle");
  const scale = byId("photo").getBoundingClientRect().width / byId("marks").viewBox.baseVal.width;
  sheet.toggleAttribute("data-small", Boolean(ring) && ring.r.baseVal.value * scale < SMALL_PX);
}

function move(event) {
  const { width, height } = byId("marks").viewBox.baseVal;
  const step = (event.shiftKey ? 0.002 : 0.015) * width;
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  cross ??= { x: width / 2, y: height / 2 };
  if (way) {
    cross.x = Math.min(width, Math.max(0, cross.x + way[0] * step));
    cross.y = Math.min(height, Math.max(0, cross.y + way[1] * step));
    showCross();
    byId("cross").scrollIntoView?.({ block: "nearest", inline: "nearest" });
  } else if (event.key === "Enter" || event.key === " ") {
    touch(cross);
  } else {
    return;
  }
  event.preventDefault();
}

function start() {
  let pressed = null;
  counted.addEventListener("pointerdown", (event) => {
    pressed = event.target.closest("#sheet") ? { x: event.clientX, y: event.clientY } : null;
  });
  counted.addEventListener("click", (event) => {
    if (event.target.closest("#larger")) zoom = Math.min(ZOOMS.length - 1, zoom + 1);
    else if (event.target.closest("#smaller")) zoom = Math.max(0, zoom - 1);
    else if (event.target.closest("#sheet") && pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < 10) touch(place(event));
    else return;
    showZoom();
  });
  counted.addEventListener("keydown", (event) => {
    if (event.target.id === "sheet") move(event);
  });
  counted.addEventListener("submit", (event) => {
    const form = event.target.closest("form.turn");
    if (form) {
      event.preventDefault();
      correct({ n: form.elements.n.value });
    } else if (!event.target.elements.csrf_token) {
      // What came with a correction has no token of its own.
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "csrf_token", value: document.querySelector("meta[name=csrf-token]").content });
      event.target.append(field);
    }
  });
}

if (counted) {
  start();
  showZoom();
  addEventListener("resize", showZoom);
}
