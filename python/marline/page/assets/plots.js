// SPDX-License-Identifier: Apache-2.0
// Plots by uPlot, from what marline/page/plots.py says of each; and the same numbers as tables, when they are asked for.

const PLOT_HEIGHT = 230;
const VALUE_TEXTS = {
  ns: duration,
  "%": (value) => `${value.toFixed(1)} %`,
  x: (value) => value.toFixed(2),
  "": (value) => count(value),
};

// Towards white for positive shares, towards black for negative ones.
function shade(color, share) {
  const to = share > 0 ? 255 : 0,
    by = Math.abs(share);
  const channels = [1, 3, 5].map((at) => Math.round(parseInt(color.slice(at, at + 2), 16) * (1 - by) + to * by));
  return `rgb(${channels.join(",")})`;
}

function lineColor({ color, shade: share }) {
  const plain = color.startsWith("#") ? color : css(color);
  return share ? shade(plain, share) : plain;
}

function valueText(plot, value) {
  return value == null ? "none" : VALUE_TEXTS[plot.unit](value);
}

// What a value of x stands for.
function placeText(plot, x) {
  if (plot.form === "bars") return `${plot.labels[x]} to ${plot.labels[x + 1]}`;
  if (plot.labels.length) return plot.labels[x] ?? "";
  return plot.axis === "time" ? duration(x) : count(x);
}

class Plots {
  // `go(from, to)`: shows a time of the run; null: the page has no timeline.
  constructor(plots, go) {
    Object.assign(this, { plots, go, made: [] });
    this.draw();
    for (const box of document.querySelectorAll("[data-table]"))
      box.closest("details").addEventListener("toggle", () => fillTable(box, this.#named(box.dataset.table)));
    if (plots.length)
      new ResizeObserver(() =>
        this.made.forEach((plot) => plot.setSize({ width: plot.root.parentElement.clientWidth, height: PLOT_HEIGHT })),
      ).observe(byId(`plot-${plots[0].name}`));
  }

  #named(name) {
    return this.plots.find((plot) => plot.name === name);
  }

  draw() {
    this.made.forEach((plot) => plot.destroy());
    this.made = this.plots.map((plot) => {
      const made = new uPlot(plotOptions(plot, this.go), plotData(plot), byId(`plot-${plot.name}`));
      made.setLegend(); // what each is in all, until the pointer is over it
      return made;
    });
  }
}

function isStacked(plot) {
  return plot.form === "area" || plot.form === "bars";
}

// Of stacked ones the sum of a line and those below. The highest is drawn first, so that each next one lies over it.
function plotData(plot) {
  if (!isStacked(plot)) return [plot.x, ...plot.lines.map((line) => line.values)];
  const sums = [];
  plot.lines.forEach(({ values }, number) =>
    sums.push(values.map((value, at) => value + (number ? sums[number - 1][at] : 0))),
  );
  return [plot.x, ...sums.reverse()];
}

function plotOptions(plot, go) {
  const order = isStacked(plot) ? [...plot.lines].reverse() : plot.lines;
  const options = {
    width: byId(`plot-${plot.name}`).clientWidth,
    height: PLOT_HEIGHT,
    scales: plotScales(plot),
    axes: plotAxes(plot),
    series: [
      {
        label: plot.axis === "time" ? "at" : plot.axis,
        value: (_, x) => (x == null ? plot.whole : placeText(plot, x)),
      },
      ...order.map((line) => plotSeries(plot, line)),
    ],
    cursor: { drag: { x: Boolean(go), y: false, setScale: false }, points: { show: plot.form === "points" } },
    hooks: {
      setSelect: [(made) => go && selectTime(made, go)],
      draw: plot.level ? [(made) => drawLevelLine(made, plot)] : [],
    },
  };
  return options;
}

function plotSeries(plot, line) {
  const color = lineColor(line),
    paths = {
      area: () => uPlot.paths.stepped({ align: 1 }),
      steps: () => uPlot.paths.stepped({ align: 1 }),
      bars: () => uPlot.paths.bars({ size: [0.86, 60], align: 1 }),
      points: () => uPlot.paths.linear(),
    };
  return {
    label: element("span", { title: line.text || line.name }, line.name),
    stroke: color,
    fill: isStacked(plot) ? color : undefined,
    width: { area: 0, bars: 1, steps: 1.6, points: 2 }[plot.form],
    dash: line.dashed ? [6, 4] : undefined,
    points: { show: plot.form === "points" },
    paths: paths[plot.form](),
    value: (_, value, __, at) => valueText(plot, at == null ? line.whole : line.values[at]),
  };
}

function plotScales(plot) {
  const { x, form, unit, level } = plot;
  const ranges = { bars: [0, x.length], points: x.length < 2 ? [x[0] - 1, x[0] + 1] : undefined };
  const most = level ? level[0] : 0;
  const high = (_, low, top) => [0, Math.max(top, most, unit === "" ? 1 : 1e-9) * 1.06];
  return { x: { time: false, range: ranges[form] }, y: { range: form === "area" ? [0, 100] : high } };
}

function plotAxes(plot) {
  const common = {
    stroke: css("quiet"),
    grid: { stroke: css("line"), width: 1 },
    ticks: { stroke: css("line"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  const times = (_, splits) => splits.map((time) => axisTime(time, splits.length > 1 ? splits[1] - splits[0] : 1));
  const name = (value) => (plot.labels.length ? (plot.labels[value] ?? "") : count(value));
  const labels = (_, splits) => splits.map((value) => (Number.isInteger(value) ? name(value) : ""));
  return [
    { ...common, values: plot.axis === "time" ? times : labels, space: 75 },
    { ...common, values: (_, splits) => splits.map((value) => valueText(plot, value)), size: 60 },
  ];
}

// What is dragged over is shown in the timeline.
function selectTime(made, go) {
  const { left, width } = made.select;
  if (width < 3) return;
  made.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  go(made.posToVal(left, "x"), made.posToVal(left + width, "x"));
}

function drawLevelLine(made, { level: [value, text] }) {
  const y = made.valToPos(value, "y", true),
    { left, width } = made.bbox,
    { ctx: context } = made;
  context.save();
  context.strokeStyle = context.fillStyle = css("quiet");
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(left + width, y);
  context.stroke();
  context.textAlign = "right";
  context.fillText(text, left + width - 4, y - 6);
  context.restore();
}

function fillTable(box, plot) {
  if (box.firstChild) return;
  const cells = (tag, attributes, texts) => texts.map((text) => element(tag, attributes, text));
  const names = plot.lines.map((line) => line.name);
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, plot.axis === "time" ? "from" : plot.axis),
    ...cells("th", { scope: "col", class: "n" }, names),
  );
  const rows = plot.x.map((x, at) => {
    const texts = plot.lines.map((line) => valueText(plot, line.values[at]));
    const head = element("th", { scope: "row" }, placeText(plot, x));
    return element("tr", {}, head, ...cells("td", { class: "n" }, texts));
  });
  box.append(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}
