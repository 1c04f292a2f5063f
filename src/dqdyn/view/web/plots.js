// Curves below the scene: a cursor in step with the playback, values in the legend, scrubbing, names that hide.

function makePlots(curves, scrub) {
  const figures = [...document.querySelectorAll(".plot")].map((figure, i) => {
    const svg = figure.querySelector(".axes > svg");
    const buttons = hideByName(figure);
    const go = (event) => {
      const box = svg.getBoundingClientRect();
      scrub(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
    };
    svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); go(event); });
    svg.addEventListener("pointermove", (event) => { if (event.buttons & 1) go(event); });
    return { cursor: figure.querySelector(".cursor"), outputs: buttons.map((b) => b.querySelector("output")), values: curves[i] };
  });
  const shown = (x) => (Number.isFinite(x) ? Number(x.toPrecision(4)).toString().replace("-", "−") : "");
  return {
    at(fraction, frame) {
      const x = (1000 * fraction).toFixed(2);
      for (const { cursor, outputs, values } of figures) {
        cursor.setAttribute("x1", x);
        cursor.setAttribute("x2", x);
        outputs.forEach((output, k) => { if (values[k]) output.textContent = shown(values[k][frame]); });
      }
    },
  };
}
