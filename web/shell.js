// A shell in an instance of a job. The server opens it as `muster attach` does; what is typed goes
// there in order, one request at a time.
import {command, fill, h, setText} from "./dom.js";
import {Screen} from "./screen.js";
import {post} from "./server.js";

const MOST_HISTORY = 2000;  // lines
const MOST_TYPED = 1000;    // characters of a request
const COLOURS = [
  "#5d6978", "#ff8b81", "#57c785", "#e3b15b", "#79b8ff", "#d2a8ff", "#56d4dd", "#c9d3de", "#8b98a8",
  "#ffaea8", "#8fe0b0", "#f2d08f", "#a9d2ff", "#e4ccff", "#93e6ec", "#ffffff"
];
const ARROWS = {
  ArrowUp: "A",
  ArrowDown: "B",
  ArrowRight: "C",
  ArrowLeft: "D",
  Home: "H",
  End: "F"
};
const KEYS = {
  Enter: "\r",
  Backspace: "\x7f",
  Tab: "\t",
  Escape: "\x1b",
  Delete: "\x1b[3~",
  Insert: "\x1b[2~",
  PageUp: "\x1b[5~",
  PageDown: "\x1b[6~",
  F1: "\x1bOP",
  F2: "\x1bOQ",
  F3: "\x1bOR",
  F4: "\x1bOS",
  F5: "\x1b[15~",
  F6: "\x1b[17~",
  F7: "\x1b[18~",
  F8: "\x1b[19~",
  F9: "\x1b[20~",
  F10: "\x1b[21~",
  F11: "\x1b[23~",
  F12: "\x1b[24~"
};

function colourOf(colour) {
  if (typeof colour !== "number") return colour;
  if (colour < 16) return COLOURS[colour];
  if (colour >= 232) return `rgb(${Array(3).fill(8 + 10 * (colour - 232)).join(" ")})`;
  const part = (by) => [0, 95, 135, 175, 215, 255][Math.floor((colour - 16) / by) % 6];
  return `rgb(${part(36)} ${part(6)} ${part(1)})`;
}

function showStyle(element, style) {
  const [fg, bg] = style.inverse ? [style.bg ?? "var(--term)", style.fg ?? "var(--on-term)"] :
                                   [style.fg, style.bg];
  if (fg !== undefined) element.style.color = colourOf(fg);
  // Black text becomes grey, so that it can be seen; a black background becomes the terminal's own.
  if (bg !== undefined) element.style.backgroundColor = bg === 0 ? "var(--term)" : colourOf(bg);
  if (style.bold) element.style.fontWeight = "700";
  if (style.dim) element.style.opacity = "0.7";
  if (style.italic) element.style.fontStyle = "italic";
  const lines = [style.underline && "underline", style.strike && "line-through"].filter(Boolean);
  if (lines.length) element.style.textDecoration = lines.join(" ");
}

// The line's cells, those of one style together; `cursor`: its column, or -1.
function drawLine(element, cells, cursor) {
  const parts = [];
  let from = 0;
  for (let x = 1; x <= cells.length; ++x) {
    const isEnd = x === cells.length || cells[x].style !== cells[from].style || x === cursor ||
        from === cursor;
    if (!isEnd) continue;
    const part =
        h("span", from === cursor ? {class: "cursor"} : null,
          cells.slice(from, x).map((cell) => cell.text).join(""));
    showStyle(part, cells[from].style);
    parts.push(part);
    from = x;
  }
  fill(element, parts);
}

