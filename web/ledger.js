// Where the time of all runs went, a row per user, queue or value of a label: `report --since TIME
// --by GROUPING`.
import {command, fill, h, withCode} from "./dom.js";
import {percent, plural, shortDuration} from "./format.js";
import {belowHistory} from "./history.js";
import {get} from "./server.js";
import {bucketTable, shares} from "./timeline.js";

const TIMES = {
  "1d": "a day",
  "7d": "7 days",
  "30d": "30 days",
  "365d": "a year"
};
const GROUPINGS = {
  user: "user",
  queue: "queue",
  "label=": "label"
};
const TITLES = ["Runs", "Time", "Goodput", "GPU-hours", "Wasted", "Where it went"];
const GROUP_TITLES = {
  user: "User",
  queue: "Queue"
};
const HOUR = 3600e3;

const hours = (milliseconds) => (milliseconds / HOUR).toFixed(2);

function rowOf(name, sum) {
  const steps = sum.buckets.find((each) => each.name === "steps");
  const number = (text) => h("td", {class: "number"}, text);
  return h(
      "tr", null, h("th", {scope: "row"}, name), number(sum.runs),
      number(shortDuration(sum.wallMs)), number(percent(sum.goodput)), number(hours(sum.gpuMs)),
      number(hours(sum.gpuMs - steps.gpuMs)),
      h("td", {class: "shares"}, sum.wallMs ? shares(sum) : null));
}

export function ledgerScreen(app, since = "7d", by = "user") {
  const kind = by.startsWith("label=") ? "label=" : by;
  const body = h("section", {class: "card wide", "aria-label": "Ledger"});
  const choice = (label, values, chosen, change) =>
      h("select", {"aria-label": label, onchange: (event) => change(event.target.value)},
        Object.entries(values).map(
            ([value, text]) => h("option", {value, selected: value === chosen}, text)));
  const go = (time, grouping) => app.go(`#/ledger/${time}/${encodeURIComponent(grouping)}`);
  const key = h("input", {
    type: "text",
    placeholder: "name of the label",
    "aria-label": "Name of the label",
    value: kind === "label=" ? by.slice(kind.length) : "",
    hidden: kind !== "label=",
    onchange: () => go(since, `label=${key.value.trim()}`)
  });
  const element =
      h("section", {class: "screen whole", "aria-label": "Where the time went"},
        h("div", {class: "job-head"}, h("h1", null, "Where the time went"),
          command(`muster report --since ${since} --by ${by}`)),
        h("div", {class: "bar"}, "Runs of the last",
          choice("Since", TIMES, since, (to) => go(to, by)), "by",
          choice("By", GROUPINGS, kind, (to) => go(since, to)), key),
        body);

  async function load() {
    if (by === "label=") return fill(body, h("p", {class: "muted"}, "Name the label."));
    fill(body, h("p", {class: "muted"}, "Reading the logs of these runs…"));
    try {
      const {groups, all} = await get(`/api/reports?${new URLSearchParams({since, by})}`);
      const head =
          h("tr", null,
            [by.startsWith("label=") ? by.slice("label=".length) : GROUP_TITLES[by], ...TITLES].map(
                (title, i) =>
                    h("th", {scope: "col", class: i && i < TITLES.length ? "number" : ""}, title)));
      fill(
          body,
          all.runs ? h("table", {class: "plain", "aria-label": "Ledger"}, h("thead", null, head),
                       h("tbody", null, groups.map((each) => rowOf(each.group, each)),
                         rowOf("all", all))) :
                     h("p", null, `No run is active or ended in this time: ${plural(0, "run")}.`),
          all.saving &&
              h("p", null, "Most would have been saved by this: ", withCode(all.saving.text), "."),
          all.runs ? [h("h2", {class: "apart"}, "All of them"), bucketTable(all)] : null);
    } catch (error) {
      fill(body, h("p", null, error.message));
    }
  }
  app.listen({});
  load();
  return belowHistory(app, {element, title: "Where the time went", close() {}, keys: []});
}
