// A run's table: says how many takes are ticked, and follows a run that is still going.

import { get } from "./net.js";

function watchSelection() {
  const form = document.querySelector("[data-selection]");
  const send = form?.querySelector("[data-send]");
  if (!send) return;
  const two = form.querySelector("[data-two]");
  const count = form.querySelector("[data-count]");
  const show = () => {
    const ticked = form.querySelectorAll("[name=only]:checked").length;
    count.textContent = ticked ? `${ticked} ticked` : "Tick takes to work with them";
    two.disabled = ticked !== 2;
    send.disabled = ticked === 0;
  };
  form.addEventListener("change", show);
  show();
}

// Filters take effect as they are chosen; typed ones when Enter is pressed. Empty fields stay out of the address.
function watchFilters() {
  const form = document.querySelector("[data-filters]");
  if (!form) return;
  const go = () => {
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const query = new URLSearchParams(fields).toString();
    location.assign(location.pathname + (query ? `?${query}` : ""));
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); go(); });
  for (const box of form.querySelectorAll("[name=badge]")) box.addEventListener("change", go);
}

const busy = () => document.querySelector("[name=only]:checked") || document.activeElement?.closest("[data-filters]");

async function follow() {
  const live = document.querySelector("[data-live='1']");
  if (!live) return;
  try {
    const answer = await get(`${location.pathname}.json${location.search}`);
    if (!document.hidden && !busy() && answer.run.stamp + answer.run.status !== live.dataset.stamp + "running") {
      const page = await (await fetch(location.href, { credentials: "same-origin" })).text();
      const fresh = new DOMParser().parseFromString(page, "text/html").querySelector("[data-live]");
      if (fresh) { live.replaceWith(fresh); watchSelection(); watchFilters(); }
    }
  } catch { /* the server is away: ask again later */ }
  setTimeout(follow, 2000);
}

watchSelection();
watchFilters();
setTimeout(follow, 2000);
