// Faults that a rater marks in a clip: which clip, when, and what. Kept in one field of the form, so that drafts have it.

import { words } from "./words.js";

const MOST = 20;

export class Marks {
  constructor(form, { place }) {
    this.place = place; // (side) => seconds
    this.field = form.elements.faults;
    this.tag = form.querySelector("[data-mark-tag]");
    this.side = form.querySelector("[data-mark-side]");
    this.list = form.querySelector("[data-marks]");
    form.querySelector("[data-marking]").hidden = false;
    form.querySelector("[data-mark]").addEventListener("click", () => this.add());
    this.#show();
  }

  get marks() { return this.field.value ? JSON.parse(this.field.value) : []; }

  add() {
    const seconds = this.place(this.side.value);
    if (seconds === undefined || this.marks.length >= MOST) return;
    this.#keep([...this.marks, [this.side.value, Math.round(seconds * 1000), this.tag.value]]);
  }

  #keep(marks) {
    this.field.value = marks.length ? JSON.stringify(marks) : "";
    this.#show();
    this.field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  #show() {
    this.list.replaceChildren(...this.marks.map(([side, ms, tag], number) => {
      const line = document.createElement("li");
      const seconds = (ms / 1000).toFixed(2);
      const name = [...this.tag.options].find((option) => option.value === tag)?.textContent ?? tag;
      line.textContent = `${this.side.options ? words("marked", { side, seconds, tag: name }) : words("marked_one", { seconds, tag: name })} `;
      const remove = document.createElement("button");
      remove.type = "button";
      remove.className = "slim quiet";
      remove.textContent = this.list.dataset.remove;
      remove.setAttribute("aria-label", `${this.list.dataset.remove}: ${line.textContent.trim()}`);
      remove.addEventListener("click", () => this.#keep(this.marks.filter((_, other) => other !== number)));
      line.append(remove);
      return line;
    }));
  }
}
