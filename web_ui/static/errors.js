// A script that fails says so on the page: a referee must never wonder whether a button is dead.
function show(what) {
  const bar = document.getElementById("trouble");
  if (!bar) return;
  const texts = JSON.parse(document.body.dataset.texts);
  bar.hidden = false;
  document.getElementById("trouble-text").textContent = `${texts.broken} (${what})`;
}
addEventListener("error", (event) => {
  if (event.message) show(event.message);
  else if (event.target instanceof HTMLScriptElement) show(event.target.src);
}, true);
addEventListener("unhandledrejection", (event) => show(String(event.reason)));
addEventListener("DOMContentLoaded", () => {
  document.getElementById("trouble-reload")?.addEventListener("click", () => location.reload());
});
