// The rater's page: wires player, stage, ledger, draft, keys and answers together. The page works without it as far as a
// page can; only the watch itself needs the script.

import { Answers } from "./answers.js";
import { Draft } from "./draft.js";
import { Ledger } from "./ledger.js";
import { Marks } from "./marks.js";
import { get, Offline, post } from "./net.js";
import { PairPlayer } from "./player.js";
import { Sending } from "./sending.js";
import * as shortcuts from "./shortcuts.js";
import { Stage } from "./stage.js";
import { words } from "./words.js";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

const PLAY = { play_clip: "play_clip", play_sequence: "play_sequence", play_all: "play_all" };
const pair = $("[data-pair]");
const form = $("[data-vote]");
const assignment = pair.dataset.assignment;
const watched = { ...JSON.parse(pair.dataset.watched), required: Number(pair.dataset.required) };
const sequence = pair.classList.contains("sequence"); // one clip after the other, in one place
const playable = $$("[data-side]").filter((figure) => $("video", figure)); // a refusal has no clip
const videos = Object.fromEntries(playable.map((figure) => [figure.dataset.side, $("video", figure)]));
const fps = Number(document.querySelector("[data-pair]").dataset.fps) || 30;
const player = new PairPlayer(videos, { frameSeconds: 1 / fps });
const saved = $("[data-saved]");
const say = (text) => { saved.textContent = text; };
const stage = new Stage($("[data-stage]"), videos, { language: document.documentElement.lang });
// A vote that is being changed is stored already: what is not sent yet is nobody's draft.
const draft = "correction" in form.dataset ? { forget() {} } : new Draft(form, assignment, { say });
const answers = new Answers(form, { watch: () => watched });
const ledger = new Ledger(videos, { send: report });
const marks = new Marks(form, { place: (side) => videos[side]?.currentTime });

// --- the clips ---------------------------------------------------------------------------------------------------

const both = $("[data-both]");
const scrub = $("[data-scrub]");
const time = $("[data-time]");
const loop = $("[data-loop]");
const lost = $("[data-not-counted]");
const source = $("[data-source]"); // for edits: shown, and never part of the watch

async function report(events, options) {
  try {
    showWatch(await post("/rate/watch", { assignment, events }, options));
  } catch (error) {
    if (error instanceof Offline) notCounted(words("waiting"));
    throw error;
  }
}

function notCounted(text) {
  lost.hidden = !text;
  lost.textContent = text;
}

function showPlayer() {
  both.textContent = words(player.playing ? "pause" : PLAY[both.dataset.playWord] ?? "play_both");
  $("[data-sound]").textContent = player.sound ? words("sound", { side: player.sound }) : words("sound_off");
  for (const [side, video] of Object.entries(videos)) {
    const alone = player.active.has(side) && player.active.size === 1;
    const button = $(`[data-play="${side}"]`);
    if (button) button.textContent = words(alone ? "pause_side" : "play_side", { side: sequence ? $(".name", button.closest("figure")).textContent : side });
    video.closest("[data-side]").classList.toggle("playing", player.active.has(side));
  }
  showTime();
}

function showTime() {
  const { clock, duration } = player;
  time.textContent = `${clock.toFixed(2)} / ${duration.toFixed(2)} s`;
  if (document.activeElement !== scrub || player.playing) scrub.value = duration ? String(Math.round((1000 * clock) / duration)) : "0";
  scrub.setAttribute("aria-valuetext", words("time", { now: clock.toFixed(1), all: duration.toFixed(1) }));
}

function showWatch(watch) {
  const text = $("[data-watch]");
  if (text.textContent !== watch.text) text.textContent = watch.text;
  for (const side of Object.keys(videos)) {
    const count = $(`[data-count="${side}"]`);
    count.textContent = words("watched", { done: watch[side], times: watched.required });
    count.classList.toggle("full", watch[side] >= watched.required);
    $(`[data-share="${side}"]`).value = watch.share[side];
  }
  for (const side of Object.keys(videos)) watched[side] = watch[side];
  answers.refresh();
  notCounted(watch.not_credited.length ? words("not_counted", { why: [...new Set(watch.not_credited.map(reason))].join("; ") }) : "");
}

// The server's reasons in the page's language; one that it does not know is shown as it came.
function reason(told) {
  const [side, why] = [told.slice(0, 3), told.slice(3)];
  const key = why.includes("hidden") ? "why_hidden" : why.includes("more play") ? "why_time" : why.startsWith("played at") ? "why_fast" : "";
  return key && document.documentElement.lang !== "en" ? side + words(key) : told;
}

// A clip that nobody can see does not count: bring both in front of the eyes before they play.
async function comeIntoView() {
  const seen = ({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0) >= 0.6 * (bottom - top);
  if (player.playing || Object.values(videos).every((video) => seen(video.getBoundingClientRect()))) return;
  $("[data-stage-top]").scrollIntoView({ block: "start" });
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame); // until the ledger has seen it
}

function cannotPlay(video) {
  $("[data-trouble]", video.closest("[data-side]")).hidden = false;
  const reports = $(".reports");
  if (reports) reports.open = true;
}

