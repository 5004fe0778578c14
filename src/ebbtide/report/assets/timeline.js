// The timeline of calls. Only the rows that are seen are drawn, so that its length costs nothing. A long run has a
// strip of all its calls above the cells, which shows where to look.
const SIZES = [36, 30, 24, 20, 16, 13, 11, 9, 7, 6, 5, 4, 3];
const FIT_HEIGHT = 250;
const MOST_HEIGHT = 420;
const LONG_SIZE = 11;
const LONG_HEIGHT = 190;
const PRINTED_HEIGHT = 640;
const LONG = 5000; // calls from which there is a strip
const CLOSE = 60; // events in which three equal calls are close
const KINDS = ["tool", "model or message", "user", "system"];
const TONES = { nudge: "--amber", finalize: "--green", escalate: "--orange", stop: "--red" };

class Timeline {
  constructor(run, parts) {
    Object.assign(this, parts);
    this.data = run.timeline;
    this.findings = run.findings;
    this.length = this.data.number.length;
    this.errors = new Set(this.data.error);
    this.at = 0;
    this.hovered = -1;
    this.focusOn = -1;
    this.isLong = this.length > LONG;
    this.collect();
    this.heat();
    this.mark();
    this.order = Int32Array.from({ length: this.length }, (_, i) => i);
    this.build();
    this.fit();
    this.show(this.firstOfInterest(), this.isLong);
  }

  collect() {
    this.places = new Map();
    this.data.identity.forEach((id, index) => {
      const places = this.places.get(id);
      if (places) places.push(index);
      else this.places.set(id, [index]);
    });
  }

