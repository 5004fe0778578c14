// Novelty by round with its bands, and what the run spent with the end of its budget.
const CHART_HEIGHT = 230;
const BANDS = [
  [0, 0.15, "--band-low", "nothing new"], [0.15, 0.5, "--band-middle", "some news"], [0.5, 1, "--band-high", "mostly new"],
];
const SIGNALS = { SHIP: "ready", ESCALATE: "nothing new" };
const NONE = "\u2013";

function axis(more) {
  return {
    stroke: () => cssColour("--quiet"),
    grid: { stroke: () => cssColour("--line"), width: 1 },
    ticks: { stroke: () => cssColour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
    ...more,
  };
}

function drawn(container, options, data) {
  const size = () => ({ width: Math.max(240, container.clientWidth), height: CHART_HEIGHT });
  const chart = new uPlot({ ...size(), cursor: { y: false }, ...options }, data, container);
  new ResizeObserver(() => {
    if (container.clientWidth && size().width !== chart.width) chart.setSize(size());
  }).observe(container);
  return chart;
}

function line(label, colour, more) {
  return { label, stroke: () => cssColour(colour), width: 2, ...more };
}

function plainValue(u, value) {
  return value === null || value === undefined ? NONE : value.toLocaleString("en-US");
}

// Rounds of several chains are not one curve: the line breaks where the chain changes.
function broken(rounds, chainOf) {
  return rounds.flatMap((round, index) => {
    const other = chainOf && index && chainOf(round[1]) !== chainOf(rounds[index - 1][1]);
    return other ? [[round[0] - 0.5, null, null, null, null], round] : [round];
  });
}

function roundsChart(container, rounds, chainOf) {
  const points = broken(rounds, chainOf);
  const column = (at) => points.map((round) => round[at]);
  const bands = (u) => {
    const { left, width } = u.bbox;
    for (const [low, high, colour] of BANDS) {
      const top = u.valToPos(high, "y", true);
      u.ctx.fillStyle = cssColour(colour);
      u.ctx.fillRect(left, top, width, u.valToPos(low, "y", true) - top);
    }
  };
  const signals = (u) => {
    const ratio = devicePixelRatio || 1;
    u.ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    u.ctx.textBaseline = "bottom";
    const free = [0, 0, 0]; // where each of the rows has room for the next word
    rounds.forEach((round, index) => {
      const signal = round[4];
      if (signal === "CONTINUE" || (index && signal === rounds[index - 1][4])) return;
      const x = u.valToPos(round[0], "x", true);
      const width = u.ctx.measureText(SIGNALS[signal]).width;
      const right = u.bbox.left + u.bbox.width;
      const left = x + 4 * ratio + width > right ? x - 4 * ratio - width : x + 4 * ratio;
      const row = free.findIndex((from) => left >= from);
      if (row < 0) return;
      free[row] = left + width + 6 * ratio;
      u.ctx.strokeStyle = u.ctx.fillStyle = cssColour("--fg");
      u.ctx.setLineDash([2 * ratio, 3 * ratio]);
      u.ctx.beginPath();
      u.ctx.moveTo(x, u.bbox.top);
      u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
      u.ctx.stroke();
      u.ctx.setLineDash([]);
      u.ctx.textAlign = "left";
      u.ctx.fillText(SIGNALS[signal], left, u.bbox.top + (row + 1) * 13 * ratio);
    });
  };
  const two = (u, value) => (value === null || value === undefined ? NONE : value.toFixed(2));
  const few = rounds.length <= 60;
  return drawn(container, {
    scales: { x: { time: false, range: [rounds[0][0] - 0.5, rounds[rounds.length - 1][0] + 0.5] }, y: { range: [0, 1] } },
    axes: [
      axis({ incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000], label: "round", labelSize: 18, size: 34 }),
      axis({ splits: () => [0, 0.15, 0.5, 1], values: (u, at) => at.map((value) => value.toFixed(2)), size: 44 }),
      axis({
        scale: "y", side: 1, size: 80, grid: { show: false }, ticks: { show: false }, font: "11px system-ui, sans-serif",
        splits: () => BANDS.map(([low, high]) => (low + high) / 2), values: () => BANDS.map((band) => band[3]),
      }),
    ],
    series: [
      { label: "round", value: plainValue },
      line("novelty", "--blue", { points: { show: few, size: 7 }, value: two }),
      line("readiness", "--violet", { dash: [6, 4], points: { show: few && rounds.length < 3 }, value: two }),
    ],
    hooks: { drawClear: [bands], draw: [signals] },
  }, [column(0), column(2), column(3)]);
}

