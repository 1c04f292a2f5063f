// The curves of a report: a cursor under the pointer.
for (const figure of document.querySelectorAll(".plot")) {
  const svg = figure.querySelector(".axes > svg"), cursor = figure.querySelector(".cursor");
  hideByName(figure);
  cursor.style.display = "none";
  svg.addEventListener("pointerleave", () => { cursor.style.display = "none"; });
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), x = 1000 * (event.clientX - box.left) / box.width;
    cursor.style.display = "";
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  });
}
