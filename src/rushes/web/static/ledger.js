// The play ledger: every stretch of forward play, as it was seen, in short reports to the server, which decides what
// counts. A stretch ends at a pause, a seek, a jump, a hidden page or a clip out of view.

const REPORT_MS = 2000;
const JUMP_MS = 400; // more media time than wall time by this much: that was not play

export class Ledger {
  constructor(videos, { send, now = () => performance.now() }) {
    this.send = send; // (events) => Promise
    this.now = now;
    this.sequence = Date.now() * 1000; // no stretch of an earlier page has this number
    this.queue = [];
    this.open = {};
    this.inView = {};
    this.sending = null;
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) this.inView[this.#side(videos, entry.target)] = entry.intersectionRatio >= 0.5;
    }, { threshold: [0, 0.5, 1] });
    for (const [side, video] of Object.entries(videos)) {
      this.inView[side] = true;
      watcher.observe(video);
      // Begin and end where the video itself says so: on a busy machine the next sample comes late.
      video.addEventListener("play", () => { this.#close(side); this.#begin(side, video); });
      video.addEventListener("ended", () => this.#close(side, video, true));
      video.addEventListener("pause", () => { if (!video.seeking) this.#advance(side, video); this.#close(side); });
      for (const event of ["seeking", "emptied"]) video.addEventListener(event, () => this.#close(side));
    }
    const tick = () => {
      for (const [side, video] of Object.entries(videos)) this.#sample(side, video);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) { for (const side of Object.keys(videos)) this.#close(side); this.flush({ keepalive: true }); }
    });
    addEventListener("pagehide", () => { for (const side of Object.keys(videos)) this.#close(side); this.flush({ keepalive: true }); });
    setInterval(() => this.#cut(), REPORT_MS);
  }

  // Everything seen so far has reached the server when this resolves.
  async flush({ keepalive = false } = {}) {
    this.#cutOpen();
    while (this.sending) await this.sending.catch(() => {});
    if (this.queue.length) await this.#report(keepalive);
  }

  #side(videos, video) { return Object.keys(videos).find((side) => videos[side] === video); }

  #sample(side, video) {
    if (video.paused || video.seeking || video.ended || document.hidden) return;
    if (!this.open[side] || !this.#advance(side, video)) this.#begin(side, video);
  }

  #begin(side, video) {
    const place = video.currentTime * 1000;
    const rate = video.playbackRate;
    this.open[side] = { start: place, end: place, place, wall: this.now(), rate, latest: rate, visible: this.inView[side] };
  }

  // Move the open stretch on to where the video is now; false when it ended instead.
  #advance(side, video) {
    const place = video.currentTime * 1000;
    const wall = this.now();
    const open = this.open[side];
    if (!open) return false;
    const jumped = place - open.place > (wall - open.wall) * Math.max(1, video.playbackRate) + JUMP_MS;
    const turned = open.visible !== this.inView[side]; // only the part out of view is lost
    if (place < open.place || jumped || turned) {
      this.#close(side);
      return false;
    }
    open.end = open.place = place;
    open.wall = wall;
    open.rate = Math.max(open.rate, video.playbackRate);
    open.latest = video.playbackRate;
    return true;
  }

  #close(side, video = null, ended = false) {
    const open = this.open[side];
    delete this.open[side];
    if (open && ended) open.end = video.duration * 1000; // the last frame has no later sample
    if (open) this.#push(side, open);
    // The pause before the end may have closed it. What is not taken stays queued; the next report takes it along.
    if (ended && this.queue.length) this.#report().catch(() => {});
  }

  #push(side, { start, end, rate, visible }) {
    if (end <= start) return;
    const round = (value) => Math.round(value * 1000) / 1000;
    this.queue.push({
      side, start_ms: round(start), end_ms: round(end), rate, visible, client_ms: Date.now(), sequence: ++this.sequence,
    });
  }

  // Hand in what is open so far; the stretch goes on from there.
  #cutOpen() {
    for (const [side, open] of Object.entries(this.open)) {
      this.#push(side, open);
      Object.assign(open, { start: open.end, visible: this.inView[side], rate: open.latest });
    }
  }

  #cut() {
    this.#cutOpen();
    if (this.queue.length) this.#report().catch(() => {});
  }

  #report(keepalive = false) {
    if (this.sending) return this.sending;
    const batch = this.queue.slice(0, 100);
    this.sending = this.send(batch, { keepalive })
      .then(() => { this.queue.splice(0, batch.length); })
      .finally(() => { this.sending = null; });
    return this.sending;
  }
}
