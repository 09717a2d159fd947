// SPDX-License-Identifier: Apache-2.0
// The plots over time and of the grain, by uPlot; each with the same numbers as a table.

const PLOT_HEIGHT = 230;
const SHADES = {
  work: [0],
  overhead: [0, 0.25, 0.45, -0.25, -0.4, 0.6],
  idle: [0, 0.3, -0.22, 0.5, -0.38, 0.15, 0.62, -0.1],
};

// Towards white for positive shares, towards black for negative ones.
function shade(color, share) {
  const to = share > 0 ? 255 : 0,
    by = Math.abs(share);
  const channels = [1, 3, 5].map((at) => Math.round(parseInt(color.slice(at, at + 2), 16) * (1 - by) + to * by));
  return `rgb(${channels.join(",")})`;
}

class Plots {
  constructor(meta, go) {
    Object.assign(this, { meta, go, made: [] });
    this.zero = meta.home[0];
    this.data = { breakdown: this.#breakdown(), levels: this.#levels(), grain: this.#grain(), known: this.#known() };
    this.draw();
    for (const box of document.querySelectorAll("[data-table]"))
      box.closest("details").addEventListener("toggle", () => this.#fillTable(box));
    new ResizeObserver(() =>
      this.made.forEach((plot) => plot.setSize({ width: plot.root.parentElement.clientWidth, height: PLOT_HEIGHT })),
    ).observe(byId("plot-breakdown"));
  }

  // Each: heads of columns, x, and lines {name, values, color, fill}.
  #breakdown() {
    const { edges, causes } = this.meta.breakdown,
      used = { work: 0, overhead: 0, idle: 0 };
    const order = ["work", "overhead", "idle"].flatMap((part) => causes.filter((cause) => cause.part === part));
    return {
      x: edges.slice(0, -1).map((edge) => edge - this.zero),
      lines: order.map((cause) => ({
        name: cause.name.replaceAll("_", " ").replace(" body", ""),
        values: cause.share,
        part: cause.part,
        shade: SHADES[cause.part][used[cause.part]++ % SHADES[cause.part].length],
      })),
      unit: (value) => `${value.toFixed(1)} %`,
    };
  }

  #levels() {
    const { edges, lines } = this.meta.levels,
      colors = ["work", "c-receive", "overhead"];
    return {
      x: edges.slice(0, -1).map((edge) => edge - this.zero),
      lines: lines.map((line, number) => ({ name: line.name, values: line.mean, css: colors[number] })),
      unit: (value) => count(value),
    };
  }

