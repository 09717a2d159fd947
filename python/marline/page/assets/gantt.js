// SPDX-License-Identifier: Apache-2.0
// The timeline on a canvas of its own: libraries draw an element for each bar, and 10^5 elements stop a browser. Each
// frame draws what is in view, from a level of added-up bars where that is too much: never more than MOST_OBJECTS.

const MOST_BARS = 8000,
  MOST_CELLS = 16000,
  MOST_ROWS = 24000,
  MOST_BESIDE = 5000,
  MOST_STEPS = 3000,
  MOST_ARROWS = 1500,
  MOST_TEXTS = 250,
  MOST_MARKS = 3000;
const MOST_OBJECTS = 60000;
const GUTTER = 158,
  AXIS = 24,
  OVERVIEW = 34;
const LEAST_CELL = 2; // pixels, of a part of a level

class Gantt {
  constructor(scene, canvas, overview) {
    Object.assign(this, { scene, canvas, overview, scroll: 0, selected: null, band: null, highlight: null, past: [] });
    this.shown = { chain: true, path: false, arrows: false };
    this.context = canvas.getContext("2d");
    this.stats = { frames: 0, objects: 0, mostObjects: 0, bars: 0, cells: 0, parts: 0, milliseconds: [] };
    this.changed = () => {};
    this.goHome();
    this.readTheme();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  readTheme() {
    this.colors = this.scene.styles.map((style) => style.color || css(`c-${style.key}`));
    this.textColors = this.colors.map((color) => (isDark(color) ? "#ffffff" : "#10151c"));
    this.sendColor = css("c-send");
    this.overviewImage = null;
    // Of code, the colour says enough, and other bars lie over it.
    const isPlain = (style) => ["code", "implicit"].includes(this.scene.styles[style].key);
    this.plain = new Set([...this.scene.styles.keys()].filter(isPlain));
    for (const name of ["card", "text", "quiet", "line", "soft", "accent", "chain", "path", "band", "empty", "find"])
      this[`${name}Color`] = css(name);
    this.draw();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = Math.max(this.canvas.parentElement.clientWidth, 300);
    this.height = Math.min(this.scene.height + AXIS, Math.max(window.innerHeight * 0.68, 260));
    this.canvas.style.height = `${this.height}px`;
    for (const [canvas, height] of [
      [this.canvas, this.height],
      [this.overview, OVERVIEW],
    ]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.overviewImage = null;
    if (this.to !== undefined) this.frame(); // at once: the canvas is empty now
  }

  // ---- the view: [from, to) ns ----
  goHome() {
    const [begin, end] = this.scene.home,
      margin = Math.max((end - begin) * 0.01, 1);
    this.setView(begin - margin, end + margin);
  }

  setView(from, to, remember = true) {
    const least = 50,
      most = this.scene.end * 1.1 + 100;
    const length = Math.min(Math.max(to - from, least), most),
      middle = (from + to) / 2;
    if (remember && this.to !== undefined && (from !== this.from || to !== this.to)) {
      this.past.push([this.from, this.to]);
      if (this.past.length > 50) this.past.shift();
    }
    this.from = Math.min(Math.max(middle - length / 2, -this.scene.end * 0.05), this.scene.end * 1.05 - length / 2);
    this.to = this.from + length;
    this.draw();
  }

  goBack() {
    const before = this.past.pop();
    if (before) this.setView(...before, false);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.setView(at - (at - this.from) * factor, at + (this.to - at) * factor, false);
  }

  pan(share) {
    const move = (this.to - this.from) * share;
    this.setView(this.from + move, this.to + move, false);
  }

  scrollBy(pixels) {
    const most = Math.max(this.scene.height + AXIS - this.height, 0);
    const before = this.scroll;
    this.scroll = Math.min(Math.max(before + pixels, 0), most);
    this.draw();
    return this.scroll !== before;
  }

  // Shows [start, end) with some of what is around, and the lane, if it is one.
  show(start, end, lane, margin = 1) {
    const around = Math.max((end - start) * margin, 100);
    this.setView(start - around, end + around);
    if (lane >= 0) {
      const { top, bottom } = this.scene.rows[lane];
      if (top < this.scroll || bottom > this.scroll + this.height - AXIS) this.scrollBy(top - this.scroll - 40);
    }
  }

  x(time) {
    return GUTTER + ((time - this.from) / (this.to - this.from)) * (this.width - GUTTER);
  }

  timeAt(x) {
    return this.from + ((x - GUTTER) / (this.width - GUTTER)) * (this.to - this.from);
  }

  // ---- drawing ----
  draw() {
    if (this.waiting || this.width === undefined) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const begun = performance.now();
      this.frame();
      this.stats.milliseconds.push(performance.now() - begun);
      if (this.stats.milliseconds.length > 1000) this.stats.milliseconds.shift();
      this.changed();
    });
  }

