// The History screen: all runs, deleted jobs too; two to five of them compared.
import {isResting, rerun} from "./actions.js";
import {Chart, curvesOf} from "./chart.js";
import {command, fill, h, setText, showState} from "./dom.js";
import {duration, moment, plural} from "./format.js";
import {Filter, List} from "./list.js";
import {linesOf, Parallel} from "./parallel.js";
import {get, jobs} from "./server.js";

const MOST_COMPARED = 5;
const MOST_CURVES = 12;
const KINDS_OF_RUNS = ["running", "bad", "good", "waiting", "off"];  // colours, and dashes
const QUIET = 500;  // milliseconds between a change of the jobs and the next look

export function historyScreen(app) {
  const chosen = new Set();
  let runs = [];
  let limit = 200;
  let isClosed = false;
  let problem = "";

  const columns = [
    {
      name: "chosen",
      title: "",
      width: "34px",
      draw: (cell, row) => {
        if (!cell.firstChild)
          cell.append(h("input", {
            type: "checkbox",
            tabindex: "-1",
            onclick: (event) => choose(event.target.dataset.key)
          }));
        cell.firstChild.dataset.key = row.key;
        cell.firstChild.checked = chosen.has(row.key);
        cell.firstChild.setAttribute("aria-label", `compare ${row.name}`);
      }
    },
    {
      name: "state",
      title: "State",
      width: "110px",
      sort: (row) => row.status,
      draw: (cell, row) => {
        if (!cell.firstChild) cell.append(h("span"));
        showState(cell.firstChild, row.status);
      }
    },
    {
      name: "name",
      title: "Name",
      width: "20%",
      className: "phone-wide",
      sort: (row) => row.name,
      draw: (cell, row) => {
        if (!cell.firstChild) cell.append(h("a", {tabindex: "-1"}));
        setText(cell.firstChild, row.name);
        cell.firstChild.href = `#${pathOf(row)}`;
        cell.title = `${row.name} (${row.id})`;
      }
    },
    {
      name: "id",
      title: "ID",
      width: "86px",
      className: "mono phone-none",
      sort: (row) => row.id,
      draw: (cell, row) => setText(cell, row.id)
    },
    {
      name: "command",
      title: "Command",
      className: "mono phone-below",
      draw: (cell, row) => {
        setText(cell, row.command.replace(/\s+/g, " "));
        cell.title = row.command;
      }
    },
    {
      name: "seconds",
      title: "Took",
      width: "80px",
      className: "number",
      sort: (row) => row.seconds,
      descends: true,
      draw: (cell, row) => setText(cell, isResting(row.status) ? "" : duration(1000 * row.seconds))
    },
    {
      name: "created",
      title: "Submitted",
      width: "176px",
      className: "number phone-none",
      sort: (row) => row.place,
      descends: true,
      draw: (cell, row) => setText(cell, moment(row.created))
    },
  ];
  const list = new List({
    label: "Runs",
    columns,
    sortBy: "created",
    descending: true,
    open: (row) => app.go(`#${pathOf(row)}`),
    empty: () => nothing()
  });
  const filter = new Filter("Filter runs by name, state, command, commit or day", () => show());
  const compare = h("button", {type: "button", class: "main", onclick: () => open()}, "Compare");
  const older =
      h("button", {
        type: "button",
        onclick: () => {
          limit = Math.min(5000, limit * 5);
          load();
        }
      },
        "Older ones");
  const count = h("span", {class: "muted", role: "status"});
  const element =
      h("section", {class: "screen", "aria-label": "History"},
        h("div", {class: "bar"}, filter.element, compare,
          h("button", {type: "button", onclick: () => openLedger()}, "Where the time went"), count,
          older),
        list.element);

  function pathOf(row) {
    return row.deleted ? `/run/${row.namespace}/${row.id}` : `/job/${row.namespace}/${row.name}`;
  }

  function nothing() {
    if (problem) return [h("p", null, problem)];
    return runs.length ? [h("p", null, "No run matches the filter.")] : [
      h("h2", null, "Nothing has run yet"),
      h("p", null, "Every run is kept here, even after its job is deleted.")
    ];
  }

  function choose(key) {
    if (!chosen.delete(key)) chosen.add(key);
    show();
  }

  function open() {
    const rows = runs.filter((row) => chosen.has(row.key));
    if (rows.length < 2 || rows.length > MOST_COMPARED) return;
    app.go(`#/compare/${rows[0].namespace}/${rows.map((row) => row.id).join(",")}`);
  }

  function openLedger() {
    app.go("#/ledger/7d/user");
  }

  function show() {
    list.setRows(filter.select(
        runs,
        (row) => [row.name, row.id, row.status, row.reason, row.command, row.commit, row.created,
                  row.namespace]
                     .join(" ")));
    compare.disabled = chosen.size < 2 || chosen.size > MOST_COMPARED;
    setText(
        compare,
        chosen.size > MOST_COMPARED ? `Compare: ${MOST_COMPARED} at most` :
            chosen.size ? `Compare ${chosen.size}` :
                          "Compare 2 to 5");
  }

  async function load() {
    try {
      const answer = await get(`/api/history?limit=${limit}`);
      if (isClosed) return;
      runs = answer.runs.map((row, i) => ({...row, key: row.uid, place: -i}));  // newest first
      problem = "";
      setText(
          count,
          answer.total > runs.length ? `${runs.length} of ${plural(answer.total, "run")}` :
                                       plural(runs.length, "run"));
      older.hidden = answer.total <= runs.length;
    } catch (error) {
      if (isClosed) return;
      problem = error.message;
    }
    show();
  }

  let waiting = 0;
  const changed = () => {
    clearTimeout(waiting);
    waiting = setTimeout(load, QUIET);
  };
  jobs.addEventListener("change", changed);
  older.hidden = true;
  app.listen({});
  load();
  show();
  return {
    element,
    title: "History",
    screen: "history",
    close() {
      isClosed = true;
      clearTimeout(waiting);
      jobs.removeEventListener("change", changed);
      list.close();
    },
    key(event) {
      if (filter.key(event)) return true;
      if (event.key === "Escape" && (!filter.isEmpty || chosen.size)) {
        filter.clear();
        chosen.clear();
        show();
        return true;
      }
      const row = list.selectedRow;
      if (row && event.key === "x") {
        choose(row.key);
        return true;
      }
      if (row && event.key === "a") {
        rerun({name: row.name, namespace: row.namespace, run: row.id, id: row.id});
        return true;
      }
      if (event.key === "c") {
        open();
        return true;
      }
      if (event.key === "w") {
        openLedger();
        return true;
      }
      return list.key(event);
    },
    leaveField() {
      filter.leave();
      list.move(0);
    },
    keys: [
      ["j / k", "down, up"], ["Enter", "open the run"], ["x", "choose it"],
      ["c", "compare what is chosen"], ["a", "run again"], ["w", "where the time went"],
      ["/", "filter"]
    ],
  };
}

