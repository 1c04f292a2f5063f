// What is drawn, by name: colors, scales of arrows, and switches; red while a limit is violated.

const SHAPES = {
  body: '<rect x="2" y="2" width="12" height="8" rx="1"/>',
  ball: '<circle cx="8" cy="6" r="5"/>', sheet: '<path d="M1 9L5 3H15L11 9Z"/>', triangle: '<path d="M1 10L5 2L15 5L12 10Z"/>',
  capsule: '<rect x="1" y="3" width="14" height="6" rx="3"/>', stick: '<path d="M1 7.5H15V4.5H1Z"/>',
  arrow: '<path d="M1 7H9V10L15 6L9 2V5H1Z"/>',
};

function makeLegend(element, visible, changed) {
  const buttons = new Map();
  const show = (entries) => {
    element.replaceChildren();
    buttons.clear();
    for (const entry of entries) {
      if (!(entry.key in visible)) visible[entry.key] = entry.on;
      const button = document.createElement("button");
      button.type = "button";
      button.className = entry.key.split(" ")[0];
      button.setAttribute("aria-pressed", visible[entry.key]);
      for (const { kind, color, note } of entry.symbols) {
        const symbol = document.createElement("span");
        const [r, g, b] = color.slice(0, 3).map((c) => Math.round(255 * c));
        symbol.innerHTML = `<svg viewBox="0 0 16 12" aria-hidden="true">${SHAPES[kind]}</svg>`;
        symbol.firstChild.style.cssText = `fill: rgba(${r}, ${g}, ${b}, ${Math.max(0.35, color[3])}); stroke: rgb(${r}, ${g}, ${b})`;
        button.append(symbol);
        if (note) { const small = document.createElement("small"); small.textContent = note; button.append(small); }
      }
      const name = document.createElement("span");
      name.textContent = entry.name;
      button.insertBefore(name, entry.symbols.some((symbol) => symbol.note) ? button.children[1] : null);
      button.addEventListener("click", () => {
        visible[entry.key] = !visible[entry.key];
        button.setAttribute("aria-pressed", visible[entry.key]);
        changed();
      });
      element.append(button);
      buttons.set(entry.key, button);
    }
  };
  const mark = (violated) => {
    for (const [key, button] of buttons) button.classList.toggle("violated", violated.has(key));
  };
  return { show, mark };
}

// Entries of several runs, each key once; what the user added before what the robot offers.
function mergedEntries(runs) {
  const found = new Map();
  for (const run of runs) for (const entry of run.legend) if (!found.has(entry.key)) found.set(entry.key, entry);
  const all = [...found.values()];
  return [...all.filter((entry) => entry.on), ...all.filter((entry) => !entry.on)];
}
