// Press a signature to copy it.

for (const button of document.querySelectorAll("[data-copy]")) {
  const text = button.innerHTML; // our own escaped text with its soft breaks
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button); // no clipboard here: the text is marked, ready for the usual keys
      return;
    }
    setTimeout(() => { button.innerHTML = text; }, 1200);
  });
}
