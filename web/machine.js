// The Machine screen: each node's GPUs, the pods that hold them, and the jobs that wait.
import {isWaiting} from "./actions.js";
import {command, fill, h} from "./dom.js";
import {ago, bytes, cores, percent, reasonOf} from "./format.js";
import {get, jobs} from "./server.js";
import {describeStart, startsOf} from "./starts.js";

const QUIET = 400;            // milliseconds between a change of the jobs and the next look
const REDRAW_EVERY = 10_000;  // milliseconds: the queue tells how long ago, and in how long

function share(name, used, all, words) {
  const fillBar = h("div", {class: "fill"});
  fillBar.style.width = `${Math.min(100, all ? 100 * used / all : 0)}%`;
  return h(
      "div", {class: "share"}, h("span", {class: "muted"}, name),
      h("div", {
        class: "track",
        role: "meter",
        "aria-label": name,
        "aria-valuemin": 0,
        "aria-valuemax": all,
        "aria-valuenow": used
      },
        fillBar),
      h("span", null, words));
}

function gpuOf(device) {
  const holder = device.job || device.pod;
  const busy = device.dutyCycle === null ? "" : ` · ${percent(device.dutyCycle / 100)}`;
  const memory =
      device.memoryTotal ? ` · ${bytes(device.memoryUsed)} of ${bytes(device.memoryTotal)}` : "";
  return h(
      "div", {
        class: "gpu",
        "data-held": Boolean(holder),
        title: `GPU ${device.index}: ${device.pod || "free"}${memory}`
      },
      h("span", {class: "muted"}, `${device.index} `), holder || "free", busy);
}

// Without the name of its job, which stands beside it.
function instanceOf({name, job}) {
  return job && name.startsWith(`${job}-`) ? name.slice(job.length + 1) : name;
}

function podsOf(node) {
  if (!node.pods.length) return h("p", {class: "muted"}, "No pod uses this node.");
  return h(
      "div", {class: "wide"},
      h("table", {class: "plain", "aria-label": `Who holds ${node.name}`},
        h("thead", null,
          h("tr", null,
            ["Job", "Instance", "CPUs", "Memory", "GPUs"].map(
                (title, i) => h("th", {scope: "col", class: i > 1 ? "number" : null}, title)))),
        h("tbody", null,
          node.pods.map(
              (pod) =>
                  h("tr", null,
                    h("td", null,
                      pod.job ? h("a", {href: `#/job/${pod.namespace}/${pod.job}`}, pod.job) : "–"),
                    h("td", {title: pod.name}, instanceOf(pod)),
                    h("td", {class: "number"}, pod.cpuMilli ? cores(pod.cpuMilli) : "–"),
                    h("td", {class: "number"}, pod.memoryBytes ? bytes(pod.memoryBytes) : "–"),
                    h("td", {class: "number"}, pod.gpus || "–"))))));
}

function cardOf(node) {
  const used = node.requested;
  return h(
      "section", {class: "card", "aria-label": `Node ${node.name}`},
      h("header", null, h("h2", null, node.name),
        node.ready ? null : h("span", {class: "state", "data-kind": "bad"}, "not ready")),
      share(
          "CPUs", used.cpuMilli, node.cpuMilli,
          `${cores(used.cpuMilli)} of ${cores(node.cpuMilli)} requested`),
      share(
          "Memory", used.memoryBytes, node.memoryBytes,
          `${bytes(used.memoryBytes)} of ${bytes(node.memoryBytes)}`),
      node.gpus ? share("GPUs", used.gpus, node.gpus, `${used.gpus} of ${node.gpus} in use`) :
                  h("p", {class: "muted"}, "No GPU."),
      h("div", {class: "gpus"}, node.devices.map(gpuOf)), podsOf(node));
}

export function machineScreen(app) {
  const cards = h("div", {class: "cards"}, h("p", {class: "muted"}, "Loading…"));
  const queue = h("section", {class: "card", "aria-label": "Queue"});
  const element =
      h("section", {class: "screen", "aria-label": "Machine"},
        h("div", {class: "bar"}, command("muster top node -d --metric")), cards, queue);
  let isClosed = false;

  let starts = {};  // by the key of a waiting job

  const waitingJobs = () => [...jobs.rows.values()]
                                .filter((row) => isWaiting(row.status))
                                .sort((a, b) => a.created - b.created);

  function showQueue() {
    const waiting = waitingJobs();
    fill(
        queue,
        h("header", null, h("h2", null, "Queue"),
          h("span", {class: "muted"}, waiting.length ? `${waiting.length} wait` : "")),
        waiting.length === 0 ?
            h("p", {class: "muted"}, "No job waits.") :
            h("table", {class: "plain queue", "aria-label": "Waiting jobs"},
              h("thead", null,
                h("tr", null,
                  ["Job", "Why", "Starts", "GPUs", "Priority", "Submitted"].map(
                      (title) => h("th", {scope: "col"}, title)))),
              h("tbody", null,
                waiting.map(
                    (row) =>
                        h("tr", null,
                          h("td", null,
                            h("a", {href: `#/job/${row.namespace}/${row.name}`}, row.name)),
                          h("td", null, reasonOf(row, Date.now()) || "–"),
                          h("td", {"data-title": "starts "},
                            describeStart(starts[row.key], Date.now()) || "–"),
                          h("td", {"data-title": "GPUs "}, row.requestGPUs || "–"),
                          h("td", {"data-title": "priority "}, row.priority),
                          h("td", {"data-title": "submitted "}, ago(row.created, Date.now())))))));
  }

  async function load() {
    try {
      const {nodes} = await get("/api/machine");
      if (!isClosed)
        fill(
            cards,
            nodes.length ? nodes.map(cardOf) :
                           h("p", {class: "muted"}, "The cluster has no nodes."));
    } catch (error) {
      if (!isClosed) fill(cards, h("p", null, error.message));
    }
  }

  let next = 0;
  async function loadStarts() {
    clearTimeout(next);
    const predicted = await startsOf(waitingJobs().map((row) => row.key));
    if (isClosed) return;
    starts = predicted.starts;
    showQueue();
    if (predicted.again) next = setTimeout(loadStarts, predicted.again);
  }

  let waiting = 0;
  const changed = () => {
    showQueue();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      load();
      loadStarts();
    }, QUIET);
  };
  jobs.addEventListener("change", changed);
  const clock = setInterval(() => {
    if (!document.hidden && !queue.contains(document.activeElement)) showQueue();
  }, REDRAW_EVERY);
  app.listen({});
  showQueue();
  load();
  loadStarts();
  return {
    element,
    title: "Machine",
    screen: "machine",
    close() {
      isClosed = true;
      clearTimeout(waiting);
      clearTimeout(next);
      clearInterval(clock);
      jobs.removeEventListener("change", changed);
    },
    key: () => false,
    leaveField() {},
    keys: [],
  };
}
