// One scene: a robot and what is drawn around it, at a time, with the phases of the run below it.

const RED = [0.87, 0.23, 0.2], LEAST_RED = 0.45;

// Three numbers of a marker at a frame and a fraction towards the next; constants have one row.
function row(values, i, f) {
  if (values.length === 3) return [values[0], values[1], values[2]];
  const a = 3 * i, b = f > 0 ? a + 3 : a;
  return [0, 1, 2].map((k) => values[a + k] + f * (values[b + k] - values[a + k]));
}

function solidsOf(renderer) {
  const arc = (from, to) => {
    const points = [];
    for (let k = from; k <= to; k++) { const a = (Math.PI * k) / 12; points.push([Math.cos(a), Math.sin(a), [Math.cos(a), Math.sin(a)]]); }
    return points;
  };
  const flat = [0, 0, 127, 0];
  return {
    ball: renderer.turned(arc(-6, 6)),
    half: renderer.turned(arc(0, 6)),
    tube: renderer.turned([[1, 0], [1, 1]]),
    stick: renderer.turned([[0, 0], [1, 0], [1, 1], [0, 1]]),
    cone: renderer.turned([[0, 0], [1, 0], [0, 1]]),
    sheet: renderer.turned([[0, 0, [0, 1]], [Math.SQRT1_2, 0, [0, 1]]], 4),
    triangle: renderer.upload({
      low: [0, 0, 0], step: [1, 1, 1], vertices: new Uint16Array([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]),
      normals: new Int8Array([...flat, ...flat, ...flat]), faces: new Uint16Array([0, 1, 2]),
    }),
  };
}

// What a marker is made of: names of solids and their matrices.
function pieces(marker, base, i, f) {
  const at = apply(base, row(marker.at, i, f), 1), d = apply(base, row(marker.along, i, f), 0), r = marker.size;
  if (marker.kind === "ball") return [["ball", along(at, [0, 0, 1], r, r, r)]];
  if (marker.kind === "sheet") {
    const turn = along([0, 0, 0], [0, 0, 1], 1, 1, 1), c = Math.SQRT1_2;
    turn.set([c, c, 0, 0, -c, c, 0, 0]); // corners of the four-sided disc become those of a square along the axes
    return [["sheet", product(along(at, d, r, r, r), turn)]];
  }
  if (marker.kind === "triangle") {
    const across = apply(base, row(marker.across, i, f), 0), normal = cross(d, across);
    return Math.hypot(...normal) > 1e-12 ? [["triangle", fromColumns(d, across, unit(normal), at)]] : [];
  }
  const size = Math.hypot(...d);
  if (marker.kind === "capsule") {
    const end = add(at, d), axis = size > 1e-9 ? d : [0, 0, 1];
    const tube = size > 1e-9 ? [["tube", along(at, d, r, r, size)]] : [];
    return [...tube, ["half", along(end, axis, r, r, r)], ["half", along(at, scaled(axis, -1), r, r, r)]];
  }
  if (size < 1e-6) return [];
  if (marker.kind === "stick") return [["stick", along(at, d, r, r, size)]];
  const head = Math.min(6 * r, 0.5 * size), shaft = size - head, thin = Math.min(r, head / 3);
  const joint = add(at, scaled(d, shaft / size));
  return [["stick", along(at, d, thin, thin, shaft)], ["cone", along(joint, d, 2.6 * thin, 2.6 * thin, head)]];
}

function colorsOfThePage() {
  const style = getComputedStyle(document.documentElement);
  const grid = style.getPropertyValue("--grid").trim();
  const light = parseInt(style.getPropertyValue("--page").trim().slice(1, 3), 16) > 128;
  return { grid: [1, 3, 5].map((k) => parseInt(grid.slice(k, k + 2), 16) / 255), shadow: light ? 0.16 : 0.4 };
}

