// Animations and reports: names of curves that hide them, light or dark.
function hideByName(owner) {
  const drawings = [...owner.querySelectorAll(".curves")], buttons = [...owner.querySelectorAll(".legend button")];
  buttons.forEach((button, k) => button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    for (const drawing of drawings) drawing.children[k].style.display = shown ? "" : "none";
  }));
  return buttons;
}

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
});
