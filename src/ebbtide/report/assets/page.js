// Puts the timeline and the charts of a run where the page has room for them; of several runs, either the table or
// one of them is seen.
(() => {
  const articles = [...document.querySelectorAll("article.run")];
  const section = document.getElementById("overview");
  const skipped = document.getElementById("skipped");
  const overview = section && new Overview(section);
  const open = new Map();

  function fill(article) {
    const number = Number(article.dataset.run);
    if (open.has(number)) return;
    const run = unpacked(JSON.parse(document.getElementById(`data-${number}`).textContent));
    const part = (name) => document.getElementById(`${name}-${number}`);
    const charts = [];
    let timeline = null;
    open.set(number, { charts, timeline: () => timeline });
    if (part("timeline")) {
      const more = (name) => document.getElementById(`timeline-${number}-${name}`);
      timeline = new Timeline(run, {
        container: part("timeline"), strip: more("strip"), controls: more("controls"), readout: more("readout"),
        legend: more("legend"),
        filtered: (chain) => drawRounds(chain),
      });
    }
    let rounds = null;
    function drawRounds(chain) {
      const chainOf = timeline && run.timeline.chains.length > 1 ? (event) => timeline.chainOf(event) : null;
      const shown = chainOf && chain >= 0 ? run.rounds.filter((round) => chainOf(round[1]) === chain) : run.rounds;
      if (!part("rounds")) return;
      if (rounds) {
        charts.splice(charts.indexOf(rounds), 1);
        rounds.destroy();
        rounds = null;
      }
      if (!shown.length) return;
      rounds = roundsChart(part("rounds"), shown, chainOf);
      charts.push(rounds);
    }
    drawRounds(-1);
    if (part("spending")) charts.push(spendingChart(part("spending"), run));
    for (const button of article.querySelectorAll("button.jump")) {
      button.hidden = !timeline;
      button.addEventListener("click", () => timeline.jump(Number(button.dataset.event)));
    }
    for (const button of article.querySelectorAll("button.locate")) {
      button.hidden = !timeline || Number(button.dataset.finding) >= run.findings.length;
      button.addEventListener("click", () => timeline.locate(Number(button.dataset.finding)));
    }
  }

  function choose() {
    const wanted = articles.find((article) => `#${article.id}` === location.hash) || (overview ? null : articles[0]);
    for (const article of articles) article.hidden = article !== wanted;
    if (overview) section.hidden = Boolean(wanted);
    if (overview && skipped) skipped.hidden = Boolean(wanted);
    if (wanted) {
      fill(wanted);
      if (overview) walk(wanted);
    }
    if (overview) {
      scrollTo(0, wanted ? 0 : left.scroll);
      if (left.link && !wanted) left.link.focus({ preventScroll: true });
    }
  }

  // From a run back to the table, and to its neighbours there.
  const left = { scroll: 0, link: null };
  function walk(article) {
    const links = overview.links();
    const at = links.findIndex((link) => link.hash === `#${article.id}`);
    left.link = links[at] || null;
    let bar = article.querySelector("nav");
    if (!bar) article.prepend((bar = make("nav")));
    bar.setAttribute("aria-label", "Runs");
    const link = (text, hash) => {
      const node = make("a", text);
      node.href = hash;
      return node;
    };
    const parts = [link("\u2190 All runs", "#")];
    if (at > 0) parts.push(link("Previous", links[at - 1].hash));
    if (at >= 0 && at < links.length - 1) parts.push(link("Next", links[at + 1].hash));
    if (at >= 0) parts.push(make("span", `${at + 1} of ${links.length}`, "quiet"));
    bar.replaceChildren(...parts);
    parts[0].focus({ preventScroll: true });
  }

  function redraw() {
    for (const { charts, timeline } of open.values()) {
      charts.forEach((chart) => chart.redraw(false));
      if (timeline()) timeline().recolour();
    }
  }

  let closed = [];
  if (overview) section.addEventListener("click", () => { left.scroll = scrollY; }, true);
  addEventListener("hashchange", choose);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // What is drawn is drawn before the styles for paper hold.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.printing = "true";
    closed = [...document.querySelectorAll("article:not([hidden]) section > .findings > li > details:not([open])")];
    closed.forEach((details) => { details.open = true; });
    for (const { timeline } of open.values()) if (timeline()) timeline().resize(PRINTED_HEIGHT);
    redraw();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.printing;
    closed.forEach((details) => { details.open = false; });
    for (const { timeline } of open.values()) if (timeline()) timeline().resize();
    redraw();
  });
  choose();
  document.documentElement.dataset.ready = "true";
  document.documentElement.dataset.readyMs = `${Math.round(performance.now())}`;
})();
