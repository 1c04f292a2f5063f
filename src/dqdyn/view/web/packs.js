// Packed data: JSON whose references lead into one compressed buffer.

const ARRAYS = { float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, int8: Int8Array, uint8: Uint8Array };

// Rows over time, kept by columns as differences in steps of their range, low bytes before high ones.
function smooth(buffer, start, rows, columns) {
  const low = new Float32Array(buffer, start, columns), step = new Float32Array(buffer, start + 4 * columns, columns);
  const bytes = new Uint8Array(buffer, start + 8 * columns, 2 * rows * columns);
  const result = new Float32Array(rows * columns), high = rows * columns;
  for (let c = 0; c < columns; c++) {
    let count = 0;
    for (let r = 0; r < rows; r++) {
      count = (count + bytes[c * rows + r] + 256 * bytes[high + c * rows + r]) & 65535;
      result[r * columns + c] = low[c] + step[c] * count;
    }
  }
  return result;
}

async function unpacked(element) {
  const { data, blob } = JSON.parse(element.textContent);
  const packed = Uint8Array.from(atob(blob), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const resolved = (value) => {
    if (Array.isArray(value)) {
      const [kind, start, count, columns] = value;
      if (typeof kind === "string" && typeof start === "number" && typeof count === "number") {
        if (kind === "smooth") return smooth(buffer, start, count, columns);
        if (kind === "text") return new TextDecoder().decode(new Uint8Array(buffer, start, count));
        if (ARRAYS[kind]) return new ARRAYS[kind](buffer, start, count);
      }
      return value.map(resolved);
    }
    if (value && typeof value === "object") for (const name of Object.keys(value)) value[name] = resolved(value[name]);
    return value;
  };
  return resolved(data);
}

// A run with the meshes and markers that it shares with others.
function joined(run, shared) {
  return { ...run, meshes: shared.flatMap((part) => part.meshes), markers: [...shared.flatMap((part) => part.markers), ...run.markers] };
}