  // What repeats closely has a colour, the most frequent first; everything else stays grey, so that the eye finds
  // the loop among calls that come now and then.
  heat() {
    this.hot = new Uint8Array(this.length);
    for (const places of this.places.values()) {
      if (places.length < 3 || !this.says(places[0])) continue;
      for (let i = 2; i < places.length; i++) {
        if (places[i] - places[i - 2] <= CLOSE) this.hot[places[i - 2]] = this.hot[places[i - 1]] = this.hot[places[i]] = 1;
      }
    }
    const counts = new Map();
    this.hot.forEach((hot, index) => {
      if (hot) counts.set(this.data.identity[index], (counts.get(this.data.identity[index]) || 0) + 1);
    });
    const order = [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0]);
    this.ranks = new Map(order.map(([id], rank) => [id, rank]));
    this.close = counts;
  }

  // Next to a loop of hundreds, what came three times needs no line in the legend.
  isFrequent(id) {
    return this.close.get(id) >= 0.1 * Math.max(...this.close.values());
  }

  // A message without a word, such as one that only calls tools, is not the same as another one.
  says(index) {
    const text = this.data.texts[this.data.text[index]];
    return this.data.kind[index] === 0 || (text !== "" && text !== this.name(index));
  }

  // Which finding each cell belongs to; the worst one stands, of equals the shortest.
  mark() {
    const { number, chains } = this.data;
    this.marks = new Int32Array(this.length).fill(-1);
    const rank = (f) => Object.keys(TONES).indexOf(this.findings[f][2]);
    const reach = (f) => this.findings[f][1] - this.findings[f][0];
    const worstLast = (one, other) => rank(one) - rank(other) || reach(other) - reach(one) || other - one;
    for (const f of this.findings.map((_, f) => f).filter((f) => this.findings[f][4]).sort(worstLast)) {
      const [first, last, , name] = this.findings[f];
      const only = name === null ? -1 : chains.indexOf(name);
      for (let i = this.indexOf(first); i < this.length && number[i] <= last; i++) {
        if (only < 0 || this.chainAt(i) === only) this.marks[i] = f;
      }
    }
  }

  inside(index, finding) {
    const [first, last, , chain] = this.findings[finding];
    const number = this.data.number[index];
    return number >= first && number <= last && (chain === null || this.data.chains[this.chainAt(index)] === chain);
  }

  indexOf(number) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.data.number[middle] < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Where the worst finding begins that has a place, else the first call that repeats closely.
  firstOfInterest() {
    const steps = Object.keys(TONES);
    const worst = this.findings.filter((finding) => finding[4]).sort((one, other) => steps.indexOf(other[2]) - steps.indexOf(one[2]))[0];
    if (worst) return Math.min(this.indexOf(worst[0]), this.length - 1);
    return Math.max(0, this.hot.indexOf(1));
  }

  build() {
    this.canvas = make("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "slider");
    this.canvas.setAttribute("aria-label", "Calls and messages of the run. Arrows move, n and p go to the next and the previous equal call.");
    this.canvas.setAttribute("aria-valuemin", "1");
    this.spacer = make("div", null, "spacer");
    this.spacer.append(this.canvas);
    this.container.append(this.spacer);
    if (this.isLong) this.overall = new Strip(this, this.strip);
    this.container.addEventListener("scroll", () => this.later());
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("pointerdown", (event) => {
      const place = this.placeOf(event);
      if (place >= 0) this.show(place, false);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => this.later());
    this.canvas.addEventListener("blur", () => this.later());
    this.buildControls();
    this.buildLegend();
    new ResizeObserver(() => {
      if (this.container.clientWidth && this.container.clientWidth !== this.width) this.resize();
    }).observe(this.container);
  }

  buildControls() {
    const button = (text, label, act) => {
      const node = make("button", text);
      node.type = "button";
      node.setAttribute("aria-label", label);
      node.title = label;
      node.addEventListener("click", act);
      this.controls.append(node);
    };
    button("\u2212", "Smaller cells", () => this.zoom(1));
    button("+", "Larger cells", () => this.zoom(-1));
    if (!this.isLong) button("Fit", "Fit the whole run", () => this.fit());
    if (this.data.chains.length > 1) {
      const label = make("label", "Conversation ");
      const select = make("select");
      select.append(new Option("all, in the order of the run", "-1"));
      this.data.chains.forEach((name, index) => select.append(new Option(name || "(no name)", `${index}`)));
      select.addEventListener("change", () => this.filter(Number(select.value)));
      label.append(select);
      this.controls.append(label);
    }
    this.controls.append(make("span", `${this.length.toLocaleString("en-US")} events`, "quiet"));
  }

  buildLegend() {
    const key = (className, text) => {
      const node = make("span", null, "sign");
      node.append(make("span", null, `swatch ${className}`), text);
      this.legend.append(node);
    };
    key("is-once", "call");
    if (this.data.kind.some((kind) => kind > 0)) key("is-message", "message");
    if (this.errors.size) key("is-error", "failed");
    if (this.marks.some((mark) => mark >= 0)) key("is-marked", "in a finding");
    const most = [...this.ranks.keys()].filter((id) => this.ranks.get(id) < HUES.length && this.isFrequent(id));
    this.legend.append(make("span", most.length ? "coloured: repeats closely" : "no call repeats closely", "sign"));
    for (const id of most) {
      const places = this.places.get(id);
      const node = make("button", null, "key");
      node.type = "button";
      const swatch = make("span", null, "swatch");
      swatch.style.background = hue(this.ranks.get(id));
      node.append(swatch, make("span", this.label(places[0]), "call"), make("b", `${places.length.toLocaleString("en-US")} in all`));
      node.addEventListener("click", () => {
        const close = places.filter((place) => this.hot[place]);
        this.show(close.find((place) => place > this.at) ?? close[0], true);
      });
      this.legend.append(node);
    }
  }

  // A call without its answer.
  label(index) {
    return this.data.texts[this.data.text[index]].split(" \u2192 ")[0] || this.name(index);
  }

  chainOf(number) {
    return this.chainAt(Math.min(this.indexOf(number), this.length - 1));
  }

  chainAt(index) {
    return this.data.chain === null ? 0 : this.data.chain[index];
  }

  name(index) {
    return this.data.names[this.data.name[index]];
  }

  filter(chain) {
    const all = Array.from({ length: this.length }, (_, i) => i);
    this.order = Int32Array.from(chain < 0 ? all : all.filter((i) => this.chainAt(i) === chain));
    this.fit();
    if (this.overall) this.overall.count();
    this.filtered(chain);
    if (this.order.length && !this.order.includes(this.at)) this.show(this.order[0], false);
  }

  fit() {
    const width = this.container.clientWidth || 800;
    if (this.isLong) {
      this.size = LONG_SIZE;
      this.resize();
      return;
    }
    const fits = (size) => this.rows(size, width) * this.rowHeight(size) <= FIT_HEIGHT;
    this.size = SIZES.find(fits) || SIZES[SIZES.length - 1];
    this.resize();
  }

  zoom(step) {
    const next = SIZES.indexOf(this.size) + step;
    this.size = SIZES[Math.max(0, Math.min(SIZES.length - 1, next))];
    this.resize();
    this.reveal(this.at);
  }

  rows(size, width) {
    return Math.ceil(this.order.length / Math.max(1, Math.floor(width / size)));
  }

  rowHeight(size) {
    return size + (size >= 9 ? 10 : size >= 5 ? 6 : 3);
  }

  resize(most = this.isLong ? LONG_HEIGHT : MOST_HEIGHT) {
    this.width = this.container.clientWidth || 800;
    this.perRow = Math.max(1, Math.floor(this.width / this.size));
    this.step = this.rowHeight(this.size);
    const height = Math.max(1, this.rows(this.size, this.width)) * this.step + 2;
    this.height = Math.min(height, most);
    this.container.style.height = `${this.height}px`;
    if (this.overall) this.overall.resize();
    this.spacer.style.height = `${height}px`;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.ratio = ratio;
    this.canvas.setAttribute("aria-valuemax", `${this.length}`);
    this.draw();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  recolour() {
    if (this.overall) this.overall.picture = null;
    this.later();
  }

  draw() {
    const context = this.canvas.getContext("2d");
    const { size, step, perRow } = this;
    const top = this.container.scrollTop;
    const first = Math.floor(top / step);
    const last = Math.ceil((top + this.height) / step);
    const gap = size >= 6 ? 1 : 0;
    const lane = step - size - 2;
    const grey = cssColour("--once");
    const quiet = cssColour("--message");
    const other = cssColour("--repeat");
    const red = cssColour("--red");
    const front = cssColour("--fg");
    this.tones = this.findings.map((finding) => cssColour(TONES[finding[2]] || "--amber"));
    const active = this.hovered >= 0 ? this.hovered : this.at;
    const same = this.hot[active] ? this.data.identity[active] : null;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const { identity, kind: kinds } = this.data;
    // By colour, since changing the colour costs more than filling a cell.
    const layers = [new Map(), new Map()];
    const paint = (layer, colour, strength, x, y, width, height) => {
      const key = `${strength} ${colour}`;
      let list = layers[layer].get(key);
      if (!list) layers[layer].set(key, (list = { colour, strength, boxes: [] }));
      list.boxes.push(x, y, width, height);
    };
    const foot = Math.max(1, size * 0.2);
    const thin = size >= 9 ? 2 : 1;
    let outline = null;
    for (let row = first; row < last; row++) {
      const y = row * step - top + lane + 1;
      for (let column = 0; column < perRow; column++) {
        const place = row * perRow + column;
        if (place >= this.order.length) break;
        const index = this.order[place];
        const id = identity[index];
        const x = column * size;
        const low = kinds[index] === 0 ? 0 : Math.floor(size * 0.4);
        let strength = 1;
        if (this.focusOn >= 0) strength = this.inside(index, this.focusOn) ? 1 : 0.18;
        else if (this.hovered >= 0 && same !== null && id !== same) strength = 0.35;
        const colour = this.hot[index] ? hue(this.ranks.get(id), other) : kinds[index] === 0 ? grey : quiet;
        paint(0, colour, strength, x, y + low, size - gap, size - low);
        if (this.errors.has(index)) paint(1, red, strength, x, y + size - foot, size - gap, foot);
        const mark = this.marks[index];
        if (mark >= 0) {
          // A line above the cells of a finding, with a foot where it begins and where it ends.
          const tone = this.tones[mark];
          paint(1, tone, strength, x, y - lane, size, thin);
          if (this.markAt(place - 1) !== mark) paint(1, tone, strength, x, y - lane, thin, Math.max(1, lane - 2));
          if (this.markAt(place + 1) !== mark) {
            paint(1, tone, strength, x + size - thin - gap, y - lane, thin, Math.max(1, lane - 2));
          }
        }
        if (index === active) outline = [x, y];
      }
    }
    for (const layer of layers) {
      for (const { colour, strength, boxes } of layer.values()) {
        context.fillStyle = colour;
        context.globalAlpha = strength;
        for (let at = 0; at < boxes.length; at += 4) context.fillRect(boxes[at], boxes[at + 1], boxes[at + 2], boxes[at + 3]);
      }
    }
    context.globalAlpha = 1;
    if (outline) {
      context.strokeStyle = front;
      context.lineWidth = thin;
      context.strokeRect(outline[0] + 0.5, outline[1] + 0.5, Math.max(2, size - gap - 1), Math.max(2, size - 1));
    }
    if (this.overall) this.overall.draw(first * perRow, Math.min(this.order.length, last * perRow));
  }

  markAt(place) {
    return place >= 0 && place < this.order.length ? this.marks[this.order[place]] : -1;
  }

  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.size);
    const row = Math.floor((event.clientY - box.top + this.container.scrollTop) / this.step);
    const place = row * this.perRow + column;
    return column < this.perRow && place >= 0 && place < this.order.length ? this.order[place] : -1;
  }

  hover(event) {
    const index = event ? this.placeOf(event) : -1;
    if (index === this.hovered) return;
    this.hovered = index;
    this.describe(index >= 0 ? index : this.at);
    this.later();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const place = this.order.indexOf(this.at);
    const moves = {
      ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.perRow, ArrowUp: -this.perRow,
      PageDown: this.perRow * 10, PageUp: -this.perRow * 10, Home: -this.order.length, End: this.order.length,
    };
    let next;
    if (event.key in moves) {
      next = this.order[Math.max(0, Math.min(this.order.length - 1, place + moves[event.key]))];
    } else if (event.key === "n" || event.key === "p") {
      const equal = this.places.get(this.data.identity[this.at]);
      const here = equal.indexOf(this.at);
      next = equal[Math.max(0, Math.min(equal.length - 1, here + (event.key === "n" ? 1 : -1)))];
    } else if (event.key === "Escape") {
      next = this.at;
    } else return;
    event.preventDefault();
    this.show(next, true);
  }

  show(index, scroll) {
    if (!this.length) return;
    this.at = index;
    this.hovered = -1;
    this.focusOn = -1;
    this.describe(index);
    if (scroll) this.reveal(index);
    this.later();
  }

  locate(finding) {
    const index = Math.min(this.indexOf(this.findings[finding][0]), this.length - 1);
    this.show(index, true);
    this.focusOn = finding;
    this.meet();
  }

  // To an event by its number, wherever on the page one comes from.
  jump(number) {
    this.show(Math.min(this.indexOf(number), this.length - 1), true);
    this.meet();
  }

  meet() {
    this.canvas.focus({ preventScroll: true });
    this.container.scrollIntoView({ block: "center", behavior: "smooth" });
    this.later();
  }

  reveal(index) {
    const y = Math.floor(this.order.indexOf(index) / this.perRow) * this.step;
    const isAbove = y < this.container.scrollTop;
    const isBelow = y + this.step > this.container.scrollTop + this.height;
    // With some of what came before.
    if (isAbove || isBelow) this.container.scrollTop = y - Math.floor(this.height / this.step / 3) * this.step;
  }

  describe(index) {
    const data = this.data;
    const equal = this.places.get(data.identity[index]);
    const facts = [KINDS[data.kind[index]]];
    if (this.errors.has(index)) facts.push("failed");
    if (equal.length > 1 && this.says(index)) facts.push(`${equal.indexOf(index) + 1} of ${equal.length} equal`);
    if (data.chains.length > 1) facts.push(`conversation ${data.chains[this.chainAt(index)] || "(no name)"}`);
    if (data.time[index] !== null) facts.push(`after ${clock(data.time[index])}`);
    if (data.cost[index] !== null) facts.push(`${dollars(data.cost[index])} so far`);
    if (data.tokens[index] !== null) facts.push(`${data.tokens[index].toLocaleString("en-US")} tokens so far`);
    const line = make("p", null, "line");
    const name = make("b", `${data.number[index].toLocaleString("en-US")}  ${this.name(index)}`);
    name.dir = "auto";
    line.append(name, make("span", facts.join(" \u00b7 "), "quiet"));
    const text = make("p", data.texts[data.text[index]], "shown");
    text.dir = "auto";
    this.readout.replaceChildren(line, text);
    this.canvas.setAttribute("aria-valuenow", `${index + 1}`);
    this.canvas.setAttribute("aria-valuetext", `Event ${data.number[index]}, ${this.name(index)}, ${facts.join(", ")}`);
  }
}
