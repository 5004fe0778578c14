// The band that says what is stuck.
import { acts } from "./acts.js";
import { pageOf, plain, watched } from "./words.js";

const MOST_SILENT = 5; // that are listed; the sentence counts all

export class Now {
  constructor(section) {
    this.section = section;
    this.sentence = section.querySelector("#sentence");
    this.list = section.querySelector("#stuck");
    this.told = section.querySelector("#told");
    this.spoken = section.querySelector("#spoken");
    this.items = new Map();
    this.latest = null;
  }

  show(now) {
    this.sentence.textContent = now.sentence;
    document.title = now.counts.stuck ? `(${now.counts.stuck}) stuck: Ebbtide` : "Ebbtide";
    this.section.classList.toggle("is-stuck", now.counts.stuck > 0);
    this.section.classList.toggle("is-calm", now.counts.stuck === 0);
    const connect = this.section.querySelector("#connect");
    connect.hidden = now.connect === null;
    connect.querySelector("code").textContent = now.connect || "";
    // Times go on by themselves; who listens is told when something else is stuck.
    const names = JSON.stringify([now.stuck, now.silent].map((runs) => runs.map((run) => run.run_id)));
    if (this.latest !== null && this.latest !== names) this.spoken.textContent = now.sentence;
    this.latest = names;
    const hadFocus = this.list.contains(document.activeElement);
    const silent = now.silent.slice(0, MOST_SILENT);
    const runs = [...now.stuck, ...silent].map((run, index) => [`${index < now.stuck.length} ${run.run_id}`, run]);
    const keys = new Set(runs.map(([key]) => key));
    for (const [key, item] of this.items) {
      if (!keys.has(key)) {
        item.node.remove();
        this.items.delete(key);
      }
    }
    runs.forEach(([key, run], index) => {
      const item = this.items.get(key) || this.added(key, run);
      item.line.textContent = run.line;
      item.reason.textContent = run.reason;
      if (this.list.children[index] !== item.node && !item.node.contains(document.activeElement)) {
        this.list.insertBefore(item.node, this.list.children[index] || null);
      }
    });
    if (hadFocus && !this.list.contains(document.activeElement)) this.sentence.focus();
  }

  added(key, run) {
    const node = make("li");
    const words = make("div");
    const head = make("p");
    const link = make("a", run.label);
    link.href = pageOf(run);
    const line = make("span", null, "line");
    head.append(link, " ", line);
    const name = plain(run.run_id);
    if (run.label !== name) head.append(" ", make("span", name, "quiet"));
    const reason = make("p", null, "quiet");
    reason.dir = "auto";
    words.append(head, reason);
    const buttons = run.can_stop === false
      ? make("p", watched(run), "quiet")
      : acts(run, run.label, (text) => { this.told.textContent = text; });
    node.append(words, buttons);
    node.dataset.run = run.run_id;
    this.list.append(node);
    const item = { node, line, reason };
    this.items.set(key, item);
    return item;
  }
}
