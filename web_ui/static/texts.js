// The page's own sentences, in its language.
const texts = JSON.parse(document.body.dataset.texts);

export function text(name, values = {}) {
  return texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}
