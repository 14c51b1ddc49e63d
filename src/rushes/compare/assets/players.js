// The clips of one prompt in step: up to nine videos, one clock, and a timeline under each, all on one scale.
import { clock, draw } from "./timeline.js";
import { make, number, readJson } from "./dom.js";

export const MOST = 9;
const DRIFT = 0.12; // seconds a video may be off the clock before it is set right

/** The same lane of several timelines, from one lowest to one highest value and over the longest duration. */
export function onOneScale(timelines, label) {
  const lanes = timelines.map((data) => data?.lanes.find((lane) => lane.label === label));
  const duration = Math.max(0, ...timelines.map((data) => data?.duration_ms ?? 0));
  const ends = new Map();
  for (const one of lanes.flatMap((lane) => lane?.series ?? [])) {
    const [low, high] = ends.get(one.name) ?? [Infinity, -Infinity];
    ends.set(one.name, [Math.min(low, one.low), Math.max(high, one.high)]);
  }
  return timelines.map((data, n) => (lanes[n] ? {
    ...data,
    duration_ms: duration,
    times: rescaledTimes(data, duration),
    lanes: [{ ...lanes[n], series: lanes[n].series.map((one) => rescaled(one, ...ends.get(one.name))) }],
  } : null));
}

function rescaled(one, low, high) {
  const levels = Uint8Array.from(atob(one.points), (letter) => letter.charCodeAt(0));
  const moved = levels.map((level) => {
    if (level === 255) return level;
    const value = one.low + (level / 254) * (one.high - one.low);
    return Math.round(((value - low) / (high - low)) * 254);
  });
  return { ...one, low, high, points: btoa(String.fromCharCode(...moved)) };
}

/** Coded times are parts of the duration, which has become longer. */
function rescaledTimes(data, duration) {
  if (Array.isArray(data.times)) return data.times;
  const old = new DataView(Uint8Array.from(atob(data.times), (letter) => letter.charCodeAt(0)).buffer);
  const fresh = new DataView(new ArrayBuffer(old.byteLength));
  for (let at = 0; at < old.byteLength; at += 2) {
    fresh.setUint16(at, Math.round((old.getUint16(at, true) * data.duration_ms) / duration), true);
  }
  return btoa(String.fromCharCode(...new Uint8Array(fresh.buffer)));
}

export class Theatre {
  constructor(board) {
    this.board = board;
    this.box = document.getElementById("theatre");
    this.grid = this.box.querySelector(".players");
    this.players = [];
    this.now = 0;
    this.playing = false;
    this.shown = null; // systems, once a reader has chosen
    this.lane = "";
    this.listen();
  }

