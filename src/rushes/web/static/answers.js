// The form's answers: what is still missing, whose fault a tag names, keys that rate and tag.

import { words } from "./words.js";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

export class Answers {
  constructor(form, { watch }) {
    this.form = form;
    this.watch = watch; // () => { A, B, required }
    this.scales = $$("[data-rate]", form);
    this.main = $$("[name=primary_tag]", form);
    this.also = $$("[name=secondary_tags]", form);
    this.most = Number(form.dataset.most);
    const named = $$("[data-side]").map((figure) => [figure.dataset.side, $(".name", figure)?.dataset.name]);
    this.names = Object.fromEntries(named.filter(([, name]) => name));
    this.refused = null; // what the server missed at the last try
    form.addEventListener("change", () => this.refresh());
    // A main reason can be taken back with a second click.
    for (const choice of this.main) {
      choice.closest("label").addEventListener("click", (event) => {
        if (!choice.checked || event.target === choice) return;
        event.preventDefault();
        choice.checked = false;
        this.#tell(choice);
      });
    }
    this.refresh();
  }

  get winner() { return $("[name=winner]:checked", this.form)?.value ?? ""; }
  get mainTag() { return $("[name=primary_tag]:checked", this.form)?.value ?? ""; }
  get needsTag() { return this.main.length > 0 && (this.winner !== "Tie" || this.form.dataset.tieTag === "1"); }

  // --- keys ---

  // What the keys do depends on what is asked: a winner, seven points, one scale, or the best and the worst.
  keys() {
    const digits = (most, action) => Object.fromEntries(Array.from({ length: most }, (_, k) => [k + 1, (target) => action(k + 1, target)]));
    const points = $$("[name=winner]", this.form);
    if (points.length > 3) return digits(7, (point) => this.choose(["A3", "A2", "A1", "Tie", "B1", "B2", "B3"][point - 1]));
    if (points.length) {
      const letters = { a: () => this.choose("A"), b: () => this.choose("B"), t: () => this.choose("Tie") };
      return { ...letters, ...digits(5, (score, target) => this.rate(score, target)) };
    }
    const best = $$("[name=best]", this.form);
    if (best.length) {
      const letters = Object.fromEntries(best.map(({ value }) => [value.toLowerCase(), () => this.choose(value, "best")]));
      return { ...letters, ...digits(best.length, (place) => this.choose(best[place - 1].value, "worst")) };
    }
    // A scale from 0 to 10 has more points than there are digits: X, the Roman ten, is the last.
    const rate = (score) => (target) => this.rate(score, target);
    return { ...digits(9, (score, target) => this.rate(score, target)), 0: rate(0), ...($("[data-rate] [value='10']", this.form) && { x: rate(10) }) };
  }

  choose(value, name = "winner") {
    const choice = $(`[name=${name}][value="${value}"]`, this.form);
    if (!choice) return;
    choice.checked = true;
    this.#tell(choice);
    this.#goOn();
  }

