// One run: how it stands, what can be done about it, and its report, made anew as it goes on.
import { acts } from "./acts.js";
import { ask, listen, pathOf } from "./api.js";
import { agentOf, badge, plain, projectOf, started, state, titleOf, watched, why } from "./words.js";

const REST_MS = 4000; // between two reports
const id = decodeURIComponent(location.pathname.slice("/runs/".length));
const part = (name) => document.getElementById(name);
let shown = { key: null, events: -1 };
let reported = shown; // what was shown when the report in the frame was asked for
let latest = null; // the run as it was heard of last
let silentAfter = Infinity;
let frame = null;
let timer = null;
let madeAt = -Infinity;

function tellState() {
  if (latest !== null) part("state").textContent = state(latest, silentAfter);
}

function show(run) {
  latest = run;
  tellState();
  part("name").textContent = titleOf(run);
  part("word").replaceChildren(badge(run));
  part("why").textContent = why(run) || "No reason to stop.";
  part("note").textContent = [watched(run), run.action === "allow" ? "" : run.note].filter(Boolean).join(" ");
  const wasted = run.wasted_usd ? `${dollars(run.wasted_usd)} wasted` : null;
  const count = `${run.events.toLocaleString("en-US")} ${run.events === 1 ? "event" : "events"}`;
  part("facts").textContent = [dollars(run.cost_usd) === "unknown" ? "cost unknown" : dollars(run.cost_usd), wasted, run.shipped ? `shipped: ${run.shipped}` : null, count, `started ${started(run)}`, agentOf(run), projectOf(run.project), run.title ? plain(run.run_id) : null]
    .filter(Boolean).join(" · ");
  part("run").className = `callout tone-${run.action}`;
  document.title = `${titleOf(run)}: Ebbtide`;
  // The buttons stay as they are while nothing else can be done: somebody may be about to press one.
  const key = JSON.stringify([run.can_stop, run.stop_reason, run.action, run.ended, run.words]);
  if (key !== shown.key) {
    const box = document.querySelector("#run .acts");
    const hadFocus = box.contains(document.activeElement);
    box.replaceWith(acts(run, plain(run.run_id), (text) => { part("told").textContent = text; }));
    if (hadFocus) part("main").focus();
  }
  if (run.events !== shown.events || run.shipped !== shown.shipped || key !== shown.key) drawReport();
  shown = { key, events: run.events, shipped: run.shipped };
  agree();
}

// The run and its report say one word: that of whichever knows more.
function agree() {
  const said = frame && frame.contentDocument.querySelector(".verdict .badge");
  const pill = part("word").firstElementChild;
  if (!said || !pill) return;
  const isNewer = reported.key === shown.key && reported.events >= shown.events;
  const [from, to] = isNewer ? [said, pill] : [pill, said];
  const tone = [...from.classList].find((name) => name.startsWith("tone-"));
  to.textContent = from.textContent;
  to.classList.remove(...[...to.classList].filter((name) => name.startsWith("tone-")));
  if (tone) to.classList.add(tone);
}

// The next report takes the place of the one before when it is there, so that nothing jumps.
function drawReport() {
  if (timer !== null) return;
  timer = setTimeout(() => {
    timer = null;
    madeAt = performance.now();
    const next = make("iframe", null, frame ? "is-next" : "");
    next.title = `Report of ${plain(id)}`;
    next.src = `${pathOf(id)}/report.html`;
    const asked = shown;
    next.addEventListener("load", () => {
      const page = next.contentDocument;
      const fit = () => { next.style.height = `${page.documentElement.offsetHeight + 8}px`; };
      fit();
      new ResizeObserver(fit).observe(page.documentElement);
      if (frame && frame !== next) frame.remove();
      frame = next;
      reported = asked;
      next.className = "";
      agree();
      document.documentElement.dataset.reports = String(Number(document.documentElement.dataset.reports || 0) + 1);
    });
    part("report").append(next);
  }, Math.max(0, madeAt + REST_MS - performance.now()));
}

async function reload() {
  silentAfter = (await ask("/v1/now")).silent_after_s;
  try {
    show(await ask(pathOf(id)));
  } catch (error) {
    if (error.status !== 404) throw error;
    part("name").textContent = plain(id);
    part("why").textContent = "There is no such run, or it was deleted.";
    latest = null;
    part("state").textContent = "";
  }
  document.documentElement.dataset.ready = "true";
}

setInterval(tellState, 1000);
listen({ run: (run) => { if (run.run_id === id) show(run); } }, reload);
