// The matrix: one row per prompt, one cell per system. Rows are made as they are scrolled to.
import { drawing, make, number, readJson } from "./dom.js";

const PAGE = 24;

export class Matrix {
  constructor(board, theatre) {
    this.board = board;
    this.theatre = theatre;
    this.section = document.getElementById("matrix");
    this.form = this.section.querySelector("form");
    this.body = this.section.querySelector("tbody");
    this.more = this.section.querySelector(".more");
    this.texts = board.prompts.map((prompt) => prompt.join("\n").toLowerCase());
    this.fillOptions();
    this.listen();
    this.update();
  }

  fillOptions() {
    const { readings, prompts } = this.board;
    const { reading, group } = this.form.elements;
    const option = (one) => make("option", { value: readings.indexOf(one) }, one.label);
    const usable = readings.filter((one) => one.per_prompt);
    for (const [label, judged] of [["People and metrics that rank", true], ["Other metrics", false]]) {
      const some = usable.filter((one) => one.judged === judged);
      if (some.length) reading.append(make("optgroup", { label }, ...some.map(option)));
    }
    if (usable.length) reading.value = String(readings.indexOf(this.splitting(usable)));
    reading.parentElement.hidden = !usable.length;
    const groups = [...new Set(prompts.map((prompt) => prompt[2]).filter(Boolean))].sort();
    group.append(...groups.map((name) => make("option", {}, name)));
    group.parentElement.hidden = groups.length < 2;
  }

  /** The reading that tells the most pairs of systems apart; one that says better and worse goes before one that does not. */
  splitting(usable) {
    const apart = (one) => one.pairs.filter((pair) => ["better", "worse", "moved"].includes(pair[6])).length;
    const most = (some) => some.reduce((best, one) => (apart(one) > apart(best) ? one : best), some[0]);
    const judged = usable.filter((one) => one.judged && apart(one));
    return most(judged.length ? judged : usable);
  }

