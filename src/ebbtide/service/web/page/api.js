// Asks the service, and listens to its news.
import { plain } from "./words.js";

// Names by which the service is asked for something: they are made plain where they are shown.
const IDENTITIES = new Set(["run_id", "project", "agent", "name", "next_cursor"]);
const read = (json) =>
  JSON.parse(json, (key, value) => (typeof value === "string" && !IDENTITIES.has(key) ? plain(value) : value));

export async function ask(path, options) {
  const answer = await fetch(path, options);
  if (answer.ok) return answer.status === 204 ? null : read(await answer.text());
  if (answer.status === 401) location.assign(location.pathname);
  const problem = await answer.json().catch(() => ({}));
  const error = new Error([problem.detail || answer.statusText, problem.hint].filter(Boolean).join(" "));
  error.status = answer.status;
  throw error;
}

export function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

export const pathOf = (run) => `/v1/runs/${encodeURIComponent(run)}`;

// Calls `reload` when the news begin, and again where some may have been missed; `on` has a function a kind of news.
// What comes while `reload` is under way waits for it.
export function listen(on, reload) {
  const status = document.getElementById("connection");
  let waiting = null;
  let isComplete = false; // nothing was missed since the latest reload
  let isAgain = false; // something was missed while one was under way
  async function begin() {
    isComplete = true;
    if (waiting) {
      isAgain = true;
      return;
    }
    waiting = [];
    try {
      do {
        isAgain = false;
        await reload();
      } while (isAgain);
      status.textContent = "Live";
      status.classList.remove("is-lost");
    } catch (error) {
      waiting = null;
      isComplete = false;
      status.textContent = `The list cannot be read: ${error.message}`;
      status.classList.add("is-lost");
      setTimeout(begin, 3000);
      return;
    }
    const news = waiting;
    waiting = null;
    news.forEach(([kind, data]) => on[kind](data));
  }
  function connect() {
    const source = new EventSource("/v1/stream");
    source.addEventListener("open", () => {
      if (!isComplete) begin();
      else {
        status.textContent = "Live";
        status.classList.remove("is-lost");
      }
    });
    source.addEventListener("error", () => {
      status.textContent = "Connection lost. What you see is from before; trying again.";
      status.classList.add("is-lost");
      // The browser goes on by itself from the latest news, unless it was refused.
      if (source.readyState === EventSource.CLOSED) {
        isComplete = false;
        setTimeout(connect, 2000);
      }
    });
    source.addEventListener("reset", begin);
    for (const kind of Object.keys(on)) {
      source.addEventListener(kind, (event) => {
        const data = read(event.data);
        if (waiting) waiting.push([kind, data]);
        else on[kind](data);
      });
    }
    addEventListener("pagehide", () => source.close(), { once: true });
  }
  connect();
}
