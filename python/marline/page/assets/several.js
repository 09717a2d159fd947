// SPDX-License-Identifier: Apache-2.0
// The pages of several runs: tables that sort, and plots of what meta names, over threads or commits.

const marlinePage = { ready: false };
window.marlinePage = marlinePage; // what tests look at
const LINE_COLORS = ["work", "c-receive", "overhead", "c-region"];
const UNITS = { ns: duration, "%": (value) => `${value.toFixed(1)} %`, "": (value) => count(value) };

// One plot: {id, x, on, labels, unit, lines: [{name, values, dashed}]}; `labels` stand for the numbers in x.
function drawPlot({ id, x, on, labels, unit, lines }) {
  byId(id).replaceChildren();
  const axis = {
    stroke: css("quiet"),
    grid: { stroke: css("line"), width: 1 },
    ticks: { stroke: css("line"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  const text = (value) => (value == null ? "--" : UNITS[unit](value));
  const name = (value) => (labels ? (labels[value] ?? "") : count(value));
  const series = lines.map((line, number) => ({
    label: line.name,
    stroke: css(LINE_COLORS[number % LINE_COLORS.length]),
    width: 2,
    dash: line.dashed ? [6, 4] : undefined,
    points: { show: true },
    value: (_, value) => text(value),
  }));
  const scales = {
    x: { time: false, range: x.length < 2 ? [x[0] - 1, x[0] + 1] : undefined },
    y: { range: (_, low, high) => [0, Math.max(high, 1e-9) * 1.08] },
  };
  const axes = [
    { ...axis, values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? name(value) : "")), space: 80 },
    { ...axis, size: 62, values: (_, splits) => splits.map(text) },
  ];
  const options = {
    width: byId(id).clientWidth,
    height: 230,
    scales,
    axes,
    series: [{ label: on, value: (_, value) => (value == null ? "--" : name(value)) }, ...series],
  };
  new uPlot(options, [x, ...lines.map((line) => line.values)], byId(id));
}

const meta = JSON.parse(byId("meta").textContent);
const redraw = () => (meta.plots || []).forEach(drawPlot);
sortTables();
followTheme(redraw);
redraw();
marlinePage.ready = true;
