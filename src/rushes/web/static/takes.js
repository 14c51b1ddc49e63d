// Two takes on one clock, each with its timeline; whichever is clicked, both go there.

import "./copies.js";
import { PairPlayer } from "./player.js";
import { install } from "./shortcuts.js";
import { clock, timelineIn, watchTrouble } from "./timelines.js";

const root = document.querySelector("[data-pair]");
const sides = [...root.querySelectorAll("[data-side]")];
const videos = Object.fromEntries(sides.map((side) => [side.dataset.side, side.querySelector("video")]));
const frame = Number(root.dataset.frameMs);
const readout = document.querySelector("[data-readout]");
const both = Object.values(videos).every(Boolean);
const player = both ? new PairPlayer(videos, { frameSeconds: frame / 1000 }) : null;
const timelines = [];

const seek = (ms) => {
  if (!player) return;
  player.pause();
  player.seek((ms + frame / 2) / 1000);
};

function show() {
  const seconds = player.clock;
  for (const [side, timeline] of timelines) timeline.setTime(videos[side].currentTime * 1000);
  document.querySelector("[data-time]").textContent = clock(seconds * 1000);
  const slider = document.querySelector("[data-seek]");
  if (document.activeElement !== slider) slider.value = String((1000 * seconds) / (player.duration || 1));
  document.querySelector("[data-play]").textContent = player.playing ? "Pause" : "Play both";
}

function control() {
  const transport = document.querySelector("[data-transport]");
  const slider = transport.querySelector("[data-seek]");
  transport.hidden = false;
  transport.querySelector("[data-play]").addEventListener("click", () => player.toggleBoth());
  for (const button of transport.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => player.step(Number(button.dataset.step)));
  }
  slider.addEventListener("input", () => { player.pause(); player.seek((Number(slider.value) / 1000) * player.duration); });
  for (const kind of ["time", "change", "ready"]) player.addEventListener(kind, show);
  for (const video of Object.values(videos)) video.addEventListener("seeked", show);
  install({ " ": () => player.toggleBoth(), ",": () => player.step(-1), ".": () => player.step(1) });
}

async function start() {
  for (const video of Object.values(videos)) if (video) watchTrouble(video);
  if (player) control();
  await Promise.all(sides.map(async (side) => {
    const place = side.querySelector("[data-canvas]");
    const letter = side.dataset.side;
    const timeline = await timelineIn(place, place.dataset.timeline, {
      label: `Timeline of take ${letter}, position in milliseconds`,
      onSeek: seek,
      onRead: (text) => { readout.textContent = `${letter}: ${text}`; },
    });
    if (timeline) timelines.push([letter, timeline]);
  }));
  if (player) show();
}

start();
