// The report's tables of subjects: sort, filter, open a row. Rows come from the JSON in the page and are made as they are
// needed; text goes in as text, so a file name can hold anything.
import { exactText, numberText } from "./numbers.js";
import { clock, draw, faults, restText } from "./timeline.js";

const PAGE = 100;
const PRINTED = 300;

/** An element with attributes and children; strings become text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function readJson(id) {
  const holder = document.getElementById(id);
  return holder ? JSON.parse(holder.textContent) : null;
}

let quiet = 0;
function say(text) {
  const box = document.getElementById("said");
  box.textContent = text;
  box.classList.add("on");
  clearTimeout(quiet);
  quiet = setTimeout(() => box.classList.remove("on"), 2500);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const holder = make("textarea", { readonly: true, class: "hidden" });
    holder.value = text;
    document.body.append(holder);
    holder.select();
    document.execCommand("copy");
    holder.remove();
  }
  say(`Copied ${text}`);
}

class SubjectTable {
  constructor(card) {
    this.card = card;
    this.anchor = card.dataset.subjects;
    this.section = document.getElementById(this.anchor);
    this.data = readJson(`${this.anchor}-data`);
    this.rows = this.data.rows.map((row, number) => ({
      ...row, number, text: [row.id, row.path, ...row.reasons, ...(row.remarks || [])].join("\n").toLowerCase(),
    }));
    this.form = card.querySelector("form");
    this.body = card.querySelector("tbody");
    this.classes = [...card.querySelectorAll(".subject-table > thead .c-metric")].map((head) => head.className);
    this.sorting = { by: "signal", down: false };
    this.filters = { find: "", signal: "", reason: "" };
    this.drawn = new Map();
    this.listen();
    this.update();
    this.restore();
  }

  /** Filters and sort as an address has them; "" for the table as it opens. */
  state() {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(this.filters)) if (value) parts.set(name, value);
    if (this.sorting.by !== "signal") parts.set("sort", this.sorting.by);
    if (this.sorting.down) parts.set("down", "1");
    return parts.toString();
  }

  /** Take filters, sort and an opened row from the address: #run-1?signal=reject&open=clip_7; older ones say badge. */
  restore() {
    const found = location.hash.slice(1).split(";").find((part) => part.startsWith(`${this.anchor}?`));
    if (!found) return;
    const parts = new URLSearchParams(found.slice(this.anchor.length + 1));
    const has = (form, value) => [...form.options].some((option) => option.value === value);
    const { elements } = this.form;
    const signal = parts.get("signal") ?? parts.get("badge") ?? "";
    elements.find.value = parts.get("find") ?? "";
    const by = parts.get("sort") ?? "signal";
    this.sorting = { by: has(elements.sort, by) ? by : "signal", down: parts.get("down") === "1" };
    this.filter({
      find: elements.find.value,
      signal: has(elements.signal, signal) ? signal : "",
      reason: has(elements.reason, parts.get("reason") ?? "") ? parts.get("reason") ?? "" : "",
    }, false);
    this.sort(this.sorting.by, this.sorting.down, false);
    const open = parts.get("open");
    if (open !== null) this.show(open);
    else this.section.scrollIntoView();
  }

  /** Open the row of one subject and bring it into view. */
  show(id) {
    const at = this.list.findIndex((row) => row.id === id);
    if (at < 0) return;
    const drawn = this.body.querySelectorAll("tr.subject").length;
    if (at >= drawn) this.append(at + 1 - drawn);
    const line = this.body.querySelector(`tr.subject[data-row="${this.list[at].number}"]`);
    const button = line.querySelector("button.open");
    if (button.getAttribute("aria-expanded") !== "true") this.toggle(line);
    button.focus({ preventScroll: true });
    line.scrollIntoView();
  }

  listen() {
    const { form, card } = this;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.elements.find.addEventListener("input", () => this.filter({ find: form.elements.find.value }));
    form.elements.find.addEventListener("keydown", (event) => this.fromFind(event));
    form.elements.signal.addEventListener("change", () => this.filter({ signal: form.elements.signal.value }));
    form.elements.reason.addEventListener("change", () => this.filter({ reason: form.elements.reason.value }));
    form.elements.sort.addEventListener("change", () => this.sort(form.elements.sort.value, false));
    form.addEventListener("reset", (event) => { event.preventDefault(); this.clear(); });
    card.querySelector("[data-clear]").addEventListener("click", () => this.clear());
    card.querySelector("[data-more]").addEventListener("click", () => this.append());
    for (const head of card.querySelectorAll("[data-sort]")) {
      head.addEventListener("click", () => this.sort(head.dataset.sort, this.sorting.by === head.dataset.sort && !this.sorting.down));
    }
    for (const tile of this.section.querySelectorAll("[data-signal], [data-reason]")) {
      tile.addEventListener("click", () => {
        const kind = tile.dataset.signal ? "signal" : "reason";
        this.filter({ [kind]: this.filters[kind] === tile.dataset[kind] ? "" : tile.dataset[kind] });
      });
    }
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr.subject");
      if (row && !getSelection().toString()) this.toggle(row);
    });
    this.body.addEventListener("keydown", (event) => this.move(event));
    const more = card.querySelector(".more");
    new IntersectionObserver(([seen]) => { if (seen.isIntersecting) this.append(); }, { rootMargin: "600px" }).observe(more);
  }

  clear() {
    this.form.elements.find.value = "";
    this.filter({ find: "", signal: "", reason: "" });
    this.form.elements.find.focus();
  }

  filter(change, keep = true) {
    Object.assign(this.filters, change);
    for (const name of ["signal", "reason"]) this.form.elements[name].value = this.filters[name];
    for (const tile of this.section.querySelectorAll("[data-signal], [data-reason]")) {
      const kind = tile.dataset.signal ? "signal" : "reason";
      tile.setAttribute("aria-pressed", String(this.filters[kind] === tile.dataset[kind]));
    }
    this.update();
    if (keep) keepState();
  }

  sort(by, down, keep = true) {
    this.sorting = { by, down };
    this.form.elements.sort.value = by;
    for (const head of this.card.querySelectorAll("[data-sort]")) {
      const mine = head.dataset.sort === by;
      head.parentElement.setAttribute("aria-sort", mine ? (down ? "descending" : "ascending") : "none");
    }
    this.update();
    if (keep) keepState();
  }

  chosen() {
    const { find, signal, reason } = this.filters;
    const wanted = find.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.rows.filter((row) =>
      (!signal || row.badge === signal) &&
      (!reason || row.about.includes(reason)) &&
      wanted.every((word) => row.text.includes(word)));
    const { by, down } = this.sorting;
    const turn = down ? -1 : 1;
    const { signals } = this.data; // worst first; one that is not known comes last
    const rank = (row) => (signals.includes(row.badge) ? signals.indexOf(row.badge) : signals.length);
    if (by === "signal") return rows.sort((a, b) => turn * (rank(a) - rank(b) || b.severity - a.severity) || a.number - b.number);
    if (by === "id") return rows.sort((a, b) => turn * a.id.localeCompare(b.id, "en", { numeric: true }) || a.number - b.number);
    const key = (row) => (row.values[by] === "" || row.values[by] === null ? null : Number(row.values[by]));
    return rows.sort((a, b) => {
      const one = key(a), other = key(b);
      if (one === null || other === null) return (one === null) - (other === null) || a.number - b.number; // missing: last
      return turn * (one - other) || a.number - b.number;
    });
  }

  update() {
    for (const timeline of this.drawn.values()) timeline.destroy();
    this.drawn.clear();
    this.list = this.chosen();
    this.body.replaceChildren();
    this.append();
    const all = this.list.length === this.rows.length;
    const many = this.rows.length.toLocaleString("en");
    const whole = this.data.whole ? this.data.whole.toLocaleString("en") : ""; // these are the worst of more
    const total = whole && all ? `${many} of ${whole} ${this.data.noun}s, worst first.` : `${many} ${this.data.noun}s.`;
    const here = `${this.list.length.toLocaleString("en")} of ${whole ? "these " : ""}${total}`;
    const words = all ? total : `${here}${whole ? ` The run has ${whole}.` : ""}`;
    this.card.querySelector("[data-shown]").firstChild.textContent = `${words} Open a row for its pictures, timeline and every number. `;
    this.card.querySelector("[data-empty]").hidden = this.list.length > 0 || this.rows.length === 0;
  }

  append(count = PAGE) {
    const start = this.body.querySelectorAll("tr.subject").length;
    this.body.append(...this.list.slice(start, start + count).map((row) => this.row(row)));
    const left = this.list.length - Math.min(start + count, this.list.length);
    const more = this.card.querySelector(".more");
    more.hidden = left === 0;
    more.firstElementChild.textContent = `Show more (${left.toLocaleString("en")} left)`;
  }

  row(row) {
    const told = [...row.reasons, ...(row.remarks || []).map((one) => `remark: ${one}`)].join("; ");
    const button = make("button", { type: "button", class: "open", "aria-expanded": "false" }, make("bdi", {}, row.id));
    const line = make("tr", { class: "subject", "data-row": row.number },
      make("th", { scope: "row", class: "c-id" }, button, ...(told ? [make("span", { class: "why" }, told)] : [])),
      ...(this.data.signals.length ? [make("td", { class: "c-signal" }, badge(row.badge), ...(row.times ? [" ", make("span", { class: "times" }, row.times)] : []))] : []),
      ...this.data.columns.map((metric, n) => make("td", { class: this.classes[n] }, numberText(row.values[metric], this.data.metrics[metric].unit))));
    return line;
  }

  /** Down goes from the field into the rows, Enter opens the first of them. */
  fromFind(event) {
    const first = this.body.querySelector("button.open");
    if (!first || !["ArrowDown", "Enter"].includes(event.key) || event.isComposing) return;
    event.preventDefault();
    first.focus();
    if (event.key === "Enter" && first.getAttribute("aria-expanded") !== "true") this.toggle(first.closest("tr"));
  }

  move(event) {
    if (!event.target.matches("button.open") || event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...this.body.querySelectorAll("button.open")];
    const here = buttons.indexOf(event.target);
    const to = { ArrowDown: here + 1, j: here + 1, ArrowUp: here - 1, k: here - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape" && event.target.getAttribute("aria-expanded") === "true") this.toggle(event.target.closest("tr"));
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0) { this.form.elements.find.focus(); return; }
    buttons[Math.min(Math.max(to, 0), buttons.length - 1)].focus();
  }

  /** Columns to be seen: a narrow window leaves some out. */
  width() {
    return [...this.card.querySelectorAll(".subject-table > thead th")].filter((head) => head.offsetWidth > 0).length;
  }

  fit() {
    for (const cell of this.body.querySelectorAll("tr.detail > td")) cell.colSpan = this.width();
  }

  toggle(line) {
    const button = line.querySelector("button.open");
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    const number = Number(line.dataset.row);
    if (open) {
      this.drawn.get(number)?.destroy();
      this.drawn.delete(number);
      line.nextElementSibling.remove();
      return;
    }
    const id = `${this.anchor}-open-${number}`;
    const cell = make("td", { colspan: this.width() });
    line.after(make("tr", { class: "detail", id }, cell));
    button.setAttribute("aria-controls", id);
    const timeline = detail(cell, this.rows[number], this.data, readJson(`${this.anchor}-x${number}`));
    if (timeline) this.drawn.set(number, timeline);
  }
}

