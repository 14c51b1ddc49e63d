// A timeline: series over time in lanes, faults marked. Which lanes and marks there are, the data says.
//
//   import { draw, faults } from "./timeline.js";
//   const timeline = draw(canvas, data, { onSeek: (ms) => …, onRead: (text, ms) => … });
//   timeline.setTime(ms)   move the playhead (while a video plays); null takes it away
//   timeline.redraw()      after a change of size or theme that the module cannot see
//   timeline.destroy()     stop listening
//   faults(data)           marks worth a line as {kind, shape, symbol, tone, start, end, text}, in order of time
//   restText(data)         "and 14 shorter", of the marks that are not in that list; "" where there are none
//   commonScale(several)   one time scale and one value scale, given to each `draw` as its option `scale`
//
// `data` is what rushes.present.pages.timeline.timeline_data gives; `data.fired`, where it is there, are the rules that
// fired, each with a bar above the lanes: {word, tone, span}, a span of null being the whole clip. onSeek is called for a click, a drag, Enter and Space;
// onRead with the values under the pointer or the playhead ("≈", because series are stored in 255 steps).
// Colours are CSS custom properties of the canvas: --ink --soft --line --accent --second --warn --bad --face --card.
// The canvas becomes a slider for the keyboard: arrows one point, Page Up/Down a tenth, Home and End.

const GAP = 255;
const RAIL = 24, AXIS = 22, LANE = 50, BAND = 18, SPACE = 8;
const TICKS = 34, INSET = 3;
const RULE = 18, SLIM = 38; // a row for each rule that fired; lanes where there are many
const SYMBOLS = { triangle: "▼", line: "◆", span: "▬" }; // in the list as on the canvas

