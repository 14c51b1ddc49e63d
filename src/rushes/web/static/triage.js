// Star, tag and comment on a clip, by key (S, T, C) or button; kept beside the run, shown wherever the clip is.

import { post } from "./net.js";
import { install } from "./shortcuts.js";

const part = (name) => name.split("/").map(encodeURIComponent).join("/");
const runOf = (place) => place.closest("[data-run]").dataset.run;
const markOf = (place) => JSON.parse(place.dataset.mark);
const placesOf = (id) => [...document.querySelectorAll("[data-clip]")].filter((place) => place.dataset.clip === id);

/** The clip that keys are about: the one with the focus, else the only one of the page. */
export function currentClip() {
  const near = document.activeElement?.closest("[data-clip]");
  if (near) return near;
  const all = document.querySelectorAll("[data-clip]");
  return all.length === 1 ? all[0] : null;
}

function show(id, mark) {
  for (const place of placesOf(id)) {
    place.dataset.mark = JSON.stringify(mark);
    const star = place.querySelector("[data-star]");
    star.setAttribute("aria-pressed", String(mark.star));
    star.textContent = mark.star ? "★" : "☆";
    place.querySelector("[data-tags]").textContent = mark.tags.join(", ");
    const comment = place.querySelector("[data-comment]");
    comment.textContent = mark.comment ? `“${mark.comment}”` : "";
    comment.title = mark.comment;
  }
  offerTags(mark.tags);
}

// A tag that is new becomes a filter at once.
function offerTags(tags) {
  const box = document.querySelector("[data-marked]");
  if (!box) return;
  box.hidden = false;
  for (const tag of tags) {
    if ([...box.querySelectorAll("[name=tag]")].some((known) => known.value === tag)) continue;
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "checkbox", name: "tag", value: tag });
    label.append(input, Object.assign(document.createElement("span"), { textContent: tag }));
    box.querySelector(".chips").append(label);
  }
}

const send = (place, change) => post(`/runs/${part(runOf(place))}/triage`, { id: place.dataset.clip, ...change });

async function star(place) {
  try {
    const answer = await send(place, { star: !markOf(place).star });
    show(answer.id, answer.mark);
  } catch (error) {
    say(place, error.message);
  }
}

// A mark that was not kept is said in the dialog: the one place that has room for a sentence.
function say(place, message) {
  open(place, "mark-tags");
  const problem = dialog().querySelector("[data-mark-problem]");
  problem.textContent = message;
  problem.hidden = false;
}

const dialog = () => document.querySelector("[data-mark-dialog]");
let about = null; // the clip the dialog is about, and the comment it began with

function open(place, field) {
  const box = dialog();
  const mark = markOf(place);
  about = { place, seen: mark.comment, tags: mark.tags };
  box.querySelector("#mark-title").textContent = place.dataset.clip;
  box.querySelector("#mark-tags").value = mark.tags.join(", ");
  box.querySelector("#mark-comment").value = mark.comment;
  box.querySelector("[data-mark-problem]").hidden = true;
  const known = [...document.querySelectorAll("[data-marked] [name=tag]")].map((input) => input.value);
  box.querySelector("#known-tags").replaceChildren(...known.map((value) => Object.assign(document.createElement("option"), { value })));
  if (!box.open) box.showModal();
  const first = box.querySelector(`#${field}`);
  first.focus();
  first.setSelectionRange?.(first.value.length, first.value.length);
}

async function save() {
  const box = dialog();
  const wanted = [...new Set(box.querySelector("#mark-tags").value.split(",").map((tag) => tag.trim().replace(/\s+/g, " ")).filter(Boolean))];
  const comment = box.querySelector("#mark-comment").value.trim();
  const change = {
    add: wanted.filter((tag) => !about.tags.includes(tag)),
    remove: about.tags.filter((tag) => !wanted.includes(tag)),
    ...(comment === about.seen ? {} : { comment, seen: about.seen }),
  };
  try {
    const answer = await send(about.place, change);
    show(answer.id, answer.mark);
    box.close();
    about.place.querySelector(".open, [data-note]")?.focus();
  } catch (error) {
    const problem = box.querySelector("[data-mark-problem]");
    const theirs = error.answer?.mark;
    problem.textContent = theirs ? `Another tab or person wrote meanwhile: “${theirs.comment}”. Save again to put yours in its place.` : error.message;
    problem.hidden = false;
    if (theirs) about.seen = theirs.comment;
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-star], [data-note]");
  if (!button) return;
  const place = button.closest("[data-clip]");
  if (button.matches("[data-star]")) star(place);
  else open(place, "mark-tags");
});

document.addEventListener("submit", (event) => {
  if (!event.target.closest("[data-mark-dialog]")) return;
  event.preventDefault();
  if (event.submitter?.value === "cancel") dialog().close();
  else save();
});

const onClip = (act) => () => { const place = currentClip(); if (place) act(place); };
install({
  s: onClip(star),
  t: onClip((place) => open(place, "mark-tags")),
  c: onClip((place) => open(place, "mark-comment")),
});