function badge(name) {
  return make("span", { class: `badge ${name}` }, name || "none");
}

/** Fill a cell with everything about one subject; gives the timeline, where there is one. */
function detail(cell, row, { metrics, signals }, extra) {
  const reasons = row.reasons.length ? make("ul", {}, ...row.reasons.map((one) => make("li", {}, one)))
    : make("p", {}, "No rule fired.");
  const remarks = row.remarks ? [make("p", {}, `Remark, no fault: ${row.remarks.join("; ")}`)] : [];
  const skipped = row.not_judged.length ? [make("p", { class: "hint" }, `Not judged, because not computed: ${row.not_judged.join(", ")}.`)] : [];
  const frames = strip(extra);
  cell.append(make("div", { class: "inside" },
    make("div", { class: "about" },
      ...(signals.length ? [make("div", { class: "verdict" }, make("p", { class: "kind" }, "Review signal "), badge(row.badge), reasons, ...remarks, ...skipped)] : []),
      make("p", { class: "hint path" }, row.href ? make("a", { href: row.href }, make("bdi", {}, row.path)) : make("bdi", {}, row.path), row.media ? ` · ${row.media}` : "")),
    frames));
  const inside = cell.firstElementChild;
  const timeline = extra && extra.timeline ? timelineOf(inside, extra.timeline, frames, row.id) : nothing(inside);
  inside.append(numbers(row, metrics));
  if (timeline) timeline.redraw();
  return timeline;
}

