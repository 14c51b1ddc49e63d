// Keys for raters, and for owners who look at takes. Off while typing, off with modifiers, and off altogether where they
// were switched off. The one chord, Ctrl or Cmd with Enter, sends a rater's form from anywhere, also while typing.

const PLACE = "rushes:keys-off";

const typing = (element) => element.closest("input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");
const pressable = (element) => element.closest("button, a, summary, input:not([type=range])");

// "shift+a" for a letter with Shift; signs such as "?" need Shift on many keyboards and are named by themselves. Caps Lock
// changes nothing.
function nameOf({ key, shiftKey }) {
  const small = key.toLowerCase();
  return shiftKey && /^[a-z]$/.test(small) ? `shift+${small}` : small;
}

export function install(actions, { send = null, leave = (field) => field.blur() } = {}) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (send && event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey) {
      if (target.closest("[data-problem]")) return;
      event.preventDefault();
      if (!event.repeat) send();
      return;
    }
    if (event.key === "Escape" && target.matches("textarea")) { leave(target); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || off() || typing(target)) return;
    // Space presses a focused button or box; on a choice that is made already it would do nothing, so it plays.
    if (event.key === " " && pressable(target) && !(target.type === "radio" && target.checked)) return;
    const action = actions[nameOf(event)];
    if (!action) return;
    event.preventDefault();
    if (!event.repeat || event.key === "," || event.key === ".") action(target);
  });
}

export function off() {
  try { return localStorage.getItem(PLACE) === "1"; } catch { return false; }
}

export function switchOff(value) {
  try { localStorage.setItem(PLACE, value ? "1" : "0"); } catch { /* not kept: they stay on after a reload */ }
}
