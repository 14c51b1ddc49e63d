// A run's page: filters take effect as they are moved, ticks are kept, and a run that is still going is followed.

import { get, post } from "./net.js";
import { watchRanges } from "./ranges.js";
import { Sheet, lost, stop, watchSheets } from "./sheet.js";
import { install } from "./shortcuts.js";
import { currentClip } from "./triage.js";

const LONGEST_ADDRESS = 6000;
const MOST_IN_A_FORM = 30000;
const ticked = new Set();
let sheet = null;

const live = () => document.querySelector("[data-live]");
const part = () => live().dataset.run.split("/").map(encodeURIComponent).join("/");
const results = () => document.querySelector("[data-results]");
const selection = () => document.querySelector("[data-selection]");

// What was ticked -----------------------------------------------------------------------------------------------------
function showTicked() {
  const form = selection();
  if (!form) return;
  const count = form.querySelector("[data-count]");
  const two = form.querySelector("[data-two]");
  if (!count || !two) return;
  count.hidden = ticked.size === 0;
  count.textContent = `, ${ticked.size} ticked`;
  form.querySelector("[data-untick]").hidden = ticked.size === 0;
  two.disabled = ticked.size < 2 || ticked.size > 4;
  two.title = two.disabled ? "Tick two to four clips to see them side by side" : "";
  const send = form.querySelector("[data-send]");
  if (send) send.textContent = ticked.size ? `Send ${ticked.size} to a study` : `Send all ${form.dataset.matching} to a study`;
}

function untick() {
  ticked.clear();
  for (const box of document.querySelectorAll("[name=only]:checked")) box.checked = false;
  showTicked();
}

function sendSelection(form, action) {
  const params = new URLSearchParams(form.dataset.query.slice(1));
  for (const id of ticked) params.append("only", id);
  for (const name of action.startsWith("/runs/") ? [] : ["runs", "run"]) params.set(name, form.elements[name].value);
  if (action === "/studies/new") params.set("matching", "1");
  const address = `${action}?${params}`;
  if (address.length > LONGEST_ADDRESS && action.startsWith("/runs/")) return postForm(action + form.dataset.query);
  if (address.length > MOST_IN_A_FORM) return sayCount("Too many ticked for a study at once: star them, filter by the star and send all that match.");
  return location.assign(address);
}

// More clips than an address holds go as a form; the answer is a file, so the page stays.
function postForm(action) {
  const form = Object.assign(document.createElement("form"), { method: "post", action, hidden: true });
  for (const [name, value] of [["csrf_token", document.body.dataset.csrf], ["chosen", JSON.stringify([...ticked])]]) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  document.body.append(form);
  form.submit();
  form.remove();
}

function sayCount(text) {
  const count = selection().querySelector("[data-count]");
  count.hidden = false;
  count.textContent = text;
}

async function makeLinks() {
  const answer = document.querySelector("[data-link-answer]");
  answer.textContent = "Making links …";
  try {
    const made = await post(`/runs/${part()}/links${selection().dataset.query}`, { folder: document.querySelector("#folder").value, only: [...ticked] });
    answer.textContent = made.text;
  } catch (error) {
    answer.textContent = error.message;
  }
}

// Columns -------------------------------------------------------------------------------------------------------------
const memory = () => `rushes:columns:${live().dataset.instrument}`;

function goWithColumns(keys, { replace = false } = {}) {
  const params = new URLSearchParams(location.search);
  for (const name of ["col", "page"]) params.delete(name);
  for (const key of keys) params.append("col", key);
  const address = `${location.pathname}?${params}`;
  if (replace) location.replace(address); else location.assign(address);
}

function keepColumns(keys) {
  try { if (keys.length) localStorage.setItem(memory(), JSON.stringify(keys)); else localStorage.removeItem(memory()); } catch { /* not kept */ }
  goWithColumns(keys);
}

function rememberColumns() {
  if (!live() || new URLSearchParams(location.search).has("col")) return;
  try {
    const known = new Set([...document.querySelectorAll("[data-column]")].map((box) => box.value));
    const kept = JSON.parse(localStorage.getItem(memory()) ?? "[]").filter((key) => known.has(key));
    if (kept.length) goWithColumns(kept, { replace: true });
  } catch { /* nothing kept here */ }
}

// Filters -------------------------------------------------------------------------------------------------------------
let soon = 0;
let asked = null;
let shown = location.search;

async function apply(form, { typing = false } = {}) {
  const fields = [...new FormData(form)].filter(([, value]) => value !== "");
  const query = new URLSearchParams(fields).toString();
  const address = location.pathname + (query ? `?${query}` : "");
  if (address === location.pathname + location.search) return;
  asked?.abort();
  asked = new AbortController();
  try {
    const answer = await fetch(address, { credentials: "same-origin", signal: asked.signal });
    if (!answer.ok) { location.assign(address); return; }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!fresh.querySelector("[data-results]")) { location.assign(address); return; }
    history[typing ? "replaceState" : "pushState"](null, "", address);
    shown = location.search;
    take(fresh);
  } catch (error) {
    if (error.name !== "AbortError") location.assign(address);
  }
}

