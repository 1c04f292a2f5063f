// The page of one run: its scene, and its curves in step.

async function start() {
  const [run, ...shared] = await Promise.all([...document.querySelectorAll("script.run, script.shared")].map(unpacked));
  const data = joined(run, shared);
  const plots = makePlots(data.curves, (fraction) => { playback.pause(); playback.seek(fraction * window.dqdyn.length); });
  const playback = makePlayback((now, frame, first, length) => plots.at(length > 0 ? now / length : 0, frame));
  playback.present([data], () => document.querySelector(".stage"));
}

start().catch((problem) => {
  const message = document.querySelector(".message");
  message.hidden = false;
  message.textContent = `The page cannot be shown: ${problem.message}`;
  throw problem;
});