/** "1.60 s"; minutes from one minute on. */
export function clock(ms) {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(2).padStart(5, "0")}`;
}

/** The marks worth a line in a list, in words and in order of time. */
export function faults(data) {
  return inWords(data, (mark) => mark.listed ?? mark.at);
}

/** What the list leaves out: "and 14 shorter", or "14 shorter than 0.2 s" where it has nothing else; "" for nothing. */
export function restText(data, more = 0) {
  if (!faults(data).length) return data.shorter ? `${data.shorter} shorter than 0.2 s` : "";
  const parts = [data.shorter ? `and ${data.shorter} shorter` : "", data.left_out + more ? `and ${data.left_out + more} more` : ""];
  return parts.filter(Boolean).join(", ");
}

function inWords(data, which) {
  const one = (mark) => {
    const { kind, word, shape, tone, unit } = mark;
    const symbol = SYMBOLS[shape];
    return which(mark).map(([start, end, count]) => (shape === "span"
      ? { kind, shape, symbol, tone, start, end, text: `${word} ${clock(start)} to ${clock(end)} (${count} ${unit}${count === 1 ? "" : "s"})` }
      : { kind, shape, symbol, tone, start, end: start, text: `${word} at ${clock(start)} (${unit} ${end})` }));
  };
  return data.marks.flatMap(one).sort((a, b) => a.start - b.start || a.end - b.end);
}

/** One scale for several timelines: the longest duration, and the lowest and highest end of each series by name. */
export function commonScale(several) {
  const ends = {};
  for (const one of several.flatMap((data) => data.lanes.flatMap((lane) => lane.series))) {
    const [low, high] = ends[one.name] ?? [one.low, one.high];
    ends[one.name] = [Math.min(low, one.low), Math.max(high, one.high)];
  }
  return { duration: Math.max(1, ...several.map((data) => data.duration_ms)), ends };
}

/** Draw the timeline and keep it drawn; see the head of this file. */
export function draw(canvas, data, { onSeek = null, onRead = null, scale = null } = {}) {
  const length = scale ? scale.duration : data.duration_ms; // of the axis; the clip may end before
  const lanes = data.lanes.map((lane) => ({
    ...lane, series: lane.series.map((one) => ({ ...one, band: lane.band, ends: scale?.ends[one.name] ?? [one.low, one.high], levels: bytes(one.points) })),
  }));
  const series = lanes.flatMap((lane) => lane.series);
  const count = series.length ? series[0].levels.length : 0;
  const times = decodeTimes(data, count);
  const marks = inWords(data, (mark) => mark.at);
  const still = new AbortController();
  let now = null;
  let place = null;

  function redraw() {
    place = layout(canvas, lanes, data.fired ?? []);
    const pen = canvas.getContext("2d");
    const colours = palette(canvas);
    const x = (ms) => place.left + (ms / length) * place.width;
    pen.setTransform(place.ratio, 0, 0, place.ratio, 0, 0);
    pen.clearRect(0, 0, place.full, place.height);
    pen.font = `12px ${getComputedStyle(canvas).fontFamily || "sans-serif"}`;
    pen.textBaseline = "middle";
    shade(pen, data, place, colours, x);
    drawFired(pen, data, place, colours, x);
    if (length > data.duration_ms + 1) drawEnd(pen, place, colours, x(data.duration_ms));
    for (const lane of place.lanes) drawLane(pen, lane, times, place, colours, x);
    drawMarks(pen, data, place, colours, x);
    drawAxis(pen, length, place, colours, x);
    if (now !== null) drawPlayhead(pen, place, colours, x(now));
  }

  function read(ms) {
    const near = nearest(times, ms);
    const parts = series.map((one) => reading(one, near)).filter(Boolean);
    const hit = marks.find((mark) => ms >= mark.start - length / 150 && ms <= mark.end + length / 150);
    if (ms > data.duration_ms + 1) return `${clock(ms)} · the clip ends at ${clock(data.duration_ms)}`;
    return [clock(ms), ...parts, ...(hit ? [hit.text] : [])].join(" · ");
  }

  function setTime(ms) {
    now = ms === null ? null : Math.min(Math.max(ms, 0), length);
    canvas.setAttribute("aria-valuenow", Math.round(now ?? 0));
    canvas.setAttribute("aria-valuetext", read(now ?? 0));
    redraw();
  }

  function seek(ms) {
    setTime(ms);
    if (onRead) onRead(read(now), now);
    if (onSeek) onSeek(now);
  }

  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const inside = (event.clientX - box.left - place.left) / place.width;
    return Math.min(Math.max(inside, 0), 1) * length;
  };
  const on = (target, kind, action) => target.addEventListener(kind, action, { signal: still.signal });
  on(canvas, "pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); seek(under(event)); });
  on(canvas, "pointermove", (event) => {
    if (event.buttons & 1) seek(under(event));
    else if (onRead) onRead(read(under(event)), under(event));
  });
  on(canvas, "pointerleave", () => { if (onRead && now !== null) onRead(read(now), now); });
  on(canvas, "keydown", (event) => {
    const step = data.duration_ms / Math.max(count, 1);
    const moves = {
      ArrowRight: step, ArrowLeft: -step, ArrowUp: step, ArrowDown: -step,
      PageUp: length / 10, PageDown: -length / 10,
      Home: -length, End: length, Enter: 0, " ": 0,
    };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    seek((now ?? 0) + moves[event.key]);
  });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) on(matchMedia(query), "change", redraw);
  const size = new ResizeObserver(redraw);
  size.observe(canvas.parentElement ?? canvas);
  asSlider(canvas, length);
  setTime(null);
  return { setTime, redraw, seek, destroy() { still.abort(); size.disconnect(); } };
}

function asSlider(canvas, length) {
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "slider");
  canvas.setAttribute("aria-valuemin", "0");
  canvas.setAttribute("aria-valuemax", String(Math.round(length)));
  if (!canvas.hasAttribute("aria-label")) canvas.setAttribute("aria-label", "Timeline, position in milliseconds");
}

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function decodeTimes(data, count) {
  if (Array.isArray(data.times)) {
    const [first, last] = data.times;
    return Float64Array.from({ length: count }, (_, n) => first + ((last - first) * n) / Math.max(count - 1, 1));
  }
  const raw = bytes(data.times);
  const view = new DataView(raw.buffer);
  return Float64Array.from({ length: raw.length / 2 }, (_, n) => (view.getUint16(2 * n, true) / 65535) * data.duration_ms);
}

function nearest(times, ms) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < ms) low = middle + 1; else high = middle;
  }
  return low > 0 && ms - times[low - 1] < times[low] - ms ? low - 1 : low;
}

function reading(one, index) {
  const level = one.levels[index];
  if (one.band) return level === GAP || level === 0 ? `no ${one.word}` : one.word;
  if (level === undefined || level === GAP) return null;
  return `${one.word} ≈ ${valueAt(one, level).toPrecision(3)}`;
}

function valueAt(one, level) {
  return one.low + (level / 254) * (one.high - one.low);
}

function palette(canvas) {
  const style = getComputedStyle(canvas);
  const names = ["ink", "soft", "line", "accent", "second", "warn", "bad", "face", "card"];
  const defaults = ["#1d2126", "#5a6470", "#e2e5e9", "#0b6fa4", "#5a6470", "#9a6700", "#b3261e", "#9fc5dc", "#ffffff"];
  return Object.fromEntries(names.map((name, n) => [name, style.getPropertyValue(`--${name}`).trim() || defaults[n]]));
}

function layout(canvas, lanes, fired) {
  const full = Math.max(canvas.parentElement ? canvas.parentElement.clientWidth : canvas.clientWidth, 160);
  const narrow = full < 560;
  const left = narrow ? TICKS : 104;
  const rule = RULE + (narrow ? 12 : 0);
  const start = RAIL + rule * fired.length;
  const tall = lanes.length > 2 ? SLIM : LANE;
  let top = start;
  const placed = lanes.map((lane) => {
    const head = narrow ? 16 : 0;
    const height = lane.band ? BAND : tall;
    const spot = { ...lane, top: top + head, height, labelAt: narrow ? top + 8 : top + height / 2 };
    top += head + height + SPACE;
    return spot;
  });
  const height = top + AXIS;
  const ratio = window.devicePixelRatio || 1;
  canvas.style.width = `${full}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(full * ratio);
  canvas.height = Math.round(height * ratio);
  return { full, left, width: full - left - 6, height, start, rule, lanes: placed, bottom: top, ratio };
}

