// Trials or runs as lines over parallel axes: the settings on the left, the results on the right.
import {h, setText, svg} from "./dom.js";

const HEIGHT = 200;
const ABOVE = 20;  // for the names of the axes
const BELOW = 18;
const SIDE = 56;
const MOST_AXES = 10;
const MOST_WORDS = 12;  // of an axis that has no numbers
const LOG_FROM = 50;    // how much larger the largest is, where an axis is logarithmic

const isNumber = (value) => value !== null && value !== "" && Number.isFinite(Number(value));
const short = (value) =>
    (value === 0                                          ? "0" :
         Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(1) :
                                                            String(Number(value.toPrecision(3))));

// {name, to: value => 0..1 or null, ends: [[share, text], ...]}
function axisOf(name, rows) {
  const values =
      rows.map((row) => row.values[name]).filter((value) => value !== undefined && value !== null);
  if (values.length === 0) return null;
  if (values.every(isNumber)) {
    const numbers = values.map(Number);
    const low = numbers.reduce((a, b) => Math.min(a, b));
    const high = numbers.reduce((a, b) => Math.max(a, b));
    const isLog = low > 0 && high / low >= LOG_FROM;
    const of = isLog ? Math.log : (value) => value;
    const span = of(high) - of(low) || 1;
    return {
      name,
      to: (value) =>
          (isNumber(value) ? (low === high ? 0.5 : (of(Number(value)) - of(low)) / span) : null),
      ends: low === high ? [[0.5, short(low)]] : [[0, short(low)], [1, short(high)]],
    };
  }
  const words = [...new Set(values.map(String))].sort();
  if (words.length > MOST_WORDS) return null;
  const place = (word) => (words.length === 1 ? 0.5 : words.indexOf(word) / (words.length - 1));
  return {
    name,
    to: (value) => (value === undefined || value === null ? null : place(String(value))),
    ends: words.map((word) => [place(word), word]),
  };
}

export class Parallel {
  #rows = [];
  #axes = [];
  #chosen = -1;

  constructor(label) {
    this.label = label;
    this.picture = svg("svg", {role: "img", tabindex: "0", class: "parallel"});
    this.says = h("span", {class: "muted", role: "status"});
    this.element = h("figure", {class: "chart"}, this.picture, h("figcaption", null, this.says));
    this.picture.addEventListener(
        "pointermove", (event) => this.#choose(Number(event.target.dataset?.row ?? -1)));
    this.picture.addEventListener("pointerleave", () => this.#choose(-1));
    this.picture.addEventListener("keydown", (event) => this.#key(event));
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
  }

  close() {
    this.observer.disconnect();
  }

  // rows: [{title, kind, values: {name: value}}]; `kind` is a colour, as of states.
  // Hidden where two axes cannot be made of them.
  set(names, rows) {
    this.#rows = rows;
    const axes = names.map((name) => axisOf(name, rows)).filter(Boolean);
    const differing = axes.filter(({ends}) => ends.length > 1);
    this.#axes = (differing.length > 1 ? differing : axes).slice(-MOST_AXES);
    this.element.hidden = rows.length < 2 || this.#axes.length < 2;
    this.picture.setAttribute(
        "aria-label",
        `${this.label}: ${rows.length} lines over ${this.#axes.map(({name}) => name).join(", ")}`);
    this.draw();
  }

  draw() {
    const width = this.element.clientWidth;
    if (!width || this.element.hidden) return;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.picture.setAttribute("height", HEIGHT);
    const x = (i) => SIDE + (width - 2 * SIDE) * i / (this.#axes.length - 1);
    const y = (share) => ABOVE + (HEIGHT - ABOVE - BELOW) * (1 - share);
    this.lines = this.#rows.map((row, index) => {
      // An axis on which it has no value is skipped.
      const points = this.#axes.map(({name, to}, i) => [x(i), to(row.values[name])])
                         .filter(([, share]) => share !== null)
                         .map(([at, share]) => `${at.toFixed(1)},${y(share).toFixed(1)}`);
      const line =
          svg("polyline", {points: points.join(" "), "data-row": index, "data-kind": row.kind});
      const title = svg("title", {});
      title.textContent = this.#textOf(row);
      line.append(title);
      return line;
    });
    const axes = this.#axes.flatMap(({name, ends}, i) => {
      const text = (at, words, anchor, above) => {
        const element = svg("text", {x: at, y: above, "text-anchor": anchor});
        element.textContent = words;
        return element;
      };
      const isLast = i + 1 === this.#axes.length;
      return [
        svg("line", {x1: x(i), x2: x(i), y1: y(0), y2: y(1)}), text(x(i), name, "middle", 12),
        ...ends.map(
            ([share, words]) =>
                text(x(i) + (isLast ? 6 : -6), words, isLast ? "start" : "end", y(share) + 4))
      ];
    });
    this.picture.replaceChildren(
        ...axes.filter((each) => each.tagName === "line"), ...this.lines,
        ...axes.filter((each) => each.tagName !== "line"));
    this.#choose(this.#chosen);
  }

  #textOf(row) {
    return `${row.title}: ${
        this.#axes.map(({name}) => `${name} ${row.values[name] ?? "–"}`).join(", ")}`;
  }

  #choose(index) {
    this.lines?.[this.#chosen]?.classList.remove("chosen");
    this.#chosen = index;
    const line = this.lines?.[index];
    line?.classList.add("chosen");
    setText(this.says, line ? this.#textOf(this.#rows[index]) : "");
  }

  // Up and down: along the last axis.
  #key(event) {
    const step = {ArrowUp: 1, ArrowDown: -1}[event.key];
    if (!step || this.#rows.length === 0) return;
    const last = this.#axes.at(-1);
    const order = this.#rows.map((row, index) => [last.to(row.values[last.name]) ?? -1, index])
                      .sort(([a, i], [b, j]) => a - b || i - j)
                      .map(([, index]) => index);
    const at = order.indexOf(this.#chosen);
    const next = at < 0 ? (step > 0 ? 0 : order.length - 1) :
                          Math.max(0, Math.min(order.length - 1, at + step));
    this.#choose(order[next]);
    event.preventDefault();
    event.stopPropagation();
  }
}

// {names, rows} of trials (docs/reference/json.md): settings first, then the metrics, losses last.
export function linesOf(trials, titleOf, kindOf) {
  const namesOf = (field) => [...new Set(trials.flatMap((each) => Object.keys(each[field] ?? {})))];
  const metrics = namesOf("metrics").sort((a, b) => /loss/i.test(a) - /loss/i.test(b));
  return {
    names: [...namesOf("values"), ...metrics],
    rows: trials.map((each) => ({
                       title: `${titleOf(each)}trial ${each.index}`,
                       kind: kindOf(each),
                       values: {...each.values, ...each.metrics},
                     })),
  };
}
