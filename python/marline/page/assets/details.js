// SPDX-License-Identifier: Apache-2.0
// What a bar is: in words under the pointer, and, once selected, below the timeline with what comes before and after it.

const MOST_LISTED = 50;

function swatch(color) {
  return element("span", { class: "swatch", style: `background:${color}` });
}

// Pairs of what and how much, of a bar.
function facts(scene, layer, row) {
  const bars = scene.layers[layer],
    lane = scene.lanes[scene.laneOf(layer, row)];
  const time = bars.start[row] + scene.meta.begin - scene.meta.home[0];
  const found = [
    ["lasts", duration(bars.end[row] - bars.start[row])],
    ["at", duration(time)],
    ["on", lane.text],
  ];
  const task = bars.task[row];
  if (layer === "calls" && bars.bytes[row]) found.push(["bytes", octets(bars.bytes[row])]);
  if (lane.kind === "device" && bars.bytes[row]) found.push(["bytes", octets(bars.bytes[row])]);
  if (lane.kind === "suspended") found.push(["is", "suspended: on no thread"]);
  if (task < 0) return found;
  const { tasks } = scene,
    { place } = scene.styles[tasks.kind[task]];
  if (place) found.push(["source", place]);
  if (tasks.iteration.length && tasks.iteration[task])
    found.push(["iteration", tasks.iteration[task].toLocaleString("en")]);
  found.push(
    ["task", `number ${tasks.number[task].toLocaleString("en")}`],
    ["runs in all", duration(tasks.running[task])],
  );
  found.push(["created", `${duration(tasks.created[task])} before it began`]);
  found.push(["waited for a thread", tasks.ready[task] > 0 ? duration(tasks.ready[task]) : "0 s"]);
  if (tasks.slack[task] >= 0)
    found.push(["slack", tasks.slack[task] ? duration(tasks.slack[task]) : "none: it is critical"]);
  if (tasks.mark[task] & ON_CHAIN) found.push(["bounds", "this run waited for it"]);
  return found;
}

function title(scene, layer, row) {
  const bars = scene.layers[layer],
    name = scene.nameOf(layer, row),
    task = bars.task[row];
  if (layer === "main" && scene.lanes[bars.lane[row]].kind === "suspended" && task >= 0)
    return `${scene.styles[scene.tasks.kind[task]].name}, in ${name}`;
  return name;
}

class Details {
  constructor(gantt, tip, panel) {
    Object.assign(this, { gantt, scene: gantt.scene, tip, panel });
  }

  point(x, y) {
    const { gantt, scene, tip } = this;
    if (x < GUTTER || y < AXIS) return this.leave();
    const slack = ((gantt.to - gantt.from) / (gantt.width - GUTTER)) * 2;
    const time = gantt.timeAt(x),
      height = y - AXIS + gantt.scroll;
    const bar = gantt.stats.single ? scene.barAt(time, height, slack) : null;
    const parts = bar ? this.#ofBar(bar) : this.#shares(time, height);
    if (!parts) return this.leave();
    tip.replaceChildren(...parts);
    tip.hidden = false;
    const wide = tip.offsetWidth,
      tall = tip.offsetHeight;
    tip.style.left = `${Math.min(x + 14, gantt.width - wide - 4)}px`;
    tip.style.top = `${y + 18 + tall > gantt.height ? Math.max(y - tall - 10, 0) : y + 18}px`;
    return bar;
  }

  leave() {
    this.tip.hidden = true;
    return null;
  }