  listen() {
    const { form } = this;
    const redo = () => this.update();
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => { event.preventDefault(); this.clear(); });
    form.elements.find.addEventListener("input", redo);
    for (const name of ["group", "reading", "sort"]) form.elements[name].addEventListener("change", redo);
    this.section.querySelector("[data-clear]").addEventListener("click", () => this.clear());
    this.section.querySelector("[data-more]").addEventListener("click", () => this.append());
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !getSelection().toString()) this.open(Number(row.dataset.prompt));
    });
    this.body.addEventListener("keydown", (event) => this.move(event));
    const scroll = this.section.querySelector(".matrix-scroll");
    const watch = new IntersectionObserver(([seen]) => {
      if (!seen.isIntersecting) return;
      this.append();
      watch.unobserve(this.more); // asked anew, it tells again where the rows did not fill the window
      watch.observe(this.more);
    }, { root: scroll, rootMargin: "500px" });
    watch.observe(this.more);
  }

  get reading() { return this.board.readings[Number(this.form.elements.reading.value)] ?? null; }

  open(prompt) { this.theatre.open(prompt, this.list, this.reading); }

  clear() {
    this.form.elements.find.value = "";
    this.form.elements.group.value = "";
    this.update();
    this.form.elements.find.focus();
  }

  move(event) {
    if (!event.target.matches("button.open") || event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...this.body.querySelectorAll("button.open")];
    const here = buttons.indexOf(event.target);
    const to = { ArrowDown: here + 1, j: here + 1, ArrowUp: here - 1, k: here - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[Math.min(Math.max(to, 0), buttons.length - 1)].focus();
  }

  /** Values of one prompt on the reading shown, those that exist. */
  known(prompt) {
    return (this.reading?.values ?? []).map((row) => row[prompt]).filter((value) => value !== null && value !== undefined);
  }

  /** What prompts are sorted by, highest first; null comes last. */
  weight(prompt) {
    const values = this.known(prompt);
    if (this.form.elements.sort.value === "split") return values.length > 1 ? Math.max(...values) - Math.min(...values) : null;
    if (!values.length) return null;
    return this.reading.better === "higher" ? -Math.min(...values) : Math.max(...values);
  }

  chosen() {
    const { find, group, sort } = this.form.elements;
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { prompts, order } = this.board;
    const list = order.filter((n) => (!group.value || prompts[n][2] === group.value) && words.every((word) => this.texts[n].includes(word)));
    if (sort.value === "disagreement") return list;
    if (sort.value === "prompt") return list.sort((a, b) => prompts[a][0].localeCompare(prompts[b][0], "en", { numeric: true }));
    const weights = new Map(list.map((n) => [n, this.weight(n)]));
    return list.sort((a, b) => {
      const one = weights.get(a), other = weights.get(b);
      if (one === null || other === null) return (one === null) - (other === null) || a - b;
      return other - one || a - b;
    });
  }

  update() {
    this.list = this.chosen();
    const every = (this.reading?.values ?? []).flat().filter((value) => value !== null);
    this.ends = [every.reduce((a, b) => Math.min(a, b), Infinity), every.reduce((a, b) => Math.max(a, b), -Infinity)];
    this.body.replaceChildren();
    this.section.querySelector(".matrix-scroll").scrollTop = 0;
    this.append();
    const total = `${this.board.prompts.length.toLocaleString("en")} prompt${this.board.prompts.length === 1 ? "" : "s"}.`;
    const words = this.list.length === this.board.prompts.length ? total : `${this.list.length.toLocaleString("en")} of ${total}`;
    const mark = this.reading?.judged ? " ● marks the best value of a row. One row alone shows little about the systems." : "";
    this.section.querySelector("[data-shown]").textContent = words + mark;
    this.section.querySelector("[data-empty]").hidden = this.list.length > 0;
    this.section.querySelector(".matrix-scroll").hidden = !this.list.length;
  }

  append(count = PAGE) {
    const start = this.body.childElementCount;
    this.body.append(...this.list.slice(start, start + count).map((prompt) => this.row(prompt)));
    const left = this.list.length - this.body.childElementCount;
    this.more.hidden = left <= 0;
    this.more.firstElementChild.textContent = `Show more (${left.toLocaleString("en")} left)`;
  }

  row(prompt) {
    const [id, text, group] = this.board.prompts[prompt];
    const strips = readJson(`strips-${prompt}`);
    const head = make("th", { scope: "row" }, make("button", { type: "button", class: "open", "aria-haspopup": "dialog" }, make("bdi", {}, id)));
    if (group) head.append(make("span", { class: "group" }, group));
    if (text) head.append(make("span", { class: "text", title: text }, text));
    const best = this.best(prompt);
    const cells = this.board.systems.map((_, system) => this.cell(system, prompt, strips?.[system], best === system));
    return make("tr", { "data-prompt": prompt }, head, ...cells);
  }

  /** The one system with the best value of a prompt; −1 where the reading cannot say so or two share it. */
  best(prompt) {
    if (!this.reading?.judged) return -1;
    const values = this.reading.values.map((row) => row[prompt]);
    const known = this.known(prompt);
    if (known.length < 2) return -1;
    const top = this.reading.better === "higher" ? Math.max(...known) : Math.min(...known);
    return values.filter((value) => value === top).length === 1 ? values.indexOf(top) : -1;
  }

  cell(system, prompt, strip, best) {
    const cell = make("td");
    const clip = this.board.clips[system]?.[prompt];
    const none = (why) => make("span", { class: "no-clip", title: why }, "no picture");
    if (strip?.[0]) {
      const picture = make("img", { src: strip[0], alt: `Three frames of ${this.board.systems[system]}`, title: clip?.[3] ?? "", loading: "lazy" });
      picture.addEventListener("error", () => picture.replaceWith(none("The clip changed or could not be decoded again.")));
      cell.append(picture);
    } else if (strip?.[1]) cell.append(none(strip[1]));
    if (this.reading) cell.append(...this.value(system, prompt, best));
    if (!clip && this.board.clips.some((row) => row.some(Boolean))) cell.append(make("span", { class: "no-clip" }, "no clip"));
    return cell;
  }

  value(system, prompt, best) {
    const value = this.reading.values[system]?.[prompt];
    if (value === null || value === undefined) {
      const why = this.reading.notes[system]?.[prompt];
      return [make("span", { class: "number none", title: why ?? "this system has no value for the prompt" }, "no value"), " "];
    }
    const text = make("span", { class: best ? "number top" : "number", ...(this.reading.value_digits ? { "data-signature": this.reading.signature } : {}) }, number(value, this.reading.value_digits));
    const [low, high] = this.ends;
    const at = high > low ? 3 + (94 * (value - low)) / (high - low) : 50;
    const bar = drawing("svg", { class: "span", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      drawing("rect", { class: "track", x: 0, y: 3, width: 100, height: 2 }), drawing("rect", { class: "dot", x: (at - 1.5).toFixed(1), y: 0, width: 3, height: 8 }));
    return [text, bar];
  }
}
