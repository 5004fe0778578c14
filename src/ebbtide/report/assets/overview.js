// The table of runs: sorted by any column, filtered by text and by headline, with the keyboard or a pointer.
class Overview {
  constructor(section) {
    this.table = section.querySelector("table");
    this.body = this.table.tBodies[0];
    this.rows = [...this.body.rows].map((row, index) => ({
      row, index, text: row.textContent.toLowerCase(), word: row.dataset.word,
      keys: [...row.cells].map((cell) => this.keyOf(cell)),
    }));
    this.status = section.querySelector("#filtered");
    this.words = new Set();
    this.sorted = { column: 0, down: false };
    this.buildFilters(section.querySelector("#filters"));
    this.buildHeaders();
    this.body.addEventListener("click", (event) => {
      const link = event.target.closest("tr").querySelector("a");
      if (link && !event.target.closest("a") && !String(getSelection())) link.click();
    });
    this.mark();
    this.filter();
  }

  // What a cell is sorted by; null where that is unknown.
  keyOf(cell) {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    return cell.classList.contains("number") ? null : cell.textContent.toLowerCase();
  }

  buildFilters(box) {
    const label = make("label", "Filter ");
    this.search = make("input");
    this.search.type = "search";
    this.search.placeholder = "name or reason";
    this.search.addEventListener("input", () => this.filter());
    label.append(this.search);
    box.append(label);
    for (const word of box.dataset.words.split(", ")) {
      const number = this.rows.filter((item) => item.word === word).length;
      const button = make("button", `${word.toLowerCase()} ${number.toLocaleString("en-US")}`, "word");
      button.type = "button";
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        const isOn = !this.words.delete(word) && Boolean(this.words.add(word));
        button.setAttribute("aria-pressed", String(isOn));
        this.filter();
      });
      box.append(button);
    }
  }

  buildHeaders() {
    [...this.table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = make("button", cell.textContent);
      button.type = "button";
      button.addEventListener("click", () => this.sort(column));
      cell.replaceChildren(button);
    });
  }

  // Numbers first show the largest, the verdict the worst, names the first; a second time the other way round. What
  // is unknown comes last both ways.
  sort(column) {
    const isNumber = this.rows.some((item) => typeof item.keys[column] === "number") && column > 0;
    this.sorted = { column, down: this.sorted.column === column ? !this.sorted.down : isNumber };
    const sign = this.sorted.down ? -1 : 1;
    const keyed = this.rows.filter((item) => item.keys[column] !== null);
    keyed.sort((one, other) => {
      const [a, b] = [one.keys[column], other.keys[column]];
      return a === b ? one.index - other.index : (a < b ? -1 : 1) * sign;
    });
    const unknown = this.rows.filter((item) => item.keys[column] === null);
    this.body.append(...[...keyed, ...unknown].map((item) => item.row));
    this.mark();
    this.tell();
  }

  mark() {
    [...this.table.tHead.rows[0].cells].forEach((cell, column) => {
      if (column === this.sorted.column) cell.setAttribute("aria-sort", this.sorted.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    let shown = 0;
    for (const { row, text, word } of this.rows) {
      const fits = (!this.words.size || this.words.has(word)) && text.includes(wanted);
      row.hidden = !fits;
      shown += fits;
    }
    this.shown = shown;
    this.tell();
  }

  tell() {
    const [shown, all] = [this.shown, this.rows.length].map((number) => number.toLocaleString("en-US"));
    const name = this.table.tHead.rows[0].cells[this.sorted.column].dataset.column;
    const isFirst = this.sorted.column === 0 && !this.sorted.down;
    this.status.textContent = `${shown === all ? shown : `${shown} of ${all}`} runs, ${isFirst ? "the worst first" : `by ${name}`}`;
  }

  // Links to runs as they are listed now.
  links() {
    return [...this.body.rows].filter((row) => !row.hidden).map((row) => row.querySelector("a")).filter(Boolean);
  }
}