  frame() {
    const { context, stats, width, height } = this;
    Object.assign(stats, { frames: stats.frames + 1, objects: 0, bars: 0, cells: 0, parts: 0 });
    context.fillStyle = this.cardColor;
    context.fillRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(GUTTER, AXIS, width - GUTTER, height - AXIS);
    context.clip();
    context.translate(0, AXIS - this.scroll);
    const visible = this.visibleLanes();
    this.drawBackground(visible);
    this.drawMain(visible);
    this.drawLayer("calls", visible);
    this.drawLayer("regions", visible);
    if (this.shown.path) drawPath(this, visible);
    if (this.shown.chain) drawChain(this);
    drawArrows(this);
    drawSelected(this);
    context.restore();
    drawLabels(this, visible);
    drawAxis(this);
    drawOverview(this);
    stats.mostObjects = Math.max(stats.mostObjects, stats.objects);
  }

  visibleLanes() {
    const low = this.scroll,
      high = this.scroll + this.height - AXIS;
    return this.scene.rows
      .map((_, lane) => lane)
      .filter((lane) => this.scene.rows[lane].bottom >= low && this.scene.rows[lane].top <= high);
  }

  drawBackground(visible) {
    const { context, scene } = this;
    context.fillStyle = this.emptyColor;
    for (const lane of visible)
      context.fillRect(GUTTER, scene.rows[lane].main, this.width - GUTTER, scene.rows[lane].height);
    if (this.band) {
      context.fillStyle = this.bandColor;
      const [from, to] = this.band.map((time) => this.x(time));
      context.fillRect(from, this.scroll, Math.max(to - from, 1), this.height);
    }
  }

  // Bars by style, so that colours change rarely.
  fill(rectangles) {
    const { context, stats } = this;
    rectangles.forEach((some, style) => {
      if (!some) return;
      context.fillStyle = this.colors[style];
      context.globalAlpha = this.highlight && !this.highlight.styles.has(style) ? 0.16 : 1;
      for (let at = 0; at < some.length; at += 4) context.fillRect(some[at], some[at + 1], some[at + 2], some[at + 3]);
      stats.objects += some.length / 4;
    });
    context.globalAlpha = 1;
  }

  drawMain(visible) {
    const layer = this.scene.layers.main;
    const ranges = visible.map((lane) => layer.rows(lane, this.from, this.to));
    const bars = ranges.reduce((sum, [low, high]) => sum + high - low, 0);
    const exact = bars <= MOST_BARS && (this.scene.hasAll(this.from, this.to) || !layer.levels.length);
    this.stats.exact = exact;
    if (!exact) this.drawLevel(visible);
    this.stats.single = bars <= MOST_BARS;
    if (this.stats.single) this.drawBars("main", visible, ranges);
  }

  levelFor(lanes) {
    const { levels } = this.scene.layers.main;
    const width = (this.width - GUTTER) / ((this.to - this.from) / this.scene.end); // of all parts
    return (
      levels.find(
        ({ parts }) =>
          width / parts >= LEAST_CELL &&
          lanes * Math.min(parts, ((this.to - this.from) / this.scene.end) * parts) <= MOST_CELLS,
      ) || levels[levels.length - 1]
    );
  }

  // Of each part of time, styles stand one on the other, as high as their share.
  drawLevel(visible) {
    const level = this.levelFor(visible.length),
      { parts, cell, style, share } = level,
      { scene } = this;
    const length = scene.end / parts,
      rectangles = [];
    const first = Math.max(Math.floor(this.from / length), 0),
      last = Math.min(Math.ceil(this.to / length), parts);
    this.stats.parts = parts;
    for (const lane of visible) {
      const { main, height } = scene.rows[lane];
      const low = firstAbove(cell, lane * parts + first - 1, 0, cell.length),
        high = firstAbove(cell, lane * parts + last - 1, low, cell.length);
      let filled = 0,
        before = -1,
        left = 0,
        right = 0;
      for (let row = low; row < high && this.stats.cells < MOST_ROWS; row++, this.stats.cells++) {
        if (cell[row] !== before) {
          [filled, before] = [0, cell[row]];
          left = Math.round(this.x((before - lane * parts) * length));
          right = Math.round(this.x((before - lane * parts + 1) * length));
        }
        const base = Math.round((height * filled) / 255);
        filled += share[row];
        const top = Math.round((height * filled) / 255);
        if (top > base) addCell((rectangles[style[row]] ||= []), left, main + height - top, right - left, top - base);
      }
    }
    this.fill(rectangles);
  }

