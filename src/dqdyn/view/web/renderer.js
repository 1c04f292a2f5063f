// A small WebGL 1 renderer: shaded triangles, shadows on the ground, a grid, and simple solids for markers.

const LIGHT = unit([0.35, -0.5, 1]);

const MESH_VERTEX = `
attribute vec3 place; attribute vec3 normal;
uniform mat4 camera, model; uniform mat3 turn; uniform vec3 low, step3;
varying vec3 at, facing;
void main() {
  vec4 world = model * vec4(low + step3 * place, 1.0);
  at = world.xyz; facing = turn * normal;
  gl_Position = camera * world;
}`;

const MESH_FRAGMENT = `
precision highp float;
uniform vec4 color; uniform vec3 eye, light; uniform float flatness;
varying vec3 at, facing;
void main() {
  if (flatness > 0.5) { gl_FragColor = vec4(color.rgb * color.a, color.a); return; }
  vec3 n = normalize(facing), v = normalize(eye - at);
  if (dot(n, v) < 0.0) n = -n;
  vec3 base = pow(color.rgb, vec3(2.2));
  float key = max(dot(n, light), 0.0);
  float fill = max(dot(n, normalize(v + vec3(0.0, 0.0, 0.25))), 0.0);
  float sky = 0.5 + 0.5 * n.z;
  float shine = pow(max(dot(n, normalize(light + v)), 0.0), 40.0);
  vec3 lit = base * (0.62 * key + 0.30 * fill + 0.22 * sky + 0.05) + vec3(0.10) * shine;
  gl_FragColor = vec4(pow(lit, vec3(1.0 / 2.2)) * color.a, color.a);
}`;

const GRID_VERTEX = `
attribute vec2 corner;
uniform mat4 camera; uniform vec3 middle; uniform float reach;
varying vec2 at;
void main() { at = middle.xy + reach * corner; gl_Position = camera * vec4(at, middle.z, 1.0); }`;

const GRID_FRAGMENT = `
#extension GL_OES_standard_derivatives : enable
precision highp float;
uniform vec3 color, middle; uniform float reach, cell;
varying vec2 at;
float lines(float size) {
  vec2 u = at / size, w = fwidth(u);
  vec2 near = abs(fract(u - 0.5) - 0.5) / max(w, vec2(1e-6));
  return (1.0 - min(min(near.x, near.y), 1.0)) * clamp(1.6 - 2.5 * max(w.x, w.y), 0.0, 1.0);
}
void main() {
  float fade = smoothstep(1.0, 0.15, length(at - middle.xy) / reach);
  float a = max(0.35 * lines(cell), 0.8 * lines(5.0 * cell)) * fade;
  gl_FragColor = vec4(color * a, a);
}`;

