// The rater's page: wires player, ledger, draft, keys and form together. The page works without it as far as a page can;
// only the watch itself needs the script.

import { Draft } from "./draft.js";
import { Ledger } from "./ledger.js";
import { get, Offline, post } from "./net.js";
import { PairPlayer } from "./player.js";
import * as shortcuts from "./shortcuts.js";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

const pair = $("[data-pair]");
const form = $("[data-vote]");
const assignment = pair.dataset.assignment;
const required = Number(pair.dataset.required);
const videos = Object.fromEntries($$("[data-side]").map((figure) => [figure.dataset.side, $("video", figure)]));
const fps = Math.max(...Object.values(videos).map((video) => Number(video.dataset.fps) || 0)) || 30;
const player = new PairPlayer(videos, { frameSeconds: 1 / fps });
const saved = $("[data-saved]");
const say = (text) => { saved.textContent = text; };
// A vote that is being changed is stored already: what is not sent yet is nobody's draft.
const draft = "correction" in form.dataset ? { forget() {} } : new Draft(form, assignment, { say });
const ledger = new Ledger(videos, {
  send: async (events, options) => showWatch(await post("/rate/watch", { assignment, events }, options)),
});

// --- the clips ---------------------------------------------------------------------------------------------------

const both = $("[data-both]");
const scrub = $("[data-scrub]");
const time = $("[data-time]");
const loop = $("[data-loop]");

function showPlayer() {
  both.textContent = player.playing ? "Pause" : "Play both";
  $("[data-sound]").textContent = player.sound ? `Sound: ${player.sound}` : "Sound: off";
  for (const [side, video] of Object.entries(videos)) {
    const alone = player.active.has(side) && player.active.size === 1;
    $(`[data-play="${side}"]`).textContent = alone ? `Pause ${side}` : `Play ${side}`;
    video.closest("[data-side]").classList.toggle("playing", player.active.has(side));
  }
  showTime();
}

function showTime() {
  const { clock, duration } = player;
  time.textContent = `${clock.toFixed(2)} / ${duration.toFixed(2)} s`;
  if (document.activeElement !== scrub || player.playing) scrub.value = duration ? String(Math.round((1000 * clock) / duration)) : "0";
  scrub.setAttribute("aria-valuetext", `${clock.toFixed(1)} of ${duration.toFixed(1)} seconds`);
}

function showWatch(watch) {
  const text = $("[data-watch]");
  if (text.textContent !== watch.text) text.textContent = watch.text;
  for (const side of ["A", "B"]) {
    const count = $(`[data-count="${side}"]`);
    count.textContent = `watched ${watch[side]} of ${required}`;
    count.classList.toggle("full", watch[side] >= required);
    $(`[data-share="${side}"]`).value = watch.share[side];
  }
  const lost = $("[data-not-counted]");
  lost.hidden = !watch.not_credited.length;
  lost.textContent = watch.not_credited.length ? `Not counted: ${[...new Set(watch.not_credited)].join("; ")}.` : "";
  if (watch.complete) for (const item of $$("[data-missing] li[data-watchful]")) item.remove();
}

// A clip that nobody can see does not count: bring both in front of the eyes before they play.
async function comeIntoView() {
  const seen = ({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0) >= 0.6 * (bottom - top);
  if (player.playing || Object.values(videos).every((video) => seen(video.getBoundingClientRect()))) return;
  pair.scrollIntoView({ block: "start" });
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame); // until the ledger has seen it
}

function cannotPlay(video) {
  $("[data-trouble]", video.closest("[data-side]")).hidden = false;
  const reports = $(".reports");
  if (reports) reports.open = true;
}

$("[data-transport]").hidden = false;
for (const element of $$("[data-play], [data-help]")) element.hidden = false;
const toggleBoth = () => comeIntoView().then(() => player.toggleBoth());
const toggleOne = (side) => comeIntoView().then(() => player.toggleOne(side));
both.addEventListener("click", toggleBoth);
for (const button of $$("[data-play]")) button.addEventListener("click", () => toggleOne(button.dataset.play));
for (const button of $$("[data-step]")) button.addEventListener("click", () => player.step(Number(button.dataset.step)));
const toggleLoop = () => { player.loop = !player.loop; loop.setAttribute("aria-pressed", String(player.loop)); };
loop.addEventListener("click", toggleLoop);
const sound = $("[data-sound]");
const audible = Object.keys(videos).filter((side) => videos[side].dataset.audio === "1");
sound.hidden = audible.length === 0;
const sounds = [...audible, ""]; // one clip at a time, then none
const nextSound = () => player.listenTo(sounds[(sounds.indexOf(player.sound) + 1) % sounds.length]);
if (audible.length) player.listenTo(audible[0]);
sound.addEventListener("click", nextSound);
scrub.addEventListener("input", () => { player.pause(); player.seek((Number(scrub.value) / 1000) * player.duration); });
for (const event of ["change", "ready"]) player.addEventListener(event, showPlayer);
player.addEventListener("time", showTime);
player.addEventListener("trouble", ({ detail }) => {
  cannotPlay(videos[detail.side]);
});
for (const video of Object.values(videos)) {
  video.addEventListener("seeked", showTime);
  video.addEventListener("click", toggleBoth);
  if (video.error) cannotPlay(video); // it failed before we listened
}
document.addEventListener("visibilitychange", () => { if (document.hidden) player.pause(); });
showPlayer();

