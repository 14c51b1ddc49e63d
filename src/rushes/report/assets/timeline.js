// A timeline: series over time in lanes, faults marked. Which lanes and marks there are, the data says.
//
//   import { draw, faults } from "./timeline.js";
//   const timeline = draw(canvas, data, { onSeek: (ms) => …, onRead: (text, ms) => … });
//   timeline.setTime(ms)   move the playhead (while a video plays); null takes it away
//   timeline.redraw()      after a change of size or theme that the module cannot see
//   timeline.destroy()     stop listening
//   faults(data)           every mark as {kind, shape, tone, start, end, text}, in order of time, for a list beside the canvas
//
// `data` is what rushes.report.timeline.timeline_data gives. onSeek is called for a click, a drag, Enter and Space;
// onRead with the values under the pointer or the playhead ("≈", because series are stored in 255 steps).
// Colours are CSS custom properties of the canvas: --ink --muted --line --accent --second --warn --bad --face.
// The canvas becomes a slider for the keyboard: arrows one point, Page Up/Down a tenth, Home and End.

const GAP = 255;
const RAIL = 24, AXIS = 22, LANE = 50, BAND = 18, SPACE = 8;

/** "1.60 s"; minutes from one minute on. */
export function clock(ms) {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(2).padStart(5, "0")}`;
}

/** Every mark in words, in order of time. */
export function faults(data) {
  const one = ({ kind, word, shape, tone, unit, at }) => at.map(([start, end, count]) => (shape === "span"
    ? { kind, shape, tone, start, end, text: `${word} ${clock(start)} to ${clock(end)} (${count} ${unit}${count === 1 ? "" : "s"})` }
    : { kind, shape, tone, start, end: start, text: `${word} at ${clock(start)} (${unit} ${end})` }));
  return data.marks.flatMap(one).sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Draw the timeline and keep it drawn; see the head of this file. */
export function draw(canvas, data, { onSeek = null, onRead = null } = {}) {
  const lanes = data.lanes.map((lane) => ({
    ...lane, series: lane.series.map((one) => ({ ...one, band: lane.band, levels: bytes(one.points) })),
  }));
  const series = lanes.flatMap((lane) => lane.series);
  const count = series.length ? series[0].levels.length : 0;
  const times = decodeTimes(data, count);
  const marks = faults(data);
  const still = new AbortController();
  let now = null;
  let place = null;

  function redraw() {
    place = layout(canvas, lanes);
    const pen = canvas.getContext("2d");
    const colours = palette(canvas);
    const x = (ms) => place.left + (ms / data.duration_ms) * place.width;
    pen.setTransform(place.ratio, 0, 0, place.ratio, 0, 0);
    pen.clearRect(0, 0, place.full, place.height);
    pen.font = `12px ${getComputedStyle(canvas).fontFamily || "sans-serif"}`;
    pen.textBaseline = "middle";
    shade(pen, data, place, colours, x);
    for (const lane of place.lanes) drawLane(pen, lane, times, place, colours, x);
    drawMarks(pen, data, place, colours, x);
    drawAxis(pen, data, place, colours, x);
    if (now !== null) drawPlayhead(pen, place, colours, x(now));
  }

  function read(ms) {
    const near = nearest(times, ms);
    const parts = series.map((one) => reading(one, near)).filter(Boolean);
    const hit = marks.find((mark) => ms >= mark.start - data.duration_ms / 150 && ms <= mark.end + data.duration_ms / 150);
    return [clock(ms), ...parts, ...(hit ? [hit.text] : [])].join(" · ");
  }

  function setTime(ms) {
    now = ms === null ? null : Math.min(Math.max(ms, 0), data.duration_ms);
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
    return Math.min(Math.max(inside, 0), 1) * data.duration_ms;
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
      PageUp: data.duration_ms / 10, PageDown: -data.duration_ms / 10,
      Home: -data.duration_ms, End: data.duration_ms, Enter: 0, " ": 0,
    };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    seek((now ?? 0) + moves[event.key]);
  });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) on(matchMedia(query), "change", redraw);
  const size = new ResizeObserver(redraw);
  size.observe(canvas.parentElement ?? canvas);
  asSlider(canvas, data);
  setTime(null);
  return { setTime, redraw, seek, destroy() { still.abort(); size.disconnect(); } };
}

function asSlider(canvas, data) {
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "slider");
  canvas.setAttribute("aria-valuemin", "0");
  canvas.setAttribute("aria-valuemax", String(Math.round(data.duration_ms)));
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
  const value = one.low + (level / 254) * (one.high - one.low);
  return `${one.word} ≈ ${value.toPrecision(3)}`;
}

function palette(canvas) {
  const style = getComputedStyle(canvas);
  const names = ["ink", "muted", "line", "accent", "second", "warn", "bad", "face"];
  const defaults = ["#1d2126", "#5a6470", "#e2e5e9", "#0b6fa4", "#5a6470", "#9a6700", "#b3261e", "#9fc5dc"];
  return Object.fromEntries(names.map((name, n) => [name, style.getPropertyValue(`--${name}`).trim() || defaults[n]]));
}

function layout(canvas, lanes) {
  const full = Math.max(canvas.parentElement ? canvas.parentElement.clientWidth : canvas.clientWidth, 160);
  const narrow = full < 560;
  const left = narrow ? 2 : 104;
  let top = RAIL;
  const placed = lanes.map((lane) => {
    const head = narrow ? 16 : 0;
    const height = lane.band ? BAND : LANE;
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
  return { full, left, width: full - left - 6, height, lanes: placed, bottom: top, ratio };
}

function shade(pen, data, place, colours, x) {
  for (const { tone, at } of data.marks.filter(({ shape }) => shape === "span")) {
    pen.fillStyle = colours[tone];
    pen.globalAlpha = 0.14;
    for (const [start, end] of at) pen.fillRect(x(start), RAIL, Math.max(x(end) - x(start), 1.5), place.bottom - SPACE - RAIL);
    pen.globalAlpha = 1;
  }
}

function drawLane(pen, lane, times, place, colours, x) {
  pen.fillStyle = colours.muted;
  pen.textAlign = "left";
  const [, second] = lane.series;
  const both = Boolean(second);
  const wide = place.left > 50;
  pen.fillText(both && !wide ? `${lane.label}  ┄ ${second.word}` : lane.label, 2, both && wide ? lane.labelAt - 8 : lane.labelAt);
  if (both && wide) pen.fillText(`┄ ${second.word}`, 2, lane.labelAt + 9);
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.strokeRect(place.left + 0.5, lane.top + 0.5, place.width - 1, lane.height - 1);
  lane.series.forEach((one, number) => {
    if (lane.band) drawBand(pen, one, times, lane, colours, x);
    else drawLine(pen, one, times, lane, number ? colours.second : colours.accent, number > 0, x);
  });
}

function drawLine(pen, one, times, lane, colour, dashed, x) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.setLineDash(dashed ? [4, 3] : []);
  pen.beginPath();
  let open = false;
  one.levels.forEach((level, n) => {
    if (level === GAP) { open = false; return; }
    const y = lane.top + lane.height - 3 - (level / 254) * (lane.height - 6);
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

function drawAxis(pen, data, place, colours, x) {
  const steps = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000];
  const step = steps.find((one) => (one / data.duration_ms) * place.width >= 64) ?? 3600000;
  pen.fillStyle = colours.muted;
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  for (let ms = 0; ms <= data.duration_ms; ms += step) {
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