  listen() {
    const { box } = this;
    const find = (name) => box.querySelector(name);
    find("[data-close]").addEventListener("click", () => box.close());
    box.addEventListener("close", () => this.empty());
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    for (const button of box.querySelectorAll("[data-step]")) button.addEventListener("click", () => this.walk(Number(button.dataset.step)));
    for (const button of box.querySelectorAll("[data-frame]")) button.addEventListener("click", () => this.frame(Number(button.dataset.frame)));
    find("[data-play]").addEventListener("click", () => this.toggle());
    this.seekBar = find("[name=seek]");
    this.seekBar.addEventListener("input", () => this.seek((this.seekBar.value / 1000) * this.duration()));
    this.speed = find("[name=speed]");
    this.speed.addEventListener("change", () => { for (const { video } of this.players) if (video) video.playbackRate = this.rate(); });
    this.sound = find("[name=sound]");
    this.sound.addEventListener("change", () => this.hear());
    this.lanes = find("[name=lane]");
    this.lanes.addEventListener("change", () => { this.lane = this.lanes.value; this.drawTimelines(); });
    box.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, canvas")) {
      if (event.key !== "," && event.key !== ".") return;
    }
    const action = { ",": () => this.frame(-1), ".": () => this.frame(1), n: () => this.walk(1), p: () => this.walk(-1) }[event.key];
    if (action) { event.preventDefault(); action(); return; }
    if (event.key === " " && !event.target.matches("button, input")) { event.preventDefault(); this.toggle(); }
  }

  /** Open the clips of a prompt; `list` is the order in which its neighbours come, `reading` the one to show. */
  open(prompt, list, reading) {
    this.list = list;
    this.reading = reading;
    if (this.lane === "" || !this.box.open) this.lane = reading?.lane ?? "";
    if (!this.box.open) this.box.showModal();
    this.show(prompt);
    this.box.querySelector("[data-play]").focus();
  }

  walk(by) {
    const at = this.list.indexOf(this.prompt) + by;
    if (at >= 0 && at < this.list.length) this.show(this.list[at]);
  }

  show(prompt) {
    this.prompt = prompt;
    const { prompts, clips } = this.board;
    const [id, text, group] = prompts[prompt];
    const at = this.list.indexOf(prompt);
    this.box.querySelector("h2").textContent = text || id;
    this.box.querySelector("[data-about]").textContent = [text ? id : "", group, `${at + 1} of ${this.list.length} prompts`].filter(Boolean).join(" · ");
    for (const button of this.box.querySelectorAll("[data-step]")) button.disabled = !(at + Number(button.dataset.step) in this.list);
    this.have = clips.map((row, n) => (row[prompt] ? n : -1)).filter((n) => n >= 0);
    this.timelines = readJson(`timelines-${prompt}`) ?? [];
    this.fill();
  }

  systems() {
    const wanted = this.shown ? this.have.filter((n) => this.shown.has(n)) : this.have;
    return wanted.slice(0, MOST);
  }

  fill() {
    this.empty();
    const chosen = this.systems();
    this.chips(chosen);
    this.players = chosen.map((system) => this.player(system));
    this.grid.dataset.many = chosen.length;
    this.grid.style.setProperty("--shape", this.shape(chosen));
    this.grid.replaceChildren(...this.players.map(({ figure }) => figure));
    if (!chosen.length) this.grid.append(make("p", { class: "no-strip" }, "No system has a clip for this prompt."));
    const options = chosen.map((system) => make("option", { value: system }, this.board.systems[system]));
    this.sound.replaceChildren(make("option", { value: "" }, "off"), ...options);
    this.now = 0;
    this.laneOptions();
    this.drawTimelines();
    this.tell();
  }

  /** Width by height of the tallest clip: all have one box, so that their timelines stand on one line. */
  shape(chosen) {
    const sizes = chosen.map((system) => /(\d+)×(\d+)/.exec(this.board.clips[system][this.prompt][2])).filter(Boolean);
    return sizes.length ? Math.min(...sizes.map(([, width, height]) => width / height)) : 16 / 9;
  }

  chips(chosen) {
    const holder = this.box.querySelector(".chosen");
    holder.hidden = this.have.length < 3;
    holder.replaceChildren(...this.have.map((system) => {
      const chip = make("button", { type: "button", "aria-pressed": String(chosen.includes(system)) }, this.board.systems[system]);
      chip.addEventListener("click", () => this.choose(system, chosen));
      return chip;
    }));
    if (this.have.length > MOST) holder.append(make("span", { class: "hint" }, `at most ${MOST} at once`));
  }

  choose(system, chosen) {
    const next = new Set(chosen);
    if (next.has(system)) next.delete(system);
    else {
      if (next.size >= MOST) next.delete(chosen.at(-1));
      next.add(system);
    }
    this.shown = next;
    this.fill();
  }

  player(system) {
    const [url, rate, media, path] = this.board.clips[system][this.prompt];
    const value = this.reading?.per_prompt ? this.reading.values[system]?.[this.prompt] : null;
    const words = value === null || value === undefined ? "" : `${this.reading.label} ${number(value, this.reading.value_digits)}`;
    const caption = make("figcaption", {}, make("strong", {}, make("bdi", {}, this.board.systems[system])), words, make("span", { class: "hint" }, media));
    const figure = make("figure", { class: "player" }, caption);
    const holder = make("div", { class: "line-holder" });
    const gone = (why) => make("p", { class: "no-strip" }, why, make("br"), make("bdi", {}, path));
    if (!url) {
      figure.append(gone("The clip is no longer where the run found it."), holder);
      return { system, figure, holder, rate, video: null };
    }
    const video = make("video", { src: url, muted: true, playsinline: true, preload: "auto", title: path });
    video.muted = true;
    const made = { system, figure, holder, rate, video };
    video.addEventListener("loadedmetadata", () => { video.playbackRate = this.rate(); this.tell(); });
    video.addEventListener("error", () => { made.video = null; video.replaceWith(gone("This browser cannot play the clip.")); this.tell(); });
    figure.append(video, holder);
    return made;
  }

  laneOptions() {
    const all = this.players.map(({ system }) => this.timelines[system]).filter(Boolean);
    const labels = [...new Set(all.flatMap((data) => data.lanes.map((lane) => lane.label)))];
    this.lanes.parentElement.hidden = !labels.length;
    this.lanes.replaceChildren(...labels.map((label) => make("option", {}, label)));
    if (!labels.includes(this.lane)) this.lane = labels[0] ?? "";
    this.lanes.value = this.lane;
  }

  drawTimelines() {
    for (const one of this.players) one.line?.destroy();
    const scaled = onOneScale(this.players.map(({ system }) => this.timelines[system] ?? null), this.lane);
    this.players.forEach((one, n) => {
      one.line = null;
      one.holder.replaceChildren();
      if (!scaled[n]) return;
      const canvas = make("canvas", { "aria-label": `${this.lane} of ${this.board.systems[one.system]} over time` });
      one.holder.append(canvas);
      one.line = draw(canvas, scaled[n], { onSeek: (ms) => this.seek(ms / 1000) });
      one.line.setTime(this.now * 1000);
    });
  }

  rate() { return Number(this.speed.value); }

  /** The longest clip. */
  duration() {
    const known = this.players.map(({ video }) => video?.duration).filter((one) => Number.isFinite(one));
    return Math.max(0.001, ...known);
  }

  /** Frames a second of the finest clip: a step never jumps over a frame of any. */
  fps() { return Math.max(1, ...this.players.map((one) => one.rate)); }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  /** Play once every clip's length is known; a clip that cannot be read does not hold up the others. */
  start() {
    const { prompt } = this;
    const ready = (video) => new Promise((done) => { for (const event of ["loadedmetadata", "error"]) video.addEventListener(event, done, { once: true }); });
    const waiting = this.players.map(({ video }) => video).filter((video) => video && !video.readyState && !video.error);
    Promise.all(waiting.map(ready)).then(() => { if (this.box.open && this.prompt === prompt && !this.playing) this.play(); });
  }

  play() {
    if (this.now >= this.duration() - 0.5 / this.fps()) this.now = 0;
    this.playing = true;
    this.last = null;
    this.set(this.now);
    for (const { video } of this.players) if (video && this.now < (video.duration || 0)) video.play().catch(() => {});
    this.turn = requestAnimationFrame((at) => this.tick(at));
    this.tell();
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.turn);
    for (const { video } of this.players) video?.pause();
    this.set(this.now);
    this.tell();
  }

  tick(at) {
    if (!this.playing) return;
    if (this.last !== null) this.now += ((at - this.last) / 1000) * this.rate();
    this.last = at;
    if (this.now >= this.duration()) { this.now = this.duration(); this.pause(); return; }
    for (const { video } of this.players) {
      if (!video || video.seeking || !(video.duration > 0)) continue;
      if (this.now >= video.duration) { if (!video.paused) video.pause(); } else if (Math.abs(video.currentTime - this.now) > DRIFT) video.currentTime = this.now;
    }
    this.tell();
    this.turn = requestAnimationFrame((next) => this.tick(next));
  }

  frame(by) {
    if (this.playing) this.pause();
    const fps = this.fps(), last = Math.max(Math.round(this.duration() * fps) - 1, 0);
    const next = Math.min(Math.max(Math.floor(this.now * fps + 1e-6) + by, 0), last);
    this.seek((next + 0.5) / fps); // the middle of a frame: no rounding shows its neighbour
  }

  seek(seconds) {
    this.now = Math.min(Math.max(seconds, 0), this.duration());
    this.set(this.now);
    this.last = null;
    this.tell();
  }

  set(seconds) {
    for (const { video } of this.players) {
      if (video && video.duration > 0) video.currentTime = Math.min(seconds, Math.max(video.duration - 0.001, 0));
    }
  }

  hear() {
    for (const { video, system } of this.players) if (video) video.muted = String(system) !== this.sound.value;
  }

  tell() {
    const duration = this.duration();
    this.box.querySelector("[data-play]").textContent = this.playing ? "Pause" : "Play";
    this.seekBar.value = Math.round((this.now / duration) * 1000);
    const frame = Math.floor(this.now * this.fps() + 1e-6);
    this.box.querySelector("[data-time]").textContent = `${clock(this.now * 1000)} of ${clock(duration * 1000)}, frame ${frame}`;
    for (const { line } of this.players) line?.setTime(this.now * 1000);
  }

  empty() {
    this.playing = false;
    cancelAnimationFrame(this.turn);
    for (const { video, line } of this.players) {
      line?.destroy();
      if (video) { video.pause(); video.removeAttribute("src"); video.load(); }
    }
    this.players = [];
    this.grid.replaceChildren();
  }
}
