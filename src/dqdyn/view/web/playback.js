// One clock for one or more stages: play, slider, speed, keys. `moved(time, frame)` follows it.

const $ = (id) => document.getElementById(id);

function makePlayback(moved) {
  let stages = [], length = 0, dirty = true, playing = false, now = 0, last = 0;
  const visible = {};
  const changed = (camera) => {
    if (camera) for (const stage of stages) if (stage.camera !== camera) stage.camera.copy(camera);
    dirty = true;
  };
  const legend = makeLegend($("drawn"), visible, changed);
  const start = () => (stages.length ? stages[0].data.start : 0);

  const render = () => {
    const drawn = stages.map((stage) => stage.draw(now));
    $("slider").value = now;
    $("clock").textContent = `${(start() + now).toFixed(2)} / ${(start() + length).toFixed(2)} s`;
    legend.mark(new Set(drawn.flatMap(({ violated }) => [...violated])));
    moved(now, drawn.length ? drawn[0].frame : 0, start(), length);
  };
  const seek = (time) => { now = Math.min(length, Math.max(0, time)); changed(); };
  const longestStage = () => stages.reduce((a, b) => (b.length > a.length ? b : a));
  const step = (count) => { pause(); if (stages.length) seek(longestStage().nextFrame(now, count)); };
  const show = () => { $("play").textContent = playing ? "❚❚" : "▶"; $("play").setAttribute("aria-label", playing ? "Pause" : "Play"); };
  const pause = () => { playing = false; show(); };
  const play = () => { if (now >= length) now = 0; playing = length > 0; last = performance.now(); show(); };
  const toggle = () => (playing ? pause() : play());
  const reset = () => { for (const stage of stages) stage.camera.reset(); };
  const loop = (time) => {
    if (playing) {
      now += ((time - last) / 1000) * Number($("speed").value);
      if (now >= length) { if ($("repeat").checked) now %= length || 1; else { now = length; pause(); } }
      now = Math.max(0, now);
      dirty = true;
    }
    last = time;
    if (dirty) { dirty = false; render(); }
    requestAnimationFrame(loop);
  };

  $("slider").addEventListener("input", () => { pause(); seek(Number($("slider").value)); });
  $("play").addEventListener("click", toggle);
  $("reset").addEventListener("click", reset);
  $("follow").addEventListener("change", () => changed());
  $("theme").addEventListener("click", () => changed());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => changed());
  document.addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (["BUTTON", "SUMMARY"].includes(event.target.tagName) && event.key === " ") return;
    const keys = {
      " ": toggle, ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      Home: () => { pause(); seek(0); }, End: () => { pause(); seek(length); }, r: reset, R: reset,
      f: () => $("follow").click(), F: () => $("follow").click(),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });

  const shared = { visible, changed, follow: () => $("follow").checked };
  const present = (runs, make) => {
    for (const stage of stages) stage.dispose();
    // All scenes are seen from one place, so that runs can be compared.
    const bounds = runs.length > 1 ? runs.reduce((a, b) => (b.radius > a.radius ? b : a)) : undefined;
    const before = stages.length ? stages[0].camera : null, where = before && runs.length === stages.length;
    const longest = Math.max(...runs.map((run) => run.time[run.frames - 1]));
    stages = runs.map((run) => makeStage(make(run), run, { ...shared, bounds, longest }));
    if (where) for (const stage of stages) stage.camera.copy(before);
    length = Math.max(0, ...stages.map((stage) => stage.length));
    $("slider").max = length;
    now = Math.min(now, length);
    legend.show(mergedEntries(runs));
    changed();
  };
  requestAnimationFrame(loop);
  window.dqdyn = {
    play, pause, seek, changed, get camera() { return stages[0].camera; }, get time() { return now; },
    get playing() { return playing; }, get length() { return length; }, get frames() { return stages[0].data.frames; },
    get stages() { return stages.length; },
  };
  return { present, seek, pause };
}
