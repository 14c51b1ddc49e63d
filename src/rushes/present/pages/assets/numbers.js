// How a number is written for people: the rule of core/words/number_text.py, so that a page shows what a terminal shows.
const DIGITS = 4;
const STORED = 8;
const WHOLE = ["Elo"];

/** A value of a run: four digits that count, whole numbers whole, "yes" and "no", "–" where there is none. */
export function numberText(value, unit = "") {
  if (value === "" || value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Number.isInteger(value)) return String(value);
  if (WHOLE.includes(unit)) return value.toFixed(0);
  const power = Number(value.toExponential(DIGITS - 1).split("e")[1]);
  const decimals = Math.min(Math.max(DIGITS - 1 - power, 0), STORED);
  const text = value.toFixed(decimals);
  return decimals > 4 ? text.replace(/(\.\d{4}\d*?)0+$/, "$1") : text;
}

/** The value as the run's file has it. */
export function exactText(value) {
  return value === null || typeof value === "boolean" ? numberText(value) : String(value);
}
