export default function ({ parentElement, setTriggerValue }) {
  const root = document.querySelector('[data-testid="stApp"]');
  const picked = ({ points: [point] }) => { const a = addressOf(point); if (a) setTriggerValue("cell", a); };
  const clicked = ({ target }) => {
    const b = target.closest("[data-cell],[data-step],[data-keep],[data-close],[data-story],[data-token],[data-head],[data-choose]");
    if (!b) return;
    for (const n of ["cell","step","keep","close","story","token","head","choose"]) if (b.dataset[n] !== undefined) return setTriggerValue(n, b.dataset[n]);
  };
  const changed = () => { for (const c of root.querySelectorAll(".js-plotly-plot")) { if (!c.pickable && c.on) { c.pickable = true; c.on("plotly_click", (e) => c.picked(e)); } c.picked = picked; } };
  const drawn = new MutationObserver(changed);
  drawn.observe(root, { childList: true, subtree: true });
  root.addEventListener("click", clicked); changed();
  return () => { drawn.disconnect(); root.removeEventListener("click", clicked); };
}
function addressOf({ data, pointNumber, x, y }) {
  const { meta } = data; const row = Array.isArray(pointNumber) ? pointNumber[0] : pointNumber;
  const address = Array.isArray(meta) ? meta[row] : meta;
  return address?.replace("{x}", x).replace("{y}", y).replace("{n}", row);
}
