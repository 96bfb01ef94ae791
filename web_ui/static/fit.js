// The board never scrolls where nobody can reach it: on a wide screen it is drawn smaller until it fits.
const SMALLEST = 0.6;
const main = document.getElementById("main");

function fit() {
  main.style.zoom = 1;
  if (innerWidth < 1024) return;
  for (let size = 1; size > SMALLEST - 0.01; size -= 0.05) {
    main.style.zoom = size;
    if (document.documentElement.scrollHeight <= innerHeight) return;
  }
}

export function start() {
  document.addEventListener("shown", fit);
  addEventListener("resize", fit);
  fit();
}