function makeRenderer(canvas) {
  const gl = canvas.getContext("webgl", { antialias: true, stencil: true, premultipliedAlpha: true });
  if (!gl) return null;
  gl.getExtension("OES_standard_derivatives");
  gl.getExtension("OES_element_index_uint");

  const program = (vertex, fragment) => {
    const p = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(p, shader);
    }
    gl.bindAttribLocation(p, 0, vertex === MESH_VERTEX ? "place" : "corner");
    if (vertex === MESH_VERTEX) gl.bindAttribLocation(p, 1, "normal");
    gl.linkProgram(p);
    const names = [...(vertex + fragment).matchAll(/uniform \w+ ([^;]+);/g)].flatMap((m) => m[1].split(",").map((s) => s.trim()));
    return { p, at: Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(p, name)])) };
  };
  const mesh = program(MESH_VERTEX, MESH_FRAGMENT), grid = program(GRID_VERTEX, GRID_FRAGMENT);
  const buffer = (target, values) => {
    const b = gl.createBuffer();
    gl.bindBuffer(target, b);
    gl.bufferData(target, values, gl.STATIC_DRAW);
    return b;
  };
  const square = buffer(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));

  const renderer = { gl };
  // Arrays of a mesh as the page has them: 16-bit places in a box, normals as bytes.
  renderer.upload = (part) => ({
    low: part.low, step: part.step, count: part.faces.length,
    index: part.faces instanceof Uint32Array ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT,
    vertices: buffer(gl.ARRAY_BUFFER, part.vertices), normals: buffer(gl.ARRAY_BUFFER, part.normals),
    faces: buffer(gl.ELEMENT_ARRAY_BUFFER, part.faces),
  });

  const draw = (item) => {
    const { solid, model } = item, m = model;
    gl.bindBuffer(gl.ARRAY_BUFFER, solid.vertices);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, false, 8, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, solid.normals);
    gl.vertexAttribPointer(1, 3, gl.BYTE, true, 4, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, solid.faces);
    gl.uniformMatrix4fv(mesh.at.model, false, m);
    // Normals turn with the inverse transpose: columns divided by their squared lengths.
    const turn = [0, 1, 2].flatMap((c) => {
      const column = [m[4 * c], m[4 * c + 1], m[4 * c + 2]];
      return scaled(column, 1 / (dot(column, column) || 1));
    });
    gl.uniformMatrix3fv(mesh.at.turn, false, turn);
    gl.uniform3fv(mesh.at.low, solid.low);
    gl.uniform3fv(mesh.at.step3, solid.step);
    gl.drawElements(gl.TRIANGLES, solid.count, solid.index, 0);
  };

  renderer.render = (items, camera, look) => {
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * scale)), height = Math.max(1, Math.round(canvas.clientHeight * scale));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0); // the page's background shows through
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const { eye, matrix } = camera.matrix(width / height);

    gl.useProgram(grid.p);
    gl.enableVertexAttribArray(0);
    gl.disableVertexAttribArray(1);
    gl.bindBuffer(gl.ARRAY_BUFFER, square);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.uniformMatrix4fv(grid.at.camera, false, matrix);
    const middle = add(camera.target, camera.shift);
    gl.uniform3fv(grid.at.middle, [middle[0], middle[1], look.ground]);
    gl.uniform1f(grid.at.reach, Math.max(9 * look.radius, 2.2 * camera.distance));
    gl.uniform1f(grid.at.cell, look.cell);
    gl.uniform3fv(grid.at.color, look.grid);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);

    gl.useProgram(mesh.p);
    gl.enableVertexAttribArray(1);
    gl.uniform3fv(mesh.at.eye, eye);
    gl.uniform3fv(mesh.at.light, LIGHT);
    const solid = items.filter((item) => item.color[3] >= 1), clear = items.filter((item) => item.color[3] < 1);
    if (eye[2] > look.ground) { // shadows: each point of the ground once, by the stencil
      gl.uniformMatrix4fv(mesh.at.camera, false, product(matrix, shadowOn(look.ground, LIGHT)));
      gl.uniform1f(mesh.at.flatness, 1);
      gl.uniform4fv(mesh.at.color, [0, 0, 0, look.shadow]);
      gl.enable(gl.STENCIL_TEST);
      gl.disable(gl.DEPTH_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      for (const item of solid) if (item.shadow) draw(item);
      gl.disable(gl.STENCIL_TEST);
      gl.enable(gl.DEPTH_TEST);
    }
    gl.uniformMatrix4fv(mesh.at.camera, false, matrix);
    gl.uniform1f(mesh.at.flatness, 0);
    gl.depthMask(true);
    for (const item of solid) { gl.uniform4fv(mesh.at.color, item.color); draw(item); }
    gl.depthMask(false);
    gl.depthFunc(gl.GREATER); // what lies inside of the robot shines through
    for (const item of solid) if (!item.shadow) { gl.uniform4fv(mesh.at.color, [...item.color.slice(0, 3), 0.3]); draw(item); }
    gl.depthFunc(gl.LESS);
    for (const item of clear) { gl.uniform4fv(mesh.at.color, item.color); draw(item); }
    gl.depthMask(true);
  };

  // Solids of revolution about z from (radius, z), with a normal per piece; the same format as meshes.
  renderer.turned = (profile, around = 20) => {
    const places = [], normals = [], faces = [];
    for (let i = 0; i + 1 < profile.length; i++) {
      const [[r0, z0, n0], [r1, z1, n1]] = [profile[i], profile[i + 1]];
      const slope = unit([z1 - z0, r0 - r1, 0]), first = places.length / 4;
      for (let k = 0; k <= around; k++) {
        const c = Math.cos((2 * Math.PI * k) / around), s = Math.sin((2 * Math.PI * k) / around);
        for (const [r, z, n] of [[r0, z0, n0 || slope], [r1, z1, n1 || slope]]) {
          places.push(...[r * c, r * s, z].map((x) => Math.round(((x + 2) / 4) * 65535)), 0);
          normals.push(...[n[0] * c, n[0] * s, n[1]].map((x) => Math.round(x * 127)), 0);
        }
        const a = first + 2 * k;
        if (k < around) faces.push(a, a + 2, a + 3, a, a + 3, a + 1);
      }
    }
    const step = 4 / 65535;
    return renderer.upload({
      low: [-2, -2, -2], step: [step, step, step], vertices: new Uint16Array(places),
      normals: new Int8Array(normals), faces: new Uint16Array(faces),
    });
  };
  return renderer;
}
