// One take: the player and its timeline are one. Click a spike and the player is there; play and the playhead follows.

import "./copies.js";
import { install } from "./shortcuts.js";
import { clock, timelineIn, watchTrouble } from "./timelines.js";

const root = document.querySelector("[data-take]");
const video = root.querySelector("video");
const readout = root.querySelector("[data-readout]");
const frame = Number(root.dataset.frameMs);

// The middle of a frame, so that rounding never shows its neighbour.
const go = (ms) => { if (video) video.currentTime = Math.max(0, ms + frame / 2) / 1000; };

function listMarks(marks) {
  const box = root.querySelector("[data-faults]");
  const list = box.querySelector("ol");
  for (const mark of marks.slice(0, 60)) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = `mark ${mark.kind}`;
    button.textContent = mark.text;
    button.addEventListener("click", () => { video?.pause(); go(mark.start); });
    item.append(button);
    list.append(item);
  }
  box.hidden = marks.length === 0;
}

async function start() {
  if (video) watchTrouble(video);
  const timeline = await timelineIn(root.querySelector("[data-canvas]"), root.dataset.timeline, {
    label: "Timeline of this take, position in milliseconds",
    onSeek: (ms) => { video?.pause(); go(ms); },
    onRead: (text) => { readout.textContent = text; },
  });
  const marks = timeline?.marks ?? [];
  listMarks(marks);
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
