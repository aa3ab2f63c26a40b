// A table that draws only the visible rows: a thousand jobs cost as much as thirty.
import {fill, h} from "./dom.js";

const MARGIN = 8;  // rows above and below

export class List {
  // columns: [{name, title, width, className, sort(row) or undefined, draw(cell, row, now)}];
  // `open`(row) on enter and click; rows have a `key`.
  constructor({label, columns, open, empty, sortBy, descending}) {
    this.columns = columns;
    this.open = open;
    this.empty = empty;
    this.rows = [];
    this.selected = null;  // key
    this.sortBy = sortBy;
    this.descending = descending ?? false;
    this.drawn = [];
    this.above =
        h("tr", {class: "spacer", "aria-hidden": "true"}, h("td", {colspan: columns.length}));
    this.below =
        h("tr", {class: "spacer", "aria-hidden": "true"}, h("td", {colspan: columns.length}));
    this.body = h("tbody", null, this.above, this.below);
    this.heads = columns.map(
        (column) =>
            h("th", {scope: "col", class: column.className},
              column.sort ? h("button", {type: "button", onclick: () => this.#sortAfter(column)},
                              column.title) :
                            column.title));
    this.group = h("colgroup", null, columns.map(() => h("col")));
    columns.forEach((column, i) => {
      if (column.width) this.group.children[i].style.width = column.width;
    });
    this.table =
        h("table", {"aria-label": label}, this.group, h("thead", null, h("tr", null, this.heads)),
          this.body);
    this.nothing = h("div", {class: "empty", hidden: true});
    this.element = h("div", {class: "list", onscroll: () => this.draw()}, this.table, this.nothing);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
    this.#showSort();
  }

  close() {
    this.observer.disconnect();
  }

  setRows(rows) {
    this.rows = rows;
    this.#sort();
    this.draw();
  }

  #sortAfter(column) {
    this.descending = this.sortBy === column.name ? !this.descending : Boolean(column.descends);
    this.sortBy = column.name;
    this.#showSort();
    this.#sort();
    this.draw();
  }

  #showSort() {
    this.columns.forEach((column, i) => {
      if (column.name === this.sortBy)
        this.heads[i].setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else
        this.heads[i].removeAttribute("aria-sort");
    });
  }

  #sort() {
    const column = this.columns.find((each) => each.name === this.sortBy);
    if (!column?.sort) return;
    const sign = this.descending ? -1 : 1;
    const keyed = this.rows.map((row) => [column.sort(row), row]);
    keyed.sort(([a, rowA], [b, rowB]) => {
      const order =
          typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : (a ?? 0) - (b ?? 0);
      return order * sign || rowA.key.localeCompare(rowB.key);
    });
    this.rows = keyed.map(([, row]) => row);
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 30;
  }

  draw() {
    const now = Date.now();
    const height = this.rowHeight;
    this.table.setAttribute("aria-rowcount", this.rows.length + 1);
    this.nothing.hidden = this.rows.length > 0;
    this.table.hidden = this.rows.length === 0;
    if (this.rows.length === 0) fill(this.nothing, this.empty());
    const first = Math.max(0, Math.floor(this.element.scrollTop / height) - MARGIN);
    const last = Math.min(
        this.rows.length,
        Math.ceil((this.element.scrollTop + this.element.clientHeight) / height) + MARGIN);
    while (this.drawn.length < last - first) this.#addRow();
    while (this.drawn.length > Math.max(0, last - first)) this.drawn.pop().element.remove();
    this.above.firstChild.style.height = `${first * height}px`;
    this.below.firstChild.style.height = `${Math.max(0, this.rows.length - last) * height}px`;
    const hadFocus = this.drawn.some(({element}) => element === document.activeElement);
    this.hasSelected = this.rows.some((row) => row.key === this.selected);
    this.drawn.forEach((drawn, i) => this.#drawRow(drawn, first + i, now));
    // Elements keep their places when rows move; the focus goes with its row.
    if (hadFocus && this.hasSelected) this.#focusSelected();
  }

  #focusSelected() {
    const drawn = this.drawn.find(({row}) => row.key === this.selected);
    if (drawn && drawn.element !== document.activeElement)
      drawn.element.focus({preventScroll: true});
  }

  #addRow() {
    const cells = this.columns.map((column) => h("td", {class: column.className}));
    const element = h("tr", {tabindex: "-1"}, cells);
    const drawn = {element, cells, row: null};
    element.addEventListener("focus", () => {
      if (this.selected !== drawn.row.key) this.select(drawn.row.key);
    });
    element.addEventListener("click", (event) => {
      if (event.target.closest("a, button, input")) return;
      this.select(drawn.row.key);
      this.open?.(drawn.row);
    });
    this.body.insertBefore(element, this.below);
    this.drawn.push(drawn);
  }

  #drawRow(drawn, index, now) {
    const row = this.rows[index];
    drawn.row = row;
    drawn.element.setAttribute("aria-rowindex", index + 2);
    const isSelected = row.key === this.selected;
    drawn.element.setAttribute("aria-selected", isSelected);
    drawn.element.tabIndex = isSelected || (!this.hasSelected && index === 0) ? 0 : -1;
    this.columns.forEach((column, i) => column.draw(drawn.cells[i], row, now));
  }

  select(key) {
    this.selected = key;
    this.draw();
  }

  get selectedRow() {
    return this.rows.find((row) => row.key === this.selected) ?? null;
  }

  move(step) {
    if (this.rows.length === 0) return;
    const at = this.rows.findIndex((row) => row.key === this.selected);
    const to = Math.min(
        this.rows.length - 1,
        Math.max(0, at < 0 ? (step > 0 ? 0 : this.rows.length - 1) : at + step));
    this.selected = this.rows[to].key;
    const height = this.rowHeight;
    const head = 30;
    if (to * height < this.element.scrollTop) this.element.scrollTop = to * height;
    const bottom = (to + 1) * height + head;
    if (bottom > this.element.scrollTop + this.element.clientHeight)
      this.element.scrollTop = bottom - this.element.clientHeight;
    this.draw();
    this.#focusSelected();
  }

  // Whether the key was the list's.
  key(event) {
    const steps =
        {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9};
    if (event.key in steps) {
      this.move(steps[event.key]);
      return true;
    }
    if (event.key === "Enter" && this.selectedRow) {
      this.open?.(this.selectedRow);
      return true;
    }
    return false;
  }
}

// The field above a list that narrows it to the rows with all of its words.
export class Filter {
  constructor(label, changed) {
    this.element = h("input", {type: "search", placeholder: "Filter (/)", "aria-label": label});
    this.element.addEventListener("input", changed);
  }

  get isEmpty() {
    return !this.element.value;
  }

  clear() {
    this.element.value = "";
  }

  // `textOf` gives a row's text.
  select(rows, textOf) {
    const words = this.element.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return rows;
    return rows.filter((row) => {
      const text = textOf(row).toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  // Whether the key was for it.
  key(event) {
    if (event.key !== "/") return false;
    this.element.focus();
    this.element.select();
    return true;
  }

  leave() {
    this.element.blur();
  }
}
