// How large the clips stand: as large as the window allows, smaller but in sight while rating, full screen, one clip
// pixel on one screen pixel. What was used is reported with the vote: how a clip looks depends on it.

import { words } from "./words.js";

export class Stage {
  constructor(stage, videos, { language }) {
    this.stage = stage;
    this.videos = videos;
    this.language = language;
    this.top = document.querySelector("[data-stage-top]");
    this.used = { full_screen: false, one_to_one: false };
    this.largest = {};
    const settle = () => { this.#measure(); this.#place(); this.#note(); };
    addEventListener("resize", settle);
    addEventListener("scroll", () => this.#place(), { passive: true });
    document.addEventListener("fullscreenchange", () => { this.#showFull(); settle(); });
    for (const video of Object.values(videos)) video.addEventListener("loadedmetadata", () => { this.#size(video); settle(); });
    for (const screen of stage.querySelectorAll("[data-screen]")) screen.addEventListener("scroll", () => this.#follow(screen), { passive: true });
    settle();
    document.fonts?.ready.then(settle);
  }

  // --- in sight while rating ---

  // The stage stays at the top of the window. While the form comes up, the clips give way by as much, until they have
  // their small size; from there on the form goes under them. What the stage loses in height it gets as a margin, so
  // that the form below never jumps.
  #measure() {
    const { classList, style } = this.stage;
    const before = classList.contains("compact");
    classList.remove("compact");
    style.marginBottom = "";
    style.removeProperty("--tallest");
    this.full = this.stage.offsetHeight;
    const boxes = Object.values(this.videos).map((video) => video.closest("[data-screen]").getBoundingClientRect());
    this.tallest = Math.max(0, ...boxes.map((box) => box.height));
    this.rows = new Set(boxes.map((box) => Math.round(box.top))).size; // two on a phone: one clip above the other
    classList.add("compact");
    this.small = this.stage.offsetHeight;
    classList.toggle("compact", before);
  }

  #place() {
    if (document.fullscreenElement) return;
    const { classList, style } = this.stage;
    const room = Math.max(0, this.full - this.small);
    const given = Math.min(room, Math.max(0, -this.top.getBoundingClientRect().top));
    const compact = room > 0 && given >= room;
    classList.toggle("compact", compact);
    if (compact || given === 0) style.removeProperty("--tallest");
    else style.setProperty("--tallest", `${this.tallest - given / this.rows}px`);
    style.marginBottom = given ? `${given}px` : "";
    document.documentElement.style.scrollPaddingTop = `${this.small + 8}px`;
    document.documentElement.style.scrollPaddingBottom = "6rem";
  }

  // --- full screen and 1:1 ---

  toggleFull(element = this.stage) {
    if (document.fullscreenElement) document.exitFullscreen();
    // By the time of the event it may have been left again; the promise says that it was used. A phone may refuse.
    else element.requestFullscreen?.().then(() => { this.used.full_screen = true; }, () => {});
  }

  #showFull() {
    const on = Boolean(document.fullscreenElement);
    this.used.full_screen ||= on; // by the browser's own menu, too
    document.querySelector("[data-full]").textContent = words(on ? "full_off" : "full");
  }

  toggleNative() {
    const native = this.stage.classList.toggle("native");
    this.used.one_to_one ||= native;
    document.querySelector("[data-one]").setAttribute("aria-pressed", String(native));
    for (const video of Object.values(this.videos)) this.#size(video);
    this.#measure();
    this.#place();
  }

  #size(video) {
    const native = this.stage.classList.contains("native");
    video.style.width = native ? `${video.videoWidth / devicePixelRatio}px` : "";
    const screen = video.closest("[data-screen]");
    if (native) screen.tabIndex = 0; else screen.removeAttribute("tabindex"); // what scrolls can be scrolled with keys
  }

  #follow(screen) {
    for (const other of this.stage.querySelectorAll("[data-screen]")) {
      if (other === screen) continue;
      if (other.scrollLeft !== screen.scrollLeft) other.scrollLeft = screen.scrollLeft;
      if (other.scrollTop !== screen.scrollTop) other.scrollTop = screen.scrollTop;
    }
  }

  // --- for the record ---

  #note() {
    for (const [side, video] of Object.entries(this.videos)) {
      const shape = video.videoWidth / video.videoHeight;
      if (!shape) continue; // not loaded yet
      const width = Math.round(Math.min(video.clientWidth, video.clientHeight * shape)); // the picture, without its bars
      if (!(width <= this.largest[side]?.[0])) this.largest[side] = [width, Math.round(width / shape)];
    }
  }

  viewing() {
    this.#note();
    const sides = Object.entries({ A: "left_clip", B: "right_clip" }).filter(([side]) => this.largest[side]);
    return {
      viewport: [innerWidth, innerHeight],
      screen: [screen.width, screen.height],
      pixel_ratio: devicePixelRatio,
      theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
      touch: matchMedia("(pointer: coarse)").matches,
      language: this.language,
      ...this.used,
      ...Object.fromEntries(sides.map(([side, name]) => [name, this.largest[side]])),
    };
  }
}
