// One run: an existing job, or the record of one that was deleted.
import {isOver, isResting, isWaiting, remove, rerun, resume, suspend} from "./actions.js";
import {Chart, curvesOf} from "./chart.js";
import {command, fill, h, kindOf, refill, setText, showState, withCode, wordOf} from "./dom.js";
import {bytes, duration, figure, moment, percent, plural, reasonOf} from "./format.js";
import {Log} from "./log.js";
import {linesOf, Parallel} from "./parallel.js";
import {linesOfProgress} from "./progress.js";
import {get, jobs, stream} from "./server.js";
import {Shell} from "./shell.js";
import {describeStart, startsOf} from "./starts.js";
import {Strip, withNews} from "./strip.js";
import {ledger, timeline} from "./timeline.js";

const MOST_RANKS = 2048;
const MOST_CURVES = 8;
const MOST_POINTS = 4000;

export function jobScreen(app, kind, namespace, run) {
  const path = `${encodeURIComponent(namespace)}/${encodeURIComponent(run)}`;
  const key = `${namespace}/${run}`;
  const isJob = kind === "job";
  let page = null;
  let instances = [];
  let isClosed = false;

  const title = h("h1", null, run);
  const state = h("span", {class: "state"});
  const why = h("div", {class: "why"});
  const progress = h("div", {class: "far", "aria-label": "Progress", hidden: true});
  const times = h("span", {class: "muted"});
  const acts = h("div", {class: "acts", role: "group", "aria-label": "Actions"});
  const verdict = h("section", {class: "card verdict", "aria-label": "Verdict", hidden: true});
  const grid = h("div", {class: "ranks", role: "list"});
  const closer = h("div", {class: "wide"});
  const look =
      h("button", {
        type: "button",
        title: "Step, CPU, memory and line of each rank (r)",
        onclick: () => lookCloser()
      },
        "Look closer");
  const shellButton =
      h("button",
        {type: "button", title: "A shell in one of the instances (e)", onclick: () => openShell()},
        "Shell");
  const ranks =
      h("section", {class: "card", "aria-label": "Ranks"},
        h("header", null, h("h2", null, "Ranks"), h("span", {class: "spring"}), look, shellButton),
        grid, closer);
  const strip = new Strip();
  const overTime =
      h("section", {class: "card", "aria-label": "Ranks over time", hidden: true},
        h("header", null, h("h2", null, "Ranks over time")), strip.element);
  const charts = h("div", {class: "charts"});
  const curves =
      h("section", {class: "card", "aria-label": "Curves", hidden: true},
        h("header", null, h("h2", null, "Curves")), charts);
  const spent = h("section", {class: "card", "aria-label": "Where the time went", hidden: true});
  const attempts =
      h("section", {class: "card", "aria-label": "Attempts"},
        h("header", null, h("h2", null, "Attempts")));
  const trials = h("section", {class: "card", "aria-label": "Trials", hidden: true});
  const lines = new Parallel("Trials");
  const facts =
      h("section", {class: "card", "aria-label": "What it is"},
        h("header", null, h("h2", null, "What it is")));
  const log = new Log(
      {namespace, run, name: run},
      (parameters) => app.listen(isJob ? {job: key, ...parameters} : {}), isJob);
  const body = h(
      "div", {class: "job-body"},
      h("div", {class: "facts"}, verdict, ranks, trials, overTime, curves, spent, attempts, facts),
      log.element);
  const element =
      h("section", {class: "screen", "aria-label": `Job ${run}`},
        h("div", {class: "job-head"}, title, state, times, acts, why, progress), body);

  function target() {
    const of = page.run;
    return {name: of.name, namespace, run: isJob ? of.name : of.id, uid: of.uid, id: of.id};
  }

  let start = null;  // what is predicted of a job that waits
  let nextStart = 0;
  async function loadStart() {
    clearTimeout(nextStart);
    const row = jobs.rows.get(key);
    if (!isJob || !row || !isWaiting(row.status)) return;
    const predicted = await startsOf([key]);
    if (isClosed) return;
    start = predicted.starts[key];
    showHead();
    if (predicted.again) nextStart = setTimeout(loadStart, predicted.again);
  }

  function showHead() {
    const row = isJob ? jobs.rows.get(key) : null;
    const of = page?.run;
    if (!row && !of) return;
    const status = row ? row.status : of.status;
    showState(state, row?.ending ? "ENDING" : status);
    const when = row && isWaiting(row.status) ? describeStart(start, Date.now()) : "";
    const reason = reasonOf(row ?? of, Date.now());
    setText(why, when ? `${reason}${reason ? "; " : ""}starts ${when}` : reason);
    const created = row ? row.created : Date.parse(of.created);
    const started = row ? row.started : Date.parse(of.started);
    const ended = row ? row.ended : Date.parse(of.ended ?? of.deleted);
    const words = isResting(status) ? null : ended ? "ran" : "runs";
    const lasted = started && words ?
        ` · ${words} for ${duration((ended || Date.now()) - started)}` :
        isWaiting(status) ? ` · waits for ${duration(Date.now() - created)}` :
                            "";
    const deleted = of?.deleted ? ` · deleted ${moment(Date.parse(of.deleted))}` : "";
    setText(times, moment(created) + lasted + deleted);
    if (!page) return;
    // A deleted job's run is addressed by its ID.
    setText(title, isJob ? run : of.name);
    const buttons = [];
    if (isJob && row && !isOver(status)) {
      buttons.push(
          row.suspended ? ["Resume", "s", () => resume(target())] :
                          ["Suspend", "s", () => suspend(target())]);
    }
    buttons.push(["Run again", "a", () => rerun(target())]);
    if (isJob && row) buttons.push(["Delete", "d", () => remove(target())]);
    const wanted = buttons.map(([title]) => title).join();
    look.hidden = !isJob || isOver(status);
    shellButton.hidden = look.hidden || !instances.some(isUp);
    if (acts.dataset.has === wanted) return;
    acts.dataset.has = wanted;
    fill(
        acts,
        buttons.map(
            ([title, letter, act]) =>
                h("button", {
                  type: "button",
                  class: title === "Delete" ? "danger" : null,
                  title: `${title} (${letter})`,
                  onclick: act,
                },
                  title)));
  }

  function showRanks() {
    const all = instances.flatMap(
        (instance) => Array.from(
            {length: instance.ranks}, (_, i) => ({rank: instance.firstRank + i, instance})));
    ranks.hidden = all.length === 0;
    while (grid.children.length > Math.min(all.length, MOST_RANKS)) grid.lastChild.remove();
    all.slice(0, MOST_RANKS).forEach(({rank, instance}, i) => {
      if (!grid.children[i]) grid.append(h("span", {class: "rank", role: "listitem"}));
      const cell = grid.children[i];
      const kind_ = kindOfRank(rank, instance);
      if (cell.dataset.kind !== kind_) cell.dataset.kind = kind_;
      setText(cell, String(rank));
      cell.title = `rank ${rank}: ${instance.name}, ${instance.status || "not there"}${
          instance.node ? ` on ${instance.node}` : ""}${lifeOf(instance)}`;
      cell.setAttribute("aria-label", cell.title);
    });
  }

  let shell = null;
  // It stands where the log stands otherwise.
  function openShell() {
    if (shell || shellButton.hidden) return;
    shell = new Shell(path, () => closeShell());
    log.element.hidden = true;
    log.element.after(shell.element);
    showInstances();
    shell.open("");
    shell.element.scrollIntoView({block: "nearest"});  // below everything on a phone
  }
  function closeShell() {
    shell?.close();
    shell?.element.remove();
    shell = null;
    log.element.hidden = false;
    shellButton.focus();
  }
  const isUp = (instance) => kindOf(instance.status) === "running";
  function showInstances() {
    shell?.setInstances(instances.filter(isUp).map((instance) => instance.name));
  }

  // Why it waits, and how often it was restarted.
  function lifeOf(instance) {
    const restarts = !instance.restarts ?
        "" :
        `, restarted ${instance.restarts === 1 ? "once" : `${instance.restarts} times`}${
            instance.lastEnd ? ` (${instance.lastEnd})` : ""}`;
    return `${restarts}${instance.waits ? `: ${instance.waits}` : ""}`;
  }

  // For a failed job the first rank to fail stands out: the others ended because of it.
  function kindOfRank(rank, instance) {
    const kind_ = kindOf(instance.status);
    const first = jobs.rows.get(key);
    if (kind_ !== "bad" || !first?.failedInstance) return kind_;
    const isFirst = first.failedInstance === instance.name && (first.rank ?? rank) === rank;
    return isFirst ? "bad" : "off";
  }

  async function lookCloser() {
    look.disabled = true;
    try {
      const {ranks: all} = await get(`/api/ranks/${path}`);
      const rows = all.map(
          (rank) => h(
              "tr", null, h("td", {class: "number"}, rank.rank), h("td", null, rank.state || "–"),
              h("td", null, rank.step || "–"),
              h("td", {class: "number"},
                rank.quietSeconds === null ? "–" : duration(1000 * rank.quietSeconds)),
              h("td", {class: "number"}, rank.cpu === null ? "–" : percent(rank.cpu)),
              h("td", {class: "number"}, rank.memoryBytes === null ? "–" : bytes(rank.memoryBytes)),
              h("td", {class: "mono"},
                [rank.where, rank.doing].filter(Boolean).join(": ") || rank.waits ||
                    rank.lastLine || "–")));
      const head = ["Rank", "State", "Step", "Quiet", "CPU", "Memory", "Where"];
      const numbers = ["Rank", "Quiet", "CPU", "Memory"];
      fill(
          closer,
          h("table", {class: "plain", "aria-label": "Ranks in detail"},
            h("thead", null,
              h("tr", null,
                head.map(
                    (title) =>
                        h("th", {scope: "col", class: numbers.includes(title) ? "number" : null},
                          title)))),
            h("tbody", null, rows)),
          command(`muster get ${run} --ranks`));
    } catch (error) {
      fill(closer, h("p", null, error.message));
    }
    look.disabled = false;
  }

  function showAttempts() {
    const of = page.run;
    attempts.hidden = of.attempts.length === 0;
    refill(
        attempts, h("header", null, h("h2", null, "Attempts")),
        timeline(of.attempts, of.created, of.ended ?? of.deleted ?? "", Date.now()),
        h("details", null,
          h("summary", null, plural(of.attempts.length, "run of an instance", "runs of instances")),
          h("div", {class: "wide"},
            h("table", {class: "plain", "aria-label": "Attempts"},
              h("thead", null,
                h("tr", null,
                  ["Instance", "Status", "Exit", "Started", "Ended", "Node"].map(
                      (title) => h("th", {scope: "col"}, title)))),
              h("tbody", null,
                of.attempts.map(
                    (each) =>
                        h("tr", null, h("td", null, each.instance), h("td", null, each.status),
                          h("td", null, each.exitCode ?? "–"), h("td", null, moment(each.started)),
                          h("td", null, moment(each.ended)), h("td", null, each.node))))))));
  }

  function showFacts() {
    const of = page.run;
    const rows = [];
    const add = (name, value) => {
      if (value) rows.push(h("dt", null, name), h("dd", null, value));
    };
    add("Command", of.command ? h("code", null, of.command) : null);
    for (const [name, value] of Object.entries(of.spec)) {
      if (name !== "command" && !name.startsWith("env "))
        add(name.includes("/") ? name : name.charAt(0).toUpperCase() + name.slice(1), value);
    }
    add("Code",
        [
          of.snapshot && `snapshot ${of.snapshot.slice(0, 12)}`,
          of.commit && `commit ${of.commit.slice(0, 7)}`,
          of.commit && of.changes && `${plural(of.changes, "file")} changed since`
        ].filter(Boolean)
            .join(", "));
    add("Files", of.folder ? h("code", null, of.folder) : null);
    add("Python", of.python ? `${of.python}, ${plural(of.packages.length, "package")}` : null);
    add("Run", `${of.name} (${of.id})`);
    const variables = Object.entries(of.spec).filter(([name]) => name.startsWith("env "));
    refill(
        facts,
        h("header", null, h("h2", null, "What it is"), h("span", {class: "spring"}),
          command(`muster show ${isJob ? of.name : of.id}`)),
        h("dl", null, rows),
        of.commit && of.changes ?
            codeDiff(of.uid, `muster code ${isJob ? of.name : of.id} --diff`) :
            null,
        variables.length ?
            h("details", null, h("summary", null, plural(variables.length, "variable")),
              h("ul", {class: "lines"},
                variables.map(([name, value]) => h("li", null, `${name.slice(4)}=${value}`)))) :
            null,
        of.environment.length ?
            h("details", null,
              h("summary", null, `${of.environment.length} names of your environment`),
              h("p", null, of.environment.join("  "))) :
            null,
        of.packages.length ?
            h("details", null, h("summary", null, plural(of.packages.length, "package")),
              h("ul", {class: "lines"}, of.packages.map((each) => h("li", null, each)))) :
            null);
  }

  // What the commit of this run does not have: read when it is opened, and again after an error.
  let diffPart = null;
  let diffOf = null;
  function codeDiff(uid, line) {
    if (diffOf === uid) return diffPart;
    const title = "Code that the commit does not have";
    const body = h("div", {class: "muted"});
    let isRead = false;
    const read = async () => {
      if (isRead) return;
      isRead = true;
      setText(body, "Reading…");
      try {
        const {diff, isMasked} = await get(`/api/diff/${path}`);
        fill(
            body,
            diff ? h("pre", {class: "diff"}, diff.trimEnd().split("\n").map(lineOfDiff)) :
                   h("p", null, "Only new files, which the commit does not have."),
            isMasked ? h("p", null, "What looks like a secret is shown as ***.") : null,
            command(line));
      } catch (error) {
        isRead = false;
        fill(body, h("p", null, error.message));
      }
    };
    diffOf = uid;
    diffPart = h("details", {"aria-label": title}, h("summary", null, title), body);
    diffPart.addEventListener("toggle", read);
    return diffPart;
  }

  function lineOfDiff(text) {
    const isHead = /^(diff |index |--- |\+\+\+ |new file|deleted file)/.test(text);
    const kind_ = isHead ? "head" : {"+": "more", "-": "less", "@": "at"}[text[0]];
    return h("span", {"data-kind": kind_}, text + "\n");
  }

  function showTrials() {
    const all = page.trials ?? [];
    trials.hidden = all.length === 0;
    if (trials.hidden) return;
    const namesOf = (field) => [...new Set(all.flatMap((each) => Object.keys(each[field] ?? {})))];
    const values = namesOf("values");
    const metrics = namesOf("metrics");
    const heads = ["Trial", ...values, "Status", "Took", ...metrics];
    const {names, rows} =
        linesOf(all, () => "", (each) => (each.status === "FAILED" ? "bad" : "running"));
    lines.set(names, rows);
    fill(
        trials,
        h("header", null, h("h2", null, plural(all.length, "trial")), h("span", {class: "spring"}),
          command(`muster show ${run} --best ${
              metrics.find((name) => /loss/i.test(name)) ?? metrics[0] ?? "METRIC"}`)),
        lines.element,
        h("div", {class: "wide"},
          h("table", {class: "plain trials", "aria-label": "Trials"},
            h("thead", null, h("tr", null, heads.map((title) => h("th", {scope: "col"}, title)))),
            h("tbody", null, all.map((each) => {
              const cells = [
                each.index, ...values.map((name) => each.values[name]), wordOf(each.status),
                duration(1000 * each.seconds), ...metrics.map((name) => each.metrics[name])
              ];
              return h(
                  "tr", null,
                  cells.map((cell) => h("td", {title: String(cell ?? "")}, figure(cell))));
            })))));
  }

  function showVerdict(answer) {
    const of = answer.verdict;
    const isKnown = of.class !== "unknown";
    if (answer.fine !== null && !isKnown) {
      verdict.hidden = true;
      return;
    }
    verdict.hidden = false;
    verdict.dataset.kind = answer.fine === null ? "bad" : "waiting";
    const who = of.who && [
      of.who.rank === null ? of.who.instance : `rank ${of.who.rank} (${of.who.instance})`,
      of.who.host && `on ${of.who.host}`,
      of.who.exitCode !== null && `exit code ${of.who.exitCode}`,
      of.who.attempt > 1 && `attempt ${of.who.attempt}`
    ].filter(Boolean).join(", ");
    const fact = (each) =>
        h("li", null, each.time ? h("span", {class: "muted"}, each.time.slice(11, 19) + " ") : null,
          h("span", {class: "muted"}, each.source + " "), each.text);
    refill(
        verdict, h("h3", null, of.title || "The cause is unknown"),
        h("p", {class: "muted"}, [of.class, who].filter(Boolean).join(" · ")),
        of.line ? h("pre", null, of.line) : null,
        of.where ? h("p", null, h("code", null, `${of.where.file}:${of.where.line}`),
                     of.where.function ? ` in ${of.where.function}` : "") :
                                         null,
        h("p", {class: "advice"},
          of.advice === "none" ? null : h("span", {class: "tag"}, of.advice),
          h("span", null, withCode(of.adviceText))),
        of.evidence.length || of.consequences.length || of.missing.length ?
            h("details", null,
              h("summary", null,
                [
                  of.evidence.length && `${plural(of.evidence.length, "piece")} of evidence`,
                  of.consequences.length && plural(of.consequences.length, "consequence")
                ].filter(Boolean)
                        .join(", ") ||
                    "No evidence"),
              h("ul", {class: "lines"}, of.evidence.map(fact)),
              of.consequences.length ? h("h3", null, "Consequences") : null,
              h("ul", {class: "lines"}, of.consequences.map(fact)),
              of.missing.length ?
                  h("p", {class: "muted"}, "Missing evidence: " + of.missing.join(", ")) :
                  null) :
            null,
        h("p", {class: "muted"}, `Confidence: ${of.confidence}`), command(`muster explain ${run}`));
  }

  async function loadLedger() {
    try {
      const report = await get(`/api/report/${path}`);
      if (isClosed || !report.ledger) return;
      const words = `${percent(report.ledger.goodput)} of it steps`;
      fill(
          spent,
          h("header", null, h("h2", null, "Where the time went"),
            h("span", {class: "muted"}, words), h("span", {class: "spring"}),
            command(`muster report ${run}`)),
          ledger(report),
          report.saving ? h("p", {class: "muted"}, withCode(report.saving.text)) : null);
      spent.hidden = false;
    } catch {
      spent.hidden = true;
    }
  }

  // By the name of its scalar.
  const drawn = new Map();
  let loadedSeries = [];

  // A line for each source, if they disagree.
  function showProgress(newest) {
    const status = jobs.rows.get(key)?.status ?? page?.run.status ?? "";
    const lines = linesOfProgress(newest, !isOver(status)).filter(({text}) => text);
    progress.hidden = lines.length === 0 || (page?.trials ?? []).length > 0;
    fill(
        progress,
        lines.map(
            ({text, source, percent}) =>
                h("div", null,
                  percent === null ?
                      null :
                      h("meter",
                        {min: 0, max: 100, value: String(percent), "aria-label": "progress"}),
                  h("span", null, text), h("span", {class: "muted"}, source))));
  }

  function showCurves() {
    const all = curvesOf([{title: run, series: loadedSeries}], MOST_CURVES);
    // The lines of trials that run one after another make no curve.
    curves.hidden = all.length === 0 || (page?.trials ?? []).length > 0;
    for (const each of all) {
      if (!drawn.has(each.name)) {
        const chart = new Chart(each.name, each.unit);
        drawn.set(each.name, chart);
        charts.append(chart.element);
      }
      drawn.get(each.name).set(each.series);
    }
  }

  async function loadCurves() {
    try {
      const answer = await get(`/api/progress/${path}`);
      if (isClosed) return;
      loadedSeries = answer.series;
      showProgress(answer.newest);
    } catch {
      return;  // the rest of the page says what is wrong
    }
    showCurves();
  }

  function showStrip(grid) {
    overTime.hidden = grid.ranks.length === 0;
    if (!overTime.hidden) strip.set(grid);
  }
  // Of a run; a job's comes with the stream.
  async function loadStrip() {
    try {
      const grid = await get(`/api/strip/${path}`);
      if (!isClosed) showStrip(grid);
    } catch {
      // The rest of the page says what is wrong.
    }
  }
  let ranksOverTime = null;
  const onStrip = (event) => {
    if (event.detail.key !== key) return;
    ranksOverTime = withNews(ranksOverTime, event.detail);
    showStrip(ranksOverTime);
  };

  // Later points are added at the end of the curves.
  const onProgress = () => {
    const news = jobs.progress.get(page?.run.uid);
    if (!news) return;
    showProgress(news);
    const at = Date.parse(news.at);
    for (const [name, value] of Object.entries(news.scalars)) {
      let series = loadedSeries.find((each) => each.source === news.source && each.name === name);
      if (!series) loadedSeries.push(series = {source: news.source, name, points: []});
      if (series.points.length && series.points.at(-1)[0] >= at) continue;
      series.points.push([at, news.step, value]);
      if (series.points.length > MOST_POINTS) series.points.splice(0, MOST_POINTS / 10);
    }
    showCurves();
  };

  async function load() {
    try {
      const loaded = await get(`/api/run/${path}`);
      if (isClosed) return;
      const isAnother = page !== null && page.run.uid !== loaded.run.uid;
      page = loaded;
      if (isAnother) loadCurves();  // a new job of this name
      state.hidden = body.hidden = false;
      showHead();
      loadLedger();
      showTrials();
      showCurves();
      showAttempts();
      showFacts();
      if (!instances.length && !isJob) ranks.hidden = true;
      const wanted = ["FAILED", "DELETED"].includes(page.run.status) || page.run.reason;
      if (wanted) {
        const answer = await get(`/api/verdict/${path}`);
        if (!isClosed) showVerdict(answer);
      } else {
        verdict.hidden = true;
      }
    } catch (error) {
      if (isClosed) return;
      if (page) {
        fill(facts, h("p", null, error.message));
        return;
      }
      // There is no such run, or none that can be read.
      state.hidden = body.hidden = true;
      fill(why, withCode(error.message));
    }
  }

  // What is read again when the job has changed.
  let shape = "";
  const changed = () => {
    const row = jobs.rows.get(key);
    showHead();
    showRanks();
    const now = row ?
        `${row.uuid} ${row.status} ${row.reason ?? ""} ${row.stall?.text ?? ""} ${row.ranksUp}` :
        "gone";
    if (isJob && jobs.areKnown && now !== shape) {
      shape = now;
      load();
      loadStart();
    }
  };
  const onJob = (event) => {
    if (event.detail.key !== key) return;
    if (event.detail.instances === null) {
      setText(why, "The job is deleted. Its run is in the history.");
      return;
    }
    instances = event.detail.instances;
    showHead();
    showRanks();
    showInstances();
  };
  jobs.addEventListener("change", changed);
  jobs.addEventListener("progress", onProgress);
  stream.addEventListener("job", onJob);
  if (isJob) stream.addEventListener("strip", onStrip);
  const clock = setInterval(() => {
    if (!document.hidden) showHead();
  }, 1000);
  log.showEnd();
  load();
  loadCurves();
  if (!isJob) loadStrip();
  return {
    element,
    title: run,
    screen: isJob ? "jobs" : "history",
    close() {
      isClosed = true;
      shell?.close();
      jobs.removeEventListener("change", changed);
      jobs.removeEventListener("progress", onProgress);
      drawn.forEach((chart) => chart.close());
      strip.close();
      lines.close();
      stream.removeEventListener("job", onJob);
      stream.removeEventListener("strip", onStrip);
      clearInterval(clock);
      clearTimeout(nextStart);
      log.close();
    },
    key(event) {
      const row = jobs.rows.get(key);
      if (event.key === "Escape") {
        app.go(isJob ? "#/jobs" : "#/history");
        return true;
      }
      if (event.key === "/" || event.key === "l") {
        log.search.focus();
        log.search.select();
        return true;
      }
      if (event.key === "r" && isJob) {
        lookCloser();
        return true;
      }
      if (event.key === "e" && isJob) {
        openShell();
        return true;
      }
      if (!page) return false;
      if (event.key === "a") {
        rerun(target());
        return true;
      }
      if (event.key === "d" && isJob && row) {
        remove(target());
        return true;
      }
      if (event.key === "s" && isJob && row && !isOver(row.status)) {
        (row.suspended ? resume : suspend)(target());
        return true;
      }
      return false;
    },
    leaveField() {
      log.box.focus();
    },
    keys: [
      ["l or /", "search the log"], ["r", "look closer at the ranks"], ["e", "open a shell"],
      ["s", "suspend or resume"], ["a", "run again"], ["d", "delete"],
      ["arrows", "read the curve, the ranks or the lines that have the focus"],
      ["Shift+Tab", "leave the shell"], ["Esc", "back"]
    ],
  };
}
