// All calls of a long run in one row: each column holds some of them, as high as they repeat closely, in their
// colours. What does not repeat stays low and grey. Lines above are the findings; a frame shows what the cells below it
// show. For the eye and the pointer alone: the cells have the keys.
const STRIP = { lane: 20, bars: 64, axis: 18, column: 3 };
const GREY_SHARE = 0.22;
const STRIP_LABELS = 4;

class Strip {
  constructor(timeline, box) {
    this.timeline = timeline;
    this.canvas = make("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    box.append(this.canvas);
    const go = (event) => {
      const place = this.placeAt(event.clientX - this.canvas.getBoundingClientRect().left);
      if (event.buttons & 1) timeline.show(timeline.order[place], true);
    };
    this.canvas.addEventListener("pointerdown", go);
    this.canvas.addEventListener("pointermove", go);
  }

  resize() {
    this.width = this.timeline.width;
    this.height = STRIP.lane + STRIP.bars + STRIP.axis;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.count();
  }

  xOf(place) {
    return (place / this.timeline.order.length) * this.width;
  }

  placeAt(x) {
    const { length } = this.timeline.order;
    return Math.max(0, Math.min(length - 1, Math.floor((x / this.width) * length)));
  }

  // How many calls of each column repeat closely, by identity, how many do not, and how many failed.
  count() {
    const { order, hot, data, errors } = this.timeline;
    const number = Math.max(1, Math.floor(this.width / STRIP.column));
    this.columns = Array.from({ length: number }, () => ({ size: 0, cold: 0, failed: 0, by: new Map() }));
    for (let place = 0; place < order.length; place++) {
      const index = order[place];
      const column = this.columns[Math.min(number - 1, Math.floor((place / order.length) * number))];
      column.size++;
      if (errors.has(index)) column.failed++;
      if (hot[index]) {
        column.by.set(data.identity[index], (column.by.get(data.identity[index]) || 0) + 1);
        column.first = column.first ?? data.number[index];
      } else column.cold++;
    }
    this.picture = null;
  }

  // Stretches of columns of which more than half repeats, with what repeats in the column on either side: the longest
  // first.
  stretches() {
    const warm = (at) => this.columns[at] && this.columns[at].size - this.columns[at].cold;
    const list = [];
    this.columns.forEach((column, at) => {
      if (warm(at) <= column.size / 2) return;
      const last = list[list.length - 1];
      if (last && at - last.end <= 1) last.end = at + 1;
      else list.push({ start: at, end: at + 1 });
    });
    for (const stretch of list) {
      if (warm(stretch.start - 1)) stretch.start--;
      if (warm(stretch.end)) stretch.end++;
      stretch.first = this.columns[stretch.start].first;
      stretch.calls = 0;
      for (let at = stretch.start; at < stretch.end; at++) stretch.calls += warm(at);
    }
    return list.sort((one, other) => other.calls - one.calls);
  }

  paint() {
    const { ranks, findings, order } = this.timeline;
    const picture = document.createElement("canvas");
    picture.width = this.canvas.width;
    picture.height = this.canvas.height;
    const context = picture.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const bottom = STRIP.lane + STRIP.bars;
    const size = this.width / this.columns.length;
    const other = cssColour("--repeat");
    const [once, red] = [cssColour("--once"), cssColour("--red")];
    const box = (colour, x, y, width, height) => {
      context.fillStyle = colour;
      context.fillRect(x, y, width, height);
    };
    this.columns.forEach((column, at) => {
      if (!column.size) return;
      const x = at * size;
      let y = bottom;
      const rows = [...column.by].sort((one, other) => ranks.get(one[0]) - ranks.get(other[0]));
      for (const [id, number] of rows) {
        const height = (number / column.size) * STRIP.bars;
        y -= height;
        box(hue(ranks.get(id), other), x, y, size, height);
      }
      const cold = (column.cold / column.size) * STRIP.bars * GREY_SHARE;
      box(once, x, y - cold, Math.max(1, size - 1), cold);
      if (column.failed) box(red, x, bottom - 2, Math.max(1, size - 1), 1 + 2 * (column.failed / column.size));
    });
    for (const finding of findings) {
      if (!finding[4]) continue;
      const left = this.xOf(this.timeline.indexOf(finding[0]));
      const right = this.xOf(this.timeline.indexOf(finding[1]) + 1);
      box(cssColour(TONES[finding[2]] || "--amber"), left, STRIP.lane - 4, Math.max(2, right - left), 2);
    }
    this.write(context, order.length);
    this.picture = picture;
  }

  write(context, length) {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = cssColour("--quiet");
    context.textBaseline = "alphabetic";
    const bottom = this.height - 4;
    const step = 10 ** Math.floor(Math.log10(length)) / (String(length)[0] < "3" ? 5 : 1);
    for (let number = 0; number < length; number += step) {
      const text = short(Math.round(number));
      const x = this.xOf(number);
      if (x + context.measureText(text).width > this.width) break;
      context.fillText(text, x, bottom);
    }
    context.fillStyle = cssColour("--fg");
    context.font = "600 12px system-ui, sans-serif";
    const taken = [];
    for (const stretch of this.stretches().slice(0, STRIP_LABELS)) {
      const text = `${stretch.calls.toLocaleString("en-US")} repeats from ${stretch.first.toLocaleString("en-US")}`;
      const width = context.measureText(text).width;
      const middle = ((stretch.start + stretch.end) / 2 / this.columns.length) * this.width;
      const x = Math.max(0, Math.min(this.width - width, middle - width / 2));
      if (taken.some(([left, right]) => x < right + 8 && x + width > left - 8)) continue;
      taken.push([x, x + width]);
      context.fillText(text, x, STRIP.lane - 8);
    }
  }

  // With a frame around the places that the cells show.
  draw(first, last) {
    if (!this.picture) this.paint();
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.picture, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const left = this.xOf(first);
    const width = Math.max(4, this.xOf(last) - left);
    context.strokeStyle = cssColour("--fg");
    context.lineWidth = 1.5;
    context.strokeRect(Math.min(left, this.width - width) + 0.75, STRIP.lane - 0.25, width - 1.5, STRIP.bars + 1.5);
  }
}
