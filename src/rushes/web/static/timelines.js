// The timeline under a player: fetched, drawn by the report's own module, or a word on why there is none.

import { get } from "./net.js";
import { clock, draw, faults } from "./timeline.js";

export { clock };

/** Draw the timeline of `address` into `place`; null where the run kept no series. */
export async function timelineIn(place, address, { label, onSeek, onRead }) {
  const note = place.querySelector("[data-loading]");
  try {
    const { timeline } = await get(address);
    if (!timeline) {
      note.textContent = "The run kept no per-frame series for this take.";
      return null;
    }
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-label", label);
    place.replaceChildren(canvas);
    return { ...draw(canvas, timeline, { onSeek, onRead }), marks: faults(timeline), duration: timeline.duration_ms };
  } catch (error) {
    note.textContent = `The timeline could not be read: ${error.message}`;
    return null;
  }
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
