// Colours of the timeline and the charts. What repeats gets a colour of its own, the most frequent first; what came
// once stays grey, so that the eye finds the loop.
const HUES = [
  "#3b82f6", "#f97316", "#10b981", "#d946ef", "#eab308", "#06b6d4", "#ef4444", "#8b5cf6", "#84cc16", "#ec4899",
  "#14b8a6", "#f59e0b", "#6366f1", "#22c55e", "#f43f5e", "#0ea5e9", "#a855f7", "#65a30d", "#db2777", "#ca8a04",
];

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function hue(rank) {
  while (HUES.length <= rank) HUES.push(`hsl(${(HUES.length * 137.508) % 360} 62% 52%)`);
  return HUES[rank];
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
