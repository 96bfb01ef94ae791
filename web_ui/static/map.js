// Painting a map: areas are polygons in mm; the table checks every change and says what is wrong.
const NEAR_MM = 5; // a corner that comes so near to another area's goes to it
const SVG = "http://www.w3.org/2000/svg";
const painting = document.getElementById("painting");
const words = JSON.parse(painting.dataset.texts);
const kinds = new Map(JSON.parse(painting.dataset.kinds));
const sheet = document.getElementById("sheet");
const { width, height } = sheet.viewBox.baseVal;
let { version, areas, faults, is_kept: isKept } = JSON.parse(painting.dataset.state);
let chosen = areas.length ? 0 : null;
let corner = 0;
let splitFrom = null;
let outline = null; // corners of an area that is being clicked
let sending = Promise.resolve();
let waiting = 0; // changes that the table has not answered yet

const byId = (id) => document.getElementById(id);
const text = (name, values = {}) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "").trim();
const rounded = (value, most) => Math.min(most, Math.max(0, Math.round(value * 10) / 10));
const say = (line) => { byId("told").textContent = line; };

function made(name, values, parent) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(values)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

function send(path, values) {
  waiting += 1;
  sending = sending.then(async () => {
    const answer = await fetch(path, {
      method: "POST",
      body: JSON.stringify({ version, ...values() }),
      headers: { "Content-Type": "application/json", "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content },
    });
    const told = await answer.json();
    waiting -= 1;
    if (told.error) return say(told.error);
    ({ version, faults, is_kept: isKept } = told);
    if (!waiting) areas = told.areas;
    if (chosen !== null && chosen >= areas.length) chosen = areas.length ? areas.length - 1 : null;
    say(text("saved"));
    show();
  });
  return sending;
}

const save = () => send("/map/paint", () => ({ areas }));

function show() {
  const held = document.activeElement?.id;
  painting.dataset.version = version;
  byId("areas").replaceChildren();
  byId("corners").replaceChildren();
  areas.forEach((area, n) => {
    const points = area.polygon.map((at) => at.join(",")).join(" ");
    const node = made("polygon", { points, fill: kinds.get(area.kind) ?? "#888", class: n === chosen ? "is-chosen" : "" }, byId("areas"));
    node.addEventListener("pointerdown", () => { if (!outline && n !== chosen) { choose(n); } });
  });
  if (chosen !== null && !outline) areas[chosen].polygon.forEach(([x, y], k) => {
    const label = text("corner", { n: k + 1, area: chosen + 1, x, y });
    const node = made("circle", { cx: x, cy: y, r: 5, id: `corner-${k}`, tabindex: 0, role: "button", "aria-label": label,
      "aria-pressed": k === corner, class: k === splitFrom ? "is-split" : "" }, byId("corners"));
    node.addEventListener("pointerdown", (event) => drag(event, k));
    node.addEventListener("focus", () => { corner = k; });
    node.addEventListener("keydown", (event) => press(event, k));
  });
  byId("list").replaceChildren(...areas.map((area, n) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    Object.assign(button, { type: "button", id: `area-${n}`, textContent: text("area", { n: n + 1, kind: area.kind, name: area.name ?? "" }) });
    button.setAttribute("aria-pressed", n === chosen);
    button.addEventListener("click", () => choose(n));
    item.append(button);
    return item;
  }));
  byId("chosen").hidden = chosen === null;
  if (chosen !== null) {
    byId("kind").value = areas[chosen].kind;
    byId("name").value = areas[chosen].name ?? "";
  }
  byId("faults").replaceChildren(...faults.map((fault) => Object.assign(document.createElement("li"), { textContent: fault.words })));
  if (!faults.length) byId("faults").replaceChildren(Object.assign(document.createElement("li"), { textContent: text("sound") }));
  byId("is-kept").textContent = text(isKept ? "kept" : "unkept");
  if (!areas.length) say(text("none"));
  if (held && document.activeElement?.id !== held) byId(held)?.focus();
}

function choose(n) {
  chosen = n;
  corner = 0;
  splitFrom = null;
  show();
}

function near(at, besides) {
  let best = null;
  const look = (x, y) => {
    const far = Math.hypot(x - at[0], y - at[1]);
    if (far < NEAR_MM && (!best || far < best.far)) best = { far, x, y };
  };
  areas.forEach((area, n) => n !== besides && area.polygon.forEach(([x, y]) => look(x, y)));
  if (!best) areas.forEach((area, n) => n !== besides && area.polygon.forEach(([x1, y1], k) => {
    const [x2, y2] = area.polygon[(k + 1) % area.polygon.length];
    const long = (x2 - x1) ** 2 + (y2 - y1) ** 2;
    const share = long ? Math.min(1, Math.max(0, ((at[0] - x1) * (x2 - x1) + (at[1] - y1) * (y2 - y1)) / long)) : 0;
    look(x1 + share * (x2 - x1), y1 + share * (y2 - y1));
  }));
  const [x, y] = best ? [best.x, best.y] : at;
  const rim = (value, most) => (value < NEAR_MM ? 0 : value > most - NEAR_MM ? most : rounded(value, most));
  return [rim(x, width), rim(y, height)];
}

