// What each rank did over time: a row a rank, a column a stretch of time, on a canvas. Told apart
// also without colour: who waits for others is a thin line, who is late fills its row.
import {colourOf, h, setText, whenLooksChange} from "./dom.js";
import {bytes, duration, moment, percent, plural} from "./format.js";

const LEFT = 34;  // for the numbers of the ranks
const BELOW = 18;
const MOST_ROWS = 256;
const MOST_HEIGHT = 480;
const IDLE = 60;  // seconds without a line, and without work
const DAY = 86_400_000;
const LITTLE = 0.05;  // of a processor

const KINDS = {
  late: {colour: "--bad", word: "holds the others up"},
  waits: {colour: "--waiting", word: "waits for another rank"},
  idle: {colour: "--off", word: "neither works nor speaks"},
  runs: {colour: "--running", word: "runs (the fuller, the more CPU)"},
};
const WORST_FIRST = Object.keys(KINDS);

function kindAt(rank, column) {
  const cpu = rank.cpu[column];
  const quiet = rank.quietSeconds[column];
  if (cpu === null && quiet === null && rank.memoryBytes[column] === null) return null;
  if (rank.stall[column]) return rank.stall[column];
  // Where nothing measures the CPU, silence alone tells.
  const isQuiet = quiet === null ? cpu !== null : quiet >= IDLE;
  return isQuiet && (cpu ?? 0) < LITTLE ? "idle" : "runs";
}

const ifKnown = (value, say) => value === null ? null : say(value);

// What was sent, with what has changed since (src/dashboard/strip.h).
export function withNews(grid, news) {
  if (news.at === 0 || !grid) return news;
  const whole = {...news, ranks: grid.ranks};
  news.ranks.forEach((rank, i) => {
    for (const [name, values] of Object.entries(rank)) {
      if (Array.isArray(values)) grid.ranks[i][name].splice(news.at, Infinity, ...values);
    }
  });
  return whole;
}

// "rank 3 holds the others up for 40s": the longest of them, for readers who do not see the
// picture.
function summary(grid) {
  const columns = grid.ranks[0].cpu.length;
  const late =
      grid.ranks.map(({rank, stall}) => [stall.filter((each) => each === "late").length, rank])
          .sort(([a], [b]) => b - a)[0];
  const most =
      late[0] ? `, rank ${late[1]} held the others up for ${duration(late[0] * grid.step)}` : "";
  return `${plural(grid.ranks.length, "rank")} over ${duration(columns * grid.step)}${most}`;
}

export class Strip {
  #grid = null;
  #at = null;  // [row, column] that is described

  constructor() {
    this.canvas = h("canvas", {role: "img", tabindex: "0", class: "strip"});
    this.says = h("span", {class: "muted", role: "status"});
    this.keys = h("span", {class: "legend"});
    this.source = h("p", {class: "muted"});
    this.element =
        h("figure", {class: "chart"}, this.canvas, h("figcaption", null, this.keys, this.says),
          this.source);
    this.canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.canvas.addEventListener("pointerleave", () => this.#say(null));
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.close = whenLooksChange(this.element, () => this.draw());
  }

  // docs/reference/json.md, "ranks over time"; of one rank at least.
  set(grid) {
    this.#grid = grid;
    this.columns = grid.ranks[0].cpu.length;
    this.perRow = Math.ceil(grid.ranks.length / MOST_ROWS);
    this.rows = Math.ceil(grid.ranks.length / this.perRow);
    const seen = new Set(grid.ranks.flatMap((rank) => rank.cpu.map((_, i) => kindAt(rank, i))));
    this.keys.replaceChildren(...WORST_FIRST.filter((kind) => seen.has(kind)).map((kind) => {
      const swatch = h("span", {class: "swatch"});
      swatch.style.background = `var(${KINDS[kind].colour})`;
      return h("span", null, swatch, KINDS[kind].word);
    }));
    this.canvas.setAttribute("aria-label", summary(grid));
    const since = `since ${moment(grid.from)}, until muster dash ends`;
    setText(this.source, grid.source ? `${grid.source}; ${since}` : "");
    this.draw();
    this.#say(this.#at);
  }

  // The rank of that row that is worst off there: one, where each has a row of its own.
  #rankAt(row, column) {
    const ranks = this.#grid.ranks.slice(row * this.perRow, (row + 1) * this.perRow);
    const order = (rank) => {
      const place = WORST_FIRST.indexOf(kindAt(rank, column));
      return place < 0 ? WORST_FIRST.length : place;
    };
    return ranks.reduce((a, b) => (order(b) < order(a) ? b : a));
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (!width || !this.#grid) return;
    this.rowHeight = Math.max(2, Math.min(14, Math.floor(MOST_HEIGHT / this.rows)));
    const height = this.rows * this.rowHeight + BELOW;
    const scale = window.devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.columnWidth = (width - LEFT) / this.columns;
    const colours = Object.fromEntries(
        WORST_FIRST.map((kind) => [kind, colourOf(this.says, KINDS[kind].colour)]));
    pen.fillStyle = colourOf(this.says, "--raised");
    pen.fillRect(LEFT, 0, width - LEFT, height - BELOW);
    for (let row = 0; row < this.rows; ++row) {
      for (let column = 0; column < this.columns; ++column)
        this.#drawCell(pen, colours, row, column);
    }
    pen.globalAlpha = 1;
    this.#drawAxes(pen, width, height);
  }

  #drawCell(pen, colours, row, column) {
    const rank = this.#rankAt(row, column);
    const kind = kindAt(rank, column);
    if (!kind) return;
    // Whole pixels: cells that lie over each other would leave seams.
    const [x, end] = [column, column + 1].map((each) => LEFT + Math.round(each * this.columnWidth));
    const gap = this.rowHeight > 5 ? 1 : 0;
    const full = this.rowHeight - gap;
    const isThin = kind === "waits" || kind === "idle";
    const height = isThin ? Math.max(1, Math.round(full / 3)) : full;
    pen.globalAlpha = kind === "runs" ? 0.25 + 0.75 * Math.min(1, rank.cpu[column] ?? 0.5) : 1;
    pen.fillStyle = colours[kind];
    pen.fillRect(x, row * this.rowHeight + (full - height) / 2, Math.max(1, end - x), height);
  }

