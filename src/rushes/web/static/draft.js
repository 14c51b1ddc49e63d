// What a rater has filled in, kept twice: in this browser at once, on the server a moment later.

import { post } from "./net.js";
import { words } from "./words.js";

const WAIT_MS = 700;

export class Draft {
  constructor(form, assignment, { say }) {
    this.form = form;
    this.place = `rushes:draft:${assignment}`;
    this.say = say;
    // What was chosen before this script listened counts as well.
    if (this.#restore() || this.#touched()) this.#soon();
    const changed = () => { this.#keep(true); this.#soon(); };
    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
  }

  fields() { return [...new FormData(this.form)].filter(([name]) => !["csrf_token", "key", "viewing"].includes(name)); }

  async save() {
    clearTimeout(this.timer);
    const before = JSON.stringify(this.fields());
    try {
      await post("/rate/draft", new FormData(this.form));
      if (JSON.stringify(this.fields()) === before) this.#keep(false);
      this.say(words("saved"));
    } catch (error) {
      this.say(words(error.code === "session" ? "kept_session" : "kept"));
      if (error.code !== "session" && error.code !== "gone") this.timer = setTimeout(() => this.save(), 5000);
    }
  }

  forget() {
    clearTimeout(this.timer);
    try { localStorage.removeItem(this.place); } catch { /* storage is switched off */ }
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), WAIT_MS);
  }

  #keep(unsaved) {
    try { localStorage.setItem(this.place, JSON.stringify({ unsaved, fields: this.fields() })); } catch { /* storage is switched off or full: the server's copy is enough */ }
  }

  #touched() {
    return [...this.form.elements].some((one) => one.name && (one.checked !== one.defaultChecked || one.value !== one.defaultValue));
  }

  // The server's copy is on the page already; this browser's wins only when the server never got it.
  #restore() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(this.place)); } catch { return false; }
    if (!kept?.unsaved) return false;
    for (const control of this.form.elements) {
      const values = kept.fields.filter(([name]) => name === control.name).map(([, value]) => value);
      if (control.type === "radio" || control.type === "checkbox") control.checked = values.includes(control.value);
      else if ((control.type !== "hidden" || control.name === "faults") && control.name) control.value = values[0] ?? "";
    }
    return true;
  }
}
