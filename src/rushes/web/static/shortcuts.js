// Keys for raters. Off while typing, off with modifiers, and off altogether where the rater switched them off.

const PLACE = "rushes:keys-off";

const typing = (element) => element.closest("input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");
const pressable = (element) => element.closest("button, a, summary, input:not([type=range])");

export function install(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (off() || typing(target) || document.querySelector("dialog[open]")) return;
    // Space presses a focused button or box; on a choice that is made already it would do nothing, so it plays.
    if (event.key === " " && pressable(target) && !(target.type === "radio" && target.checked)) return;
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    if (!event.repeat || event.key === "," || event.key === ".") action();
  });
}

export function off() {
  try { return localStorage.getItem(PLACE) === "1"; } catch { return false; }
}

export function switchOff(value) {
  try { localStorage.setItem(PLACE, value ? "1" : "0"); } catch { /* not kept: they stay on after a reload */ }
}
