// The list of runs: the worst first, filtered by what stands in the address, patched as news come.
import { ask } from "./api.js";
import { RANKS, agentOf, badge, pageOf, plain, projectOf, started, titleOf, watched, why } from "./words.js";

const FIELDS = ["text", "project", "agent", "standing", "since"];
const OFFERED = ["project", "agent"]; // those that occur can be chosen
const SINCE = { "24h": 86400, "7d": 7 * 86400, "30d": 30 * 86400 };
const DEFAULT_SINCE = "7d";
const PAGE = 50;
const MOST = 1000; // that the service gives at once
const FRESH_S = 60; // since a run was heard of that comes into a list of which there is more

// Where a run stands in the list: first by what it wasted, in cents, then by what is to be done about it.
const place = (run) => Math.round(100 * (run.wasted_usd || 0)) * RANKS.length + RANKS.indexOf(run.action);

export class RunTable {
  constructor(section) {
    this.form = section.querySelector("form");
    this.body = section.querySelector("tbody");
    this.shown = section.querySelector("#shown");
    this.more = section.querySelector("#more");
    this.rows = new Map();
    this.cursor = null;
    this.loaded = 0;
    this.readAddress();
    let timer = null;
    this.form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.filter(), 150);
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.filter();
    });
    addEventListener("popstate", () => {
      this.readAddress();
      this.load();
    });
    this.more.addEventListener("click", () => this.loadMore());
    this.body.addEventListener("click", (event) => {
      if (!event.target.closest("a") && !String(getSelection())) event.target.closest("tr").querySelector("a").click();
    });
    document.addEventListener("keydown", (event) => this.pressed(event));
  }

  readAddress() {
    const query = new URLSearchParams(location.search);
    for (const name of FIELDS) {
      const field = this.form.elements[name];
      const value = query.get(name) || "";
      const isKnown = field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value);
      if (!isKnown && OFFERED.includes(name)) field.append(new Option(projectOf(value), value));
      const isChoice = isKnown || OFFERED.includes(name);
      field.value = isChoice ? value : name === "since" ? DEFAULT_SINCE : "";
    }
  }

  filter() {
    const query = new URLSearchParams();
    for (const name of FIELDS) {
      const { value } = this.form.elements[name];
      if (value && !(name === "since" && value === DEFAULT_SINCE)) query.set(name, value);
    }
    const search = query.toString();
    history.replaceState(null, "", search ? `?${search}` : location.pathname);
    this.load().catch((error) => { this.shown.textContent = error.message; });
  }

  query(limit = PAGE) {
    const query = new URLSearchParams({ order: "worst", limit: String(Math.min(limit, MOST)) });
    for (const name of FIELDS) {
      const { value } = this.form.elements[name];
      if (value && value !== "all") query.set(name, value === "30d" ? String(Math.floor(Date.now() / 1000) - SINCE[value]) : value);
    }
    return query;
  }

  async load(limit) {
    const number = (this.number = (this.number || 0) + 1);
    const page = await ask(`/v1/runs?${this.query(limit)}`);
    if (number !== this.number) return; // another filter was chosen meanwhile
    const focused = this.body.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.run : null;
    this.rows.clear();
    this.loaded = 0;
    this.isBehind = false;
    this.body.replaceChildren();
    this.add(page);
    if (focused && this.rows.has(focused)) this.rows.get(focused).node.querySelector("a").focus();
  }

  async loadMore() {
    const before = this.body.rows.length;
    if (this.isBehind) await this.load(before + PAGE); // those left out stand before where the list goes on
    else {
      const query = this.query();
      query.set("cursor", this.cursor);
      this.add(await ask(`/v1/runs?${query}`));
    }
    const next = this.body.rows[before];
    if (next) next.querySelector("a").focus();
  }

  add(page) {
    for (const run of page.runs) {
      if (this.rows.has(run.run_id)) this.draw(run);
      else this.body.append(this.made(run).node);
    }
    this.loaded += page.runs.length;
    this.cursor = page.next_cursor;
    this.more.hidden = this.cursor === null;
    this.offer(page.runs);
    this.tell();
  }

  // Projects and agents that occur can be chosen.
  offer(runs) {
    for (const name of OFFERED) {
      const field = this.form.elements[name];
      const known = new Set([...field.options].map((option) => option.value));
      for (const value of new Set(runs.map((run) => run[name]))) {
        if (value && !known.has(value)) field.append(new Option(projectOf(value), value));
      }
    }
  }

  // A run that the news tell of.
  patch(run) {
    const row = this.rows.get(run.run_id);
    if (!this.fits(run)) {
      if (row) this.drop(row);
      return;
    }
    if (!row && this.cursor !== null && this.isLeftOut(run)) return;
    this.offer([run]);
    const isMoved = !row || place(row.run) !== place(run);
    const node = row ? this.draw(run) : this.made(run).node;
    if (isMoved) {
      const hadFocus = node.contains(document.activeElement);
      const at = place(run);
      const after = [...this.body.rows].find(
        (other) => other !== node && place(this.rows.get(other.dataset.run).run) <= at,
      );
      this.body.insertBefore(node, after || null);
      if (hadFocus) node.querySelector("a").focus();
      node.classList.remove("is-fresh");
      requestAnimationFrame(() => node.classList.add("is-fresh"));
    }
    this.tell();
  }

  // An old run, of which something was found out, stands on a later page; of many that are fine some are enough.
  isLeftOut(run) {
    if (run.latest < Date.now() / 1000 - FRESH_S) return true;
    const isOneOfMany = run.action === "allow" && this.rows.size >= this.loaded + PAGE;
    this.isBehind = this.isBehind || isOneOfMany;
    return isOneOfMany;
  }

  drop(row) {
    row.node.remove();
    this.rows.delete(row.run.run_id);
    this.tell();
  }

  fits(run) {
    const value = (name) => this.form.elements[name].value;
    const since = SINCE[value("since")];
    const text = value("text").toLowerCase();
    return (
      (!value("project") || run.project === value("project"))
      && (!value("agent") || run.agent === value("agent"))
      && (!value("standing") || value("standing").split(",").includes(run.action))
      && (!since || run.latest >= Date.now() / 1000 - since)
      && (!text || [run.run_id, run.project, run.agent, run.reason, run.title].some((part) => (part || "").toLowerCase().includes(text)))
    );
  }

  made(run) {
    const node = make("tr");
    node.dataset.run = run.run_id;
    const row = { node, run, cells: {} };
    for (const [name, className] of [
      ["word", "word"], ["source", "source"], ["cost", "number cost"], ["wasted", "number wasted"], ["shipped", "shipped"],
      ["started", "number started"], ["agent", "agent"],
    ]) {
      row.cells[name] = make("td", null, className);
      node.append(row.cells[name]);
    }
    row.link = make("a");
    row.link.href = pageOf(run);
    row.link.dir = "auto";
    row.name = make("p", null, "name quiet");
    row.name.dir = "auto";
    row.why = make("p", null, "quiet");
    row.why.dir = "auto";
    row.watched = make("span", null, "watched");
    row.cells.source.append(row.link, row.why, row.name, row.watched);
    this.rows.set(run.run_id, row);
    this.draw(run);
    return row;
  }

  draw(run) {
    const row = this.rows.get(run.run_id);
    row.run = run;
    row.cells.word.replaceChildren(badge(run));
    row.link.textContent = titleOf(run);
    row.name.textContent = run.title ? plain(run.run_id) : "";
    row.why.textContent = why(run);
    row.watched.textContent = run.action === "allow" ? "" : watched(run);
    row.cells.cost.textContent = dollars(run.cost_usd);
    row.cells.cost.classList.toggle("is-unknown", run.cost_usd === null);
    row.cells.wasted.textContent = run.wasted_usd ? dollars(run.wasted_usd) : "";
    row.cells.shipped.textContent = run.shipped || "";
    row.cells.started.textContent = started(run);
    row.cells.agent.textContent = [agentOf(run), projectOf(run.project)].filter(Boolean).join(" · ");
    return row.node;
  }

  tell() {
    const number = this.rows.size;
    this.shown.textContent = number
      ? `${number.toLocaleString("en-US")} ${number === 1 ? "run" : "runs"}, the worst first${this.cursor === null ? "" : "; there are more"}`
      : "No run is like that.";
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const row = document.activeElement.closest("#runs tbody tr");
    if (event.key === "/") {
      event.preventDefault();
      this.form.elements.text.focus();
      return;
    }
    const isArrow = row && (event.key === "ArrowDown" || event.key === "ArrowUp");
    if (event.key !== "j" && event.key !== "k" && !isArrow) return;
    const isDown = event.key === "j" || event.key === "ArrowDown";
    let next = isDown ? this.body.rows[0] : null;
    if (row) next = isDown ? row.nextElementSibling : row.previousElementSibling;
    if (!next) return;
    event.preventDefault();
    next.querySelector("a").focus();
  }
}
