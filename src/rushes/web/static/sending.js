// Sending the vote, and saying so when it did not get there: in its own place, which nothing else writes to, and tried
// again by itself. The form's key makes a second arrival harmless.

import { Offline, post } from "./net.js";
import { words } from "./words.js";

const FIRST_S = 3;
const LONGEST_S = 30;

export class Sending {
  constructor(form, { prepare, taken, missing, ended, say }) {
    Object.assign(this, { form, prepare, taken, missing, ended, say });
    this.button = form.querySelector("[data-submit]");
    this.box = form.querySelector("[data-failure]");
    this.busy = false;
    this.wait = FIRST_S;
    this.due = false; // whether a try is waiting for its turn
    addEventListener("online", () => { if (this.due) this.send(); });
  }

  async send() {
    if (this.busy) return;
    this.#stop();
    this.busy = this.button.disabled = true;
    this.say(words("sending"));
    try {
      await this.prepare();
      const answer = await post(this.form.getAttribute("action"), new FormData(this.form));
      this.#clear();
      this.taken(answer);
      return; // the button stays off: there is nothing more to send here
    } catch (error) {
      this.say("");
      if (error.code === "missing") { this.#clear(); this.missing(error.missing); }
      else if (error.code === "session") { this.#show(words("not_sent_session")); this.ended(); }
      else if (error instanceof Offline) this.#again(words("not_sent"));
      else if (error.status >= 500 || error.status === 429) this.#again(words("server"));
      else this.#show(error.message);
    }
    this.busy = this.button.disabled = false;
  }

  #stop() {
    clearInterval(this.timer);
    this.due = false;
  }

  #clear() {
    this.wait = FIRST_S;
    this.box.classList.add("hidden");
    this.box.textContent = "";
  }

  #show(text) {
    this.box.classList.remove("hidden");
    if (this.box.textContent !== text) this.box.textContent = text;
  }

  #again(text) {
    let seconds = this.wait;
    this.wait = Math.min(LONGEST_S, this.wait * 2);
    const line = document.createElement("span");
    line.setAttribute("aria-hidden", "true"); // a counter that is read out every second helps nobody
    this.#show(`${text} `);
    this.box.append(line);
    const tick = () => {
      line.textContent = words("retry", { seconds });
      if (seconds <= 0) this.send();
      seconds -= 1;
    };
    tick();
    this.due = true;
    this.timer = setInterval(tick, 1000);
  }
}