$("[data-transport]").hidden = playable.length === 0;
for (const element of $$("[data-play], [data-help], [data-large]")) element.hidden = false;
const toggleBoth = () => comeIntoView().then(() => { if (sequence && !player.playing) return playInTurn("A"); return player.toggleBoth(); });
const toggleOne = (side) => { if (videos[side]) comeIntoView().then(() => bring(side)).then(() => player.toggleOne(side)); };
let inTurn = false;

// In a sequence one clip is to be seen at a time: bring it to the front before it plays.
async function bring(side) {
  if (!sequence) return;
  for (const figure of $$("[data-side]")) figure.classList.toggle("now", figure.dataset.side === side);
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame); // until the ledger has seen it
}

async function playInTurn(side) {
  inTurn = side === "A";
  await bring(side);
  player.playOne(side);
}
if (sequence) videos.A.addEventListener("ended", () => { if (inTurn && !player.loop) playInTurn("B"); });
both.addEventListener("click", toggleBoth);
for (const button of $$("[data-play]")) button.addEventListener("click", () => toggleOne(button.dataset.play));
for (const button of $$("[data-large]")) button.addEventListener("click", () => stage.toggleFull($("[data-screen]", button.closest("[data-side]"))));
for (const button of $$("[data-step]")) button.addEventListener("click", () => player.step(Number(button.dataset.step)));
const toggleLoop = () => { player.loop = !player.loop; loop.setAttribute("aria-pressed", String(player.loop)); };
loop.addEventListener("click", toggleLoop);
$("[data-full]").addEventListener("click", () => stage.toggleFull());
$("[data-one]").addEventListener("click", () => stage.toggleNative());
const sound = $("[data-sound]");
const audible = Object.keys(videos).filter((side) => videos[side].dataset.audio === "1");
sound.hidden = audible.length === 0;
const sounds = [...audible, ""]; // one clip at a time, then none
const nextSound = () => player.listenTo(sounds[(sounds.indexOf(player.sound) + 1) % sounds.length]);
if (audible.length) player.listenTo(audible[0]);
sound.addEventListener("click", nextSound);
scrub.addEventListener("input", () => { player.pause(); player.seek((Number(scrub.value) / 1000) * player.duration); });
for (const event of ["change", "ready"]) player.addEventListener(event, showPlayer);
player.addEventListener("change", () => { if (player.playing) source?.pause(); });
player.addEventListener("time", showTime);
player.addEventListener("trouble", ({ detail }) => {
  cannotPlay(videos[detail.side]);
});
for (const [side, video] of Object.entries(videos)) {
  video.addEventListener("seeked", showTime);
  // In full screen there is one clip to see, so one is played.
  video.addEventListener("click", () => { if (document.fullscreenElement?.matches("[data-screen]")) toggleOne(side); else toggleBoth(); });
  if (video.error) cannotPlay(video); // it failed before we listened
}
const toggleSource = () => { if (source?.paused) { player.pause(); source.play().catch(() => {}); } else source?.pause(); };
document.addEventListener("visibilitychange", () => { if (document.hidden) { player.pause(); source?.pause(); } });
showPlayer();

// --- the form ----------------------------------------------------------------------------------------------------

const sending = new Sending(form, {
  say,
  async prepare() {
    player.pause();
    form.elements.viewing.value = JSON.stringify(stage.viewing());
    await ledger.flush().catch((error) => { if (error instanceof Offline) throw error; });
  },
  taken(answer) {
    draft.forget();
    if (answer.feedback) showLesson(answer.feedback); else location.assign(answer.next);
  },
  missing: (items) => answers.showMissing(items),
  ended: () => $("[data-expired]").showModal(),
});

form.addEventListener("submit", (event) => { event.preventDefault(); sending.send(); });
$("[data-retry]").addEventListener("click", () => { $("[data-expired]").close(); sending.send(); });
$("[data-close]").addEventListener("click", () => $("[data-expired]").close());

function showLesson(feedback) {
  const dialog = $("[data-lesson]");
  say("");
  $("[data-lesson-title]").textContent = feedback.title;
  $("[data-lesson-text]").textContent = feedback.text;
  $("[data-lesson-expected]").textContent = feedback.expected_text;
  const tag = $("[data-lesson-tag]");
  tag.hidden = !feedback.tag_text;
  tag.textContent = feedback.tag_text;
  $("[data-lesson-start]").hidden = !feedback.right;
  $("[data-lesson-again]").hidden = feedback.right;
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
    if (error.code === "session") $("[data-expired]").showModal();
    else say(error instanceof Offline ? words("not_sent") : error.message);
  }
});

// --- keys, break, what comes next --------------------------------------------------------------------------------

const keys = $("[data-keys]");
const help = () => keys.showModal();
const note = $("[name=note]");
shortcuts.install({
  " ": toggleBoth,
  ",": () => player.step(-1),
  ".": () => player.step(1),
  "shift+a": () => toggleOne("A"),
  "shift+b": () => toggleOne("B"),
  l: toggleLoop,
  s: () => { if (!sound.hidden) nextSound(); },
  f: () => stage.toggleFull(),
  o: () => stage.toggleNative(),
  v: toggleSource,
  n: () => note.focus(),
  ...answers.keys(),
  "+": () => marks.add(),
  ...Object.fromEntries(answers.letters.map((letter) => [letter, () => answers.tag(letter)])),
  "?": help,
}, { send: () => sending.send(), leave: (field) => field.blur() });
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
