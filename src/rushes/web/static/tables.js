// Wide tables on a narrow screen: each row becomes a card, each cell with its column's name. Without this they scroll.

function label() {
  for (const table of document.querySelectorAll(".scroll > table:not(.cards)")) {
    const names = [...table.querySelectorAll("thead tr:last-child > *")].map((cell) => cell.textContent.trim());
    if (names.length < 3) continue;
    for (const row of table.tBodies[0]?.rows ?? []) {
      [...row.cells].forEach((cell, place) => { cell.dataset.label = names[place] ?? ""; });
    }
    table.classList.add("cards");
  }
}

label();
const live = document.querySelector("[data-live]"); // its middle is replaced when votes come in
if (live) new MutationObserver(label).observe(live, { childList: true });
