// The page: what is stuck now, what was spent, all runs.
import { ask, listen } from "./api.js";
import { Money } from "./money.js";
import { Now } from "./now.js";
import { RunTable } from "./runs.js";

const now = new Now(document.getElementById("now"));
const money = new Money(document.getElementById("money"));
const runs = new RunTable(document.getElementById("list"));

// When something was drawn for the first time, in milliseconds since the page was asked for.
function mark(name) {
  const marks = document.documentElement.dataset;
  marks[name] = marks[name] || String(Math.round(performance.now()));
}

async function reload() {
  await Promise.all([ask("/v1/now").then((state) => now.show(state)), runs.load()]);
  mark("listedMs");
  await money.load();
  mark("wholeMs");
  document.documentElement.dataset.ready = "true";
}

function patch(run) {
  runs.patch(run);
  money.refresh();
}

listen({ now: (state) => now.show(state), run: patch, spend: (news) => money.spent(news) }, reload);
