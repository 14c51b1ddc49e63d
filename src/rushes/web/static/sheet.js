// The contact sheet: pieces of it are fetched as they come near and let go when they are far, so that its length costs
// nothing. One clip plays at a time, muted, while it is pointed at or has the focus.

const NEAR = "1200px 0px";
const MOST_PIECES = 24;
const COLUMNS = [1, 2, 3, 4, 5, 6, 10, 12]; // those that divide a piece of 60
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Sheet {
  constructor(root, ticked) {
    this.root = root;
    this.ticked = ticked;
    this.total = Number(root.dataset.total);
    this.size = Number(root.dataset.size);
    this.loading = new Map();
    this.loaded = new Set();
    this.pieces = this.build();
    this.measure();
    this.restore(root);
    this.observer = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: NEAR });
    for (const piece of this.pieces) this.observer.observe(piece);
    this.resized = new ResizeObserver(() => this.measure());
    this.resized.observe(root);
    const first = Number(root.dataset.page);
    if (first > 1) this.pieces[first - 1].scrollIntoView();
    document.querySelector("[data-pages]")?.setAttribute("hidden", "");
  }

  close() {
    this.observer.disconnect();
    this.resized.disconnect();
  }

  build() {
    const given = this.root.querySelector("[data-piece]");
    return Array.from({ length: Math.ceil(this.total / this.size) }, (_, place) => {
      if (String(place + 1) === given.dataset.piece) { this.root.append(given); this.loaded.add(given); return given; }
      const piece = document.createElement("ol");
      piece.className = "sheet";
      piece.dataset.piece = String(place + 1);
      this.root.append(piece);
      return piece;
    });
  }

  get columns() {
    const [filled] = this.loaded;
    return getComputedStyle(filled).gridTemplateColumns.split(" ").length;
  }

  // A piece that is not there is as high as its rows would be, each as high as the rows that are. Several pieces have a
  // number of columns that divides them, so that no row of theirs ends early.
  measure() {
    this.root.style.removeProperty("--columns");
    if (this.pieces.length > 1) this.root.style.setProperty("--columns", String(COLUMNS.findLast((many) => many <= this.columns)));
    const columns = this.columns;
    const rowsOf = (piece) => Math.ceil(Math.min(this.size, this.total - this.pieces.indexOf(piece) * this.size) / columns);
    const [filled] = this.loaded;
    const gap = Number.parseFloat(getComputedStyle(filled).rowGap) || 0;
    const row = (filled.getBoundingClientRect().height + gap) / rowsOf(filled);
    for (const piece of this.pieces) {
      const high = `${rowsOf(piece) * row - gap}px`;
      piece.style.height = this.loaded.has(piece) ? "" : high;
      piece.style.containIntrinsicBlockSize = this.pieces.length > 1 ? `auto ${high}` : "";
    }
  }

  seen(entries) {
    for (const { target, isIntersecting } of entries) {
      target.toggleAttribute("data-near", isIntersecting);
      if (isIntersecting) this.load(target);
      else this.loading.get(target)?.abort.abort();
    }
    if (this.loaded.size <= MOST_PIECES) return;
    for (const piece of this.loaded) {
      if (piece.hasAttribute("data-near") || piece.contains(document.activeElement)) continue;
      piece.style.height = `${piece.getBoundingClientRect().height}px`;
      piece.replaceChildren();
      this.loaded.delete(piece);
    }
  }

  /** The piece with its tiles; what scrolls past quickly is not fetched. */
  load(piece, wait = 60) {
    if (piece.children.length) return Promise.resolve();
    if (this.loading.has(piece)) return this.loading.get(piece).done;
    const abort = new AbortController();
    const done = this.fetch(piece, abort.signal, wait).catch(() => { /* passed by, or the server is away */ });
    this.loading.set(piece, { abort, done });
    return done.finally(() => this.loading.delete(piece));
  }

  async fetch(piece, signal, wait) {
    await new Promise((go) => { setTimeout(go, wait); });
    signal.throwIfAborted();
    const address = new URL(this.root.dataset.tiles, location.href);
    address.searchParams.set("page", piece.dataset.piece);
    const answer = await fetch(address, { credentials: "same-origin", signal });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    piece.replaceChildren(...fresh.body.children);
    piece.style.height = "";
    this.loaded.add(piece);
    this.restore(piece);
  }

  restore(piece) {
    for (const box of piece.querySelectorAll("[name=only]")) box.checked = this.ticked.has(box.value);
  }

  /** The place of a tile among all that match. */
  placeOf(tile) {
    return (Number(tile.parentElement.dataset.piece) - 1) * this.size + [...tile.parentElement.children].indexOf(tile);
  }

  async go(place) {
    if (place < 0 || place >= this.total) return;
    const piece = this.pieces[Math.floor(place / this.size)];
    await this.load(piece, 0);
    const link = piece.children[place % this.size]?.querySelector(".open");
    link?.focus();
    link?.scrollIntoView({ block: "nearest" });
  }
}

// One player for the whole page ---------------------------------------------------------------------------------------
let playing = null;

export function stop() {
  playing?.video.remove();
  playing = null;
}

export function play(link) {
  if (!link?.dataset.video || playing?.link === link) return;
  stop();
  const video = document.createElement("video");
  Object.assign(video, { muted: true, loop: true, playsInline: true, src: link.dataset.video });
  video.setAttribute("aria-hidden", "true");
  video.addEventListener("error", () => { if (playing?.video === video) stop(); });
  link.querySelector(".shot").append(video);
  playing = { link, video };
  video.play().catch(() => {});
}

const toggle = (link) => (playing?.link === link ? stop() : play(link));

/** Hover and focus play, keys move: for every sheet that this place will ever hold. */
export function watchSheets(place, current) {
  let soon = 0;
  const linkOf = (event) => event.target.closest?.(".tile [data-video]");
  const later = (link, wait) => { clearTimeout(soon); if (link && !still.matches) soon = setTimeout(() => play(link), wait); };
  place.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && linkOf(event) && playing?.link !== linkOf(event)) later(linkOf(event), 120);
  });
  place.addEventListener("pointerout", (event) => {
    const link = linkOf(event);
    if (link && !link.contains(event.relatedTarget)) { clearTimeout(soon); if (playing?.link === link && document.activeElement !== link) stop(); }
  });
  place.addEventListener("focusin", (event) => { if (linkOf(event)?.matches(":focus-visible")) later(linkOf(event), 250); });
  place.addEventListener("focusout", (event) => { if (linkOf(event) === playing?.link) { clearTimeout(soon); stop(); } });
  place.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-play]");
    if (button) toggle(button.closest(".tile").querySelector(".open"));
  });
  place.addEventListener("keydown", (event) => {
    const tile = event.target.closest?.(".tile");
    const sheet = current();
    if (!tile || !sheet || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -sheet.columns, ArrowDown: sheet.columns };
    if (event.key in steps) { event.preventDefault(); sheet.go(sheet.placeOf(tile) + steps[event.key]); }
    if (event.key === " " && event.target.matches(".open")) { event.preventDefault(); clearTimeout(soon); toggle(event.target); }
  });
  place.addEventListener("error", (event) => { if (event.target.matches?.(".shot img")) lost(event.target); }, true);
}

/** A picture that could not be made leaves its place, with a word on it. */
export function lost(picture) {
  if (!picture.complete || picture.naturalWidth > 0) return;
  const word = document.createElement("span");
  word.className = "no";
  word.textContent = "No picture";
  picture.replaceWith(word);
}
