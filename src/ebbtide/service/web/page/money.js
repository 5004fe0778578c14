// The band of what was spent.
import { ask } from "./api.js";
import { plain, projectOf } from "./words.js";

const DAYS = 7;
const ROWS = 6;
const REST_MS = 5000; // between two readings of the groups

const sum = (groups, field) => {
  const values = groups.map((group) => group[field]).filter((value) => value !== null && value !== undefined);
  return values.length ? values.reduce((total, value) => total + value, 0) : null;
};
// Days begin where the reader is.
const dayOf = (time) =>
  [time.getFullYear(), time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
const ofToday = (groups) => groups.filter((group) => group.name === dayOf(new Date()));
const runsOf = (number) => `${number.toLocaleString("en-US")} ${number === 1 ? "run" : "runs"}`;

export class Money {
  constructor(section) {
    this.tiles = section.querySelector(".tiles");
    this.groups = section.querySelector(".groups");
    this.budgets = section.querySelector("#budgets");
    this.values = {};
    for (const [name, title] of [["today", "Today"], ["week", "7 days"], ["wasted", "Wasted, 7 days"], ["rate", "Average day"]]) {
      const box = make("div");
      const value = make("dd", "", "value");
      const note = make("dd", "", "note");
      box.append(make("dt", title), value, note);
      this.tiles.append(box);
      this.values[name] = { value, note, box };
    }
    this.timer = null;
  }

  async load() {
    const since = dayOf(new Date(Date.now() - (DAYS - 1) * 86400000));
    const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");
    const by = (name) =>
      ask(`/v1/spending?by=${name}&since=${since}&timezone=${zone}`).then((answer) => answer.groups);
    const [days, projects, agents, models] = await Promise.all(["day", "project", "agent", "model"].map(by));
    this.today(ofToday(days));
    const week = sum(days, "cost_usd");
    const calls = sum(days, "unpriced_calls") || 0;
    this.put("week", days.length ? week : 0, calls ? `${calls.toLocaleString("en-US")} calls without a price` : "");
    const wasted = sum(projects, "wasted_usd");
    this.values.wasted.box.hidden = wasted === null;
    this.put("wasted", wasted, week && wasted ? `${Math.round((100 * wasted) / week)}% of the cost` : "bought nothing");
    this.put("rate", week === null ? null : week / DAYS, week ? `${dollars((week / DAYS) * 30)} in 30 days at this rate` : "");
    this.groups.replaceChildren(
      ...[["By project", projects], ["By agent", agents], ["By model", models]]
        .filter(([, groups]) => groups.length)
        .map(([title, groups]) => this.table(title, groups)),
    );
    await this.loadBudgets();
  }

  // What is spent now is shown at once, what it was spent on a little later.
  spent(news) {
    const groups = ofToday(news.today); // of the day of the service, which may be another one
    if (groups.length) {
      this.today(groups);
    }
    this.refresh();
  }

  refresh() {
    if (this.timer === null) {
      this.timer = setTimeout(() => {
        this.timer = null;
        this.load().catch(() => {});
      }, REST_MS);
    }
  }

  today(groups) {
    const runs = sum(groups, "runs");
    this.put("today", groups.length ? sum(groups, "cost_usd") : 0, runs ? runsOf(runs) : "no run yet");
  }

  put(name, amount, note) {
    this.values[name].value.textContent = dollars(amount);
    this.values[name].note.textContent = note;
  }

  table(title, groups) {
    const table = make("table");
    table.append(make("caption", title));
    const body = make("tbody");
    const hasWaste = groups.some((group) => group.wasted_usd !== null);
    const most = Math.max(...groups.map((group) => group.cost_usd || 0));
    for (const group of groups.slice(0, ROWS)) {
      const row = make("tr");
      const name = make("th", shortOf(group.name, groups));
      name.scope = "row";
      name.title = plain(group.name || "");
      name.append(bar(most ? (group.cost_usd || 0) / most : 0));
      const wasted = group.wasted_usd ? `${dollars(group.wasted_usd)} wasted` : "";
      row.append(name, make("td", dollars(group.cost_usd), "number"));
      if (hasWaste) row.append(make("td", wasted, "number wasted"));
      body.append(row);
    }
    const others = groups.slice(ROWS);
    if (others.length) {
      const row = make("tr");
      const name = make("th", `${others.length} others`);
      name.scope = "row";
      row.append(name, make("td", dollars(sum(others, "cost_usd")), "number"));
      if (hasWaste) row.append(make("td", "", "number wasted"));
      body.append(row);
    }
    table.append(body);
    return table;
  }

  // There are budgets where the service was given some.
  async loadBudgets() {
    const answer = await ask("/v1/budgets");
    const rows = answer.budgets.filter((item) => item.limit_usd !== null).slice(0, 12);
    this.budgets.replaceChildren();
    if (!rows.length) return;
    const table = make("table");
    table.append(make("caption", "Budgets"));
    const body = make("tbody");
    for (const item of rows) {
      const share = item.limit_usd ? item.spent_usd / item.limit_usd : 1;
      const row = make("tr", null, share >= 0.8 ? "is-near" : "");
      const name = make("th", `${item.scope}${item.name ? ` ${projectOf(item.name)}` : ""}, per ${item.per}`);
      name.scope = "row";
      name.append(bar(share));
      const ahead = item.projected_usd === null ? "" : `${dollars(item.projected_usd)} at this rate`;
      row.append(
        name,
        make("td", `${dollars(item.spent_usd)} of ${dollars(item.limit_usd)}`, "number spent"),
        make("td", ahead, "number"),
      );
      body.append(row);
    }
    table.append(body);
    this.budgets.append(table);
  }
}

// The last part of a name, unless another one ends like it.
function shortOf(name, groups) {
  if (name === null) return "not named";
  const short = projectOf(name);
  return groups.filter((group) => projectOf(group.name) === short).length > 1 ? plain(name) : short;
}

// A line that is so full, from 0 to 1.
function bar(share) {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  line.setAttribute("viewBox", "0 0 100 4");
  line.setAttribute("preserveAspectRatio", "none");
  line.setAttribute("aria-hidden", "true");
  const part = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  part.setAttribute("height", "4");
  part.setAttribute("width", String(100 * Math.min(1, share)));
  line.append(part);
  return line;
}