export class Shell {
  // `path`: NAMESPACE/JOB of the server's addresses; `onClose`() when it is to go.
  constructor(path, onClose) {
    this.path = path;
    this.onClose = onClose;
    this.title = h("h2", null, "Shell");
    this.where = h("select", {
      "aria-label": "Instance",
      onchange: () => this.open(this.where.value),
    });
    this.line = h("span");
    this.note = h("div", {class: "log-note", role: "status"}, "Shift+Tab leaves the shell.");
    this.past = h("div");
    this.now = h("div");
    this.keys = h("textarea", {
      class: "keys-field",
      "aria-label": "What is typed into the shell",
      autocapitalize: "off",
      autocomplete: "off",
      spellcheck: "false",
      rows: 1,
      onkeydown: (event) => this.#key(event),
      oninput: () => this.#takeField(),
      onpaste: (event) => this.#paste(event),
    });
    this.box =
        h("div", {class: "terminal", onclick: () => this.#focus()}, this.past, this.now, this.keys);
    this.element =
        h("section", {class: "log shell", "aria-label": "Shell"},
          h("div", {class: "bar"}, this.title, this.where, this.line, h("span", {class: "spring"}),
            h("button", {type: "button", onclick: () => this.onClose()}, "Close")),
          this.note, this.box);
    this.sizes = new ResizeObserver(() => this.#fit());
    this.sizes.observe(this.box);
    this.#begin();
  }

  #source = null;
  #id = "";
  #typed = "";
  #isSending = false;
  #isDrawing = false;
  #instances = "";

  #begin() {
    this.decoder = new TextDecoder();
    const {columns, rows} = this.#room();
    this.screen = new Screen(columns, rows, (text) => this.#type(text));
    fill(this.past);
    fill(this.now);
    this.#draw();
  }

  // The instances that are running.
  setInstances(names) {
    const all = names.join();
    if (all === this.#instances) return;
    this.#instances = all;
    const chosen = this.where.value;
    fill(this.where, names.map((name) => h("option", {value: name}, name)));
    if (names.includes(chosen)) this.where.value = chosen;
    this.where.hidden = names.length < 2;
  }

  open(instance) {
    this.#end();
    this.#begin();
    const {columns, rows} = this.screen;
    const source = new EventSource(
        `/api/shell/${this.path}?${new URLSearchParams({instance, columns, rows})}`);
    this.#source = source;
    const on = (name, take) => source.addEventListener(name, (event) => {
      if (source === this.#source) take(JSON.parse(event.data));
    });
    on("shell", (event) => {
      this.#id = event.id;
      this.where.value = event.instance;
      fill(this.line, command(event.command));
      this.#fit();
      this.#send();
    });
    on("out", (event) => {
      const bytes = Uint8Array.from(atob(event.bytes), (each) => each.charCodeAt(0));
      this.screen.write(this.decoder.decode(bytes, {stream: true}));
      this.#draw();
    });
    on("end", (event) => {
      this.#end();
      setText(this.note, event.error || `The shell has ended with exit code ${event.exitCode}.`);
    });
    // It would begin another shell.
    source.addEventListener("error", () => {
      if (source !== this.#source) return;
      this.#end();
      setText(this.note, "The shell is lost: muster dash has ended it, or does not answer.");
    });
    setText(this.note, "Shift+Tab leaves the shell.");
    this.#focus();
  }

  #end() {
    this.#source?.close();
    this.#source = null;
    this.#id = this.#typed = "";
  }

  close() {
    this.#end();
    this.sizes.disconnect();
  }

  #focus() {
    if (!getSelection().toString()) this.keys.focus({preventScroll: true});
  }

  #room() {
    const probe = h("span", {class: "probe"}, "M".repeat(10));
    this.box.append(probe);
    const {width, height} = probe.getBoundingClientRect();
    probe.remove();
    if (!width || !this.box.clientWidth) return {columns: 80, rows: 24};
    return {
      columns: Math.max(20, Math.min(300, Math.floor((this.box.clientWidth - 20) / (width / 10)))),
      rows: Math.max(5, Math.min(100, Math.floor((this.box.clientHeight - 12) / height))),
    };
  }

  #fit() {
    const {columns, rows} = this.#room();
    if (columns !== this.screen.columns || rows !== this.screen.rows) {
      this.screen.resize(columns, rows);
      this.#draw();
      this.sentSize = "";
    }
    const size = `${this.#id} ${columns} ${rows}`;
    if (!this.#id || size === this.sentSize) return;
    this.sentSize = size;
    post("/api/shell", {id: this.#id, columns, rows}).catch(() => {});
  }

  #draw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      const {screen, box} = this;
      const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
      for (const cells of screen.scrolled.splice(0).slice(-MOST_HISTORY)) {
        const row = h("div", {class: "row"});
        drawLine(row, cells, -1);
        this.past.append(row);
      }
      while (this.past.children.length > MOST_HISTORY) this.past.firstChild.remove();
      while (this.now.children.length > screen.rows) this.now.lastChild.remove();
      while (this.now.children.length < screen.rows) this.now.append(h("div", {class: "row"}));
      screen.dirty.add(this.cursorAt ?? 0).add(screen.y);
      for (const y of screen.dirty) {
        if (y >= screen.rows) continue;
        const cursor = screen.isCursorShown && y === screen.y ? screen.x : -1;
        drawLine(this.now.children[y], screen.lines[y], cursor);
      }
      screen.dirty.clear();
      this.cursorAt = screen.y;
      if (isAtEnd) box.scrollTop = box.scrollHeight;
    });
  }

  #key(event) {
    event.stopPropagation();  // the page's own keys are letters
    if (event.isComposing || event.metaKey) return;
    if (event.key === "Tab" && event.shiftKey) return;
    if (event.ctrlKey && event.shiftKey) return;  // the browser's copy and paste
    let text = KEYS[event.key];
    if (event.key in ARROWS) {
      const modifier = 1 + event.shiftKey + 2 * event.altKey + 4 * event.ctrlKey;
      text = modifier > 1 ? `\x1b[1;${modifier}${ARROWS[event.key]}` :
                            `\x1b${this.screen.isKeypad ? "O" : "["}${ARROWS[event.key]}`;
    } else if (event.ctrlKey && !event.altKey && event.key.length === 1) {
      if (event.key === "c" && getSelection().toString()) return;
      const code = event.key.toUpperCase().charCodeAt(0);
      if (event.key === " ")
        text = "\0";
      else if (code >= 64 && code < 96)
        text = String.fromCharCode(code - 64);
    } else if (event.altKey && !event.ctrlKey && event.key.length === 1) {
      text = "\x1b" + event.key;
    }
    if (text === undefined) return;
    event.preventDefault();
    this.#type(text);
  }

  #takeField() {
    const text = this.keys.value;
    this.keys.value = "";
    if (text) this.#type(text.replaceAll("\n", "\r"));
  }

  #paste(event) {
    event.preventDefault();
    // Without the sequence that ends a paste: it would let the rest be executed.
    const text = event.clipboardData.getData("text").replaceAll("\x1b", "").replace(/\r?\n/g, "\r");
    this.#type(this.screen.isPasteMarked ? `\x1b[200~${text}\x1b[201~` : text);
  }

  #type(text) {
    if (!this.#source) return;
    this.box.scrollTop = this.box.scrollHeight;
    this.#typed += text;
    this.#send();
  }

  async #send() {
    if (this.#isSending || !this.#id) return;
    this.#isSending = true;
    while (this.#typed && this.#id) {
      const input = this.#typed.slice(0, MOST_TYPED);
      this.#typed = this.#typed.slice(MOST_TYPED);
      try {
        await post("/api/shell", {id: this.#id, input});
      } catch (error) {
        this.#typed = "";
        setText(this.note, error.message);
      }
    }
    this.#isSending = false;
  }
}