function strip(extra) {
  if (!extra || !extra.strip.length) {
    return make("p", { class: "no-strip" }, extra ? extra.no_strip : "No film strip.");
  }
  const frames = make("ol", { class: extra.strip_of ? "strip tall" : "strip", tabindex: "0", "aria-label": extra.strip_of || "Film strip" }, ...extra.strip.map(([frame, ms, source]) =>
    make("li", { "data-ms": ms }, make("img", { src: source, alt: `Frame ${frame} at ${clock(ms)}` }), make("span", {}, `${clock(ms)} · frame ${frame}`))));
  return extra.strip_of ? make("figure", { class: "worst" }, make("figcaption", { class: "hint" }, extra.strip_of), frames) : frames;
}

function nothing(inside) {
  inside.append(make("p", { class: "hint" }, "No timeline: the run kept no per-frame series for it."));
  return null;
}

function timelineOf(inside, data, frames, name) {
  const canvas = make("canvas", { "aria-label": `Timeline of ${name}` });
  const reading = make("p", { class: "reading" }, "Point at the timeline, or use the arrow keys on it, to read values.");
  const marks = faults(data);
  inside.append(make("div", { class: "timeline" }, make("div", {}, canvas), reading));
  const timeline = draw(canvas, data, {
    onRead: (text) => { reading.textContent = text; },
    onSeek: (ms) => nearestFrame(frames, ms),
  });
  if (marks.length || data.shorter) inside.lastElementChild.append(faultList(marks, data, timeline));
  return timeline;
}

