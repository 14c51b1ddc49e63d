// The owner's pages: copy a link, follow a study live, show a fault in its clip.

import { get } from "./net.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      button.previousElementSibling.select(); // no clipboard here: the text is marked, ready for the usual keys
      button.textContent = "Marked";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// Ask now and then; when something has changed, take the page's new middle. A field in use is left alone.
const live = document.querySelector("[data-live]");
const stamp = ({ totals, importing, summary }) =>
  [totals.votes, totals.finished, importing.state, summary.raters, summary.pairs].join("-");

async function follow() {
  try {
    const answer = await get(live.dataset.live);
    if (!document.hidden && stamp(answer) !== live.dataset.stamp) {
      const page = await (await fetch(location.pathname, { credentials: "same-origin" })).text();
      const fresh = new DOMParser().parseFromString(page, "text/html").querySelector("[data-live]");
      if (fresh) { live.replaceChildren(...fresh.childNodes); live.dataset.stamp = fresh.dataset.stamp; }
    }
  } catch { /* the server is away: ask again later */ }
  setTimeout(follow, live.querySelector("[role=status]") ? 1500 : 5000);
}
if (live) setTimeout(follow, 1500);

// A marked fault: show its moment in its clip.
for (const button of document.querySelectorAll("[data-seek]")) {
  const figures = [...button.closest("[data-watchable]").querySelectorAll("[data-clip]")];
  const video = figures.find((figure) => figure.dataset.clip === button.dataset.in)?.querySelector("video");
  button.disabled = !video;
  button.addEventListener("click", () => {
    video.pause();
    video.currentTime = Number(button.dataset.seek) / 1000;
    video.scrollIntoView({ block: "nearest" });
  });
}
