// Clicks in the panel that this component stands in. On a chart: sends the address of the cell. A chart says which by its
// traces' `meta`: one address, or one a row or point, in which {x} and {y} stand for the place of the cell, {n} for the
// number of the point. On a link of a walk, a button with data-step, data-keep or data-story: sends what it says.

export default function ({ parentElement, setTriggerValue }) {
  const panel = (parentElement.host ?? parentElement).closest('[class*="st-key-panel-"]');
  if (!panel) return; // the page was left before this ran
  const picked = ({ points: [point] }) => {
    const address = addressOf(point);
    if (address) setTriggerValue("cell", address);
  };
  const clicked = ({ target }) => {
    const button = target.closest("button");
    if (button) panel.left = button;
    const [said] = Object.entries(button?.closest(".bv-crumbs, .bv-onward") ? button.dataset : {});
    if (said) setTriggerValue(...said);
  };
  const changed = () => {
    for (const chart of panel.querySelectorAll(".js-plotly-plot")) {
      if (!chart.pickable && chart.on) {
        chart.pickable = true;
        chart.on("plotly_click", (event) => chart.picked(event));
      }
      chart.picked = picked;
    }
    follow(panel);
  };
  const drawn = new MutationObserver(changed);
  drawn.observe(panel, { childList: true, subtree: true });
  panel.addEventListener("click", clicked);
  changed();
  return () => {
    drawn.disconnect();
    panel.removeEventListener("click", clicked);
  };
}

// The keyboard goes on from the button that was pressed, once the walk has taken that away: with the operand that matters
// most, after a crumb with the crumb before it, after the walk with what opens one.
function follow(panel) {
  if (!panel.left || panel.left.isConnected || document.activeElement !== document.body) return;
  const next = panel.querySelector(panel.left.dataset.keep ? ".bv-crumbs :nth-last-child(-n + 2)" : ".bv-onward button")
    ?? panel.querySelector('.bv-onward[tabindex], [class*="st-key-explain-"] button');
  if (next) panel.left = null;
  next?.focus({ preventScroll: true });
}

function addressOf({ data, pointNumber, x, y }) {
  const { meta } = data;
  const row = Array.isArray(pointNumber) ? pointNumber[0] : pointNumber;
  const address = Array.isArray(meta) ? meta[row] : meta;
  return address?.replace("{x}", x).replace("{y}", y).replace("{n}", row);
}
