// The merged log of a job. At most MOST lines are held, whatever the log's length: its end as it
// grows, or a part that was searched for; the server reads the rest. Only visible lines have
// elements.
import {command, fill, h, setText} from "./dom.js";
import {plural} from "./format.js";
import {getText, stream} from "./server.js";

const MOST = 20000;
const SHOWN = 4000;  // characters of a line
const TAIL = 1000;
const SILENT_AFTER = 2000;  // milliseconds without a line: the program has printed none yet
const LABEL = /^\[([^\]\n]{1,80})\] (?:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) )?/;
const BAD = /(error|exception)\b|\b(traceback|fatal|killed|nan|out of memory)\b/i;

function parse(text) {
  const label = LABEL.exec(text);
  const what = label ? text.slice(label[0].length) : text;
  return {who: label?.[1] ?? "", at: label?.[2] ?? "", what};
}

export class Log {
  // `run`: {namespace, run, name}; `listen`(parameters) has the stream follow it.
  constructor(run, listen, canFollow) {
    this.path = `/api/logs/${encodeURIComponent(run.namespace)}/${encodeURIComponent(run.run)}`;
    this.run = run;
    this.listen = listen;
    this.canFollow = canFollow;
    this.lines = [];
    this.partial = "";
    this.isAtEnd = true;
    this.marks = "";
    this.drawn = [];
    this.isRaw = false;
    this.search = h("input", {
      type: "search",
      placeholder: "Search the whole log (l)",
      "aria-label": "Search the whole log",
      onkeydown: (event) => {
        if (event.key === "Enter") this.#find();
      }
    });
    this.ranks = h("input", {
      type: "text",
      size: 6,
      placeholder: "ranks",
      "aria-label": "Ranks, as 0,4-7",
      onkeydown: (event) => {
        if (event.key === "Enter") this.showEnd();
      }
    });
    this.raw =
        h("button", {
          type: "button",
          "aria-pressed": "false",
          title: "Show every rank's lines, without folding equal ones",
          onclick: () => {
            this.isRaw = !this.isRaw;
            this.raw.setAttribute("aria-pressed", this.isRaw);
            this.showEnd();
          }
        },
          "Each rank");
    this.note = h("div", {class: "log-note", role: "status"});
    this.pad = h("div", {class: "log-pad"});
    this.box =
        h("div", {
          class: "log-lines",
          tabindex: "0",
          role: "log",
          "aria-live": "off",
          "aria-label": "Log lines",
          onscroll: () => this.#scrolled()
        },
          this.pad);
    this.element =
        h("section", {class: "log", "aria-label": "Log"},
          h("div", {class: "bar"}, this.search, this.ranks, this.raw,
            h("button", {type: "button", onclick: () => this.#part("Errors", {errors: "1"})},
              "Errors"),
            h("button",
              {type: "button", onclick: () => this.#part("From the start", {limit: "5000"})},
              "Start"),
            h("button", {type: "button", onclick: () => this.showEnd()}, "End")),
          this.note, this.box);
    this.onLog = (event) => this.#take(event.detail.text);
    this.onEnd = (event) => this.#ended(event.detail.error);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.box);
    stream.addEventListener("log", this.onLog);
    stream.addEventListener("logend", this.onEnd);
    stream.addEventListener("open", this.onOpen = () => this.#restarted());
  }

  close() {
    stream.removeEventListener("log", this.onLog);
    stream.removeEventListener("logend", this.onEnd);
    stream.removeEventListener("open", this.onOpen);
    this.observer.disconnect();
    clearTimeout(this.silence);
    this.request?.abort();
  }

  get #choice() {
    const choice = {};
    if (this.isRaw) choice.raw = "1";
    if (this.ranks.value.trim()) choice.ranks = this.ranks.value.trim();
    return choice;
  }

  showEnd() {
    this.request?.abort();
    this.#clear();
    this.isFollowing = true;
    this.marks = "";
    if (this.canFollow) {
      this.#say("Reading the end of the log…");
      clearTimeout(this.silence);
      this.silence = setTimeout(() => this.#saysNothing(), SILENT_AFTER);
      this.listen({log: "1", tail: String(TAIL), ...this.#choice});
    } else {
      this.listen({});
      this.#part("The end", {tail: String(TAIL)});
    }
  }

  // Of a job that may not have been started.
  #saysNothing() {
    if (this.isFollowing && this.lines.length === 0)
      this.#say("No line yet: they appear here as the job prints them.");
  }

  #restarted() {
    if (this.isFollowing && this.canFollow) this.#clear();
  }

  #clear() {
    this.lines = [];
    this.partial = "";
    this.isAtEnd = true;
    this.draw();
  }

  #say(text, line, ...more) {
    fill(this.note, h("span", null, text), line ? command(line) : null, more);
  }

  #take(text) {
    if (!this.isFollowing) return;
    const pieces = (this.partial + text).split("\n");
    this.partial = pieces.pop();
    for (const piece of pieces) this.lines.push(parse(piece));
    if (this.lines.length > MOST) this.lines.splice(0, this.lines.length - MOST);
    this.#say(
        `The end, as it grows: ${plural(this.lines.length, "line")}`,
        `muster logs ${this.run.run} --all --timestamps -f`);
    this.#schedule();
  }

  #ended(error) {
    clearTimeout(this.silence);
    if (!this.isFollowing) return;
    const text = error ||
        (this.lines.length ? `The end: ${plural(this.lines.length, "line")}` : "The log is empty");
    this.#say(text, `muster logs ${this.run.run} --all --timestamps`);
    this.#schedule();
  }

  #find() {
    const text = this.search.value;
    if (!text) return this.showEnd();
    return this.#part(`Lines with “${text}”`, {grep: text, limit: "2000"}, text);
  }

  async #part(title, parameters, marks = "") {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.isFollowing = false;
    this.#say(`${title}: reading…`);
    try {
      const answer = await getText(
          `${this.path}?${new URLSearchParams({...this.#choice, ...parameters})}`, request.signal);
      if (request.signal.aborted) return;
      this.#clear();
      this.marks = marks;
      this.lines = answer.text.split("\n");
      if (this.lines.at(-1) === "") this.lines.pop();
      this.lines = this.lines.map(parse);
      const count = plural(this.lines.length, "line");
      const last = this.lines.findLast((line) => line.at)?.at;
      this.#say(
          `${title}: ${answer.hasMore ? "the first " : ""}${count}`, answer.command,
          answer.hasMore && last && !parameters.errors ? h("button", {
            type: "button",
            onclick: () =>
                this.#part(title + ", on", {...parameters, tail: "0", since: last}, marks)
          },
                                                           "Go on") :
                                                         null);
      this.isAtEnd = Boolean(parameters.tail && parameters.tail !== "0");
      this.draw();
      this.box.scrollTop = this.isAtEnd ? this.box.scrollHeight : 0;
      this.draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#clear();
      this.#say(`${title}: ${error.message}`);
    }
  }

  #schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  #scrolled() {
    const rest = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight;
    // Only a reader goes up: the end is also left when the page around the box takes its room.
    if (rest < 24)
      this.isAtEnd = true;
    else if (this.box.scrollTop < this.top)
      this.isAtEnd = false;
    this.draw();
  }

  draw() {
    const height =
        parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--log-row")) || 18;
    this.pad.style.height = `${this.lines.length * height}px`;
    if (this.isAtEnd && this.isFollowing) this.box.scrollTop = this.box.scrollHeight;
    this.top = this.box.scrollTop;
    const first = Math.max(0, Math.floor(this.box.scrollTop / height) - 10);
    const last = Math.min(
        this.lines.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / height) + 10);
    while (this.drawn.length < last - first) this.#addLine();
    while (this.drawn.length > Math.max(0, last - first)) this.drawn.pop().element.remove();
    this.drawn.forEach(
        (drawn, i) => this.#drawLine(drawn, this.lines[first + i], (first + i) * height));
  }

  #addLine() {
    const who = h("span", {class: "who"});
    const at = h("span", {class: "at"});
    const what = h("span", {class: "what"});
    const element = h("div", {class: "log-line"}, who, at, what);
    const drawn = {element, who, at, what, line: null};
    const readOn = () => {
      if (!this.marks || !drawn.line.at || String(getSelection())) return;
      this.box.focus();
      this.#part(
          `From ${drawn.line.at.slice(0, 19)}Z on`,
          {since: drawn.line.at.slice(0, 19) + "Z", limit: "5000"});
    };
    element.addEventListener("click", readOn);
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter") readOn();
    });
    this.pad.append(element);
    this.drawn.push(drawn);
  }

  #drawLine(drawn, line, top) {
    drawn.element.style.top = `${top}px`;
    if (drawn.line === line && drawn.marks === this.marks) return;
    drawn.line = line;
    drawn.marks = this.marks;
    setText(drawn.who, line.who ? `${line.who} ` : "");
    setText(drawn.at, line.at ? `${line.at.slice(11, 19)} ` : "");
    drawn.at.title = line.at;
    const text = line.what.length > SHOWN ? line.what.slice(0, SHOWN) + "…" : line.what;
    if (this.marks)
      this.#mark(drawn.what, text);
    else
      setText(drawn.what, text);
    if (this.marks && line.at)
      drawn.element.tabIndex = 0;
    else
      drawn.element.removeAttribute("tabindex");
    drawn.element.className =
        `log-line${BAD.test(text) ? " bad" : ""}${this.marks ? " found" : ""}`;
  }

  #mark(element, text) {
    const pieces = text.split(this.marks);
    fill(
        element,
        pieces.flatMap((piece, i) => (i === 0 ? [piece] : [h("mark", null, this.marks), piece])));
  }
}
