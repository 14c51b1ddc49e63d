// The map of two sets: what is pointed at, or reached by arrow keys, is shown beside it.

import "./copies.js";

const plot = document.querySelector("[data-plot]");
const shown = document.querySelector("[data-shown]");
const [name, image, about] = ["[data-name]", "[data-picture]", "[data-about]"].map((one) => shown.querySelector(one));
const dots = [...plot.querySelectorAll(".dot")];
let now = null;

function show(dot) {
  now?.classList.remove("now");
  now = dot;
  dot.classList.add("now");
  const { name: text, set, distance, picture } = dot.dataset;
  name.textContent = text;
  about.textContent = distance === "–" ? set : `${set}, ${distance} standard deviations from the real clips on this map`;
  image.hidden = false;
  image.src = picture;
  image.alt = `A frame of ${text}`;
}

image.addEventListener("error", () => { image.hidden = true; });

/** The nearest dot in a direction: what lies within 45° of it, by distance. */
function towards(dx, dy) {
  const x = Number(now.dataset.x), y = Number(now.dataset.y);
  const ahead = dots.filter((dot) => dot !== now).map((dot) => {
    const right = (Number(dot.dataset.x) - x) * dx + (Number(dot.dataset.y) - y) * dy;
    const aside = Math.abs((Number(dot.dataset.x) - x) * dy) + Math.abs((Number(dot.dataset.y) - y) * dx);
    return { dot, right, aside };
  }).filter(({ right, aside }) => right > 0 && aside <= right);
  return ahead.sort((a, b) => a.right + a.aside - (b.right + b.aside))[0]?.dot;
}

const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

plot.addEventListener("pointerover", (event) => {
  const dot = event.target.closest(".dot");
  if (dot) show(dot);
});
plot.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !dots.length) return;
  if (event.key in STEPS) {
    event.preventDefault();
    const next = now ? towards(...STEPS[event.key]) : dots[0];
    if (next) show(next);
  } else if (event.key === "Enter" && now) location.href = now.getAttribute("href");
});