function place(event) {
  const box = sheet.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
}

function drag(event, k) {
  event.preventDefault();
  corner = k;
  const node = byId(`corner-${k}`);
  const shape = byId("areas").children[chosen];
  let to = null;
  const move = (moved) => {
    to = near(place(moved), chosen);
    node.setAttribute("cx", to[0]);
    node.setAttribute("cy", to[1]);
    shape.setAttribute("points", areas[chosen].polygon.map((at, n) => (n === k ? to : at).join(",")).join(" "));
  };
  const end = () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    node.focus();
    if (!to) return show();
    areas[chosen].polygon[k] = to;
    save();
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
}

function press(event, k) {
  const step = event.shiftKey ? 10 : 1;
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  corner = k;
  if (way) {
    const [x, y] = areas[chosen].polygon[k];
    areas[chosen].polygon[k] = [rounded(x + way[0] * step, width), rounded(y + way[1] * step, height)];
    show();
    save();
  } else if (event.key === "Insert" || event.key === "+") insert();
  else if (event.key === "Delete" || event.key === "Backspace") remove();
  else if (event.key === "Enter" || event.key === " ") split();
  else return;
  event.preventDefault();
}

function insert() {
  const ring = areas[chosen].polygon;
  const [one, other] = [ring[corner], ring[(corner + 1) % ring.length]];
  ring.splice(corner + 1, 0, [rounded((one[0] + other[0]) / 2, width), rounded((one[1] + other[1]) / 2, height)]);
  corner += 1;
  show();
  byId(`corner-${corner}`)?.focus();
  save();
}

function remove() {
  const ring = areas[chosen].polygon;
  if (ring.length <= 3) return say(text("fewer"));
  ring.splice(corner, 1);
  corner = Math.min(corner, ring.length - 1);
  splitFrom = null;
  show();
  byId(`corner-${corner}`)?.focus();
  save();
}

function split() {
  if (splitFrom === null || splitFrom === corner) {
    splitFrom = corner;
    show();
    return say(text("split"));
  }
  const ring = areas[chosen].polygon;
  const [low, high] = [Math.min(splitFrom, corner), Math.max(splitFrom, corner)];
  splitFrom = null;
  if (high - low < 2 || ring.length - (high - low) < 2) {
    show();
    return say(text("splitfail"));
  }
  const half = ring.slice(low, high + 1);
  areas[chosen].polygon = [...ring.slice(high), ...ring.slice(0, low + 1)];
  areas.push({ kind: areas[chosen].kind, polygon: half });
  corner = 0;
  show();
  save();
}

function add(polygon) {
  areas.push({ kind: byId("kind").value || [...kinds.keys()][0], polygon });
  choose(areas.length - 1);
  byId("corner-0")?.focus();
  save();
}

function drawOutline() {
  byId("drawing").replaceChildren();
  sheet.toggleAttribute("data-drawing", Boolean(outline));
  if (!outline) return;
  made("polyline", { points: outline.map((at) => at.join(",")).join(" ") }, byId("drawing"));
  for (const [cx, cy] of outline) made("circle", { cx, cy, r: 4 }, byId("drawing"));
}

function finish(isGood) {
  const ring = outline;
  outline = null;
  drawOutline();
  if (isGood && ring.length < 3) say(text("fewer"));
  if (isGood && ring.length >= 3) add(ring);
  else show();
}

sheet.addEventListener("click", (event) => {
  if (!outline) return;
  const at = near(place(event), null);
  if (outline.length > 2 && Math.hypot(at[0] - outline[0][0], at[1] - outline[0][1]) < NEAR_MM * 2) return finish(true);
  outline.push(at);
  drawOutline();
});
addEventListener("keydown", (event) => {
  if (outline && (event.key === "Enter" || event.key === "Escape")) {
    event.preventDefault();
    finish(event.key === "Enter");
  }
});
byId("draw").addEventListener("click", () => {
  outline = [];
  show();
  drawOutline();
  byId("draw").blur();
  say(text("click"));
});
byId("square").addEventListener("click", () => {
  const [x, y] = [width / 2, height / 2];
  add([[x - 30, y - 30], [x + 30, y - 30], [x + 30, y + 30], [x - 30, y + 30]]);
});
byId("kind").addEventListener("change", () => { areas[chosen].kind = byId("kind").value; save(); });
byId("name").addEventListener("change", () => { areas[chosen].name = byId("name").value; save(); });
byId("insert").addEventListener("click", insert);
byId("remove").addEventListener("click", remove);
byId("split").addEventListener("click", split);
byId("trim").addEventListener("click", () => send("/map/trim", () => ({ area: chosen })));
byId("delete").addEventListener("click", () => {
  areas.splice(chosen, 1);
  chosen = areas.length ? 0 : null;
  show();
  save();
});
show();