// --- the form ----------------------------------------------------------------------------------------------------

const chips = $$("[name=secondary_tags]");
const primary = $("[name=primary_tag]");

function limitTags() {
  const full = chips.filter((chip) => chip.checked).length >= 3;
  for (const chip of chips) {
    if (chip.value === primary.value) chip.checked = false;
    chip.disabled = chip.value === primary.value || (full && !chip.checked);
  }
}
form.addEventListener("change", (event) => { limitTags(); mark(event.target.closest("[data-field]"), false); });
limitTags();

// The frame of a question is coloured; the control in it tells assistive technology.
function mark(field, invalid) {
  if (!field) return;
  field.toggleAttribute("data-invalid", invalid);
  const control = field.matches("[role=radiogroup]") ? field : $("select, textarea", field);
  if (control) control.setAttribute("aria-invalid", String(invalid));
}

function showMissing(items) {
  const box = $("[data-missing]");
  for (const field of $$("[data-invalid]")) mark(field, false);
  $("ul", box).replaceChildren(...items.map(({ field, message }) => {
    const line = document.createElement("li");
    line.textContent = message;
    if (field.startsWith("watch")) line.dataset.watchful = "1";
    mark($(`[data-field="${CSS.escape(field)}"]`), true);
    return line;
  }));
  box.classList.remove("hidden");
  box.focus();
}

const submit = $("[data-submit]");
let sending = false;

async function send() {
  if (sending) return;
  sending = submit.disabled = true;
  say("Sending…");
  player.pause();
  try {
    await ledger.flush().catch((error) => { if (error instanceof Offline) throw error; });
    const answer = await post(form.getAttribute("action"), new FormData(form));
    draft.forget();
    if (answer.feedback) showLesson(answer.feedback); else location.assign(answer.next);
    return; // the button stays off: there is nothing more to send here
  } catch (error) {
    if (error.code === "missing") { say(""); showMissing(error.missing); }
    else if (error.code === "session") { say("Not sent. Your answer is kept."); $("[data-expired]").showModal(); }
    else say(error instanceof Offline ? "Not sent: no connection. Your answer is kept; send it again in a moment." : error.message);
  }
  sending = submit.disabled = false;
}

form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
$("[data-retry]").addEventListener("click", () => { $("[data-expired]").close(); send(); });
$("[data-close]").addEventListener("click", () => $("[data-expired]").close());

function showLesson(feedback) {
  const dialog = $("[data-lesson]");
  say("");
  $("[data-lesson-title]").textContent = feedback.right ? "That is what we were looking for" : "Most people would see this one differently";
  $("[data-lesson-text]").textContent = feedback.text;
  $("[data-lesson-expected]").textContent = `Expected: ${feedback.expected}${feedback.expected_tag ? `, because of “${feedback.expected_tag}”` : ""}.`;
  $("[data-lesson-again]").hidden = feedback.right;
  $("[data-lesson-start]").hidden = !feedback.right; // the pair is repeated until it is right
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.showModal();
}

const problem = $("[data-problem]");
problem?.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const answer = await post(problem.getAttribute("action"), new FormData(problem));
    draft.forget();
    location.assign(answer.next);
  } catch (error) {
    if (error.code === "session") $("[data-expired]").showModal(); else say(error.message);
  }
});

// --- keys, break, what comes next --------------------------------------------------------------------------------

const choose = (value) => {
  const choice = $(`[name=winner][value="${value}"]`);
  choice.checked = true;
  choice.focus();
  choice.dispatchEvent(new Event("change", { bubbles: true }));
};
const keys = $("[data-keys]");
const help = () => keys.showModal();
shortcuts.install({
  " ": toggleBoth,
  ",": () => player.step(-1),
  ".": () => player.step(1),
  a: () => toggleOne("A"),
  b: () => toggleOne("B"),
  l: toggleLoop,
  s: () => { if (!sound.hidden) nextSound(); },
  1: () => choose("A"),
  2: () => choose("B"),
  0: () => choose("Tie"),
  "?": help,
});
$("[data-help]").addEventListener("click", help);
const keysOff = $("[data-keys-off]");
keysOff.checked = shortcuts.off();
keysOff.addEventListener("change", () => shortcuts.switchOff(keysOff.checked));

const pause = $("[data-break]");
const pauseAfter = Number(pause.dataset.after);
const opened = Date.now();
let pauseDue = pauseAfter;
const closeBreak = $("[data-break-close]");
closeBreak.hidden = false;
closeBreak.addEventListener("click", () => { pause.hidden = true; pauseDue = minutes() + pauseAfter; });
const minutes = () => Number(pause.dataset.minutes) + Math.floor((Date.now() - opened) / 60000);
setInterval(() => {
  $("[data-break-minutes]").textContent = String(minutes());
  if (minutes() >= pauseDue) pause.hidden = false;
}, 20000);

async function loadAhead() {
  try {
    const { clips } = await get("/rate/next.json");
    for (const address of clips) await fetch(address, { priority: "low" }).then((response) => response.blob());
  } catch { /* only a head start: the next page loads its clips anyway */ }
}
const whole = (video) => video.readyState === 4 ? Promise.resolve() : new Promise((done) => video.addEventListener("canplaythrough", done, { once: true }));
Promise.all(Object.values(videos).map(whole)).then(loadAhead);