  #ofBar({ layer, row }) {
    const { scene, gantt } = this,
      color = gantt.colors[scene.layers[layer].style[row]];
    const head = element("strong", {}, swatch(color), title(scene, layer, row));
    return [
      head,
      ...facts(scene, layer, row).map(([what, value]) =>
        element("div", {}, element("span", { class: "quiet" }, `${what} `), value),
      ),
    ];
  }

  // Of a level: what a lane did in this part of time.
  #shares(time, y) {
    const { scene, gantt } = this,
      lane = scene.laneAt(y);
    if (lane < 0 || !gantt.stats.parts) return null;
    const level = scene.layers.main.levels.find(({ parts }) => parts === gantt.stats.parts);
    const length = scene.end / level.parts,
      cell = lane * level.parts + Math.floor(time / length);
    const low = firstAbove(level.cell, cell - 1, 0, level.cell.length),
      rows = [];
    for (let row = low; row < level.cell.length && level.cell[row] === cell; row++) rows.push(row);
    if (!rows.length) return null;
    rows.sort((a, b) => level.share[b] - level.share[a]);
    const lines = rows
      .slice(0, 6)
      .map((row) =>
        element(
          "div",
          {},
          swatch(gantt.colors[level.style[row]]),
          `${Math.round(level.share[row] / 2.55)} % ${scene.styles[level.style[row]].name}`,
        ),
      );
    return [element("strong", {}, `${scene.lanes[lane].text}, ${duration(length)} added up`), ...lines];
  }

  select(bar) {
    const { gantt, scene, panel } = this;
    gantt.selected = bar && { ...bar, task: scene.layers[bar.layer].task[bar.row] };
    gantt.draw();
    if (!bar) {
      panel.replaceChildren(
        element("p", { class: "note" }, "Click a bar to see where it comes from and what follows it."),
      );
      return;
    }
    const list = element("dl", {});
    for (const [what, value] of facts(scene, bar.layer, bar.row))
      list.append(element("dt", {}, what), element("dd", {}, value));
    const head = element(
      "h4",
      {},
      swatch(gantt.colors[scene.layers[bar.layer].style[bar.row]]),
      title(scene, bar.layer, bar.row),
    );
    const columns = element("div", { class: "columns" }, element("div", {}, head, list));
    const task = gantt.selected.task;
    if (task >= 0) {
      columns.append(
        this.#tasks("It waited for", scene.predecessors(task)),
        this.#tasks("These wait for it", scene.successors(task)),
      );
      const messages = scene.messagesOf(task);
      if (messages.length) columns.append(this.#messages(messages));
    }
    panel.replaceChildren(columns);
  }

  #tasks(text, tasks) {
    const { scene, gantt } = this,
      list = element("ul", {});
    for (const task of tasks.slice(0, MOST_LISTED)) {
      const row = scene.tasks.first[task],
        button = element(
          "button",
          { type: "button" },
          swatch(gantt.colors[scene.tasks.kind[task]]),
          `${scene.styles[scene.tasks.kind[task]].name}, ${duration(scene.tasks.running[task])}`,
        );
      if (row >= 0) button.addEventListener("click", () => this.goTo({ layer: "main", row }));
      list.append(element("li", {}, button));
    }
    const rest = tasks.length > MOST_LISTED ? `, the first ${MOST_LISTED}` : "";
    return element("div", {}, element("h4", {}, `${text}: ${tasks.length || "no task of this page"}${rest}`), list);
  }

  #messages(rows) {
    const { scene } = this,
      list = element("ul", {});
    for (const row of rows.slice(0, MOST_LISTED)) {
      const { lane, to_lane: to, time, bytes, start } = scene.messages,
        name = (at) => (at >= 0 ? scene.lanes[at].text : "a thread");
      const button = element(
        "button",
        { type: "button" },
        `${name(lane[row])} to ${name(to[row])}: ${octets(bytes[row])} in ${duration(time[row])}`,
      );
      button.addEventListener("click", () => this.gantt.show(start[row], start[row] + time[row], lane[row], 0.3));
      list.append(element("li", {}, button));
    }
    return element("div", {}, element("h4", {}, `Messages: ${rows.length}`), list);
  }

  goTo(bar) {
    const { start, end } = this.scene.layers[bar.layer];
    this.gantt.show(start[bar.row], end[bar.row], this.scene.laneOf(bar.layer, bar.row), 2);
    this.select(bar);
  }
}

// Finds names of kinds, calls and regions; steps through what is called so.
class Search {
  constructor(gantt, details, input, output) {
    Object.assign(this, { gantt, details, scene: gantt.scene, input, output, found: [], at: -1 });
    this.begin = () => {};
  }

  run() {
    const words = this.input.value.trim().toLowerCase(),
      { scene, gantt } = this;
    [this.found, this.at, gantt.highlight] = [[], -1, null];
    if (!words) {
      this.output.value = "";
      gantt.draw();
      return;
    }
    this.begin(); // names are those of the colours by kind
    const matches = (texts) => new Set([...texts.keys()].filter((at) => texts[at].toLowerCase().includes(words)));
    const styles = matches(scene.styles.map((style) => style.name)),
      texts = matches(scene.names);
    gantt.highlight = { styles, texts };
    for (const name of LAYERS) {
      const { kind, text, start } = scene.layers[name];
      for (let row = 0; row < start.length; row++)
        if (text[row] >= 0 ? texts.has(text[row]) : styles.has(kind[row])) this.found.push({ layer: name, row });
    }
    this.found.sort((a, b) => scene.layers[a.layer].start[a.row] - scene.layers[b.layer].start[b.row]);
    this.output.value = this.found.length ? `${count(this.found.length)} bars: Enter` : "nothing";
    gantt.draw();
  }

  step(by) {
    if (!this.found.length) return false;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.output.value = `${this.at + 1} of ${count(this.found.length)}`;
    this.details.goTo(this.found[this.at]);
    return true;
  }

  clear() {
    this.input.value = "";
    this.run();
  }
}
