// The home page: a filter, two runs to compare, verdicts that take a moment, and whatever is new below the folder.

import { get } from "./net.js";

const home = () => document.querySelector("[data-home]");
const cards = () => [...document.querySelectorAll("[data-run]")];
const state = { filter: "", ticked: new Set(), shares: new Map(), verdicts: new Map(), numbers: new Map() };

// --- filter ------------------------------------------------------------------------------------------------------

function filter() {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const all = cards();
  let shown = 0;
  for (const card of all) {
    const text = card.dataset.text.toLowerCase();
    const fits = words.every((word) => text.includes(word));
    card.hidden = !fits;
    shown += fits;
  }
  const status = document.querySelector("[data-matching]");
  if (status) status.textContent = words.length ? `${shown} of ${all.length}` : "";
  document.querySelector("[data-none]")?.toggleAttribute("hidden", shown > 0 || !all.length);
}

// --- compare -----------------------------------------------------------------------------------------------------

const boxes = () => [...document.querySelectorAll("[form=compare-two]")];

async function ticked() {
  const bar = document.querySelector("[data-compare]");
  if (!bar) return;
  const names = boxes().filter((box) => box.checked).map((box) => box.value);
  state.ticked = new Set(names);
  bar.hidden = names.length === 0;
  bar.querySelector("button.primary").disabled = names.length < 2;
  const line = bar.querySelector("[data-ticked]");
  if (names.length === 2) line.textContent = `${names[0]} and ${names[1]}`;
  else if (names.length > 2) line.textContent = `${names.length} runs, prompt by prompt`;
  else if (names.length === 1) line.textContent = `${names[0]} and …`;
  await offer(names, line);
}

// With a run ticked, only those that measured some of its clips can be compared with it.
async function offer(names, line) {
  const [first] = names;
  if (first && !state.shares.has(first)) {
    try {
      state.shares.set(first, new Set((await get(`/home/shares.json?run=${encodeURIComponent(first)}`)).runs));
    } catch { return; }
    if (!state.ticked.has(first)) return;
  }
  const shares = first ? state.shares.get(first) : null;
  for (const box of boxes()) {
    if ("alone" in box.dataset) continue;
    const off = shares !== null && !box.checked && !shares.has(box.value);
    box.disabled = off;
    box.closest(".pick").title = off ? "No clips in common with the ticked run" : "";
  }
  if (shares && !shares.size) line.textContent = `No other run here shares clips with ${names[0]}.`;
}

// --- verdicts and cards that take a moment -----------------------------------------------------------------------

async function verdicts() {
  for (const place of document.querySelectorAll("[data-verdict]")) {
    const address = place.dataset.verdict;
    try {
      if (!state.verdicts.has(address)) state.verdicts.set(address, await get(address));
      const answer = state.verdicts.get(address);
      place.textContent = answer.verdict || answer.problem;
      place.classList.toggle("soft", !answer.verdict);
    } catch (error) {
      place.textContent = error.message;
      place.classList.add("soft");
    }
  }
}

// The numbers that a run was made for, one run after the other.
async function numbers() {
  for (const place of document.querySelectorAll("[data-numbers]")) {
    const address = place.dataset.numbers;
    try {
      if (!state.numbers.has(address)) {
        const answer = await fetch(address, { credentials: "same-origin" });
        state.numbers.set(address, answer.ok ? await answer.text() : "");
      }
      const fresh = new DOMParser().parseFromString(state.numbers.get(address), "text/html");
      place.replaceChildren(...fresh.body.childNodes);
    } catch { place.replaceChildren(); }
  }
}

async function fillCards() {
  for (;;) {
    const waiting = [...document.querySelectorAll("[data-uncounted]")].slice(0, 8);
    if (!waiting.length) return;
    const query = new URLSearchParams(waiting.map((card) => ["run", card.dataset.run]));
    for (const card of waiting) delete card.dataset.uncounted;
    try {
      const page = await (await fetch(`/home/cards?${query}`, { credentials: "same-origin" })).text();
      const fresh = new DOMParser().parseFromString(page, "text/html");
      for (const card of waiting) {
        const made = [...fresh.querySelectorAll("[data-run]")].find((one) => one.dataset.run === card.dataset.run);
        if (made) card.replaceWith(made);
      }
      settle();
      numbers();
    } catch { return; }
  }
}

// A clip that was moved, or cannot be decoded, has its name in place of a picture; a row of names alone goes.
function drop(image) {
  const row = image.closest(".worst");
  const name = document.createElement("span");
  name.textContent = image.alt;
  image.replaceWith(name);
  if (row && !row.querySelector("img")) row.remove();
}

document.addEventListener("error", (event) => { if (event.target.matches?.(".worst img")) drop(event.target); }, true);

// --- what is new -------------------------------------------------------------------------------------------------

async function follow() {
  try {
    if (!document.hidden && (await get("/home/stamp.json")).stamp !== home().dataset.stamp) {
      const page = await (await fetch("/", { credentials: "same-origin" })).text();
      const fresh = new DOMParser().parseFromString(page, "text/html").querySelector("[data-home]");
      if (fresh) replace(fresh);
    }
  } catch { /* the server is away: ask again later */ }
  setTimeout(follow, 3000);
}

function replace(fresh) {
  const active = document.activeElement;
  const mark = active?.id || active?.getAttribute?.("href") || (active?.matches?.("[data-filter]") ? "filter" : "");
  const open = [...document.querySelectorAll("details")].map((one) => one.open);
  home().replaceWith(fresh);
  state.shares.clear();
  state.verdicts.clear();
  state.numbers.clear();
  [...document.querySelectorAll("details")].forEach((one, place) => { one.open = open[place] ?? false; });
  begin();
  const again = mark === "filter" ? document.querySelector("[data-filter]") : mark && document.querySelector(`[href="${CSS.escape(mark)}"], #${CSS.escape(mark)}`);
  again?.focus({ preventScroll: true });
}

function settle() {
  for (const box of boxes()) box.checked = state.ticked.has(box.value);
  filter();
}

function begin() {
  const field = document.querySelector("[data-filter]");
  if (field) {
    field.value = state.filter;
    field.addEventListener("input", () => { state.filter = field.value; filter(); });
  }
  home().addEventListener("change", (event) => { if (event.target.matches("[form=compare-two]")) ticked(); });
  for (const image of document.querySelectorAll(".worst img")) if (image.complete && !image.naturalWidth && image.currentSrc) drop(image);
  settle();
  ticked();
  verdicts().then(numbers);
  fillCards();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-untick]")) return;
  for (const box of boxes()) box.checked = false;
  ticked();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
  const field = document.querySelector("[data-filter]");
  if (field) { event.preventDefault(); field.focus(); field.select(); }
});

for (const box of boxes()) if (box.checked) state.ticked.add(box.value);
begin();
setTimeout(follow, 3000);
