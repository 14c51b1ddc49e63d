// The grid: a picture plays while it is pointed at or focused. One video at a time, made when needed and taken away after.

let shown = null;

function stop() {
  if (!shown) return;
  shown.video.pause();
  shown.video.removeAttribute("src");
  shown.video.load();
  shown.video.remove();
  shown = null;
}

function play(link) {
  if (shown?.link === link) return;
  stop();
  const video = document.createElement("video");
  Object.assign(video, { muted: true, loop: true, playsInline: true, src: link.dataset.video });
  video.setAttribute("aria-hidden", "true");
  video.tabIndex = -1;
  link.append(video);
  shown = { link, video };
  video.play().catch(() => {}); // a clip that does not play keeps its picture
}

for (const link of document.querySelectorAll("[data-video]")) {
  link.addEventListener("pointerenter", () => play(link));
  link.addEventListener("focus", () => play(link));
  link.addEventListener("pointerleave", stop);
  link.addEventListener("blur", stop);
}
for (const image of document.querySelectorAll(".shot img")) {
  image.addEventListener("error", () => image.closest(".shot").classList.add("blank"));
}

// A choice takes effect at once; words do when the field is left or Enter is pressed.
const form = document.querySelector(".gridform");
form?.addEventListener("change", () => form.requestSubmit());
