// The page: who may see it, which screen it shows, the keys.
import {undo} from "./actions.js";
import {fill, h, setText} from "./dom.js";
import {compareScreen, historyScreen} from "./history.js";
import {jobScreen} from "./job.js";
import {jobsScreen} from "./jobs.js";
import {ledgerScreen} from "./ledger.js";
import {machineScreen} from "./machine.js";
import {get, post, stream} from "./server.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const linkState = document.getElementById("link-state");
const LOST_AFTER = 1200;  // milliseconds: a loss that is over sooner is not reported
const THEMES = ["auto", "dark", "light"];

const app = {
  go(hash) {
    location.hash = hash;
  },
  listen(parameters) {
    stream.listen(parameters);
  },
};
let screen = null;

function screenFor(hash) {
  const [name, ...rest] = hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  if (name === "job" && rest.length === 2) return jobScreen(app, "job", ...rest);
  if (name === "run" && rest.length === 2) return jobScreen(app, "run", ...rest);
  if (name === "compare" && rest.length === 2) return compareScreen(app, ...rest);
  if (name === "ledger" && rest.length === 2) return ledgerScreen(app, ...rest);
  if (name === "history") return historyScreen(app);
  if (name === "machine") return machineScreen(app);
  return jobsScreen(app);
}

function show() {
  screen?.close();
  screen = screenFor(location.hash);
  document.title = `${screen.title} · muster`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.screen === screen.screen)
      link.setAttribute("aria-current", "page");
    else
      link.removeAttribute("aria-current");
  }
  fill(main, screen.element);
  main.focus({preventScroll: true});
}

// What has been lost, by who reports it.
const problems = new Map();
let lostTimer = 0;
function report(who, text) {
  if (text)
    problems.set(who, text);
  else
    problems.delete(who);
  clearTimeout(lostTimer);
  const update = () => {
    const first = [...problems.values()][0];
    banner.hidden = !first;
    setText(banner, first ?? "");
    linkState.dataset.state = first ? "lost" : "live";
    setText(linkState, first ? "not live" : "live");
  };
  if (problems.size)
    lostTimer = setTimeout(update, LOST_AFTER);
  else
    update();
}
stream.addEventListener("open", () => report("page", ""));
stream.addEventListener(
    "lost",
    (event) => report(
        "page",
        event.detail.ended ?
            "muster dash did not admit this page: open the link that it printed, or run it again." :
            "muster dash does not answer: it has ended in its terminal, or this machine sleeps. " +
                "This page continues when it is back."));
stream.addEventListener(
    "cluster",
    (event) => report(
        "cluster",
        event.detail.ok ?
            "" :
            `The cluster is not heard of: ${
                event.detail.message}. What is shown is as it was; muster goes on asking.`));

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  setText(button, {auto: "Theme: auto", dark: "Theme: dark", light: "Theme: light"}[name]);
  try {
    localStorage.setItem("theme", name);
  } catch {
    // Only this visit has it then.
  }
}
function nextTheme() {
  const now = document.documentElement.dataset.theme;
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

function help() {
  const dialog = document.getElementById("dialog");
  const rows = [
    ["1, 2, 3", "Jobs, History, Machine"], ["t", "dark, light, as the system"], ["?", "these keys"],
    ["u", "undo, as long as it is offered"], ...(screen?.keys ?? [])
  ];
  fill(
      dialog, h("h2", {id: "dialog-title"}, "Keys"),
      h("div", {class: "keys"},
        rows.flatMap(([key, text]) => [h("kbd", null, key), h("span", null, text)])),
      h("div", {class: "acts"},
        h("button", {type: "button", class: "main", autofocus: true, onclick: () => dialog.close()},
          "Close")));
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.showModal();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("dialog").open)
    return;
  const field = event.target.closest?.("input:not([type=checkbox]), select, textarea");
  if (field) {
    if (event.key === "Escape" || (event.key === "ArrowDown" && field.type === "search") ||
        (event.key === "Enter" && field.type === "search" && screen?.screen !== undefined &&
         field.closest(".log") === null)) {
      event.preventDefault();
      screen?.leaveField();
    }
    return;
  }
  if (event.target.closest?.("button, a, summary") && (event.key === "Enter" || event.key === " "))
    return;
  const screens = {1: "#/jobs", 2: "#/history", 3: "#/machine"};
  let isTaken = true;
  if (event.key in screens)
    app.go(screens[event.key]);
  else if (event.key === "?")
    help();
  else if (event.key === "t")
    nextTheme();
  else if (event.key === "u")
    undo();
  else
    isTaken = Boolean(screen?.key(event));
  if (isTaken) event.preventDefault();
}

function showDoor(message) {
  fill(
      main,
      h("div", {class: "empty"}, h("h1", null, "This browser has no access to this page"),
        h("p", null, message), h("p", null, "In a terminal: ", h("code", null, "muster dash"))));
}

function showWhere(state) {
  const cluster =
      state.thisMachine ? "this machine" : state.context || state.cluster || "a cluster";
  setText(
      document.getElementById("where"),
      `${cluster} · ${state.namespace || "all namespaces"} · muster ${state.version}`);
}

async function begin() {
  let theme = "auto";
  try {
    theme = localStorage.getItem("theme") ?? "auto";
  } catch {
    // Cookies and the like are switched off.
  }
  setTheme(THEMES.includes(theme) ? theme : "auto");
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("help").addEventListener("click", help);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();  // the page's address is its screen's
    main.focus();
  });
  const link = location.hash.startsWith("#/") ? "" : location.hash.slice(1);
  try {
    if (link) {
      // It is valid once, and must not be found in this browser's history.
      history.replaceState(null, "", location.pathname + "#/jobs");
      showWhere(await post("/api/session", {link}));
    } else {
      showWhere(await get("/api/state"));
    }
  } catch (error) {
    if (error.status === 401 || error.status === 403) {
      // The link was opened twice: this browser may have a cookie already.
      const isIn = link && await get("/api/state").then(showWhere).then(() => true, () => false);
      if (!isIn) return showDoor(error.message);
    } else {
      return showDoor(error.message);
    }
  }
  window.addEventListener("hashchange", show);
  document.addEventListener("keydown", onKey);
  show();
}
begin();
