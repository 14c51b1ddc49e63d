// The page's words, in the language the server chose: keys of strings/*.toml, table "script".

const texts = JSON.parse(document.querySelector("[data-strings]").dataset.strings);

export function words(key, values = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
