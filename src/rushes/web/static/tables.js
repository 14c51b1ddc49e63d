// Wide tables on a narrow screen: each row becomes a card, each cell with its column's name. Without this they scroll.

for (const table of document.querySelectorAll(".scroll > table")) {
  const names = [...table.querySelectorAll("thead tr:last-child > *")].map((cell) => cell.textContent.trim());
  if (names.length < 3) continue;
  for (const row of table.tBodies[0]?.rows ?? []) {
    [...row.cells].forEach((cell, place) => { cell.dataset.label = names[place] ?? ""; });
  }
  table.classList.add("cards");
}
