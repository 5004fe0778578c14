// What is said of a run.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
export const RANKS = ["allow", "nudge", "finalize", "escalate", "stop"];

// A text without controls and without marks that reorder what stands around it, as markup.py says of the report.
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g;
export const plain = (text) => text.replace(UNSAFE, "\ufffd");

// Words of the report; while more may come, what holds now.
export const wordOf = (run) => run.words || run.word;
export const titleOf = (run) => plain(run.title || run.run_id);
export const agentOf = (run) => (run.agent ? plain(run.agent) : run.agent);

export function badge(run) {
  return make("span", wordOf(run), `badge small tone-${run.action}`);
}

export function why(run) {
  if (run.stop_reason !== null) return `A person ended it${run.stop_reason ? `: ${run.stop_reason}` : "."}`;
  if (run.action === "allow") return run.note || "";
  return run.ended ? `${run.reason} It has ended.` : run.reason;
}

// Of what nobody can end from here.
export function watched(run) {
  if (run.can_stop !== false) return "";
  return `Watched through ${run.source === "otlp" ? "OpenTelemetry" : "its session file"}: it cannot be stopped from here.`;
}

export function started(run) {
  const date = new Date(run.started * 1000);
  const two = (number) => String(number).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const day = `${MONTHS[date.getMonth()]} ${date.getDate()}`;
  return date.toDateString() === new Date().toDateString() ? time : `${day}, ${time}`;
}

const WITH_PERSON = new Set(["hooks", "session file"]);

function ago(seconds) {
  const [number, unit] = seconds < 60 ? [seconds, "s"] : seconds < 5400 ? [seconds / 60, "min"]
    : seconds < 129600 ? [seconds / 3600, "h"] : [seconds / 86400, "days"];
  return `${Math.max(0, Math.round(number))} ${unit}`;
}

// Whether a run still goes on; `state_line` in now.py says the same in its report.
export function state(run, silentAfter) {
  const seconds = Date.now() / 1000 - run.latest;
  const age = ago(seconds);
  if (run.ended) return `It ended ${age} ago.`;
  if (run.stop_reason !== null) return `A person ended it; its last event was ${age} ago.`;
  if (seconds <= silentAfter) return `Still running, last event ${age} ago.`;
  if (WITH_PERSON.has(run.source)) return `Waiting for its person, last event ${age} ago.`;
  return `Silent: nothing for ${age}, and nobody has said that it is over.`;
}

export const pageOf = (run) => `/runs/${encodeURIComponent(run.run_id)}`;
export const projectOf = (name) => (name ? plain(name.split(/[\\/]/).filter(Boolean).pop() || name) : name);
