// The Jobs screen: every job, why it is in its state, and how far it has come.
import {isOver, isResting, isWaiting, remove, resume, suspend, targetOf} from "./actions.js";
import {h, setText, showState} from "./dom.js";
import {ago, duration, moment, percent, reasonOf} from "./format.js";
import {Filter, List} from "./list.js";
import {describe, linesOfProgress, lossOf} from "./progress.js";
import {busyOf, jobs, progressOf} from "./server.js";

const GROUPS = [
  {name: "all", title: "All", has: () => true},
  {name: "running", title: "Running", has: (row) => row.status === "RUNNING"},
  {name: "waiting", title: "Waiting", has: (row) => isWaiting(row.status)},
  {name: "suspended", title: "Suspended", has: (row) => row.status === "SUSPENDED"},
  {name: "failed", title: "Failed", has: (row) => row.status === "FAILED"},
  {name: "succeeded", title: "Succeeded", has: (row) => row.status === "SUCCEEDED"},
];

function drawUp(cell, row) {
  if (!cell.firstChild) {
    cell.append(h("span", {class: "up"}, h("meter", {min: 0}), h("span")));
  }
  const [meter, text] = cell.firstChild.children;
  const isOn = row.status === "RUNNING" || row.ranksUp > 0;
  meter.hidden = !isOn;
  meter.max = row.ranks || 1;
  meter.value = row.ranksUp;
  meter.setAttribute("aria-label", "ranks up");
  setText(text, isOn ? `${row.ranksUp}/${row.ranks}` : String(row.ranks));
}

function sourcesOf(progress) {
  return linesOfProgress(progress).map(({text, source}) => `${text} (${source})`).join("\n");
}

// What each rank uses, on average; null if nothing measures it.
function busyNow(row) {
  return row.status === "RUNNING" ? busyOf(row) : null;
}
// Where GPUs are measured, they count.
function shareOf(busy) {
  return busy?.gpu ?? busy?.cpu ?? null;
}
function describeBusy(busy) {
  if (shareOf(busy) === null) return "";
  const gpu = busy.gpu === null ? "" : `its GPUs were busy for ${percent(busy.gpu)} of the time, `;
  const cpu =
      busy.cpu === null ? "its CPU is not measured" : `used ${percent(busy.cpu)} of a processor`;
  return `a rank, on average: ${gpu}${cpu}`;
}

function lasted(row, now) {
  if (!row.started || isResting(row.status)) return null;
  return (row.ended ?? now) - row.started;
}

const COLUMNS = [
  {
    name: "state",
    title: "State",
    width: "110px",
    sort: (row) => row.status,
    draw: (cell, row) => {
      if (!cell.firstChild) cell.append(h("span"));
      showState(cell.firstChild, row.ending ? "ENDING" : row.status);
    }
  },
  {
    name: "name",
    title: "Name",
    width: "16%",
    className: "phone-wide",
    sort: (row) => row.name,
    draw: (cell, row) => {
      if (!cell.firstChild) cell.append(h("a", {tabindex: "-1"}));
      const link = cell.firstChild;
      setText(link, row.name);
      link.title = `${row.namespace}/${row.name}`;
      link.href = `#/job/${row.namespace}/${row.name}`;
    }
  },
  {
    name: "why",
    title: "Why",
    className: "phone-below",
    draw: (cell, row, now) => {
      const why = reasonOf(row, now);
      // What it said has the room of words that the job's screen tells: its instance's name, and
      // the scheduler's beginning.
      setText(
          cell,
          why.replace(row.failedInstance ? ` (${row.failedInstance})` : "", "")
              .replace(/^\d+\/\d+ nodes are available: \d+ Insufficient /, ""));
      cell.title = why;
    }
  },
  {
    name: "ranks",
    title: "Ranks up",
    width: "92px",
    sort: (row) => row.ranksUp,
    descends: true,
    className: "phone-none",
    draw: drawUp
  },
  {
    name: "progress",
    title: "Progress",
    width: "160px",
    className: "phone-below",
    sort: (row) => progressOf(row)?.percent ?? progressOf(row)?.step ?? -1,
    descends: true,
    draw: (cell, row) => {
      const progress = row.status === "RUNNING" ? progressOf(row) : null;
      setText(cell, describe(progress));
      cell.title = sourcesOf(progress);
    }
  },
  {
    name: "loss",
    title: "Loss",
    width: "70px",
    className: "number phone-none",
    draw: (cell, row) => {
      const progress = row.status === "RUNNING" ? progressOf(row) : null;
      setText(cell, lossOf(progress));
      cell.title = sourcesOf(progress);
    }
  },
  {
    name: "busy",
    title: "Busy",
    width: "86px",
    // Of processors a rank may use several, so that GPUs go before them.
    sort: (row) => {
      const busy = busyNow(row);
      return (busy?.gpu ?? null) === null ? shareOf(busy) ?? -1 : 1000 + busy.gpu;
    },
    descends: true,
    className: "number phone-none",
    draw: (cell, row) => {
      const busy = busyNow(row);
      const share = shareOf(busy);
      const what = busy?.gpu !== null ? "GPU" : "CPU";
      const unknown = row.status === "RUNNING" ? "–" : "";
      setText(cell, share === null ? unknown : `${what} ${percent(share)}`);
      cell.title = describeBusy(busy);
    }
  },
  {
    name: "gpus",
    title: "GPUs",
    width: "50px",
    className: "number phone-none",
    sort: (row) => row.requestGPUs,
    descends: true,
    draw: (cell, row) => setText(cell, row.requestGPUs ? String(row.requestGPUs) : "–")
  },
  {
    name: "lasts",
    title: "Runs for",
    width: "78px",
    className: "number",
    sort: (row) => lasted(row, Date.now()) ?? -1,
    descends: true,
    draw: (cell, row, now) => setText(cell, duration(lasted(row, now)))
  },
  {
    name: "created",
    title: "Submitted",
    width: "100px",
    className: "number phone-none",
    sort: (row) => row.created,
    descends: true,
    draw: (cell, row, now) => {
      setText(cell, ago(row.created, now));
      cell.title = moment(row.created);
    }
  },
];