function shade(pen, data, place, colours, x) {
  for (const { tone, at } of data.marks.filter(({ shape }) => shape === "span")) {
    pen.fillStyle = colours[tone];
    pen.globalAlpha = 0.14;
    for (const [start, end] of at) pen.fillRect(x(start), place.start, Math.max(x(end) - x(start), 1.5), place.bottom - SPACE - place.start);
    pen.globalAlpha = 1;
  }
}

function drawFired(pen, data, place, colours, x) {
  pen.textAlign = "left";
  (data.fired ?? []).forEach(({ word, tone, span }, n) => {
    const [from, to] = span ?? [0, data.duration_ms];
    const y = RAIL + place.rule * n + place.rule - RULE;
    pen.fillStyle = colours[tone];
    pen.fillRect(x(from), y + 3, Math.max(x(to) - x(from), 4), RULE - 8);
    if (place.left > 50) pen.fillText(fitted(pen, word, place.left - 8), 2, y + RULE / 2 - 1);
    else pen.fillText(fitted(pen, word, place.width), Math.min(x(from), place.left + place.width - pen.measureText(word).width), y - 4);
  });
}

function fitted(pen, text, width) {
  let shown = text;
  while (shown.length > 2 && pen.measureText(shown).width > width) shown = `${shown.slice(0, -2).trimEnd()}…`;
  return shown;
}

