// SPDX-License-Identifier: Apache-2.0
// What is around the bars: names of lanes, the axis of time, and the whole run above it.

function drawLabels(gantt, visible) {
  const { context, scene } = gantt;
  context.save();
  context.beginPath();
  context.rect(0, AXIS, GUTTER, gantt.height - AXIS);
  context.clip();
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  let before = "";
  for (const lane of visible) {
    const { main, height } = scene.rows[lane],
      { text, kind } = scene.lanes[lane];
    if (kind !== "thread" && text === before) continue;
    before = text;
    context.fillStyle = kind === "thread" ? gantt.textColor : gantt.quietColor;
    context.fillText(
      text.length > 25 ? `${text.slice(0, 24)}\u2026` : text,
      GUTTER - 8,
      main + height / 2 + AXIS - gantt.scroll,
    );
    gantt.stats.objects++;
  }
  context.restore();
  drawScrollbar(gantt);
}

// How much of the lanes is in view, where it is not all.
function drawScrollbar(gantt) {
  const { context, height, width, scene } = gantt,
    room = height - AXIS,
    share = room / scene.height;
  if (share >= 1) return;
  context.fillStyle = gantt.quietColor;
  context.globalAlpha = 0.5;
  context.fillRect(width - 6, AXIS + (gantt.scroll / scene.height) * room, 5, share * room);
  context.globalAlpha = 1;
  gantt.stats.objects++;
}

function drawAxis(gantt) {
  const { context, width } = gantt,
    [zero] = gantt.scene.home;
  context.fillStyle = gantt.cardColor;
  context.fillRect(0, 0, width, AXIS);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "center";
  const step = niceStep((gantt.to - gantt.from) / Math.max((width - GUTTER) / 110, 2));
  for (let time = Math.ceil((gantt.from - zero) / step) * step; time + zero < gantt.to; time += step) {
    const x = gantt.x(time + zero);
    context.fillStyle = gantt.lineColor;
    context.fillRect(Math.round(x), AXIS - 5, 1, 5);
    context.fillStyle = gantt.quietColor;
    if (x > GUTTER + 20 && x < width - 26) context.fillText(axisTime(time, step), x, 10);
    gantt.stats.objects += 2;
  }
  context.textAlign = "left";
  context.fillStyle = gantt.lineColor;
  context.fillRect(GUTTER, AXIS - 1, width - GUTTER, 1);
}

// The whole run, and what of it is in view.
function drawOverview(gantt) {
  const context = gantt.overview.getContext("2d"),
    { scene } = gantt,
    [begin, end] = scene.home;
  const { edges, causes } = scene.meta.breakdown,
    x = (time) => GUTTER + ((time - begin) / (end - begin)) * (gantt.width - GUTTER);
  context.clearRect(0, 0, gantt.width, 34);
  for (let window = 0; window + 1 < edges.length; window++) {
    const left = x(edges[window] - scene.meta.begin),
      right = x(edges[window + 1] - scene.meta.begin);
    let base = 34;
    for (const part of ["work", "overhead", "idle"]) {
      const tall = causes.reduce((sum, cause) => sum + (cause.part === part ? cause.share[window] : 0), 0) * 0.34;
      context.fillStyle = css(part);
      context.fillRect(left, base - tall, right - left + 0.5, tall);
      base -= tall;
      gantt.stats.objects++;
    }
  }
  const from = Math.max(x(gantt.from), GUTTER),
    to = Math.min(x(gantt.to), gantt.width);
  context.fillStyle = gantt.cardColor;
  context.globalAlpha = 0.72;
  context.fillRect(GUTTER, 0, Math.max(from - GUTTER, 0), 34);
  context.fillRect(to, 0, Math.max(gantt.width - to, 0), 34);
  context.globalAlpha = 1;
  context.strokeStyle = gantt.accentColor;
  context.lineWidth = 2;
  context.strokeRect(from + 1, 1, Math.max(to - from - 2, 2), 32);
  context.fillStyle = gantt.quietColor;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("work, idle, overhead", GUTTER - 8, 17);
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least);
}

function axisTime(time, step) {
  if (time === 0) return "0";
  const [factor, unit] =
    Math.abs(time) >= 1e9
      ? [1e9, "s"]
      : Math.abs(time) >= 1e6
        ? [1e6, "ms"]
        : Math.abs(time) >= 1e3
          ? [1e3, "us"]
          : [1, "ns"];
  const digits = Math.max(Math.ceil(-Math.log10(step / factor) - 1e-9), 0);
  return `${(time / factor).toFixed(digits)} ${unit}`;
}
