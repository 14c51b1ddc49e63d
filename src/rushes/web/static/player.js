// Two clips or more on one clock. A clip that runs ahead is slowed down, never the other sped up: a watch counts only at
// normal speed or slower.

const NUDGE_S = 0.03; // ahead by more than this: slow down a little
const HOLD_S = 0.3; // ahead by more than this: wait for the other
const END_S = 0.02;

export class PairPlayer extends EventTarget {
  constructor(videos, { frameSeconds = 1 / 30 } = {}) {
    super();
    this.videos = videos; // { A: HTMLVideoElement, B: HTMLVideoElement }
    this.sides = Object.keys(videos);
    this.frameSeconds = frameSeconds;
    this.active = new Set(); // the sides that are meant to be playing
    this.loop = false;
    this.started = this.sides; // what was started last: both clips or one, and what a loop plays again
    this.sound = this.sides[0]; // whose sound is heard while both play; phones play one sound at a time anyway
    for (const [side, video] of Object.entries(videos)) {
      video.removeAttribute("controls");
      video.playsInline = true;
      video.addEventListener("ended", () => this.#ended(side));
      video.addEventListener("error", () => this.#emit("trouble", { side }));
      video.addEventListener("loadedmetadata", () => this.#emit("ready", { side }));
      // A browser may pause a video by itself (a phone call, a lost decoder): the page has to notice.
      video.addEventListener("pause", () => { if (!video.ended && !video.dataset.held) this.#dropped(side); });
    }
    const tick = () => { this.#tick(); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  }

  get playing() { return this.active.size > 0; }
  get duration() { return Math.max(0, ...this.sides.map((side) => this.videos[side].duration || 0)); }
  get clock() { return Math.max(0, ...this.sides.map((side) => this.videos[side].currentTime)); }

  playBoth() { this.#start(this.sides); }
  playOne(side) { this.#start([side]); }

  toggleBoth() { if (this.playing) this.pause(); else this.playBoth(); }

  toggleOne(side) {
    if (this.active.has(side) && this.active.size === 1) this.pause(); else this.playOne(side);
  }

  pause() {
    this.active.clear();
    for (const side of this.sides) this.#hold(side);
    this.#emit("change");
  }

  seek(seconds) {
    for (const side of this.sides) this.#place(side, seconds);
    this.#emit("change");
  }

  step(frames) {
    this.pause();
    // The middle of a frame, so that rounding never shows its neighbour.
    const index = Math.floor(this.clock / this.frameSeconds + 1e-6) + frames;
    const last = Math.max(0, Math.round(this.duration / this.frameSeconds) - 1);
    this.seek((Math.min(Math.max(index, 0), last) + 0.5) * this.frameSeconds);
  }

  listenTo(side) {
    this.sound = side; // "A", "B" or "" for silence
    this.#mute();
    this.#emit("change");
  }

  // While both play, one is heard. A clip that plays alone is heard, unless the sound is off.
  #mute() {
    const alone = this.started.length === 1;
    for (const side of this.sides) this.videos[side].muted = this.sound === "" || !(alone || side === this.sound);
  }

  #start(sides) {
    this.started = sides;
    this.pause();
    if (sides.every((side) => this.#atEnd(side))) for (const side of sides) this.#place(side, 0);
    else if (sides.length > 1 && !this.#together()) {
      const earlier = Math.min(...sides.map((side) => this.videos[side].currentTime));
      for (const side of sides) this.#place(side, earlier);
    }
    this.#mute();
    for (const side of sides) if (!this.#atEnd(side)) { this.active.add(side); this.#run(side); }
    this.#emit("change");
  }

  #run(side) {
    const video = this.videos[side];
    delete video.dataset.held;
    video.playbackRate = 1;
    video.play().catch((error) => {
      if (error.name === "AbortError") return; // paused again before it began
      this.#dropped(side);
      this.#emit("trouble", { side, reason: error.name });
    });
  }

  #hold(side) {
    const video = this.videos[side];
    video.dataset.held = "1";
    video.pause();
  }

  #dropped(side) {
    if (this.active.delete(side)) this.#emit("change");
  }

  #place(side, seconds) {
    const video = this.videos[side];
    video.currentTime = Math.min(Math.max(seconds, 0), video.duration || 0);
  }

  #atEnd(side) {
    const video = this.videos[side];
    return video.ended || (video.duration > 0 && video.currentTime >= video.duration - END_S);
  }

  // Both where one clock would have them; the shorter clip rests at its end while the longer goes on.
  #together() {
    const clock = this.clock;
    return this.sides.every((side) => {
      const video = this.videos[side];
      return Math.abs(video.currentTime - Math.min(clock, video.duration || 0)) < 0.1;
    });
  }

  #ended(side) {
    this.active.delete(side);
    // One that waited for this clip waits no longer: with a single clip left nothing is aligned any more.
    for (const other of this.active) if (this.videos[other].dataset.held) this.#run(other);
    if (this.active.size === 0 && this.loop) {
      this.#start(this.started);
    } else this.#emit("change");
  }

  #tick() {
    if (this.active.size > 1) this.#align();
    if (this.playing) this.#emit("time");
  }

  #align() {
    const active = this.sides.filter((side) => this.active.has(side)).map((side) => this.videos[side]);
    const behind = active.reduce((a, b) => (b.currentTime < a.currentTime ? b : a));
    behind.playbackRate = 1;
    if (behind.dataset.held) this.#run(this.#side(behind));
    for (const ahead of active) if (ahead !== behind) this.#slow(ahead, ahead.currentTime - behind.currentTime);
  }

  #slow(ahead, lead) {
    if (lead > HOLD_S && !ahead.dataset.held) this.#hold(this.#side(ahead));
    else if (lead < NUDGE_S && ahead.dataset.held) this.#run(this.#side(ahead));
    else ahead.playbackRate = lead > NUDGE_S ? 0.92 : 1;
  }

  #side(video) { return this.sides.find((side) => this.videos[side] === video); }

  #emit(type, detail = {}) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
