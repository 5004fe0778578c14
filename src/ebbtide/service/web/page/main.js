// The page: what is stuck now, what was spent, all runs.
import { ask, listen } from "./api.js";
import { Money } from "./money.js";
import { Now } from "./now.js";
import { RunTable } from "./runs.js";

const now = new Now(document.getElementById("now"));
const money = new Money(document.getElementById("money"));
const runs = new RunTable(document.getElementById("list"));

async function reload() {
  await Promise.all([ask("/v1/now").then((state) => now.show(state)), runs.load()]);
  document.documentElement.dataset.readyMs = document.documentElement.dataset.readyMs || `${Math.round(performance.now())}`;
  await money.load();
  document.documentElement.dataset.ready = "true";
}

function patch(run) {
  runs.patch(run);
  money.refresh();
}

listen({ now: (state) => now.show(state), run: patch, spend: (news) => money.spent(news) }, reload);
