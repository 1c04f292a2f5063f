// A camera that turns about a target, with z up: mouse, pen and fingers.

const ANGLE = 0.62; // field of view, rad

function makeCamera(canvas, data, changed) {
  const home = () => ({
    azimuth: -0.9, elevation: 0.38, distance: data.radius / Math.sin(ANGLE / 2), target: data.center.slice(),
  });
  const camera = { ...home(), shift: [0, 0, 0] };
  camera.reset = () => { Object.assign(camera, home()); changed(); };
  camera.copy = ({ azimuth, elevation, distance, target }) => Object.assign(camera, { azimuth, elevation, distance, target: target.slice() });
  camera.axes = () => {
    const ca = Math.cos(camera.azimuth), sa = Math.sin(camera.azimuth);
    const ce = Math.cos(camera.elevation), se = Math.sin(camera.elevation);
    return { back: [ca * ce, sa * ce, se], right: [-sa, ca, 0], up: [-ca * se, -sa * se, ce] };
  };
  camera.eye = () => add(add(camera.target, camera.shift), scaled(camera.axes().back, camera.distance));
  camera.matrix = (aspect) => {
    // A narrow window sees less to its sides: step back so that the robot fits.
    const back = camera.distance * Math.max(1, 1 / aspect);
    const middle = add(camera.target, camera.shift), eye = add(middle, scaled(camera.axes().back, back));
    const view = lookAt(eye, middle, [0, 0, 1]);
    return { eye, matrix: product(perspective(ANGLE, aspect, back * 0.02, back * 40 + 20 * data.radius), view) };
  };
  const turn = (dx, dy) => {
    camera.azimuth -= dx * 0.007;
    camera.elevation = Math.min(1.55, Math.max(-1.55, camera.elevation + dy * 0.007));
  };
  const pan = (dx, dy) => {
    const { right, up } = camera.axes();
    const s = (2 * camera.distance * Math.tan(ANGLE / 2)) / canvas.clientHeight;
    camera.target = add(camera.target, add(scaled(right, -dx * s), scaled(up, dy * s)));
  };
  const zoom = (factor) => {
    camera.distance = Math.min(200 * data.radius, Math.max(0.05 * data.radius, camera.distance * factor));
  };

  const fingers = new Map();
  const spread = (p) => Math.hypot(p[0].x - p[1].x, p[0].y - p[1].y);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const before = [...fingers.values()].map((p) => ({ ...p }));
    const dx = event.clientX - last.x, dy = event.clientY - last.y;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size === 2) {
      zoom(spread(before) / (spread([...fingers.values()]) || 1));
      pan(dx / 2, dy / 2);
    } else if (event.buttons & 6 || event.shiftKey) pan(dx, dy);
    else turn(dx, dy);
    changed();
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.003));
    changed();
  }, { passive: false });
  return camera;
}