function drawEnd(pen, place, colours, from) {
  pen.fillStyle = colours.line;
  pen.globalAlpha = 0.5;
  pen.fillRect(from, place.start, place.left + place.width - from, place.bottom - SPACE - place.start);
  pen.globalAlpha = 1;
}

function drawLane(pen, lane, times, place, colours, x) {
  pen.fillStyle = colours.soft;
  pen.textAlign = "left";
  const [, second] = lane.series;
  if (place.left > 50) {
    const words = [...wrapped(pen, lane.label, place.left - TICKS - 4), ...(second ? [`┄ ${second.word}`] : [])];
    words.forEach((text, n) => pen.fillText(text, 2, lane.labelAt + (n - (words.length - 1) / 2) * 14));
  } else pen.fillText(second ? `${lane.label}  ┄ ${second.word}` : lane.label, place.left, lane.labelAt);
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.strokeRect(place.left + 0.5, lane.top + 0.5, place.width - 1, lane.height - 1);
  if (!lane.band) drawScales(pen, lane, place, colours);
  lane.series.forEach((one, number) => {
    if (lane.band) drawBand(pen, one, times, lane, colours, x);
    else drawLine(pen, one, times, lane, number ? colours.second : colours.accent, number > 0, x);
  });
}

/** A label in lines that fit; a word that does not is left whole. */
function wrapped(pen, text, width) {
  return text.split(" ").reduce((lines, word) => {
    const longer = [...lines.slice(-1), word].join(" ");
    if (lines.length && pen.measureText(longer).width <= width) return [...lines.slice(0, -1), longer];
    return [...lines, word];
  }, []);
}

function heightOf(lane, one, value) {
  const [low, high] = one.ends;
  return lane.top + lane.height - INSET - ((value - low) / (high - low)) * (lane.height - 2 * INSET);
}

/** The axis of the first line at the left; of a second one with other ends at the right; then the thresholds. */
function drawScales(pen, lane, place, colours) {
  const font = pen.font;
  const right = place.left + place.width;
  pen.font = font.replace("12px", "10px");
  for (const [value, text] of niceTicks(...lane.series[0].ends)) {
    const y = heightOf(lane, lane.series[0], value);
    pen.strokeStyle = colours.line;
    pen.globalAlpha = 0.7;
    line(pen, place.left, y, right, y);
    pen.globalAlpha = 1;
    pen.fillStyle = colours.soft;
    pen.textAlign = "right";
    pen.fillText(text, place.left - 4, Math.min(Math.max(y, lane.top + 5), lane.top + lane.height - 4));
  }
  const [first, second] = lane.series;
  if (second && String(second.ends) !== String(first.ends)) {
    for (const [value, text] of niceTicks(...second.ends)) haloed(pen, text, right - 4, heightOf(lane, second, value), lane, colours.second, colours);
  }
  for (const { series, value, text } of lane.lines ?? []) {
    const of = lane.series.find((one) => one.name === series);
    if (!of) continue;
    const y = heightOf(lane, of, value);
    pen.strokeStyle = colours.warn;
    pen.setLineDash([6, 4]);
    line(pen, place.left, y, right, y);
    pen.setLineDash([]);
    haloed(pen, text, right - 6, y - 7 < lane.top + 4 ? y + 8 : y - 7, lane, colours.warn, colours);
  }
  pen.font = font;
}

function haloed(pen, text, x, y, lane, colour, colours) {
  const at = Math.min(Math.max(y, lane.top + 6), lane.top + lane.height - 5);
  pen.textAlign = "right";
  pen.lineWidth = 3;
  pen.strokeStyle = colours.card;
  pen.strokeText(text, x, at);
  pen.lineWidth = 1;
  pen.fillStyle = colour;
  pen.fillText(text, x, at);
}