  // A digit rates the scale that has the focus, and nothing else. Elsewhere it only shows where it would count.
  rate(score, target) {
    const scale = target.closest("[data-rate]") ?? (this.scales.length === 1 ? this.scales[0] : null);
    if (!scale) { this.#goOn(); return; }
    const choice = $(`[value="${score}"]`, scale);
    if (!choice) return;
    choice.checked = true;
    this.#tell(choice);
    const next = this.scales[this.scales.indexOf(scale) + 1];
    if (next && !this.#given(next)) this.#focus(next); else this.#goOn();
  }

  // The first tag is the main reason, further ones are added; the same key again takes a tag back.
  tag(letter) {
    const choice = this.main.find((one) => one.dataset.key === letter);
    if (!choice) return;
    const box = this.also.find((one) => one.value === choice.value);
    if (choice.checked) choice.checked = false;
    else if (!this.mainTag) { box.checked = false; choice.checked = true; }
    else if (!box.disabled) box.checked = !box.checked;
    this.#tell(choice);
  }

  get letters() { return this.main.map((choice) => choice.dataset.key).filter(Boolean); }

  #open(name) { return $(`[name=${name}]`, this.form) && !$(`[name=${name}]:checked`, this.form); }

  #given(scale) { return $("input:checked", scale); }

  #goOn() {
    const next = this.scales.find((scale) => !this.#given(scale));
    if (next) this.#focus(next); else $("[data-submit]", this.form).focus();
  }

  #focus(scale) {
    (this.#given(scale) ?? $("input", scale)).focus({ preventScroll: true });
    scale.scrollIntoView({ block: "nearest" });
  }

  #tell(control) { control.dispatchEvent(new Event("change", { bubbles: true })); }

  // --- what the form says about itself ---

  refresh() {
    const full = this.also.filter((box) => box.checked).length >= this.most;
    for (const box of this.also) {
      if (box.value === this.mainTag) box.checked = false;
      box.disabled = box.value === this.mainTag || (full && !box.checked);
    }
    this.#blame();
    this.#todo();
    this.#missing();
  }

  #blame() {
    const loser = { A: "B", B: "A" }[this.winner.charAt(0)];
    const tie = this.needsTag ? "blame_tie" : "blame_tie_free";
    const text = loser ? words("blame_side", { side: loser }) : words(this.winner ? tie : "blame_none");
    const line = $("[data-blame]", this.form);
    if (line && line.textContent !== text) line.textContent = text;
  }

  #todo() {
    const { required, ...passes } = this.watch();
    const sides = Object.entries(passes).filter(([, done]) => done < required).map(([side]) => words("todo_watch", { side: this.names[side] ?? side }));
    const open = this.scales.filter((scale) => !this.#given(scale)).length;
    const list = [
      ...sides,
      ...(this.winner || !$("[name=winner]", this.form) ? [] : [words("todo_winner")]),
      ...(this.#open("best") ? [words("todo_best")] : []),
      ...(this.#open("worst") ? [words("todo_worst")] : []),
      ...(this.mainTag || !this.needsTag ? [] : [words("todo_tag")]),
      ...(open ? [words(open === 1 ? "todo_rating" : "todo_ratings", { count: open })] : []),
    ];
    $("[data-todo]", this.form).textContent = list.length ? words("todo", { list: list.join(", ") }) : words("todo_none");
  }

  // --- what the server missed: the list follows the form from then on ---

  showMissing(items) {
    this.refused = items;
    this.#missing();
    $("[data-missing]").focus();
  }

  #missing() {
    if (!this.refused) return;
    const box = $("[data-missing]");
    const left = this.refused.map((item) => [item, this.#still(item)]).filter(([, text]) => text);
    for (const field of $$("[data-invalid]", this.form)) this.#mark(field, false);
    $("ul", box).replaceChildren(...left.map(([{ field }, text]) => {
      const line = document.createElement("li");
      line.textContent = text;
      this.#mark($(`[data-field="${CSS.escape(field)}"]`, this.form), true);
      return line;
    }));
    box.classList.toggle("hidden", left.length === 0);
  }

  // The sentence for something that is still missing; "" once it is there.
  #still({ field, message }) {
    const [kind, name] = field.split(".");
    if (kind.startsWith("watch_")) {
      const side = kind.slice(-1).toUpperCase();
      const { [side]: done, required: times } = this.watch();
      return done >= times ? "" : words("missing_watch", { side, done, times });
    }
    if (kind === "winner") return this.winner ? "" : words("missing_winner");
    if (kind === "primary_tag") return this.mainTag || !this.needsTag ? "" : words("missing_tag");
    if (kind === "secondary_tags") return this.also.filter((box) => box.checked).length <= this.most ? "" : words("missing_tags", { most: this.most });
    if (name) {
      const scale = $(`[data-field="${CSS.escape(field)}"]`, this.form);
      if (!scale) return message;
      return this.#given(scale) ? "" : words("missing_rating", { side: scale.dataset.rate, label: scale.dataset.label });
    }
    return message;
  }

  // The frame of a question is coloured; the control in it tells assistive technology.
  #mark(field, invalid) {
    if (!field) return;
    field.toggleAttribute("data-invalid", invalid);
    const control = field.matches("[role=radiogroup]") ? field : $("textarea", field);
    if (control) control.setAttribute("aria-invalid", String(invalid));
  }
}
