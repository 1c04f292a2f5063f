// The figures of a report: names that hide what they name; where nothing plays, a cursor under the pointer.
for (const owner of document.querySelectorAll("section .plots > .plot, .multiples")) hideByName(owner);
for (const svg of document.querySelectorAll("svg[data-span]")) {
  if (document.getElementById("stages")) break;
  const cursor = svg.querySelector(".cursor");
  cursor.style.display = "none";
  svg.addEventListener("pointerleave", () => { cursor.style.display = "none"; });
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), x = 1000 * (event.clientX - box.left) / box.width;
    cursor.style.display = "";
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  });
}
