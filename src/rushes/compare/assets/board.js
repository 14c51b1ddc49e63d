// The board: sort its table, open a metric's definition and pairs, open a prompt's clips.
import { copyText, make, number, readJson } from "./dom.js";
import { Theatre } from "./players.js";
import { Matrix } from "./matrix.js";

const board = readJson("board-data");
const table = document.querySelector(".board-table");
const sheet = document.getElementById("about");
/** What is said of two systems; `better` and `worse` are said of the second. */
const SAID = { moved: "different", "cannot tell": "not significant", same: "equal on every prompt" };

/** Sort the systems by name or by a reading: best first where it has a direction, then the other way round. */
function sortSystems(by, head) {
  const before = head.getAttribute("aria-sort");
  const reading = by === "name" ? null : board.readings[Number(by)];
  const first = reading && reading.better === "higher" ? "descending" : "ascending";
  const way = before === "none" ? first : before === "ascending" ? "descending" : "ascending";
  for (const other of table.querySelectorAll(".heads th")) other.setAttribute("aria-sort", other === head ? way : "none");
  const turn = way === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows];
  const value = (row) => (reading ? reading.whole[Number(row.dataset.system)]?.[0] ?? null : row.cells[0].textContent);
  rows.sort((a, b) => {
    const one = value(a), other = value(b);
    if (one === null || other === null) return (one === null) - (other === null); // missing: last
    return turn * (reading ? one - other : one.localeCompare(other, "en", { numeric: true })) || a.dataset.system - b.dataset.system;
  });
  table.tBodies[0].append(...rows);
}

/** Wins, ties and losses of each system (row) against each other (column). */
function winsTable(reading) {
  const results = new Map();
  const turned = { better: "worse", worse: "better" };
  for (const [first, second, , , , , verdict, wins, ties, losses] of reading.pairs) {
    results.set(`${second} ${first}`, [verdict, wins, ties, losses]);
    results.set(`${first} ${second}`, [turned[verdict] ?? verdict, losses, ties, wins]);
  }
  const names = board.systems;
  const cell = (one, other) => {
    if (one === other) return make("td", { class: "self" }, "·");
    const found = results.get(`${one} ${other}`);
    if (!found) return make("td", {}, "–");
    const [verdict, wins, ties, losses] = found;
    const said = `${names[one]} against ${names[other]}: ${wins} won, ${ties} tied, ${losses} lost; ${SAID[verdict] ?? verdict}`;
    return make("td", { class: verdict === "better" || verdict === "worse" ? verdict : "", title: said }, `${wins}–${ties}–${losses}`);
  };
  return make("table", { class: "pairs wtl" },
    make("thead", {}, make("tr", {}, make("td"), ...names.map((name) => make("th", { scope: "col", title: name }, name)))),
    make("tbody", {}, ...names.map((name, one) => make("tr", {}, make("th", { scope: "row", title: name }, name), ...names.map((_, other) => cell(one, other))))));
}

function pairsTable(reading) {
  const digits = Math.min(reading.digits + 1, 6);
  const rows = reading.pairs.map(([first, second, difference, low, high, p, verdict, , , , note]) => {
    const ends = low === null ? "–" : `${number(low, digits)} to ${number(high, digits)}`;
    const ahead = { better: second, worse: first }[verdict];
    const tone = ahead === undefined ? "open-verdict" : "better";
    const words = ahead === undefined ? SAID[verdict] ?? verdict : `${board.systems[ahead]} is better`;
    return make("tr", {},
      make("th", { scope: "row" }, `${board.systems[second]} − ${board.systems[first]}`),
      make("td", {}, number(difference, digits)), make("td", {}, ends),
      make("td", {}, p === null ? "–" : p < 0.0001 ? "< 0.0001" : p.toFixed(4)),
      make("td", { class: tone }, words), make("td", { class: "why-none" }, note));
  });
  const heads = ["pair", "difference", "interval", "adjusted p", "verdict", "note"];
  return make("table", { class: "pairs" }, make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows));
}

function part(title, hint, content) {
  return make("section", {}, make("h3", {}, title), ...(hint ? [make("p", { class: "hint" }, hint)] : []), make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, content));
}

function openReading(place) {
  const reading = board.readings[place];
  const article = document.getElementById(`reading-${place}`).cloneNode(true);
  article.removeAttribute("id");
  sheet.querySelector("h2").textContent = article.querySelector("h3").textContent;
  const parts = [article];
  const counted = reading.pairs.some((pair) => pair[7] + pair[8] + pair[9] > 0);
  if (counted) parts.push(part("Won – tied – lost, prompt by prompt", "Row against column. Green: the row is significantly better; red: worse.", winsTable(reading)));
  if (reading.pairs.length) parts.push(part("Every pair", "Second − first over shared prompts. The adjusted p allows for every test on this board.", pairsTable(reading)),
    make("p", { class: "hint" }, "Differences and p are measured as: ", ...reading.pair_signatures.map((one) => make("button", { type: "button", class: "copy whole", "data-copy": one }, make("code", {}, one)))));
  sheet.querySelector(".sheet-body").replaceChildren(...parts);
  sheet.showModal();
  sheet.scrollTop = 0;
}

table.addEventListener("click", (event) => {
  const about = event.target.closest("[data-reading]");
  const order = event.target.closest("[data-order]");
  if (about) openReading(Number(about.dataset.reading));
  else if (order) sortSystems(order.dataset.order, order.closest("th"));
});
sheet.querySelector("[data-close]").addEventListener("click", () => sheet.close());
sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copyText(button.dataset.copy);
});

const matrix = document.getElementById("matrix") ? new Matrix(board, new Theatre(board)) : null;
document.addEventListener("click", (event) => { // a clip of the strip: its prompt's clips, playing
  const take = event.target.closest('a[href^="#prompt-"]');
  if (!take || !matrix) return;
  event.preventDefault();
  matrix.open(Number(take.hash.slice("#prompt-".length)));
  matrix.theatre.start();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea") || document.querySelector("dialog[open]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && matrix) {
    event.preventDefault();
    matrix.form.elements.find.focus();
  }
});
addEventListener("beforeprint", () => matrix?.append(Math.max(0, 100 - matrix.body.childElementCount)));
document.documentElement.dataset.ready = "yes";
