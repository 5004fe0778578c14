// Colours and words of the timeline and the charts, and the columns of a run as they are read from the page. No colour
// is red, which is for errors and for the worst findings.
const HUES = ["#3b82f6", "#ea580c", "#059669", "#d946ef", "#ca8a04", "#0891b2", "#8b5cf6", "#65a30d"];

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function hue(rank, other) {
  return HUES[rank] || other || cssColour("--repeat");
}

function make(name, text, className) {
  const node = document.createElement(name);
  if (text !== undefined && text !== null) node.textContent = text;
  if (className) node.className = className;
  return node;
}

function dollars(value) {
  if (value === null || value === undefined) return "unknown";
  if (value > 0 && value < 0.0001) return "under $0.0001";
  if (value > 0 && value < 0.01) return `$${value.toPrecision(2)}`;
  return `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

function short(value) {
  if (value >= 1e9) return `${+(value / 1e9).toFixed(1)}G`;
  if (value >= 1e6) return `${+(value / 1e6).toFixed(1)}M`;
  if (value >= 1e3) return `${+(value / 1e3).toFixed(1)}k`;
  return `${value}`;
}

function shortDollars(value) {
  return value >= 1000 ? `$${short(value)}` : value >= 100 ? `$${Math.round(value)}` : dollars(value);
}

function clock(seconds) {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

// Columns come as steps from one known value to the next.
function unpacked(run) {
  const { timeline } = run;
  const whole = (steps, unit) => {
    let sum = 0;
    return steps.map((step) => (step === null ? null : (sum += step) / unit));
  };
  return {
    ...run,
    timeline: {
      ...timeline,
      number: timeline.number || Array.from(timeline.name, (_, index) => index + 1),
      identity: whole(timeline.identity, 1),
      text: whole(timeline.text, 1),
      kind: Array.from(timeline.kind, Number),
      cost: whole(timeline.cost, 1e6),
      tokens: whole(timeline.tokens, 1),
      time: whole(timeline.time, 1e3),
    },
  };
}
