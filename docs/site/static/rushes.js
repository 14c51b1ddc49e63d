// A button on each block that copies it; of a session in a terminal, the commands alone.
for (const block of document.querySelectorAll("div.highlight")) {
  const pre = block.querySelector("pre");
  const isSession = block.parentElement.classList.contains("highlight-console");
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const lines = pre.textContent.trimEnd().split("\n");
    const commands = lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
    try {
      await navigator.clipboard.writeText((isSession ? commands : lines).join("\n"));
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy";  // a page opened as a file may not write to the clipboard
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}

// What the theme leaves out for those who use a keyboard or a screen reader.
for (const pre of document.querySelectorAll("div.highlight pre, div.table-wrapper")) pre.tabIndex = 0;
for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.ariaLevel = "2";
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");

// A table that does not fit says that it scrolls.
const wide = () => {
  for (const one of document.querySelectorAll(".table-wrapper")) one.classList.toggle("wide", one.scrollWidth > one.clientWidth + 2);
};
addEventListener("resize", wide);
wide();

// The index of the metrics: every word of the field has to be in a row; what does not match is hidden.
const field = document.getElementById("metric-filter");
if (field) {
  field.hidden = false;
  const groups = [...document.querySelectorAll("details.metrics")];
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const group of groups) {
      const head = group.querySelector("summary").textContent.toLowerCase();
      let shown = 0;
      for (const row of group.querySelectorAll("tbody tr")) {
        const text = `${head} ${row.textContent}`.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      group.hidden = shown === 0;
      group.open = words.length > 0 && shown > 0;
    }
  };
  field.addEventListener("input", search);
  search();
}
