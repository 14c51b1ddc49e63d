// How a number is written for people: the rule of core/words/number_text.py, so that a page shows what a terminal shows.
const DIGITS = 4;
const WHOLE = ["Elo"];

/** A value of a run: four significant digits, whole numbers whole, "yes" and "no", "–" where there is none. */
export function numberText(value, unit = "") {
  if (value === "" || value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Number.isInteger(value)) return String(value);
  if (WHOLE.includes(unit)) return value.toFixed(0);
  const power = Number(value.toExponential(DIGITS - 1).split("e")[1]);
  if (power < -4) return value.toExponential(DIGITS - 1).replace(/\.?0+e/, "e");
  const decimals = Math.max(DIGITS - 1 - power, 0);
  const text = value.toFixed(decimals);
  return decimals > 4 ? text.replace(/(\.\d{4}\d*?)0+$/, "$1") : text;
}

/** The value as the run's file has it. */
export function exactText(value) {
  return value === null || typeof value === "boolean" ? numberText(value) : String(value);
}