// Stretches of events that lie in a finding, each event in the tone of its worst.
function marked(findings, end) {
  const worst = new Uint8Array(end + 2);
  for (const [first, last, action, , hasPlace] of findings) {
    if (!hasPlace) continue;
    const level = action === "nudge" ? 1 : 2;
    for (let event = Math.max(0, first); event <= Math.min(last, end); event++) worst[event] = Math.max(worst[event], level);
  }
  const found = [];
  for (let event = 0; event <= end; event++) {
    if (!worst[event]) continue;
    const first = event;
    while (worst[event + 1] === worst[first]) event++;
    found.push([first, event, worst[first] === 1 ? "--band-middle" : "--band-low"]);
  }
  return found;
}

function spendingChart(container, run) {
  const { number, cost, tokens } = run.timeline;
  const has = { cost: cost.some((value) => value !== null), tokens: tokens.some((value) => value !== null) };
  const limits = run.limits.map((limit) => ({ ...limit, scale: limit.kind === "cost_usd" ? "usd" : "tokens" }));
  const end = number[number.length - 1];
  const x = [...number];
  const series = [{ label: "event", value: plainValue }];
  const columns = [];
  const money = (u, value) => (value === null || value === undefined ? NONE : dollars(value));
  const whole = (u, value) => (value === null || value === undefined ? NONE : value.toLocaleString("en-US"));
  if (has.cost) {
    series.push(line("cost", "--blue", { scale: "usd", spanGaps: true, points: { show: false }, value: money }));
    columns.push([...cost]);
  }
  if (has.tokens) {
    series.push(line("tokens", "--violet", { scale: "tokens", spanGaps: true, dash: [6, 4], points: { show: false }, value: whole }));
    columns.push([...tokens]);
  }
  const near = [];
  for (const limit of limits) {
    if (limit.limit > limit.spent * 4) continue;
    near.push(limit);
    if (limit.ends_at === null) continue;
    const until = Math.min(limit.ends_at, end + Math.max(10, end));
    const column = x.map((event) => (event === end ? limit.spent : null));
    if (!x.includes(until)) {
      x.push(until);
      columns.forEach((other) => other.push(null));
      column.push(null);
    }
    column[x.indexOf(until)] = limit.spent + limit.rate * (until - end);
    series.push(line("at this pace", limit.scale === "usd" ? "--blue" : "--violet", {
      scale: limit.scale, dash: [2, 4], spanGaps: true, points: { show: false }, value: limit.scale === "usd" ? money : whole,
    }));
    columns.push(column);
  }
  const order = x.map((_, index) => index).sort((one, other) => x[one] - x[other]);
  const sorted = [x, ...columns].map((column) => order.map((index) => (column[index] === undefined ? null : column[index])));
  const stretches = marked(run.findings, end);
  const shade = (u) => {
    for (const [first, last, colour] of stretches) {
      const left = u.valToPos(first, "x", true);
      u.ctx.fillStyle = cssColour(colour);
      u.ctx.fillRect(left, u.bbox.top, Math.max(1, u.valToPos(last, "x", true) - left), u.bbox.height);
    }
  };
  const lines = (u) => {
    const ratio = devicePixelRatio || 1;
    for (const limit of near) {
      const y = u.valToPos(limit.limit, limit.scale, true);
      u.ctx.strokeStyle = u.ctx.fillStyle = cssColour("--red");
      u.ctx.setLineDash([8 * ratio, 4 * ratio]);
      u.ctx.lineWidth = ratio;
      u.ctx.beginPath();
      u.ctx.moveTo(u.bbox.left, y);
      u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
      u.ctx.stroke();
      u.ctx.setLineDash([]);
      u.ctx.font = `${11 * ratio}px system-ui, sans-serif`;
      u.ctx.textAlign = "left";
      u.ctx.textBaseline = "bottom";
      u.ctx.fillText(`limit ${limit.scale === "usd" ? dollars(limit.limit) : short(limit.limit)}`, u.bbox.left + 6 * ratio, y - 4 * ratio);
    }
  };
  const top = (scale) => (u, low, high) => {
    const most = Math.max(high || 0, ...near.filter((limit) => limit.scale === scale).map((limit) => limit.limit));
    return [0, most > 0 ? most * 1.15 : 1];
  };
  const axes = [axis({ label: "event", labelSize: 18, size: 34, values: (u, at) => at.map((value) => (value % 1 ? "" : short(value))) })];
  if (has.cost) axes.push(axis({ scale: "usd", size: 58, values: (u, at) => at.map(shortDollars) }));
  if (has.tokens) {
    axes.push(axis({ scale: "tokens", side: has.cost ? 1 : 3, size: 52, label: "tokens", labelSize: 16, grid: { show: !has.cost }, values: (u, at) => at.map(short) }));
  }
  return drawn(container, {
    scales: { x: { time: false }, usd: { range: top("usd") }, tokens: { range: top("tokens") } },
    axes, series, hooks: { drawClear: [shade], draw: [lines] },
  }, sorted);
}
