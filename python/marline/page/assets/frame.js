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

// The whole run, and what of it is in view. Only a change of the width or the theme draws the run anew.
function drawOverview(gantt) {
  const context = gantt.overview.getContext("2d"),
    [begin, end] = gantt.scene.home,
    x = (time) => GUTTER + ((time - begin) / (end - begin)) * (gantt.width - GUTTER);
  gantt.overviewImage ||= makeOverview(gantt, x);
  context.clearRect(0, 0, gantt.width, OVERVIEW);
  context.drawImage(gantt.overviewImage, 0, 0, gantt.width, OVERVIEW);
  const from = Math.max(x(gantt.from), GUTTER),
    to = Math.min(x(gantt.to), gantt.width);
  context.fillStyle = gantt.cardColor;
  context.globalAlpha = 0.72;
  context.fillRect(GUTTER, 0, Math.max(from - GUTTER, 0), OVERVIEW);
  context.fillRect(to, 0, Math.max(gantt.width - to, 0), OVERVIEW);
  context.globalAlpha = 1;
  context.strokeStyle = gantt.accentColor;
  context.lineWidth = 2;
  context.strokeRect(from + 1, 1, Math.max(to - from - 2, 2), OVERVIEW - 2);
}

function makeOverview(gantt, x) {
  const image = document.createElement("canvas"),
    { width, height } = gantt.overview;
  Object.assign(image, { width, height });
  const context = image.getContext("2d"),
    { edges, parts } = gantt.scene.meta.overview;
  context.scale(width / gantt.width, height / OVERVIEW);
  const bottom = edges.map(() => OVERVIEW);
  for (const part of ["work", "overhead", "idle"]) {
    context.fillStyle = css(part);
    for (let window = 0; window + 1 < edges.length; window++) {
      const left = x(edges[window] - gantt.scene.meta.begin),
        right = x(edges[window + 1] - gantt.scene.meta.begin),
        tall = (parts[part][window] * OVERVIEW) / 100;
      bottom[window] -= tall;
      context.fillRect(left, bottom[window], right - left + 0.5, tall);
    }
  }
  context.fillStyle = gantt.quietColor;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("work, overhead, idle", GUTTER - 8, OVERVIEW / 2);
  return image;
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least);
}
