// The timeline under a player: fetched, drawn by the report's own module, or a word on why there is none.

import { get } from "./net.js";
import { clock, commonScale, draw, faults, restText } from "./timeline.js";

export { clock, commonScale };

/** The data of the timeline at `address`; null, with the reason said in `place`, where there is none. */
export async function timelineData(place, address) {
  const note = place.querySelector("[data-loading]");
  try {
    const { timeline } = await get(address);
    if (!timeline) note.textContent = "The run kept no per-frame series for this clip.";
    return timeline;
  } catch (error) {
    note.textContent = `The timeline could not be read: ${error.message}`;
    return null;
  }
}

/** Draw a timeline into `place`; `scale` is one that several share. */
export function timelineIn(place, data, { label, ...options }) {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-label", label);
  place.replaceChildren(canvas);
  return { ...draw(canvas, data, options), marks: faults(data), rest: restText(data), duration: data.duration_ms };
}

/** A player in the clip's own shape: the style sheet makes it as large as there is room. */
export function ownShape(video) {
  const [width, height] = [Number(video.getAttribute("width")), Number(video.getAttribute("height"))];
  if (width && height) video.style.setProperty("--shape", String(width / height));
}

/** Say on the screen why a clip does not play, in the server's words where it has some. */
export function watchTrouble(video) {
  const box = video.parentElement.querySelector("[data-trouble]");
  const show = async () => {
    box.hidden = false;
    box.textContent = "This clip does not play.";
    try { await get(video.currentSrc || video.src); } catch (error) { if (error.code?.startsWith("clip")) box.textContent = error.message; }
  };
  video.addEventListener("error", show);
  video.addEventListener("loadeddata", () => { box.hidden = true; });
  if (video.error) show();
}
