// The last page asks now and then whether there is a pair again: a third look must not wait for a chance reload. Asking
// holds no place; the pair is given out when the rater goes there.

import { get } from "./net.js";

const ASK_MS = 20000;
const more = document.querySelector("[data-more]");

async function ask() {
  if (document.hidden || !more.hidden) return;
  try {
    more.hidden = !(await get("/rate/more.json")).more;
  } catch { /* no connection, or signed out: the page says nothing it does not know */ }
}
setInterval(ask, ASK_MS);
document.addEventListener("visibilitychange", ask);
