// A report: names of curves that hide them, a cursor under the pointer, light or dark.
for (const figure of document.querySelectorAll(".plot")) {
  const svg = figure.querySelector(".axes > svg"), cursor = figure.querySelector(".cursor");
  const paths = [...figure.querySelectorAll(".curves path")];
  figure.querySelectorAll(".legend button").forEach((button, k) => button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    paths[k].style.display = shown ? "" : "none";
  }));
  cursor.style.display = "none";
  svg.addEventListener("pointerleave", () => { cursor.style.display = "none"; });
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), x = 1000 * (event.clientX - box.left) / box.width;
    cursor.style.display = "";
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  });
}
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
