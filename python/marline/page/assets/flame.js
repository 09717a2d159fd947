// SPDX-License-Identifier: Apache-2.0
// The flame graph: nested bars, the callers above what they call. Bars are buttons, so that keys and screen readers
// reach them, and their colours are the theme's. Only bars that are wide enough to see are there.

const FLAME_ROW = 19, // pixels
  FLAME_LEAST = 0.0015, // of the width
  FLAME_MOST = 3000; // bars

class Flame {
  constructor(meta, columns) {
    this.names = meta.names;
    this.owners = meta.owners; // names below this one are no functions
    for (const name of ["parent", "name", "time"]) this[name] = columns[`flame.${name}`];
    this.#place();
    Object.assign(this, { root: 0, current: 0, sought: "", box: byId("flame-bars"), shown: [] });
    byId("flame-home").addEventListener("click", () => this.zoom(0));
    byId("flame-search").addEventListener("input", (event) => this.search(event.target.value));
    byId("flame-search").addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.target.value = "";
      this.search("");
    });
    this.box.addEventListener("click", (event) => event.target.dataset.node && this.zoom(+event.target.dataset.node));
    this.box.addEventListener("keydown", (event) => this.#key(event));
    for (const kind of ["pointerover", "focusin"])
      this.box.addEventListener(kind, (event) => event.target.dataset.node && this.#say(+event.target.dataset.node));
    this.draw();
  }

  // Children lie in their parent from its left side on, the largest first; what is left is its own time.
  #place() {
    const nodes = this.time.length;
    this.left = new Float64Array(nodes);
    this.depth = new Int32Array(nodes);
    this.own = Float64Array.from(this.time);
    this.children = Array.from({ length: nodes }, () => []);
    for (let node = 1; node < nodes; node++) {
      this.children[this.parent[node]].push(node);
      this.own[this.parent[node]] -= this.time[node];
    }
    for (let node = 0; node < nodes; node++) {
      let at = this.left[node];
      this.children[node].sort((a, b) => this.time[b] - this.time[a]);
      for (const child of this.children[node]) {
        this.left[child] = at;
        this.depth[child] = this.depth[node] + 1;
        at += this.time[child];
      }
    }
  }

  zoom(node) {
    this.root = this.current = node;
    this.draw();
    this.#focus(node);
  }

  search(text) {
    this.sought = text.toLowerCase();
    this.draw();
    const time = this.sought ? this.#found(0) : 0;
    byId("flame-found").textContent = this.sought ? `${this.#percent(time)} of the time` : "";
  }

  // Of nested finds only the outermost counts.
  #found(node) {
    if (this.#matches(node)) return this.time[node];
    return this.children[node].reduce((sum, child) => sum + this.#found(child), 0);
  }

  #matches(node) {
    return this.sought !== "" && this.names[this.name[node]].toLowerCase().includes(this.sought);
  }

  #percent(time) {
    return `${((100 * time) / this.time[0]).toFixed(1)} %`;
  }

  draw() {
    const above = [],
      bars = [];
    for (let node = this.root; node !== 0; node = this.parent[node]) above.unshift(this.parent[node]);
    for (const node of above) bars.push(this.#bar(node, 0, 1, "above"));
    this.shown = [...above];
    const begin = this.left[this.root],
      span = this.time[this.root] || 1;
    // Level by level: of too many bars the innermost are left out.
    for (let level = [this.root]; level.length && bars.length < FLAME_MOST; ) {
      for (const node of level)
        bars.push(this.#bar(node, (this.left[node] - begin) / span, this.time[node] / span, ""));
      this.shown.push(...level);
      level = level.flatMap((node) => this.children[node]).filter((node) => this.time[node] >= FLAME_LEAST * span);
    }
    const deepest = this.shown.reduce((most, node) => Math.max(most, this.depth[node]), 0);
    this.box.style.height = `${(deepest + 1) * FLAME_ROW}px`;
    this.box.replaceChildren(...bars);
  }

  #bar(node, left, width, kind) {
    const name = this.names[this.name[node]],
      said = `${name}: ${duration(this.time[node])}, ${this.#percent(this.time[node])}`;
    const bar = element(
      "button",
      {
        type: "button",
        class: `flame-bar ${kind} ${this.name[node] < this.owners ? "owner" : ""} ${this.#matches(node) ? "found" : ""}`,
        "data-node": node,
        tabindex: node === this.current ? 0 : -1,
        title: said,
        "aria-label": said,
      },
      name,
    );
    bar.style.cssText =
      `left:${100 * left}%;width:${100 * width}%;top:${this.depth[node] * FLAME_ROW}px;` +
      `--hue:${hueOf(name)}`;
    return bar;
  }

  #say(node) {
    byId("flame-state").textContent =
      `${this.names[this.name[node]]}: ${duration(this.time[node])}, ${this.#percent(this.time[node])} of all; ` +
      `${duration(Math.max(this.own[node], 0))} of it own or in bars too small to see`;
  }

  #focus(node) {
    this.current = node;
    const bar = this.box.querySelector(`[data-node="${node}"]`);
    if (!bar) return;
    this.box.querySelectorAll('[tabindex="0"]').forEach((one) => one.setAttribute("tabindex", "-1"));
    bar.setAttribute("tabindex", "0");
    bar.focus({ preventScroll: true });
  }

  #key(event) {
    const node = this.current,
      beside = this.children[this.parent[node]] ?? [];
    const to = {
      ArrowUp: this.parent[node],
      ArrowDown: this.children[node][0],
      ArrowLeft: beside[beside.indexOf(node) - 1],
      ArrowRight: beside[beside.indexOf(node) + 1],
    };
    if (event.key === "Home" || event.key === "Escape") this.zoom(0);
    else if (!(event.key in to)) return;
    else if (to[event.key] !== undefined && this.shown.includes(to[event.key])) this.#focus(to[event.key]);
    event.preventDefault();
  }
}

// Equal names have equal colours: warm ones, from red to green.
function hueOf(name) {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 9973;
  return hash % 110;
}
