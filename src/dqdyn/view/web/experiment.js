// Which run the frame shows: one page at a time, so that one scene is drawn at a time.
const frame = document.getElementById("animation");
const runs = [...document.querySelectorAll("script.run")];
const buttons = [...document.querySelectorAll("#runs button")];
const show = (k) => {
  buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === k));
  frame.srcdoc = JSON.parse(runs[k].textContent);
};
buttons.forEach((button, k) => button.addEventListener("click", () => show(k)));
// A page in a frame does not see the choice of light or dark that is made here.
const dress = () => {
  const root = frame.contentDocument && frame.contentDocument.documentElement;
  if (root && document.documentElement.dataset.theme) root.dataset.theme = document.documentElement.dataset.theme;
};
frame.addEventListener("load", dress);
new MutationObserver(dress).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
if (runs.length) show(runs.length - 1);
