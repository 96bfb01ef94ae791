// Host time as this page knows it, and the clocks drawn from it. Ticks are never counted: what is left is
// always the difference between a deadline and now.

let offset = null; // host ms minus performance.now()
let best = Infinity; // the round trip of the sample that the offset comes from

export function hostMs() {
  return offset === null ? null : performance.now() + offset;
}

// Good enough until the first round trip was measured.
export function roughly(nowNs) {
  if (offset === null) offset = nowNs / 1e6 - performance.now();
}

async function sample() {
  const asked = performance.now();
  const answer = await fetch("/live/time", { cache: "no-store" });
  const heard = performance.now();
  if (!answer.ok) return;
  const host = (await answer.json()).now_ns / 1e6;
  if (heard - asked <= best) {
    best = heard - asked;
    offset = host - (asked + heard) / 2;
    draw();
  }
}

export async function measure() {
  best = Infinity; // an old sample drifts: each round of samples starts afresh
  for (let i = 0; i < 5; i++) {
    try {
      await sample();
    } catch {
      return; // no network: the stream says so
    }
  }
}

export function draw() {
  const now = hostMs();
  for (const clock of document.querySelectorAll(".clock-left")) {
    const ends = clock.dataset.endsNs;
    let left = Number(clock.dataset.leftNs) / 1e6;
    if (ends !== undefined && now !== null) left = Math.max(0, Number(ends) / 1e6 - now);
    const seconds = Math.ceil(left / 1000);
    const shown = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (clock.textContent !== shown) clock.textContent = shown;
    clock.classList.toggle("is-short", ends !== undefined && seconds <= 10);
  }
}

export function atHost(ns, act) {
  const now = hostMs();
  const wait = ns == null || now === null ? 0 : ns / 1e6 - now;
  if (wait <= 0) act();
  else setTimeout(act, wait);
}

export function start() {
  measure();
  setInterval(measure, 60000);
  setInterval(draw, 200);
}
