// Attempts as bars on one time axis: a row per instance, a bar per run of it.
import {h, svg} from "./dom.js";
import {duration, moment, shortDuration} from "./format.js";

const WIDTH = 1000;
const MOST_ROWS = 64;
const SIGTERM = 128 + 15;

// attempts: [{instance, attempt, status, exitCode, started, ended}]; times are RFC 3339 or "".
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
  let last = 0;  // the number of the attempt before
  for (const bar of bars) {
    const started = Date.parse(bar.started);
    const ended = Date.parse(bar.ended) || (Date.parse(endedAt) || now);
    if (Number.isNaN(started)) {
      picture.append(box(scale(from), scale(ended), "waiting", `waits ${duration(ended - from)}`));
      break;
    }
    if (started > from && bar.attempt > last + 1) {
      picture.append(
          box(scale(from), scale(started), "off", "earlier attempts, whose times are not known"));
    } else if (started > from) {
      picture.append(
          box(scale(from), scale(started), "waiting", `waits ${duration(started - from)}`));
    }
    last = bar.attempt;
    const kind = kindOfEnd(bar.exitCode);
    const how = kind === "running" ? bar.status : `${bar.status}, exit code ${bar.exitCode}`;
    picture.append(
        box(scale(started), Math.max(scale(ended), scale(started) + 3), kind,
            `${how}: ${duration(ended - started)}`));
    from = ended;
  }
  return picture;
}

// A program that was told to end did not fail.
function kindOfEnd(exitCode) {
  if (exitCode === null || exitCode === undefined) return "running";
  return exitCode === 0 ? "good" : exitCode === SIGTERM ? "off" : "bad";
}

function box(from, to, kind, text) {
  return rectangle(from, to, kind, text, kind === "waiting");
}

function rectangle(from, to, kind, text, isThin = false) {
  const rect = svg("rect", {
    x: from,
    width: Math.max(0, to - from),
    y: isThin ? 6 : 1,
    height: isThin ? 4 : 14,
    "data-kind": kind
  });
  const title = svg("title", {});
  title.textContent = text;
  rect.append(title);
  return rect;
}

// The colour of each bucket of the ledger: steps, what leads to them, losses, waits.
const BUCKETS = {
  steps: "good",
  "first step": "running",
  interpreters: "running",
  rendezvous: "running",
  restore: "running",
  "checkpoint save": "running",
  "image/code": "running",
  "lost progress": "bad",
  recovery: "bad",
  stalled: "bad",
  "data wait": "waiting",
  queued: "waiting",
  admitted: "waiting",
};
const LEAST_SHARE = 0.0005;  // of the whole: what is shorter is no box

// A ledger without segments, as of many runs: its buckets, one after another.
export function shares({wallMs, buckets}) {
  const picture = svg("svg", {viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: "none"});
  const seen = buckets.filter((each) => each.ms >= wallMs * LEAST_SHARE);
  let from = 0;
  for (const each of seen) {
    const to = from + WIDTH * each.ms / wallMs;
    const share = `${(100 * each.ms / wallMs).toFixed(1)}%`;
    picture.append(rectangle(
        from, to, BUCKETS[each.name] ?? "off",
        `${each.name}, ${shortDuration(each.ms)}, ${share}`));
    from = to;
  }
  const text = [...seen].sort((a, b) => b.ms - a.ms).slice(0, 3).map((each) => each.name);
  return h(
      "div", {class: "timeline one", role: "img", "aria-label": `mostly ${text.join(", ")}`},
      picture);
}

// What each bucket has taken, the key of the colours, too.
export function bucketTable({wallMs, buckets}) {
  const rows = buckets.filter((each) => each.ms > 0).map((each) => {
    const estimated = each.name === "unknown" ? "–" :
        each.estimatedMs > 0 ? `${each.estimatedMs === each.ms ? "" : "in part "}estimated` :
                               "measured";
    const share = `${(100 * each.ms / wallMs).toFixed(1)}%`;
    return h(
        "tr", {title: (each.sources ?? []).join(", ")},
        h("th", {scope: "row"},
          h("span", {class: "swatch", "data-kind": BUCKETS[each.name] ?? "off"}), each.name),
        h("td", {class: "number"}, shortDuration(each.ms)), h("td", {class: "number"}, share),
        h("td", null, estimated), h("td", {class: "muted"}, each.meaning));
  });
  return h(
      "div", {class: "wide"},
      h("table", {class: "plain buckets", "aria-label": "Buckets"}, h("tbody", null, rows)));
}

// `report`: docs/reference/json.md, "report".
export function ledger(report) {
  const {wallMs, segments} = report.ledger;
  const picture = svg("svg", {viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: "none"});
  for (const each of segments) {
    if (each.ms < wallMs * LEAST_SHARE) continue;
    const from = WIDTH * each.fromMs / wallMs;
    const how = each.measured ? "measured" : "estimated";
    const text = `${each.bucket}, ${shortDuration(each.ms)}, attempt ${each.attempt}: ${how} by ${
        each.source}`;
    const kind = BUCKETS[each.bucket] ?? "off";
    picture.append(rectangle(from, from + WIDTH * each.ms / wallMs, kind, text));
  }
  return [
    h("div", {
      class: "timeline one",
      role: "img",
      "aria-label": `${(100 * report.ledger.goodput).toFixed(1)} percent of the time were steps`
    },
      picture),
    bucketTable(report.ledger),
  ];
}
