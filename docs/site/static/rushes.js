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
