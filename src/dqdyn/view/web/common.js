// Animations and reports: names of curves that hide them, light or dark.
function hideByName(figure) {
  const paths = [...figure.querySelectorAll(".curves path")], buttons = [...figure.querySelectorAll(".legend button")];
  buttons.forEach((button, k) => button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    paths[k].style.display = shown ? "" : "none";
  }));
  return buttons;
}

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
});
