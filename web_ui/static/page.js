// One script for every page: what a page has decides what starts.
import * as clock from "./clock.js";
import * as fit from "./fit.js";
import * as keys from "./keys.js";
import * as say from "./say.js";
import * as send from "./send.js";
import * as stream from "./stream.js";

if (document.body.dataset.stream) {
  say.start();
  keys.start();
  clock.start();
  send.start();
  if (document.body.classList.contains("board")) fit.start();
  stream.start();
}