  #grain() {
    const { edges_ns: edges, kinds } = this.meta.grain,
      bins = Math.max(edges.length - 1, 0);
    const styles = this.meta.styles.filter((style) => style.key === "task");
    const color = new Map(styles.map((style) => [style.name, style.color]));
    const total = (tasks) => tasks.reduce((sum, one) => sum + one, 0);
    const sorted = kinds.filter((kind) => total(kind.tasks)).sort((a, b) => total(b.tasks) - total(a.tasks));
    const lines = sorted
      .slice(0, 7)
      .map((kind) => ({ name: kind.name, values: kind.tasks, color: color.get(kind.name) }));
    const others = sorted.slice(7);
    if (others.length)
      lines.push({
        name: `${others.length} other kinds`,
        values: Array.from({ length: bins }, (_, bin) => others.reduce((sum, kind) => sum + kind.tasks[bin], 0)),
        css: "idle",
      });
    return { x: Array.from({ length: bins }, (_, bin) => bin), edges, lines, unit: (value) => count(value) };
  }

  // At the end of each window: tasks that are created and have not ended, and the graph that they form.
  #known() {
    const { edges_ns: edges, known, depth, width } = this.meta.known_graph;
    const lines = [
      { name: "tasks known", values: known, css: "idle" },
      { name: "depth", values: depth, css: "overhead" },
      { name: "width", values: width, css: "work" },
    ];
    return { x: edges.slice(1).map((edge) => edge - this.zero), lines, unit: (value) => count(value) };
  }

  draw() {
    this.made.forEach((plot) => plot.destroy());
    this.made = [];
    const { breakdown, levels, grain, known } = this.data;
    if (breakdown.x.length) this.#stacked("plot-breakdown", breakdown, { area: true });
    if (levels.x.length) this.#lines("plot-levels", levels, this.meta.levels.threads);
    if (known.x.length) this.#lines("plot-known", known, 0);
    if (grain.x.length) this.#stacked("plot-grain", grain, { area: false });
    else byId("plot-grain").closest("figure").hidden = true;
    if (!known.lines[0].values.some((value) => value)) byId("plot-known").closest("figure").hidden = true;
    if (!this.meta.levels.lines.some((line) => line.mean.some((value) => value)))
      byId("plot-levels").closest("figure").hidden = true;
  }

  #color(line) {
    if (line.color) return line.color;
    return line.part ? shade(css(line.part), line.shade) : css(line.css);
  }

  #axes(xText, yText) {
    const common = {
      stroke: css("quiet"),
      grid: { stroke: css("line"), width: 1 },
      ticks: { stroke: css("line"), width: 1 },
      font: "11px system-ui, sans-serif",
    };
    return [
      { ...common, values: xText, space: 70 },
      { ...common, values: yText, size: 52 },
    ];
  }

  #options(id, data, scales, axes, series) {
    return {
      width: byId(id).clientWidth,
      height: PLOT_HEIGHT,
      scales,
      axes,
      series,
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
      hooks: { setSelect: [(plot) => this.#selected(id, plot)] },
    };
  }

  // What is dragged over is shown in the timeline.
  #selected(id, plot) {
    if (id === "plot-grain" || plot.select.width < 3) return;
    const [from, to] = [plot.select.left, plot.select.left + plot.select.width].map(
      (x) => plot.posToVal(x, "x") + this.zero,
    );
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.go(from, to, -1);
  }

  #times(plot, splits) {
    const step = splits.length > 1 ? splits[1] - splits[0] : 1;
    return splits.map((time) => axisTime(time, step));
  }

  #stacked(id, data, { area }) {
    const sums = [];
    data.lines.forEach((line, number) =>
      sums.push(line.values.map((value, at) => value + (number ? sums[number - 1][at] : 0))),
    );
    // The highest is drawn first, so that each next one lies over it.
    const order = data.lines.map((_, number) => number).reverse();
    const paths = area ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.bars({ size: [0.86, 60], align: 1 });
    const label = area ? "at" : "lasting";
    const x = { label, value: (_, value) => (value == null ? "--" : area ? duration(value) : this.#bin(value)) };
    const series = [
      x,
      ...order.map((number) => ({
        label: data.lines[number].name,
        paths,
        width: area ? 0 : 1,
        stroke: this.#color(data.lines[number]),
        fill: this.#color(data.lines[number]),
        points: { show: false },
        value: (_, value, __, at) => (at == null ? "--" : data.unit(data.lines[number].values[at])),
      })),
    ];
    const xText = area
      ? (plot, splits) => this.#times(plot, splits)
      : (_, splits) =>
          splits.map((bin) =>
            Number.isInteger(bin) && data.edges[bin] !== undefined ? duration(data.edges[bin]) : "",
          );
    const scales = area
      ? { x: { time: false }, y: { range: [0, 100] } }
      : {
          x: { time: false, range: [0, data.x.length] },
          y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.05] },
        };
    const axes = this.#axes(xText, (_, splits) => splits.map((value) => (area ? `${value} %` : count(value))));
    this.made.push(
      new uPlot(
        this.#options(id, data, scales, axes, series),
        [data.x, ...order.map((number) => sums[number])],
        byId(id),
      ),
    );
  }

  #bin(value) {
    const { edges } = this.data.grain;
    return `${duration(edges[value])} to ${duration(edges[value + 1])}`;
  }

  // `threads`: a line across, if not 0.
  #lines(id, data, threads) {
    const x = { label: "at", value: (_, value) => (value == null ? "--" : duration(value)) };
    const series = [
      x,
      ...data.lines.map((line) => ({
        label: line.name,
        stroke: this.#color(line),
        width: 1.6,
        paths: uPlot.paths.stepped({ align: 1 }),
        points: { show: false },
        value: (_, value) => (value == null ? "--" : data.unit(value)),
      })),
    ];
    const scales = {
      x: { time: false },
      y: { range: (_, low, high) => [0, Math.max(high, threads, 1) * 1.05] },
    };
    const axes = this.#axes(
      (plot, splits) => this.#times(plot, splits),
      (_, splits) => splits.map((value) => count(value)),
    );
    const options = this.#options(id, data, scales, axes, series);
    if (threads) options.hooks.draw = [(plot) => this.#threads(plot)];
    this.made.push(new uPlot(options, [data.x, ...data.lines.map((line) => line.values)], byId(id)));
  }

  #threads(plot) {
    const y = plot.valToPos(this.meta.levels.threads, "y", true),
      { left, width } = plot.bbox,
      { ctx: context } = plot;
    context.save();
    context.strokeStyle = context.fillStyle = css("quiet");
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(left + width, y);
    context.stroke();
    context.textAlign = "right";
    const { threads } = this.meta.levels;
    context.fillText(`${threads} thread${threads > 1 ? "s" : ""}`, left + width - 4, y - 6);
    context.restore();
  }

  #fillTable(box) {
    if (box.firstChild) return;
    const data = this.data[box.dataset.table],
      isGrain = box.dataset.table === "grain";
    const head = element(
      "tr",
      {},
      element("th", { scope: "col" }, isGrain ? "lasting" : "from"),
      ...data.lines.map((line) => element("th", { scope: "col", class: "n" }, line.name)),
    );
    const rows = data.x.map((x, at) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, isGrain ? this.#bin(x) : duration(x)),
        ...data.lines.map((line) => element("td", { class: "n" }, data.unit(line.values[at]))),
      ),
    );
    box.append(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }
}
