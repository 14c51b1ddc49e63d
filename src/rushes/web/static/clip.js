// One clip: the player and its timeline are one. Click a spike and the player is there; play and the playhead follows.

import "./copies.js";
import { install } from "./shortcuts.js";
import { clock, ownShape, timelineData, timelineIn, watchTrouble } from "./timelines.js";

const root = document.querySelector("[data-clip-page]");
const video = root.querySelector("video");
const readout = root.querySelector("[data-readout]");
const frame = Number(root.dataset.frameMs);

// The middle of a frame, so that rounding never shows its neighbour.
const go = (ms) => { if (video) video.currentTime = Math.max(0, ms + frame / 2) / 1000; };

function chip(mark) {
  const button = document.createElement("button");
  const symbol = document.createElement("span");
  button.type = "button";
  button.className = `mark ${mark.tone}`;
  symbol.className = "symbol";
  symbol.setAttribute("aria-hidden", "true");
  symbol.textContent = mark.symbol;
  button.append(symbol, mark.text);
  button.addEventListener("click", () => { video?.pause(); go(mark.start); });
  return button;
}

function listMarks(marks, rest) {
  const box = root.querySelector("[data-faults]");
  const note = box.querySelector("[data-rest]");
  for (const mark of marks) {
    const item = document.createElement("li");
    item.append(chip(mark));
    box.querySelector("ol").append(item);
  }
  note.textContent = rest;
  note.hidden = !rest;
  box.hidden = !marks.length && !rest;
}

async function start() {
  if (video) { ownShape(video); watchTrouble(video); }
  for (const button of root.querySelectorAll("[data-seek]")) {
    button.addEventListener("click", () => { video?.pause(); go(Number(button.dataset.seek)); });
  }
  const place = root.querySelector("[data-canvas]");
  const data = await timelineData(place, root.dataset.timeline);
  const timeline = data && timelineIn(place, data, {
    label: "Timeline of this clip, position in milliseconds",
    onSeek: (ms) => { video?.pause(); go(ms); },
    onRead: (text) => { readout.textContent = text; },
  });
  const marks = timeline?.marks ?? [];
  listMarks(marks, timeline?.rest ?? "");
  if (!video) return;
  const now = () => video.currentTime * 1000;
  const follow = () => {
    timeline?.setTime(now());
    if (!video.paused) readout.textContent = clock(now());
  };
  const tick = () => { follow(); if (!video.paused && !video.ended) requestAnimationFrame(tick); };
  video.addEventListener("play", tick);
  for (const kind of ["seeked", "pause", "loadedmetadata"]) video.addEventListener(kind, follow);
  const jump = (mark) => { if (mark) { video.pause(); go(mark.start); } };
  const shown = () => Math.floor(now() / frame + 1e-6) * frame; // when the frame on the screen began
  const step = (count) => {
    video.pause();
    const last = Math.max(0, Math.round((video.duration * 1000) / frame) - 1);
    go(Math.min(Math.max(shown() + count * frame, 0), last * frame));
  };
  install({
    " ": () => (video.paused ? video.play().catch(() => {}) : video.pause()),
    ",": () => step(-1),
    ".": () => step(1),
    n: () => jump(marks.find((mark) => mark.start > shown() + frame / 2)),
    p: () => jump(marks.findLast((mark) => mark.start < shown() - frame / 2)),
  });
  follow();
}

start();
