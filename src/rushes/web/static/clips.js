// Two to four clips on one clock, their timelines on one scale; whichever is clicked, all go there.

import "./copies.js";
import { PairPlayer } from "./player.js";
import { install } from "./shortcuts.js";
import { clock, commonScale, ownShape, timelineData, timelineIn, watchTrouble } from "./timelines.js";

const root = document.querySelector("[data-pair]");
const transport = document.querySelector("[data-transport]");
const [play, slider, time, sound] = ["[data-play]", "[data-seek]", "[data-time]", "[data-sound]"].map((name) => transport.querySelector(name));
const sides = [...root.querySelectorAll("[data-side]")];
const videos = Object.fromEntries(sides.map((side) => [side.dataset.side, side.querySelector("video")]).filter(([, video]) => video));
const frame = Number(root.dataset.frameMs);
const readout = document.querySelector("[data-readout]");
const player = Object.keys(videos).length ? new PairPlayer(videos, { frameSeconds: frame / 1000 }) : null;
const timelines = [];

const seek = (ms) => {
  if (!player) return;
  player.pause();
  player.seek((ms + frame / 2) / 1000);
};

function show() {
  const seconds = player.clock;
  for (const [side, timeline] of timelines) timeline.setTime((videos[side] ? videos[side].currentTime : seconds) * 1000);
  time.textContent = clock(seconds * 1000);
  if (document.activeElement !== slider) slider.value = String((1000 * seconds) / (player.duration || 1));
  play.textContent = player.playing ? "Pause" : play.dataset.words;
}

function control() {
  play.disabled = false;
  play.addEventListener("click", () => player.toggleBoth());
  for (const button of transport.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => player.step(Number(button.dataset.step)));
  }
  slider.addEventListener("input", () => { player.pause(); player.seek((Number(slider.value) / 1000) * player.duration); });
  sound.addEventListener("change", () => player.listenTo(sound.value));
  player.listenTo(sound.value);
  for (const kind of ["time", "change", "ready"]) player.addEventListener(kind, show);
  for (const video of Object.values(videos)) video.addEventListener("seeked", show);
  install({ " ": () => player.toggleBoth(), ",": () => player.step(-1), ".": () => player.step(1) });
}

async function lines() {
  const places = [...document.querySelectorAll("[data-line]")].map((line) => [line.dataset.line, line.querySelector("[data-canvas]")]);
  const found = await Promise.all(places.map(async ([letter, place]) => [letter, place, await timelineData(place, place.dataset.timeline)]));
  const known = found.filter(([, , data]) => data);
  const scale = known.length ? commonScale(known.map(([, , data]) => data)) : null;
  for (const [letter, place, data] of known) {
    timelines.push([letter, timelineIn(place, data, {
      label: `Timeline of clip ${letter}, position in milliseconds`,
      scale,
      onSeek: seek,
      onRead: (text) => { readout.textContent = `${letter}: ${text}`; },
    })]);
  }
}

async function start() {
  for (const video of Object.values(videos)) { ownShape(video); watchTrouble(video); }
  if (player) control();
  else transport.hidden = true;
  await lines();
  if (player) show();
}

start();
