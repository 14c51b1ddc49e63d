// How large the clips stand: as large as the window allows, smaller but in sight while rating, full screen, one clip
// pixel on one screen pixel. What was used is reported with the vote: how a clip looks depends on it.

import { words } from "./words.js";

const NARROW = 760;
const SMALLEST = 90;
const NARROWEST = { phone: 120, desk: 220 }; // what a clip's buttons need

export class Stage {
  constructor(stage, videos, { language }) {
    this.stage = stage;
    this.videos = videos;
    this.language = language;
    this.pair = stage.querySelector("[data-pair]");
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
    const around = new ResizeObserver(settle);
    for (const part of [".answers .card", ".submit .bar", ".top"]) around.observe(document.querySelector(part));
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
    this.fit = document.fullscreenElement ? null : this.#fit();
    this.#show(this.fit);
    this.full = this.stage.offsetHeight;
    this.#show(null);
    classList.add("compact");
    this.small = this.stage.offsetHeight;
    classList.toggle("compact", before);
  }

  // How tall clips may be, so that they and the question are on one screen: with as many of them beside each other as
  // makes them largest. A window too low for that shows large clips, and the question after scrolling.
  #fit() {
    const shown = this.pair.classList.contains("sequence") ? 1 : this.pair.children.length;
    const all = Array.from({ length: shown }, (_, k) => k + 1).filter((columns) => columns === 1 || this.stage.clientWidth / columns >= NARROWEST[innerWidth > NARROW ? "desk" : "phone"]);
    const tried = shown === 2 && innerWidth > NARROW ? [2] : all; // two clips are compared side by side
    const [card, first] = [document.querySelector(".answers .card"), document.querySelector(".answers fieldset")];
    for (const question of [card, first]) {
      const best = tried.map((columns) => this.#fitted(columns, Math.ceil(shown / columns), question)).reduce((a, b) => (b.tallest > a.tallest ? b : a));
      if (best.tallest >= SMALLEST) return best;
    }
    return { columns: Math.min(shown, 3), rows: Math.ceil(shown / 3), tallest: (0.45 * innerHeight) / Math.ceil(shown / 3) };
  }

  #fitted(columns, rows, question) {
    this.#show({ columns, rows, tallest: 0 });
    const start = document.querySelector("[data-source]") ? this.top.getBoundingClientRect().top : -scrollY; // a source is above
    const room = innerHeight - this.#bar() - (question.getBoundingClientRect().bottom - start) - 4;
    const { columnGap } = getComputedStyle(this.pair);
    const width = (this.stage.clientWidth - 16 - parseFloat(columnGap) * (columns - 1)) / columns;
    const shape = { square: 1, tall: 9 / 16 }[["square", "tall"].find((name) => this.pair.classList.contains(name))] ?? 16 / 9;
    return { columns, rows, tallest: Math.floor(Math.min(room / rows, width / shape)) };
  }

  #bar() {
    const bar = document.querySelector(".submit .bar");
    const { position, paddingTop, paddingBottom } = getComputedStyle(bar.parentElement);
    return position === "sticky" ? bar.offsetHeight + parseFloat(paddingTop) + parseFloat(paddingBottom) + 1 : 0;
  }

  #show(fit) {
    const { style } = this.stage;
    for (const name of ["columns", "rows"]) {
      if (fit) this.pair.style.setProperty(`--${name}`, fit[name]); else this.pair.style.removeProperty(`--${name}`);
    }
    if (fit) style.setProperty("--tallest", `${fit.tallest}px`); else style.removeProperty("--tallest");
  }

  #place() {
    if (document.fullscreenElement) return;
    const { classList, style } = this.stage;
    const room = Math.max(0, this.full - this.small);
    const given = Math.min(room, Math.max(0, -this.top.getBoundingClientRect().top));
    const compact = room > 0 && given >= room;
    classList.toggle("compact", compact);
    this.#show(compact ? null : { ...this.fit, tallest: this.fit.tallest - given / this.fit.rows });
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
