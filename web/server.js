// The page's requests to `muster dash`, and its one stream of events.

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, {credentials: "same-origin", cache: "no-store", ...options});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "muster dash does not answer: does it still run in its terminal?");
  }
  if (answer.ok) return answer;
  let message = `${answer.status} ${answer.statusText}`;
  try {
    message = (await answer.json()).error;
  } catch {
    // The status says it.
  }
  throw new Refusal(answer.status, message);
}

export async function get(path, signal) {
  return (await ask(path, {signal})).json();
}

export async function getText(path, signal) {
  const answer = await ask(path, {signal});
  return {
    text: await answer.text(),
    hasMore: answer.headers.get("Muster-More") === "1",
    command: answer.headers.get("Muster-Command") ?? ""
  };
}

export async function post(path, body) {
  return (await ask(path, {
           method: "POST",
           headers: {"Content-Type": "application/json"},
           body: JSON.stringify(body)
         }))
      .json();
}

// The jobs of the last events, and the listeners.
class Jobs extends EventTarget {
  rows = new Map();
  progress = new Map();  // of the running jobs, by uid
  busy = new Map();      // the same
  areKnown = false;

  take(event) {
    if (event.all) this.rows.clear();
    for (const row of event.set) this.rows.set(row.key, row);
    for (const key of event.gone ?? []) this.rows.delete(key);
    this.areKnown = true;
    this.dispatchEvent(new Event("change"));
  }

  takeProgress(event) {
    for (const [uid, progress] of Object.entries(event)) this.progress.set(uid, progress);
    this.dispatchEvent(new Event("progress"));
  }

  takeBusy(event) {
    for (const [uid, busy] of Object.entries(event)) this.busy.set(uid, busy);
    this.dispatchEvent(new Event("busy"));
  }
}
export const jobs = new Jobs();
export const progressOf = (row) => jobs.progress.get(row.uuid) ?? null;
export const busyOf = (row) => jobs.busy.get(row.uuid) ?? null;

// One stream per tab. A hidden tab closes it, and gets everything when it is shown again: browsers
// open six connections to a server, and events that nobody sees are not worth one.
class Stream extends EventTarget {
  #source = null;
  #wish = "";

  listen(parameters) {
    this.#wish = new URLSearchParams(parameters).toString();
    this.#open();
  }

  #open() {
    this.#source?.close();
    this.#source = null;
    if (document.hidden) return;
    const source = new EventSource("/api/events?" + this.#wish);
    this.#source = source;
    const pass = (name) => source.addEventListener(name, (event) => {
      if (source === this.#source) this.#take(name, JSON.parse(event.data));
    });
    ["rows", "progress", "busy", "job", "strip", "cluster", "log", "logend"].forEach(pass);
    source.addEventListener("open", () => this.#tell("open", null));
    source.addEventListener("error", () => {
      if (source === this.#source)
        this.#tell("lost", {ended: source.readyState === EventSource.CLOSED});
    });
  }

  #take(name, data) {
    if (name === "rows")
      jobs.take(data);
    else if (name === "progress")
      jobs.takeProgress(data);
    else if (name === "busy")
      jobs.takeBusy(data);
    else
      this.#tell(name, data);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail}));
  }

  constructor() {
    super();
    document.addEventListener("visibilitychange", () => this.#open());
  }
}
export const stream = new Stream();
