// Unpacks the page's data, places bodies and markers at a time, and ties controls, curves and scene together.

const $ = (id) => document.getElementById(id);
const ARRAYS = { float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, int8: Int8Array };

async function unpacked() {
  const packed = Uint8Array.from(atob($("blob").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const array = ([kind, start, count]) => new ARRAYS[kind](buffer, start, count);
  const data = JSON.parse($("data").textContent);
  for (const name of ["time", "poses"]) data[name] = array(data[name]);
  data.curves = data.curves.map((panel) => panel.map(array));
  for (const part of data.meshes) for (const name of ["vertices", "normals", "faces"]) part[name] = array(part[name]);
  for (const marker of data.markers) for (const name of ["at", "along"]) marker[name] = array(marker[name]);
  return data;
}

// Three numbers of a marker at a frame and a fraction towards the next; constants have one row.
function row(values, i, f) {
  if (values.length === 3) return [values[0], values[1], values[2]];
  const a = 3 * i, b = f > 0 ? a + 3 : a;
  return [0, 1, 2].map((k) => values[a + k] + f * (values[b + k] - values[a + k]));
}

async function start() {
  const data = await unpacked();
  const length = data.time[data.frames - 1];
  const canvas = $("view"), renderer = makeRenderer(canvas);
  let dirty = true, playing = false, now = 0, last = 0;
  const changed = () => { dirty = true; };
  const camera = makeCamera(canvas, data, changed);
  const visible = Object.fromEntries(data.groups.map((group) => [group.name, group.on]));

  const frameAt = (time) => {
    let low = 0, high = data.frames - 1;
    while (high - low > 1) { const mid = (low + high) >> 1; if (data.time[mid] <= time) low = mid; else high = mid; }
    if (time >= data.time[high]) return [high, 0];
    const span = data.time[high] - data.time[low];
    return [low, span > 0 ? (time - data.time[low]) / span : 0];
  };
  const bodyMatrices = (i, f) => {
    const result = [], p = data.poses;
    for (let body = 0; body < data.bodies; body++) {
      const a = 7 * (i * data.bodies + body), b = f > 0 ? a + 7 * data.bodies : a;
      const mixed = [0, 1, 2, 3, 4, 5, 6].map((k) => p[a + k] + f * (p[b + k] - p[a + k]));
      result.push(fromPose(...mixed));
    }
    return result;
  };

  let meshes = [], solids = {};
  const upload = () => {
    meshes = data.meshes.map((part) => ({ ...part, solid: renderer.upload(part) }));
    const round = [];
    for (let k = 0; k <= 10; k++) { const a = (Math.PI * (k - 5)) / 10; round.push([Math.cos(a), Math.sin(a), [Math.cos(a), Math.sin(a)]]); }
    solids = {
      ball: renderer.turned(round),
      stick: renderer.turned([[0, 0], [1, 0], [1, 1], [0, 1]]),
      cone: renderer.turned([[0, 0], [1, 0], [0, 1]]),
      sheet: renderer.turned([[0, 0, [0, 1]], [Math.SQRT1_2, 0, [0, 1]]], 4),
    };
  };
  const markerItems = (marker, bodies, i, f) => {
    const base = marker.body < 0 ? IDENTITY : bodies[marker.body];
    const at = apply(base, row(marker.at, i, f), 1), d = apply(base, row(marker.along, i, f), 0), r = marker.size;
    const item = (name, model) => ({ solid: solids[name], model, color: marker.color, shadow: false });
    if (marker.kind === "ball") return [item("ball", along(at, [0, 0, 1], r, r, r))];
    if (marker.kind === "sheet") {
      const m = along(at, d, r, r, r), turn = along([0, 0, 0], [0, 0, 1], 1, 1, 1);
      const c = Math.SQRT1_2; // corners of the four-sided disc become those of a square along the axes
      turn.set([c, c, 0, 0, -c, c, 0, 0]);
      return [item("sheet", product(m, turn))];
    }
    const size = Math.hypot(...d);
    if (size < 1e-6) return [];
    if (marker.kind === "stick") return [item("stick", along(at, d, r, r, size))];
    const head = Math.min(6 * r, 0.5 * size), shaft = size - head, thin = Math.min(r, head / 3);
    const joint = add(at, scaled(d, shaft / size));
    return [item("stick", along(at, d, thin, thin, shaft)), item("cone", along(joint, d, 2.6 * thin, 2.6 * thin, head))];
  };

  const colors = () => {
    const style = getComputedStyle(document.documentElement);
    const grid = style.getPropertyValue("--grid").trim();
    const rgb = [1, 3, 5].map((k) => parseInt(grid.slice(k, k + 2), 16) / 255);
    const light = parseInt(style.getPropertyValue("--page").trim().slice(1, 3), 16) > 128;
    return { grid: rgb, shadow: light ? 0.16 : 0.4 };
  };
  const power = 10 ** Math.floor(Math.log10(data.radius / 5));
  const cell = power * [1, 2, 5, 10].find((factor) => power * factor >= data.radius / 5.01);

  const plots = makePlots(data.curves, (fraction) => { pause(); seek(fraction * length); });
  const render = () => {
    const [i, f] = frameAt(now);
    plots.at(length > 0 ? now / length : 0, f > 0.5 ? i + 1 : i);
    $("slider").value = now;
    $("clock").textContent = `${(data.start + now).toFixed(2)} / ${(data.start + length).toFixed(2)} s`;
    if (!renderer) return;
    const bodies = bodyMatrices(i, f);
    camera.shift = [0, 0, 0];
    if ($("follow").checked && bodies.length) {
      const first = data.poses.subarray(4, 7);
      camera.shift = [0, 1, 2].map((k) => bodies[0][12 + k] - first[k]);
    }
    const items = meshes.map((part) => ({
      solid: part.solid, model: part.body < 0 ? IDENTITY : bodies[part.body], color: part.color, shadow: true,
    }));
    for (const marker of data.markers) if (visible[marker.group]) items.push(...markerItems(marker, bodies, i, f));
    renderer.render(items, camera, { ground: data.ground, radius: data.radius, cell, ...colors() });
  };
  const seek = (time) => { now = Math.min(length, Math.max(0, time)); changed(); };
  const step = (count) => { pause(); const [i] = frameAt(now + 1e-6); seek(data.time[Math.min(data.frames - 1, Math.max(0, i + count))]); };
  const show = () => { $("play").textContent = playing ? "❚❚" : "▶"; $("play").setAttribute("aria-label", playing ? "Pause" : "Play"); };
  const pause = () => { playing = false; show(); };
  const play = () => { if (now >= length) now = 0; playing = length > 0; last = performance.now(); show(); };
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

  $("slider").max = length;
  $("slider").addEventListener("input", () => { pause(); seek(Number($("slider").value)); });
  $("play").addEventListener("click", () => (playing ? pause() : play()));
  $("reset").addEventListener("click", camera.reset);
  $("follow").addEventListener("change", changed);
  for (const group of data.groups) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = group.name;
    button.setAttribute("aria-pressed", group.on);
    button.addEventListener("click", () => {
      visible[group.name] = !visible[group.name];
      button.setAttribute("aria-pressed", visible[group.name]);
      changed();
    });
    $("switches").append(button);
  }
  $("theme").addEventListener("click", changed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  document.addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.tagName === "BUTTON" && event.key === " ") return;
    const keys = {
      " ": () => (playing ? pause() : play()), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      Home: () => { pause(); seek(0); }, End: () => { pause(); seek(length); }, r: camera.reset, R: camera.reset,
      f: () => $("follow").click(), F: () => $("follow").click(),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  new ResizeObserver(changed).observe(canvas);
  if (renderer) {
    upload();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => location.reload());
  } else {
    $("message").hidden = false;
    $("message").textContent = "This browser shows no WebGL here, so there is no picture of the robot; the curves below work.";
  }
  window.dqdyn = { play, pause, seek, camera, changed, get time() { return now; }, get playing() { return playing; }, length, frames: data.frames };
  requestAnimationFrame(loop);
}

start().catch((problem) => {
  $("message").hidden = false;
  $("message").textContent = `The page cannot be shown: ${problem.message}`;
  throw problem;
});
