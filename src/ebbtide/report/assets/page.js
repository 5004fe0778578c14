// Puts the timeline and the charts of a run where the page has room for them; several runs one at a time.
(() => {
  const runs = JSON.parse(document.getElementById("data").textContent);
  const articles = [...document.querySelectorAll("article.run")];
  const open = new Map();

  function fill(article) {
    const index = Number(article.dataset.run);
    if (open.has(index)) return;
    const run = runs[index];
    const part = (name) => document.getElementById(`${name}-${index + 1}`);
    const charts = [];
    let timeline = null;
    open.set(index, { charts, timeline: () => timeline });
    if (part("timeline")) {
      const more = (name) => document.getElementById(`timeline-${index + 1}-${name}`);
      timeline = new Timeline(run, {
        container: part("timeline"), controls: more("controls"), readout: more("readout"), legend: more("legend"),
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
    for (const button of article.querySelectorAll("button.locate")) {
      button.hidden = !timeline;
      button.addEventListener("click", () => timeline.locate(Number(button.dataset.finding)));
    }
  }

  function choose() {
    const wanted = articles.find((article) => `#${article.id}` === location.hash) || articles[0];
    for (const article of articles) article.hidden = article !== wanted;
    for (const link of document.querySelectorAll(".overview a")) {
      if (wanted && link.hash === `#${wanted.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    if (wanted) fill(wanted);
    if (wanted && location.hash) wanted.scrollIntoView();
  }

  function redraw() {
    for (const { charts, timeline } of open.values()) {
      charts.forEach((chart) => chart.redraw(false));
      if (timeline()) timeline().later();
    }
  }

  let closed = [];
  addEventListener("hashchange", choose);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("article:not([hidden]) section > .findings > li > details:not([open])")];
    closed.forEach((details) => { details.open = true; });
    for (const { timeline } of open.values()) if (timeline()) timeline().resize(PRINTED_HEIGHT);
    redraw();
  });
  addEventListener("afterprint", () => {
    closed.forEach((details) => { details.open = false; });
    for (const { timeline } of open.values()) if (timeline()) timeline().resize();
    redraw();
  });
  choose();
  document.documentElement.dataset.ready = "true";
  document.documentElement.dataset.readyMs = `${Math.round(performance.now())}`;
})();