export function jobsScreen(app) {
  const filter = new Filter("Filter jobs by name, state or reason", () => show());
  const chips = h("div", {class: "chips", role: "group", "aria-label": "States"});
  let group = "all";
  const buttons = GROUPS.map(
      (each) =>
          h("button", {
            type: "button",
            "aria-pressed": "false",
            onclick: () => {
              group = each.name;
              show();
            }
          },
            each.title));
  chips.append(...buttons);
  const list = new List({
    label: "Jobs",
    columns: COLUMNS,
    sortBy: "created",
    descending: true,
    open: (row) => app.go(`#/job/${row.namespace}/${row.name}`),
    empty: () => nothing(),
  });
  const element =
      h("section", {class: "screen", "aria-label": "Jobs"},
        h("div", {class: "bar"}, filter.element, chips), list.element);

  function nothing() {
    if (!jobs.areKnown) return [h("p", null, "Loading…")];
    if (jobs.rows.size > 0)
      return [h("p", null, "No job matches the filter."), h("p", null, "Esc clears the filter.")];
    return [
      h("h2", null, "No jobs yet"),
      h("p", null, "In a terminal: ", h("code", null, "muster run train.py")),
      h("p", null, "Earlier runs are in the ", h("a", {href: "#/history"}, "history"), ".")
    ];
  }

  function show() {
    const filtered = filter.select(
        [...jobs.rows.values()],
        (row) => `${row.name} ${row.namespace} ${row.status} ${row.reason ?? ""} ${
            row.stall?.text ?? ""}`);
    GROUPS.forEach((each, i) => {
      const count = filtered.filter(each.has).length;
      setText(buttons[i], `${each.title} ${count}`);
      buttons[i].setAttribute("aria-pressed", String(each.name === group));
      buttons[i].hidden = count === 0 && each.name !== "all" && each.name !== group;
    });
    list.setRows(filtered.filter(GROUPS.find((each) => each.name === group).has));
  }

  let isScheduled = false;
  const changed = () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      show();
    });
  };
  jobs.addEventListener("change", changed);
  jobs.addEventListener("progress", changed);
  jobs.addEventListener("busy", changed);
  const clock = setInterval(() => {
    if (!document.hidden) list.draw();
  }, 1000);
  app.listen({});
  show();
  return {
    element,
    title: "Jobs",
    screen: "jobs",
    close() {
      jobs.removeEventListener("change", changed);
      jobs.removeEventListener("progress", changed);
      jobs.removeEventListener("busy", changed);
      clearInterval(clock);
      list.close();
    },
    key(event) {
      if (filter.key(event)) return true;
      if (event.key === "Escape" && (!filter.isEmpty || group !== "all")) {
        filter.clear();
        group = "all";
        show();
        return true;
      }
      const row = list.selectedRow;
      if (row && event.key === "s" && !isOver(row.status)) {
        (row.suspended ? resume : suspend)(targetOf(row));
        return true;
      }
      if (row && event.key === "d") {
        remove(targetOf(row));
        return true;
      }
      return list.key(event);
    },
    leaveField() {
      filter.leave();
      list.move(0);
    },
    keys: [
      ["j / k", "down, up"], ["Enter", "open the job"], ["/", "filter"], ["s", "suspend or resume"],
      ["d", "delete"]
    ],
  };
}
