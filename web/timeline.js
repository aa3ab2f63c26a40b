// Attempts as bars on one time: a row an instance, a bar a run of it.
import {h, svg} from "./dom.js";
import {duration, moment} from "./format.js";

const WIDTH = 1000;
const MOST_ROWS = 64;
const SIGTERM = 128 + 15;

// attempts: [{instance, status, exitCode, started, ended}]; times are RFC 3339 or "".
export function timeline(attempts, createdAt, endedAt, now) {
  const begin = Date.parse(createdAt) || now;
  const times = attempts.flatMap((each) => [Date.parse(each.started), Date.parse(each.ended)])
                    .filter((time) => !Number.isNaN(time));
  const end = Math.max(begin + 1000, Date.parse(endedAt) || now, ...times);
  const scale = (time) => Math.max(0, Math.min(WIDTH, WIDTH * (time - begin) / (end - begin)));
  const rows = new Map();
  for (const each of attempts) {
    if (!rows.has(each.instance)) rows.set(each.instance, []);
    rows.get(each.instance).push(each);
  }
  const element = h("div", {
    class: "timeline",
    role: "img",
    "aria-label": `${attempts.length} runs of ${rows.size} instances in ${duration(end - begin)}`
  });
  for (const [instance, bars] of [...rows].slice(0, MOST_ROWS)) {
    element.append(
        h("span", {class: "name", title: instance}, instance),
        draw(bars, scale, begin, end, endedAt, now));
  }
  if (rows.size > MOST_ROWS)
    element.append(h("span", {class: "name"}, `and ${rows.size - MOST_ROWS} more`), h("span"));
  element.append(
      h("div", {class: "axis"}, h("span", null, moment(begin)),
        h("span", null, "+" + duration(end - begin))));
  return element;
}

function draw(bars, scale, begin, end, endedAt, now) {
  const picture = svg("svg", {viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: "none"});
  let from = begin;
  for (const bar of bars) {
    const started = Date.parse(bar.started);
    const ended = Date.parse(bar.ended) || (Date.parse(endedAt) || now);
    if (Number.isNaN(started)) continue;
    if (started > from)
      picture.append(
          box(scale(from), scale(started), "waiting", `waits ${duration(started - from)}`));
    const kind = kindOfEnd(bar.exitCode);
    const how = kind === "running" ? bar.status : `${bar.status}, exit code ${bar.exitCode}`;
    picture.append(
        box(scale(started), Math.max(scale(ended), scale(started) + 3), kind,
            `${how}: ${duration(ended - started)}`));
    from = ended;
  }
  return picture;
}

// Who was told to end did not fail.
function kindOfEnd(exitCode) {
  if (exitCode === null || exitCode === undefined) return "running";
  return exitCode === 0 ? "good" : exitCode === SIGTERM ? "off" : "bad";
}

function box(from, to, kind, text) {
  const rect = svg("rect", {
    x: from,
    width: Math.max(0, to - from),
    y: kind === "waiting" ? 6 : 1,
    height: kind === "waiting" ? 4 : 14,
    "data-kind": kind
  });
  const title = svg("title", {});
  title.textContent = text;
  rect.append(title);
  return rect;
}