  drawBars(name, visible, ranges) {
    const layer = this.scene.layers[name],
      rectangles = [],
      texts = [],
      plain = this.plain;
    visible.forEach((lane, number) => {
      const { top, height } = this.boxOf(name, lane);
      let edge = GUTTER - 2; // what is left of it is drawn
      for (let row = ranges[number][0]; row < ranges[number][1]; row++) {
        const left = Math.max(Math.round(this.x(layer.start[row])), edge),
          right = Math.min(Math.round(this.x(layer.end[row])), this.width + 2);
        // A task can be seen however short it is, but for those that share a pixel; a wait as wide would hide the tasks
        // around it. A gap of a pixel between neighbours, where there is room.
        const wide = Math.max(right - left, left > right || plain.has(layer.style[row]) ? 0 : 1);
        if (wide <= 0) continue;
        edge = left + wide;
        (rectangles[layer.style[row]] ||= []).push(left, top, wide > 4 ? wide - 1 : wide, height);
        if (wide > 44 && height > 12 && texts.length < MOST_TEXTS && !plain.has(layer.style[row]))
          texts.push([row, left, wide, top, height]);
        this.stats.bars++;
      }
    });
    this.fill(rectangles);
    this.drawTexts(name, texts);
    if (this.highlight && this.highlight.texts.size) this.dim(name, visible, ranges);
  }

  boxOf(name, lane) {
    const { main, height } = this.scene.rows[lane];
    if (name === "main") return { top: main, height };
    const share = this.scene.lanes[lane].has_tasks ? 0.4 : 0.8;
    return { top: main + (height * (1 - share)) / 2, height: height * share };
  }

  // Found by name: outlined.
  dim(name, visible, ranges) {
    const layer = this.scene.layers[name],
      { context } = this;
    context.strokeStyle = this.findColor;
    let marks = 0;
    visible.forEach((lane, number) => {
      const { top, height } = this.boxOf(name, lane);
      for (let row = ranges[number][0]; row < ranges[number][1] && marks < MOST_MARKS; row++)
        if (this.highlight.texts.has(layer.text[row])) {
          context.strokeRect(
            this.x(layer.start[row]),
            top,
            Math.max(this.x(layer.end[row]) - this.x(layer.start[row]), 1),
            height,
          );
          marks++;
        }
    });
    this.stats.objects += marks;
  }

  drawTexts(name, texts) {
    const { context } = this;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const [row, left, wide, top, height] of texts) {
      const style = this.scene.layers[name].style[row];
      if (this.highlight && !this.highlight.styles.has(style)) continue;
      const text = this.scene.nameOf(name, row),
        room = Math.floor((wide - 8) / 6);
      if (room < 3) continue;
      context.fillStyle = this.textColors[style];
      context.fillText(
        text.length <= room ? text : `${text.slice(0, room - 1)}\u2026`,
        left + 4,
        top + height / 2 + 0.5,
      );
      this.stats.objects++;
    }
  }

  // Calls and regions have no levels: where they are too many, the ones wide enough to be seen.
  drawLayer(name, visible) {
    const layer = this.scene.layers[name],
      { nested } = this.scene.meta,
      rectangles = [];
    const least = (this.to - this.from) / (this.width - GUTTER) / 2;
    let drawn = 0;
    const sublanes =
      name === "regions"
        ? visible.flatMap((lane) => Array.from({ length: nested }, (_, depth) => [lane, lane * nested + depth, depth]))
        : visible.map((lane) => [lane, lane, 0]);
    const ranges = sublanes.map(([, sublane]) => layer.rows(sublane, this.from, this.to));
    const many = ranges.reduce((sum, [low, high]) => sum + high - low, 0) > MOST_BESIDE;
    sublanes.forEach(([lane, , depth], number) => {
      const row = this.scene.rows[lane],
        box = name === "regions" ? { top: row.top + depth * STRIP, height: STRIP - 1 } : this.boxOf(name, lane);
      const high = ranges[number][1];
      let at = ranges[number][0];
      while (at < high && drawn < MOST_BESIDE) {
        const left = Math.max(this.x(layer.start[at]), GUTTER - 2);
        (rectangles[layer.style[at]] ||= []).push(
          left,
          box.top,
          Math.max(Math.min(this.x(layer.end[at]), this.width + 2) - left, 0.8),
          box.height,
        );
        drawn++;
        // Where they are many, the next one that ends beyond the pixel of this one.
        at = many ? firstAbove(layer.end, layer.end[at] + least, at + 1, high) : at + 1;
      }
    });
    this.stats.bars += drawn;
    this.fill(rectangles);
    if (name === "calls" && this.highlight && this.highlight.texts.size) this.dim(name, visible, ranges);
  }
}

// Joins it to the one before, if both are equally high.
function addCell(some, left, top, wide, tall) {
  const last = some.length - 4;
  if (last >= 0 && some[last] + some[last + 2] === left && some[last + 1] === top && some[last + 3] === tall)
    some[last + 2] += wide;
  else some.push(left, top, wide, tall);
}

function isDark(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140;
}
