// Which runs are shown: one, or several side by side; curves over time follow the same clock.

(() => {
  const runs = [...document.querySelectorAll("script.run")], shared = [...document.querySelectorAll("script.shared")];
  if (!runs.length) return;
  const buttons = [...document.querySelectorAll("#runs button.run-name")], beside = document.getElementById("beside");
  const stages = document.getElementById("stages"), blank = document.getElementById("stage");
  const details = document.getElementById("all-curves"), inside = details.querySelector("div");
  let chosen = [runs.length - 1], turn = 0, shownPlots = null;

  const known = new Map();
  const part = (element) => { if (!known.has(element)) known.set(element, unpacked(element)); return known.get(element); };
  const load = async (k) => {
    const own = await part(runs[k]);
    return joined(own, await Promise.all(runs[k].dataset.shared.split(" ").map((i) => part(shared[Number(i)]))));
  };
  const cursors = () => [...document.querySelectorAll("svg[data-span]")].map((svg) => ({
    svg, cursor: svg.querySelector(".cursor"), start: Number(svg.dataset.start), span: Number(svg.dataset.span),
  }));
  let plots = cursors();
  const playback = makePlayback((now, frame, first) => {
    for (const { cursor, start, span } of plots) {
      const x = (1000 * (first + now - start)) / span;
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
    }
  });
  const scrub = ({ svg, start, span }) => {
    const go = (event) => {
      const box = svg.getBoundingClientRect();
      playback.pause();
      playback.seek(start + (span * (event.clientX - box.left)) / box.width);
    };
    svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); go(event); });
    svg.addEventListener("pointermove", (event) => { if (event.buttons & 1) go(event); });
  };
  plots.forEach(scrub);

  const unfold = (data) => {
    details.hidden = chosen.length > 1 || !data.plots;
    if (!details.open || details.hidden || shownPlots === data) return;
    shownPlots = data;
    inside.innerHTML = data.plots;
    for (const figure of inside.querySelectorAll(".plot")) hideByName(figure);
    plots = cursors();
    plots.filter(({ svg }) => inside.contains(svg)).forEach(scrub);
    window.dqdyn.changed();
  };
  let current = null;
  const show = async () => {
    const mine = ++turn;
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", chosen.includes(k)));
    const data = await Promise.all(chosen.map(load));
    if (mine !== turn) return; // another choice was made meanwhile
    stages.classList.toggle("many", chosen.length > 1);
    playback.present(data, () => {
      const stage = blank.content.firstElementChild.cloneNode(true);
      stages.append(stage);
      return stage;
    });
    [current] = data;
    unfold(current);
    stages.dataset.shown = chosen.map((k) => buttons[k].textContent).join(" | ");
  };
  details.addEventListener("toggle", () => { if (current) unfold(current); });
  buttons.forEach((button, k) => button.addEventListener("click", () => {
    if (beside.getAttribute("aria-pressed") !== "true") chosen = [k];
    else if (!chosen.includes(k)) chosen = [...chosen, k].sort((a, b) => a - b);
    else if (chosen.length > 1) chosen = chosen.filter((i) => i !== k);
    show();
  }));
  beside.addEventListener("click", () => {
    const many = beside.getAttribute("aria-pressed") !== "true";
    beside.setAttribute("aria-pressed", many);
    const last = chosen[chosen.length - 1];
    // all runs of a few; else the chosen one and its neighbour, to which others can be added
    if (!many) chosen = [last];
    else chosen = runs.length <= 4 ? runs.map((_, k) => k) : [Math.max(0, last - 1), Math.max(1, last)];
    show();
  });
  show().catch((problem) => {
    stages.textContent = `The runs cannot be shown: ${problem.message}`;
    throw problem;
  });
})();
