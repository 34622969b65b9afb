// A click on a chart of the panel that this component stands in: sends the address of the cell. A chart says which by its
// traces' `meta`: one address, or one a row or point, in which {x} and {y} stand for the place of the cell, {n} for the
// number of the point.

export default function ({ parentElement, setTriggerValue }) {
  const panel = (parentElement.host ?? parentElement).closest('[class*="st-key-panel-"]');
  const picked = ({ points: [point] }) => {
    const address = addressOf(point);
    if (address) setTriggerValue("cell", address);
  };
  const listen = () => {
    for (const chart of panel.querySelectorAll(".js-plotly-plot")) {
      if (chart.pickable || !chart.on) continue;
      chart.pickable = true;
      chart.picked = picked;
      chart.on("plotly_click", (event) => chart.picked(event));
    }
    for (const chart of panel.querySelectorAll(".js-plotly-plot")) chart.picked = picked;
  };
  const drawn = new MutationObserver(listen);
  drawn.observe(panel, { childList: true, subtree: true });
  listen();
  return () => drawn.disconnect();
}

function addressOf({ data, pointNumber, x, y }) {
  const { meta } = data;
  const row = Array.isArray(pointNumber) ? pointNumber[0] : pointNumber;
  const address = Array.isArray(meta) ? meta[row] : meta;
  return address?.replace("{x}", x).replace("{y}", y).replace("{n}", row);
}
