// 4×4 matrices by columns, as WebGL takes them, and the few vector operations that the player needs.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scaled(a, 1 / (Math.hypot(...a) || 1));

function product(a, b) {
  const m = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      m[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
  return m;
}

const fromColumns = (x, y, z, p) => new Float32Array([...x, 0, ...y, 0, ...z, 0, ...p, 1]);
const IDENTITY = fromColumns([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]);
const apply = (m, v, w) => [0, 1, 2].map((i) => m[i] * v[0] + m[4 + i] * v[1] + m[8 + i] * v[2] + m[12 + i] * w);

function fromPose(w, x, y, z, px, py, pz) {
  const s = 2 / (w * w + x * x + y * y + z * z);
  return fromColumns(
    [1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y)],
    [s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x)],
    [s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y)],
    [px, py, pz],
  );
}

// A frame at p whose z axis points along d, with its axes stretched.
function along(p, d, sx, sy, sz) {
  const z = Math.hypot(...d) > 0 ? unit(d) : [0, 0, 1];
  const least = [0, 1, 2].reduce((a, b) => (Math.abs(z[b]) < Math.abs(z[a]) ? b : a), 0);
  const x = unit(cross([0, 1, 2].map((i) => (i === least ? 1 : 0)), z));
  return fromColumns(scaled(x, sx), scaled(cross(z, x), sy), scaled(z, sz), p);
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2), d = 1 / (near - far);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) * d, -1, 0, 0, 2 * near * far * d, 0]);
}

function lookAt(eye, target, up) {
  const z = unit(minus(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

// Shadows: points go along the light onto the plane z = height.
function shadowOn(height, light) {
  const [x, y, z] = light;
  return new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, -x / z, -y / z, 0, 0, (x / z) * height, (y / z) * height, height, 1]);
}
