// Ranges of metrics: two handles on a histogram and two fields say the same; bars outside are pale.

const ends = (box) => ({
  low: box.querySelector("[data-low]"),
  high: box.querySelector("[data-high]"),
  min: box.querySelector("[name^='min.']"),
  max: box.querySelector("[name^='max.']"),
});

function paint(box) {
  const { min, max } = ends(box);
  const from = min.value === "" ? -Infinity : Number(min.value);
  const to = max.value === "" ? Infinity : Number(max.value);
  box.classList.toggle("set", min.value !== "" || max.value !== "");
  for (const bar of box.querySelectorAll("rect")) {
    const [start, end] = [Number(bar.dataset.from), Number(bar.dataset.to)];
    // An edge belongs to the bar that begins there; the last bar has its upper edge too.
    const below = end < from || (end === from && bar.nextElementSibling !== null);
    bar.classList.toggle("out", below || start > to);
  }
}

/** Make handles and fields follow each other; the form hears `change` from whichever was moved. */
export function watchRanges(form) {
  for (const box of form.querySelectorAll("[data-range]")) {
    const { low, high, min, max } = ends(box);
    low.addEventListener("input", () => {
      if (Number(low.value) > Number(high.value)) low.value = high.value;
      min.value = low.value === low.min ? "" : low.value;
      paint(box);
    });
    high.addEventListener("input", () => {
      if (Number(high.value) < Number(low.value)) high.value = low.value;
      max.value = high.value === high.max ? "" : high.value;
      paint(box);
    });
    min.addEventListener("input", () => { low.value = min.value === "" ? low.min : min.value; paint(box); });
    max.addEventListener("input", () => { high.value = max.value === "" ? high.max : max.value; paint(box); });
    paint(box);
  }
}
