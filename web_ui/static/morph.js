// Turns the shown tree into a new one in place. Elements are the same when their ids are (without an id: same
// tag at the same place). The focused element is never replaced or moved, what a person typed is never lost.

const dirty = new WeakSet();
addEventListener("input", (event) => dirty.add(event.target), true);

export function clean(form) {
  for (const field of form.elements) dirty.delete(field);
}

export function morph(root, html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const home = focused?.closest("section[id], article[id]")?.id;
  children(root, fresh.content, known(root));
  if (focused && !root.contains(focused)) {
    const near = home && document.getElementById(home)?.querySelector("[tabindex='-1']");
    (near || document.getElementById("headline") || document.getElementById("main")).focus();
  }
}

function known(root) {
  const found = new Map();
  for (const node of root.querySelectorAll("[id]")) found.set(node.id, node);
  return found;
}

function same(old, now) {
  if (old.nodeType !== now.nodeType) return false;
  return old.nodeType !== 1 || (old.tagName === now.tagName && old.id === now.id);
}

function children(parent, fresh, ids) {
  let at = parent.firstChild;
  for (const now of [...fresh.childNodes]) {
    let match = null;
    if (now.nodeType === 1 && now.id) {
      const old = ids.get(now.id);
      if (old && old.tagName === now.tagName && old.parentNode === parent) match = old;
    } else if (at && same(at, now)) {
      match = at;
    }
    if (!match) {
      parent.insertBefore(document.importNode(now, true), at);
      continue;
    }
    if (match !== at && !match.contains(document.activeElement)) parent.insertBefore(match, at);
    // The focused one stays where it is: whatever stands before it makes room, and comes back at its own turn.
    while (at && at !== match && match.contains(document.activeElement)) {
      const next = at.nextSibling;
      parent.appendChild(at);
      at = next;
    }
    if (match === at) at = at.nextSibling;
    one(match, now, ids);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function one(old, now, ids) {
  if (old.nodeType !== 1) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  if (old.hasAttribute("data-keep")) return;
  attributes(old, now);
  if (old.tagName !== "TEXTAREA") children(old, now, ids);
}

function attributes(old, now) {
  const typed = dirty.has(old);
  for (const { name, value } of [...now.attributes]) {
    if (old.getAttribute(name) === value) continue;
    old.setAttribute(name, value);
    if (!typed && name === "value") old.value = value;
  }
  for (const { name } of [...old.attributes]) {
    const mine = name === "open" && old.tagName === "DETAILS";
    if (!mine && name !== "data-pressed" && !now.hasAttribute(name)) old.removeAttribute(name);
  }
}
