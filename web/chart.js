// Curves on a canvas: a few series of numbers over steps or time, made for trainings. A library for
// this would be larger than the whole page.
import {colourOf, h, setText, whenLooksChange} from "./dom.js";

const HEIGHT = 150;
const LEFT = 52;  // for the numbers beside the curve
const BELOW = 18;
// They differ by dashes, too, so that colour is not needed.
const DASHES = [[], [5, 3], [2, 2], [8, 3, 2, 3], [1, 3]];
// None of them stands for something bad.
const COLOURS = ["--running", "--waiting", "--good", "--text", "--muted"];

const short = (value) =>
    (value === 0                                          ? "0" :
         Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(1) :
                                                            String(Number(value.toPrecision(4))));

// Round numbers between the ends: at most `most` of them.
function ticks(low, high, most) {
  const span = high - low || 1;
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
  const list = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9 && list.length < 20;
       at += step)
    list.push(at);
  return list;
}

// The middle of the values, without the few that are far out: one spike does not flatten the rest.
function rangeOf(values) {
  if (values.length === 0) return [0, 1];
  const sorted = Float64Array.from(values).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  let [low, high] = [sorted[0], sorted[sorted.length - 1]];
  const [q1, q9] = [at(0.02), at(0.98)];
  if (sorted.length > 50 && high - low > 20 * (q9 - q1) && q9 > q1) [low, high] = [q1, q9];
  if (low === high)
    [low, high] = [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  return [low, high];
}

// The place of a series among the colours and dashes: of a run the same in every chart.
const lookOf = (series, i) => series.look ?? i;

// series: [{title, points: [[x, value], ...], look}], values that are no numbers leave a gap and a
// mark.
export class Chart {
  constructor(title, unit) {
    this.title = title;
    this.unit = unit;  // of x: "step" or "time"
    this.series = [];
    this.canvas = h("canvas", {role: "img", tabindex: "0"});
    this.at = -1;  // which point of the first series the keys are at
    this.says = h("span", {class: "muted", role: "status"});
    this.keys = h("span", {class: "legend"});
    this.element =
        h("figure", {class: "chart"},
          h("figcaption", null, h("strong", null, title), this.keys, h("span", {class: "spring"}),
            this.says),
          this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.#point(event.offsetX));
    this.canvas.addEventListener("pointerleave", () => this.#point(null));
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.close = whenLooksChange(this.element, () => this.draw());
  }

  set(series) {
    this.series = series.slice(0, COLOURS.length);
    this.keys.replaceChildren(...this.series.map((each, i) => {
      const key = h("span", {class: "key"}, each.title);
      if (this.series.length < 2) {
        key.className = "muted";
        return key;
      }
      const look = lookOf(each, i);
      key.style.borderBottom = `2px ${
          look === 0   ? "solid" :
              look % 2 ? "dashed" :
                         "dotted"} var(${COLOURS[look]})`;
      return key;
    }));
    const last =
        this.series.map((each) => `${each.title} ${short(Number(each.points.at(-1)?.[1]))}`)
            .join(", ");
    this.canvas.setAttribute("aria-label", `${this.title}: ${last}`);
    this.draw();
    this.#pointAgain();
  }

  // A point that was chosen with the keys stays chosen when new values come.
  #pointAgain() {
    const points = this.series[0]?.points ?? [];
    const isRead =
        this.at >= 0 && points.length && this.scales && document.activeElement === this.canvas;
    this.at = isRead ? Math.min(this.at, points.length - 1) : -1;
    this.#point(isRead ? this.scales.toX(points[this.at][0]) : null);
  }

  #scales() {
    const width = this.canvas.clientWidth;
    const finite = this.series.map(
        (each) => each.points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)));
    const xs = finite.flat().map(([x]) => x);
    const low = xs.reduce((a, b) => Math.min(a, b), Infinity);
    const high = xs.reduce((a, b) => Math.max(a, b), -Infinity);
    const [x0, x1] = xs.length ? [low, high > low ? high : low + 1] : [0, 1];
    const [y0, y1] = rangeOf(finite.flat().map(([, y]) => y));
    return {
      x0,
      x1,
      y0,
      y1,
      width,
      toX: (x) => LEFT + (width - LEFT - 6) * (x - x0) / (x1 - x0),
      toY: (y) => 6 + (HEIGHT - BELOW - 12) * (1 - (y - y0) / (y1 - y0)),
    };
  }

  draw() {
    const scale = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    if (!width) return;
    this.canvas.width = width * scale;
    this.canvas.height = HEIGHT * scale;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(this.element);
    this.scales = this.#scales();
    this.#drawAxes(pen, style);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, width - LEFT, HEIGHT - BELOW);
    pen.clip();
    this.series.forEach(
        (each, i) => this.#drawSeries(
            pen, each, colourOf(this.says, COLOURS[lookOf(each, i)]), DASHES[lookOf(each, i)]));
    pen.restore();
  }

  #drawAxes(pen, style) {
    const {x0, x1, y0, y1, width, toX, toY} = this.scales;
    pen.font = `11px ${style.fontFamily}`;
    pen.lineWidth = 1;
    const line = colourOf(this.says, "--line");
    const text = colourOf(this.says, "--muted");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const y of ticks(y0, y1, 4)) {
      pen.strokeStyle = line;
      pen.beginPath();
      pen.moveTo(LEFT, Math.round(toY(y)) + 0.5);
      pen.lineTo(width, Math.round(toY(y)) + 0.5);
      pen.stroke();
      pen.fillStyle = text;
      pen.fillText(short(y), LEFT - 6, toY(y));
    }
    pen.textBaseline = "alphabetic";
    for (const x of ticks(x0, x1, Math.max(2, Math.floor(width / 90)))) {
      pen.textAlign = toX(x) < LEFT + 20 ? "left" : toX(x) > width - 30 ? "right" : "center";
      pen.fillText(this.#nameX(x), toX(x), HEIGHT - 4);
    }
  }

  #read([x, value]) {
    return `${this.unit === "step" ? "step " : ""}${this.#nameX(x)}: ${short(value)}`;
  }

  #nameX(x) {
    if (this.unit === "step") return Number.isInteger(x) ? x.toLocaleString("en") : "";
    return new Date(x).toLocaleTimeString(
        [], {hour: "2-digit", minute: "2-digit", hourCycle: "h23"});
  }

  #drawSeries(pen, series, colour, dash) {
    const {toX, toY} = this.scales;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.5;
    pen.setLineDash(dash);
    pen.beginPath();
    let isOn = false;
    const broken = [];
    for (const [x, y] of series.points) {
      if (!Number.isFinite(y)) {
        broken.push(x);
        isOn = false;
      } else if (isOn) {
        pen.lineTo(toX(x), toY(y));
      } else {
        pen.moveTo(toX(x), toY(y));
        isOn = true;
      }
    }
    pen.stroke();
    pen.setLineDash([]);
    if (series.points.length === 1 && broken.length === 0) {
      pen.fillRect(toX(series.points[0][0]) - 2, toY(series.points[0][1]) - 2, 4, 4);
    }
    // A value that is no longer a number is a cross at the bottom.
    pen.textAlign = "center";
    for (const x of broken.slice(0, 200)) pen.fillText("×", toX(x), HEIGHT - BELOW - 2);
  }

  #key(event) {
    const count = this.series[0]?.points.length ?? 0;
    const steps = {ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count};
    if (!(event.key in steps) || count === 0 || !this.scales) return;
    event.preventDefault();
    event.stopPropagation();
    const from = this.at < 0 ? count : this.at;
    this.at = Math.min(count - 1, Math.max(0, from + steps[event.key]));
    this.#point(this.scales.toX(this.series[0].points[this.at][0]));
  }

  #point(offset) {
    if (offset === null || !this.scales) {
      const last = this.series.map((each) => each.points.at(-1)).filter(Boolean);
      setText(this.says, last.length === 1 ? this.#read(last[0]) : "");
      return;
    }
    const {x0, x1, width} = this.scales;
    const x = x0 + (x1 - x0) * (offset - LEFT) / (width - LEFT - 6);
    const words = this.series.map((each) => {
      const near = each.points.reduce(
          (a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a), [Infinity, NaN]);
      return (this.series.length > 1 ? each.title + " " : "") + this.#read(near);
    });
    setText(this.says, words.join("  "));
  }
}

// Those of docs/reference/json.md, "progress", by name: {name, unit, series: [{title, points}]}.
// `runs`: [{title, series}].
export function curvesOf(runs, most) {
  const byName = new Map();
  for (const run of runs) {
    for (const each of run.series) {
      if (!byName.has(each.name)) byName.set(each.name, []);
      byName.get(each.name).push({run, each});
    }
  }
  const isFirst = (name) => (/loss/i.test(name) ? 0 : 1);
  const names = [...byName.keys()]
                    .sort((a, b) => isFirst(a) - isFirst(b) || a.localeCompare(b))
                    .slice(0, most);
  return names.map((name) => {
    const all = byName.get(name);
    const hasSteps = all.every(({each}) => each.points.every(([, step]) => step !== null));
    return {
      name,
      unit: hasSteps ? "step" : "time",
      series: all.map(
          ({run, each}, i) => ({
            title: runs.length > 1 ? run.title : each.source,
            look: runs.length > 1 ? runs.indexOf(run) : i,
            points: each.points.map(([at, step, value]) => [hasSteps ? step : at, Number(value)]),
          }))
    };
  });
}