/** Two or more round values between the ends, as far apart as can be, with their texts. */
function niceTicks(low, high) {
  const most = Math.ceil(Math.log10(high - low));
  for (let power = most; power > most - 3; power -= 1) {
    for (const factor of [5, 2, 1]) {
      const step = factor * 10 ** power;
      const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
      if (last - first < 1) continue;
      const digits = Math.max(0, -power);
      const text = (value) => (digits > 3 ? value.toExponential(0) : value.toFixed(digits));
      return Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step).map((value) => [value, value === 0 ? "0" : text(value)]);
    }
  }
  return [];
}

function drawLine(pen, one, times, lane, colour, dashed, x) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.setLineDash(dashed ? [4, 3] : []);
  pen.beginPath();
  let open = false;
  one.levels.forEach((level, n) => {
    if (level === GAP) { open = false; return; }
    const y = heightOf(lane, one, valueAt(one, level));
    if (open) pen.lineTo(x(times[n]), y); else pen.moveTo(x(times[n]), y);
    if (!open && (one.levels[n + 1] === GAP || n + 1 === one.levels.length)) pen.lineTo(x(times[n]) + 1, y);
    open = true;
  });
  pen.stroke();
  pen.setLineDash([]);
}

function drawBand(pen, one, times, lane, colours, x) {
  pen.fillStyle = colours.face;
  one.levels.forEach((level, n) => {
    if (level === GAP || level === 0) return;
    const next = n + 1 < times.length ? times[n + 1] : times[n] + (times[n] - (times[n - 1] ?? 0));
    pen.fillRect(x(times[n]), lane.top + 3, Math.min(x(next) - x(times[n]) + 0.5, lane.width ?? Infinity), lane.height - 6);
  });
}

function drawMarks(pen, data, place, colours, x) {
  pen.textAlign = "left";
  for (const { word, shape, tone, at } of data.marks) {
    for (const [start, end] of at) {
      if (shape === "span") bracket(pen, x(start), x(end), 13, colours[tone], word.toLowerCase());
      else drawPoint(pen, shape, x(start), place, colours[tone]);
    }
  }
}

function drawPoint(pen, shape, x, place, colour) {
  pen.fillStyle = pen.strokeStyle = colour;
  pen.lineWidth = 1;
  if (shape === "triangle") { triangle(pen, x, 4); return; }
  pen.setLineDash([3, 3]);
  line(pen, x, 12, x, place.bottom - SPACE);
  pen.setLineDash([]);
  diamond(pen, x, 14);
}

function bracket(pen, from, to, y, colour, word) {
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 2;
  line(pen, from, y + 6, Math.max(to, from + 2), y + 6);
  if (to - from > pen.measureText(word).width + 12) pen.fillText(word, from + 9, y - 4);
}

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function diamond(pen, x, y) {
  polygon(pen, [[x, y - 5], [x + 5, y], [x, y + 5], [x - 5, y]]);
}

function triangle(pen, x, y) {
  polygon(pen, [[x - 5, y - 4], [x + 5, y - 4], [x, y + 5]]);
}

function polygon(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], n) => (n ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  pen.fill();
}

function drawAxis(pen, length, place, colours, x) {
  const steps = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000];
  const step = steps.find((one) => (one / length) * place.width >= 64) ?? 3600000;
  pen.fillStyle = colours.soft;
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  for (let ms = 0; ms <= length; ms += step) {
    line(pen, x(ms), place.bottom - SPACE, x(ms), place.bottom - SPACE + 5);
    const text = step < 1000 ? `${(ms / 1000).toFixed(step < 100 ? 2 : 1)} s` : step < 60000 ? `${ms / 1000} s` : `${ms / 60000} min`;
    const width = pen.measureText(text).width;
    pen.textAlign = "left";
    pen.fillText(text, Math.min(Math.max(x(ms) - width / 2, place.left), place.left + place.width - width), place.bottom + 6);
  }
}

function drawPlayhead(pen, place, colours, x) {
  pen.strokeStyle = colours.accent;
  pen.lineWidth = 2;
  line(pen, x, 2, x, place.bottom - SPACE + 4);
}