  #drawAxes(pen, width, height) {
    const style = getComputedStyle(this.element);
    pen.font = `11px ${style.fontFamily}`;
    pen.fillStyle = colourOf(this.says, "--muted");
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const every = Math.max(1, Math.ceil(14 / this.rowHeight));
    for (let row = 0; row < this.rows; row += every) {
      const rank = this.#grid.ranks[row * this.perRow].rank;
      pen.fillText(String(rank), LEFT - 6, (row + 0.5) * this.rowHeight);
    }
    pen.textBaseline = "alphabetic";
    const {from, step} = this.#grid;
    const to = from + step * this.columns;
    const isLong = to - from > DAY;
    const name = (time) =>
        (isLong ? moment(time) : moment(time).slice(11)).slice(0, isLong ? 16 : 8);
    pen.textAlign = "left";
    pen.fillText(name(from), LEFT, height - 4);
    pen.textAlign = "right";
    pen.fillText(name(to), width, height - 4);
    pen.textAlign = "center";
    pen.fillText(duration(to - from), (LEFT + width) / 2, height - 4);
  }

  #say(at) {
    this.#at = at;
    if (!at || !this.#grid) return setText(this.says, "");
    const [row, column] = at;
    const rank = this.#rankAt(row, column);
    const kind = kindAt(rank, column);
    const time = moment(this.#grid.from + column * this.#grid.step).slice(11);
    const quiet = rank.quietSeconds[column];
    setText(this.says, `rank ${rank.rank}, ${time}: ` + (!kind ? this.#absent() : [
                         KINDS[kind].word.replace(/ \(.*/, ""),
                         ifKnown(rank.cpu[column], (cpu) => `CPU ${percent(cpu)}`),
                         ifKnown(rank.memoryBytes[column], bytes),
                         ifKnown(rank.gpu[column], (gpu) => `GPU ${percent(gpu)}`),
                         ifKnown(rank.ioBytesPerSecond[column], (io) => `I/O ${bytes(io)}/s`),
                         quiet === null ? null : `quiet for ${duration(1000 * quiet)}`
                       ].filter(Boolean).join(", ")));
  }

  // A cluster that keeps no history of ranks was not always looked at.
  #absent() {
    return this.#grid.source ? "did not run, or was not looked at" : "did not run";
  }

  #point(event) {
    if (!this.#grid) return;
    const row = Math.floor(event.offsetY / this.rowHeight);
    const column = Math.floor((event.offsetX - LEFT) / this.columnWidth);
    const isIn = row >= 0 && row < this.rows && column >= 0 && column < this.columns;
    this.#say(isIn ? [row, column] : null);
  }

  #key(event) {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [
                    0, 1
                  ]}[event.key];
    if (!step || !this.#grid) return;
    const [row, column] = this.#at ?? [0, this.columns - 1];
    const clamp = (value, most) => Math.max(0, Math.min(most - 1, value));
    this.#say(
        this.#at ? [clamp(row + step[0], this.rows), clamp(column + step[1], this.columns)] :
                   [row, column]);
    event.preventDefault();
    event.stopPropagation();
  }
}
