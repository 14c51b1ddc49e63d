// The clips of a comparison: one timeline per clip, and in every run's strip the frame that it points at.
import { draw, faults } from "./timeline.js";
import { faultList, make, nearestFrame, readJson } from "./report.js";

for (const holder of document.querySelectorAll("[data-timeline]")) {
  const data = readJson(holder.dataset.timeline);
  const clip = holder.closest("article");
  const name = clip.querySelector("h3").textContent;
  const canvas = make("canvas", { "aria-label": `Timelines of ${name}, position in milliseconds` });
  const reading = make("p", { class: "reading" }, "");
  holder.append(make("div", {}, canvas), reading);
  const point = (ms) => clip.querySelectorAll(".strip").forEach((strip) => nearestFrame(strip, ms));
  const timeline = draw(canvas, data, { onRead: (text, ms) => { reading.textContent = text; point(ms); } });
  const marks = faults(data);
  if (marks.length || data.shorter) holder.append(faultList(marks, data, timeline));
}