function take(fresh) {
  stop();
  results().replaceChildren(...fresh.querySelector("[data-results]").childNodes);
  for (const name of ["[data-json-view]", "[data-clear]"]) {
    const [old, now] = [document.querySelector(name), fresh.querySelector(name)];
    if (old && now) { old.href = now.href; old.hidden = now.hidden; }
  }
  begin();
}

function watchFilters() {
  const form = document.querySelector("[data-filters]");
  if (!form) return;
  watchRanges(form);
  const later = (wait, options) => { clearTimeout(soon); soon = setTimeout(() => apply(form, options), wait); };
  form.addEventListener("submit", (event) => { event.preventDefault(); later(0); });
  form.addEventListener("input", (event) => { if (event.target.matches("[type=search], [type=number]")) later(300, { typing: true }); });
  form.addEventListener("change", (event) => { if (event.target.matches("[type=checkbox]")) later(0); else if (event.target.matches("[type=range]")) later(150); });
}

// Size of the cards ---------------------------------------------------------------------------------------------------
const SIZE = "rushes:card-size";

function sizeCards(pixels) {
  const root = document.querySelector("[data-sheet]");
  const slider = document.querySelector("[data-size-of-cards]");
  if (!root || !slider) return;
  if (pixels) root.style.setProperty("--card-size", `${pixels}px`);
  slider.value = pixels || Math.round(root.querySelector(".tile")?.getBoundingClientRect().width ?? 220);
  sheet?.measure();
}

function keptSize() {
  try { return Number(localStorage.getItem(SIZE)) || 0; } catch { return 0; }
}

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-size-of-cards]")) return;
  try { localStorage.setItem(SIZE, event.target.value); } catch { /* not kept */ }
  sizeCards(Number(event.target.value));
});

// The page ------------------------------------------------------------------------------------------------------------
function begin() {
  sheet?.close();
  const root = document.querySelector("[data-sheet]");
  sheet = root ? new Sheet(root, ticked) : null;
  sizeCards(keptSize());
  for (const box of document.querySelectorAll("[name=only]")) box.checked = ticked.has(box.value);
  document.querySelector("[data-links]")?.removeAttribute("hidden");
  for (const picture of document.querySelectorAll(".shot img")) lost(picture);
  showTicked();
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[name=only]")) {
    if (event.target.checked) ticked.add(event.target.value); else ticked.delete(event.target.value);
    showTicked();
  } else if (event.target.matches("[data-order]")) location.assign(location.pathname + event.target.value);
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-selection]")) return;
  event.preventDefault();
  sendSelection(event.target, event.submitter?.getAttribute("formaction") ?? "/studies/new");
});

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("[data-untick], [data-link], [data-show], [data-usual]");
  if (target?.matches("[data-untick]")) untick();
  else if (target?.matches("[data-link]")) makeLinks();
  else if (target?.matches("[data-usual]")) keepColumns([]);
  else if (target?.matches("[data-show]")) keepColumns([...document.querySelectorAll("[data-column]:checked")].map((box) => box.value));
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.("#folder")) { event.preventDefault(); makeLinks(); }
  const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
});

// A menu that would reach over the right edge opens to the left.
document.addEventListener("toggle", (event) => {
  const card = event.target.matches?.("details.menu[open]") && event.target.querySelector(".card");
  if (!card) return;
  event.target.classList.remove("flip");
  event.target.classList.toggle("flip", card.getBoundingClientRect().right > document.documentElement.clientWidth - 8);
}, true);

// Back and forward go to another view; a link within the page is no other view.
addEventListener("popstate", () => { if (location.search !== shown) location.reload(); });
install({ x: () => currentClip()?.querySelector("[name=only]")?.click() });

// Far down a sheet, or with something ticked, the page stays as it is until that is done.
const busy = () => ticked.size || scrollY > innerHeight || document.querySelector("dialog[open], details.menu[open]") || document.activeElement?.closest("[data-filters], [data-clip]");

async function follow() {
  const now = document.querySelector("[data-live='1']");
  if (!now) return;
  try {
    const answer = await get(`${location.pathname}.json${location.search}`);
    if (!document.hidden && !busy() && answer.run.stamp + answer.run.status !== now.dataset.stamp + "running") {
      const page = await (await fetch(location.href, { credentials: "same-origin" })).text();
      const other = new DOMParser().parseFromString(page, "text/html");
      const fresh = other.querySelector("[data-live]");
      if (fresh) {
        stop();
        document.querySelector("[data-glance]")?.replaceWith(other.querySelector("[data-glance]"));
        now.replaceWith(fresh);
        watchFilters();
        begin();
      }
    }
  } catch { /* the server is away: ask again later */ }
  setTimeout(follow, 2000);
}

rememberColumns();
watchFilters();
watchSheets(document, () => sheet);
begin();
setTimeout(follow, 2000);