// If several sources have a scalar, the first that has steps.
function firstOfEach(series) {
  const hasSteps = (each) => each.points.some(([, step]) => step !== null);
  const sorted = [...series].sort((a, b) => hasSteps(b) - hasSteps(a));
  return sorted.filter((each, i) => sorted.findIndex(({name}) => name === each.name) === i);
}

// A screen that was opened from the history, to which Escape leads back.
export function belowHistory(app, screen) {
  return {
    ...screen,
    screen: "history",
    key(event) {
      if (event.key !== "Escape") return false;
      app.go("#/history");
      return true;
    },
    leaveField() {},
    keys: [...screen.keys, ["Esc", "back to the history"]],
  };
}

export function compareScreen(app, namespace, ids) {
  const runs = ids.split(",");
  const body = h("div", {class: "card wide"}, h("p", {class: "muted"}, "Reading…"));
  const element =
      h("section", {class: "screen whole", "aria-label": "Comparison"},
        h("div", {class: "job-head"}, h("h1", null, `${runs.length} runs compared`),
          command(`muster compare ${runs.join(" ")}`)),
        body);
  const charts = h("div", {class: "charts card"});
  const drawn = [];
  const lines = new Parallel("Trials of the sweeps");
  const sweeps =
      h("section", {class: "card", "aria-label": "Trials", hidden: true},
        h("header", null, h("h2", null, "Trials")), lines.element);
  // The trials of sweeps among the runs, each run in a colour of its own.
  async function loadTrials(known) {
    const read = ({id}) =>
        get(`/api/run/${encodeURIComponent(namespace)}/${encodeURIComponent(id)}`);
    const results = await Promise.allSettled(known.map(read));
    const all = results.flatMap(
        ({value}, i) =>
            (value?.trials ??
             []).map((each) => ({...each, run: known[i].name, kind: KINDS_OF_RUNS[i]})));
    const {names, rows} = linesOf(all, (each) => `${each.run}, `, (each) => each.kind);
    rows.forEach((row, i) => {
      row.values.run = all[i].run;
    });
    lines.set(["run", ...names], rows);
    // The lines of trials make no curve.
    loadCurves(known.filter((_, i) => !results[i].value?.trials?.length));
    sweeps.hidden = lines.element.hidden;
    if (!sweeps.hidden) element.insertBefore(sweeps, body);
    lines.draw();
  }

  // One chart for each scalar that any of them has, the runs laid over each other.
  async function loadCurves(names) {
    const read = ({name, id}) =>
        get(`/api/progress/${encodeURIComponent(namespace)}/${encodeURIComponent(id)}`)
            .then(({series}) => ({title: `${name} (${id})`, series: firstOfEach(series)}));
    const results = (await Promise.allSettled(names.map(read))).filter((each) => each.value);
    for (const each of curvesOf(results.map(({value}) => value), MOST_CURVES)) {
      const chart = new Chart(each.name, each.unit);
      drawn.push(chart);
      charts.append(chart.element);
      chart.set(each.series);
    }
    if (drawn.length) element.insertBefore(charts, body);
  }

  async function load() {
    try {
      const query = new URLSearchParams(runs.map((run) => ["run", run]));
      const answer = await get(`/api/compare/${encodeURIComponent(namespace)}?${query}`);
      loadTrials(answer.runs);
      const names = Object.keys(answer.differences);
      const files = answer.files.flatMap(
          (changed, i) =>
              (changed.length ?
                   [
                     h("h2", null,
                       `Files of ${answer.runs[i + 1].name} that are not as in ${
                           answer.runs[0].name}`),
                     h("ul", {class: "lines"}, changed.map((each) => h("li", null, each)))
                   ] :
                   []));
      fill(
          body,
          names.length === 0 ?
              h("p", null, "There are no known differences.") :
              h("table", {class: "plain", "aria-label": "What differs"},
                h("thead", null,
                  h("tr", null, h("th", {scope: "col"}, ""),
                    answer.runs.map((run) => h("th", {scope: "col"}, `${run.name} (${run.id})`)))),
                h("tbody", null,
                  names.map(
                      (name) => h(
                          "tr", null, h("th", {scope: "row"}, name),
                          answer.differences[name].map((value) => h("td", null, value ?? "–")))))),
          files);
    } catch (error) {
      fill(body, h("p", null, error.message));
    }
  }
  app.listen({});
  load();
  return belowHistory(app, {
    element,
    title: "Comparison",
    close() {
      drawn.forEach((chart) => chart.close());
      lines.close();
    },
    keys: [["arrows", "read the curve that has the focus"]],
  });
}
