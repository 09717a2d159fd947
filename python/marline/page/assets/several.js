// SPDX-License-Identifier: Apache-2.0
// The page of several runs: tables that sort, and of a scaling table its two plots.

const marlinePage = { ready: false };
window.marlinePage = marlinePage; // what tests look at
const LINE_COLORS = ["work", "c-receive", "overhead", "c-region"];

function drawScaling(meta) {
  const [first] = meta.threads,
    order = [...meta.threads.keys()].sort((a, b) => meta.threads[a] - meta.threads[b]);
  const sorted = (values) => order.map((at) => values[at]);
  const x = sorted(meta.threads);
  const plots = [
    [
      "plot-speedup",
      [
        { name: "speedup", values: sorted(meta.speedup) },
        { name: "ideal", values: x.map((threads) => threads / first), dash: [6, 4] },
      ],
      (value) => value.toFixed(2),
    ],
    [
      "plot-efficiency",
      meta.lines.map((line) => ({
        name: line.name,
        values: sorted(line.values).map((value) => (value === null ? null : 100 * value)),
      })),
      (value) => `${value.toFixed(1)} %`,
    ],
  ];
  for (const [id, lines, text] of plots) {
    byId(id).replaceChildren();
    const axis = {
      stroke: css("quiet"),
      grid: { stroke: css("line"), width: 1 },
      ticks: { stroke: css("line"), width: 1 },
      font: "11px system-ui, sans-serif",
    };
    const series = lines.map((line, number) => ({
      label: line.name,
      stroke: css(LINE_COLORS[number % 4]),
      width: 2,
      dash: line.dash,
      points: { show: true },
      value: (_, value) => (value == null ? "--" : text(value)),
    }));
    const scales = { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.05] } };
    const options = {
      width: byId(id).clientWidth,
      height: 240,
      scales,
      axes: [
        { ...axis, values: (_, splits) => splits.map(count) },
        { ...axis, size: 52 },
      ],
      series: [{ label: "threads", value: (_, value) => (value == null ? "--" : count(value)) }, ...series],
    };
    new uPlot(options, [x, ...lines.map((line) => line.values)], byId(id));
  }
}

const meta = JSON.parse(byId("meta").textContent);
const redraw = () => meta.threads && drawScaling(meta);
sortTables();
followTheme(redraw);
redraw();
marlinePage.ready = true;