function faultList(marks, data, timeline) {
  const shown = marks.slice(0, 24);
  const items = shown.map((mark) => {
    const button = make("button", { type: "button", class: `fault ${mark.shape} ${mark.tone}` }, mark.text);
    button.addEventListener("click", () => timeline.seek((mark.start + mark.end) / 2));
    return make("li", {}, button);
  });
  const rest = restText(data, marks.length - shown.length);
  if (rest) items.push(make("li", { class: "hint" }, rest));
  return make("ul", { class: "faults", "aria-label": "Faults on the timeline" }, ...items);
}

function nearestFrame(frames, ms) {
  const items = [...frames.querySelectorAll("[data-ms]")];
  const far = (item) => Math.abs(Number(item.dataset.ms) - ms);
  const best = items.reduce((a, b) => (a && far(a) <= far(b) ? a : b), null);
  for (const item of items) item.classList.toggle("near", item === best);
}

/** What fired comes first, in the order of the reasons; `row.fired` has the metric's number and the limit: [4, "> 450"]. */
function numbers(row, metrics) {
  const fired = new Map(row.fired);
  const order = [...fired.keys()];
  const place = (n) => (fired.has(n) ? order.indexOf(n) : order.length);
  const shown = metrics.map((metric, n) => [metric, n]).filter(([, n]) => row.values[n] !== "")
    .sort(([, i], [, j]) => place(i) - place(j) || i - j);
  const limits = shown.some(([metric, n]) => metric.limit || fired.get(n));
  const lines = shown.map(([metric, n]) => {
    const label = make("th", { scope: "row", title: metric.summary }, metric.name);
    if (fired.has(n)) label.append(make("span", { class: "why-row" }, "the reason"));
    if (row.more[n]) label.append(make("span", { class: "place" }, row.more[n]));
    if (metric.settings) label.append(make("span", { class: "settings" }, `(${metric.settings})`));
    if (row.notes[n]) label.append(make("span", { class: "note" }, row.notes[n]));
    const exact = exactText(row.values[n]);
    return make("tr", { "data-signature": metric.signature, class: fired.has(n) ? "fired" : "" }, label,
      make("td", { class: "value" }, make("button", { type: "button", class: "num", "data-copy": exact, "data-value": exact, title: `${exact} exactly; click to copy` }, numberText(row.values[n], metric.unit))),
      ...(limits ? [make("td", { class: "limit" }, metric.limit || fired.get(n) || "")] : []),
      make("td", { class: "unit" }, metric.unit),
      make("td", { class: "better" }, metric.better),
      make("td", { class: "value count" }, String(row.counts[n])),
      make("td", { class: "sig" }, make("button", { type: "button", class: "copy", "data-copy": metric.signature, title: metric.signature }, make("code", {}, metric.signature))));
  });
  const heads = [["metric", ""], ["value", "value"], ...(limits ? [["rule", "limit"]] : []), ["unit", "unit"], ["direction", "better"], ["N", "value count"], ["signature (click to copy)", "sig"]];
  const head = make("tr", {}, ...heads.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)));
  return make("table", { class: "grid numbers" }, make("thead", {}, head), make("tbody", {}, ...lines));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button.dataset.copy);
});

/** The address says what every table shows, so that it can be sent on. Typing makes no history. */
function keepState() {
  const parts = tables.map((table) => [table.anchor, table.state()]).filter(([, state]) => state);
  history.replaceState(null, "", parts.length ? `#${parts.map(([anchor, state]) => `${anchor}?${state}`).join(";")}` : location.pathname + location.search);
}

const tables = [];
for (const card of document.querySelectorAll("[data-subjects]")) tables.push(new SubjectTable(card));
addEventListener("hashchange", () => tables.forEach((table) => table.restore()));

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && tables.length) {
    event.preventDefault();
    const near = tables.find((table) => table.card.getBoundingClientRect().bottom > 0) ?? tables[0];
    near.form.elements.find.focus();
  }
});

addEventListener("resize", () => tables.forEach((table) => table.fit()));
matchMedia("print").addEventListener("change", () => tables.forEach((table) => table.fit()));
addEventListener("beforeprint", () => {
  for (const table of tables) {
    const drawn = table.body.querySelectorAll("tr.subject").length;
    if (drawn < PRINTED) table.append(PRINTED - drawn);
  }
});
document.documentElement.dataset.ready = "yes";
