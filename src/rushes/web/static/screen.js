// Measures what the study asks of a screen and a line, and lets the server decide. See study/raters/screening.py.

import { post } from "./net.js";

const card = document.querySelector("[data-screen-check]");
const part = (name) => card.querySelector(`[data-${name}]`);
const show = (name, text) => {
  const place = card.querySelector(`[data-found="${name}"]`);
  if (place) place.textContent = text;
};

async function timed() {
  const begun = performance.now();
  const answer = await fetch(`/rate/speed.bin?${begun}`, { cache: "no-store", credentials: "same-origin" });
  const bytes = (await answer.arrayBuffer()).byteLength;
  return (bytes * 8) / 1000 / Math.max(1, performance.now() - begun);
}

async function measure() {
  part("measuring").hidden = false;
  part("failed").hidden = part("offline").hidden = true;
  try {
    let mbps = 0;
    if (card.querySelector('[data-found="mbps"]')) {
      for (let turn = 0; turn < 3; turn += 1) mbps = Math.max(mbps, await timed());
    }
    const found = {
      width: Math.round(window.innerWidth),
      pointer: matchMedia("(any-pointer: fine) and (any-hover: hover)").matches,
      mbps: Math.round(mbps * 100) / 100,
    };
    show("width", `${found.width} px`);
    show("mbps", `${found.mbps.toFixed(1)} Mbit/s`);
    const device = card.querySelector('[data-found="device"]');
    if (device) device.textContent = found.pointer ? device.dataset.yes : device.dataset.no;
    const answer = await post("/rate/screen", found);
    if (answer.passed) {
      location.assign("/rate");
      return;
    }
    for (const line of card.querySelectorAll("[data-lack]")) line.hidden = !answer.lacking.includes(line.dataset.lack);
    part("failed").hidden = false;
  } catch {
    part("offline").hidden = false;
    part("failed").hidden = false;
  }
  part("measuring").hidden = true;
}

part("again").addEventListener("click", measure);
measure();