// `shared`: visible (by key of the legend), changed(), follow(), and of several runs together their bounds (center,
// radius, ground) and the length of the longest.
function makeStage(root, data, shared) {
  const canvas = root.querySelector("canvas"), message = root.querySelector(".message"), now = root.querySelector(".now");
  const renderer = makeRenderer(canvas), bounds = shared.bounds || data;
  const camera = makeCamera(canvas, bounds, () => shared.changed(camera));
  const length = data.time[data.frames - 1];
  root.querySelector("b").textContent = data.name;
  root.querySelector("figcaption").hidden = !data.name && !data.spans.length;

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
      result.push(fromPose(...[0, 1, 2, 3, 4, 5, 6].map((k) => p[a + k] + f * (p[b + k] - p[a + k]))));
    }
    return result;
  };
  let meshes = [], solids = {};
  const upload = () => {
    meshes = data.meshes.map((part) => ({ ...part, solid: renderer.upload(part) }));
    solids = solidsOf(renderer);
  };
  const power = 10 ** Math.floor(Math.log10(bounds.radius / 5));
  const cell = power * [1, 2, 5, 10].find((factor) => power * factor >= bounds.radius / 5.01);

  const draw = (time) => {
    const [i, f] = frameAt(Math.min(time, length)), violated = new Set();
    strip.at(time);
    if (!renderer) return { frame: f > 0.5 ? i + 1 : i, violated };
    const bodies = bodyMatrices(i, f);
    camera.shift = [0, 0, 0];
    if (shared.follow() && bodies.length) {
      const first = data.poses.subarray(4, 7);
      camera.shift = [0, 1, 2].map((k) => bodies[0][12 + k] - first[k]);
    }
    const items = meshes.filter((part) => !part.key || shared.visible[part.key]).map((part) => ({
      solid: part.solid, model: part.body < 0 ? IDENTITY : bodies[part.body], color: part.color, shadow: true,
    }));
    for (const marker of data.markers) {
      const bad = marker.violated && marker.violated[i];
      if (bad) violated.add(marker.key);
      if (!shared.visible[marker.key]) continue;
      const color = bad ? [...RED, Math.max(marker.color[3], LEAST_RED)] : marker.color;
      const base = marker.body < 0 ? IDENTITY : bodies[marker.body];
      for (const [name, model] of pieces(marker, base, i, f)) items.push({ solid: solids[name], model, color, shadow: false });
    }
    renderer.render(items, camera, { ground: bounds.ground, radius: bounds.radius, cell, ...colorsOfThePage() });
    return { frame: f > 0.5 ? i + 1 : i, violated };
  };

  const strip = makeStrip(root.querySelector(".strip"), now, data, shared.longest || length);
  const watcher = new ResizeObserver(() => shared.changed());
  watcher.observe(canvas);
  if (renderer) {
    upload();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { if (root.isConnected) location.reload(); });
  } else {
    message.hidden = false;
    message.textContent = "This browser shows no WebGL here, so there is no picture of the robot; the curves below work.";
  }
  const dispose = () => {
    watcher.disconnect();
    root.remove();
    const lose = renderer && renderer.gl.getExtension("WEBGL_lose_context");
    if (lose) lose.loseContext();
  };
  const nextFrame = (time, count) => {
    const [i] = frameAt(Math.min(time, length) + 1e-6);
    return data.time[Math.min(data.frames - 1, Math.max(0, i + count))];
  };
  return { data, camera, length, draw, dispose, nextFrame };
}

// Phases, events and violations along the time of a run, or of the longest of several.
function makeStrip(element, now, data, length) {
  const part = (time) => `${(100 * Math.min(1, Math.max(0, time / (length || 1)))).toFixed(2)}%`;
  const add = (kind, start, end, title) => {
    const mark = document.createElement("i");
    mark.className = kind;
    mark.style.left = part(start);
    if (end !== null) mark.style.width = `calc(${part(end)} - ${part(start)})`;
    mark.title = title;
    element.append(mark);
    return mark;
  };
  for (const [start, end, name, color] of data.spans) {
    const mark = add("phase", start, end, name);
    mark.style.background = color;
    if ((end - start) / (length || 1) > 0.013 * (name.length + 1)) mark.textContent = name; // where it can be read
  }
  for (const [time, name] of data.events) add("event", time, null, name);
  const bad = new Uint8Array(data.frames);
  for (const marker of data.markers) if (marker.violated) marker.violated.forEach((flag, i) => { bad[i] |= flag; });
  for (let i = 0; i < data.frames; i++) {
    if (!bad[i] || (i && bad[i - 1])) continue;
    let last = i;
    while (last + 1 < data.frames && bad[last + 1]) last++;
    add("violation", data.time[i], data.time[Math.min(last + 1, data.frames - 1)], "a limit is violated");
  }
  const hand = document.createElement("i");
  hand.className = "hand";
  element.append(hand);
  element.classList.toggle("thin", !data.spans.length);
  element.hidden = element.childElementCount < 2;
  return {
    at(time) {
      hand.style.left = part(time);
      const spans = data.spans.filter(([start, end]) => start <= time && time <= end);
      const span = spans[spans.length - 1];
      const words = span ? span[2] : time > data.time[data.frames - 1] ? "ended" : "";
      if (now.textContent !== words) now.textContent = words;
    },
  };
}
