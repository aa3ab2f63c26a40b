// The screen of a terminal: takes what programs print for xterm (ECMA-48 and xterm's ctlseqs), and
// holds lines of cells. Draws nothing.

const MOST_PENDING = 4096;  // characters of a sequence that has not ended
const TAB = 8;
const CONTROL = /[\x00-\x1f\x7f]/g;
const CSI = /\x1b\[([<-?]?)([0-9;:]*)([ -/]*)([@-~])/y;
const TEXT = /\x1b(?:\]|[PX^_])[^\x07\x1b]*(?:\x07|\x1b\\)/y;  // titles, and what is not known
const CHARSET = /\x1b([()*+])([0-~])/y;
const SHORT = /\x1b(?:[ #%][0-~]|[0-~])/y;
const WHOLE = [CSI, TEXT, CHARSET, SHORT];
const GRAPHICS = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";  // of ` to ~
const COMBINING = /^[\p{M}\u200b-\u200f\ufe00-\ufe0f]$/u;
const WIDE =
    /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

const PLAIN = Object.freeze({});
const blank = (style) => ({text: " ", style});

export class Screen {
  // `answer`(text): receives the terminal's own replies to the program.
  constructor(columns, rows, answer) {
    this.answer = answer;
    this.columns = columns;
    this.rows = rows;
    this.isKeypad = false;  // the arrows are those of an application
    this.isPasteMarked = false;
    this.isCursorShown = true;
    this.scrolled = [];  // lines that have left the screen; whoever draws takes them
    this.dirty = new Set();
    this.#reset();
  }

  #pending = "";
  #style = PLAIN;
  #other = null;  // the main screen, while a program has the alternate one
  #saved = null;
  #isGraphics = false;
  #isInsert = false;
  #wraps = true;
  #isWrapDue = false;  // the last column was written: the next character begins a line
  #top = 0;
  #bottom = 0;

  #reset() {
    this.x = this.y = 0;
    this.#style = PLAIN;
    this.#top = 0;
    this.#bottom = this.rows - 1;
    this.#saved = this.#other = null;
    this.#isGraphics = this.#isInsert = this.#isWrapDue = false;
    this.#wraps = this.isCursorShown = true;
    this.lines = Array.from({length: this.rows}, () => this.#line());
    this.#all();
  }
  #line() {
    const style = this.#style.bg === undefined ? PLAIN : {bg: this.#style.bg};
    return Array.from({length: this.columns}, () => blank(style));
  }
  #all() {
    for (let y = 0; y < this.rows; ++y) this.dirty.add(y);
  }

  resize(columns, rows) {
    const fit = (lines) => {
      for (const line of lines) {
        line.length = Math.min(line.length, columns);
        while (line.length < columns) line.push(blank(PLAIN));
      }
      // Lines above the cursor leave, so that the cursor stays.
      const gone = Math.max(0, Math.min(lines.length - rows, this.y - rows + 1));
      const left = lines.splice(0, gone);
      lines.length = Math.min(lines.length, rows);
      while (lines.length < rows) lines.push(Array.from({length: columns}, () => blank(PLAIN)));
      return left;
    };
    const left = fit(this.lines);
    if (this.#other)
      fit(this.#other.lines);
    else
      this.scrolled.push(...left);
    this.y = Math.min(this.y - left.length, rows - 1);
    this.x = Math.min(this.x, columns - 1);
    Object.assign(this, {columns, rows});
    this.#top = 0;
    this.#bottom = rows - 1;
    this.#isWrapDue = false;
    this.#all();
  }

  write(text) {
    text = this.#pending + text;
    this.#pending = "";
    let at = 0;
    while (at < text.length) {
      CONTROL.lastIndex = at;
      const next = CONTROL.exec(text)?.index ?? text.length;
      for (const character of text.slice(at, next)) this.#print(character);
      at = next;
      if (at >= text.length) break;
      if (text[at] !== "\x1b") {
        this.#control(text[at++]);
        continue;
      }
      let end = 0;
      for (const form of WHOLE) {
        form.lastIndex = at;
        const found = form.exec(text);
        if (!found) continue;
        end = form.lastIndex;
        if (form === CSI)
          this.#sequence(...found.slice(1));
        else if (form === CHARSET && found[1] === "(")
          this.#isGraphics = found[2] === "0";
        else if (form === SHORT && end - at === 2)
          this.#short(found[0][1]);
        break;
      }
      // The SHORT form is the beginning of the longer ones, too.
      const isOpen = end - at === 2 && "[]PX^_".includes(text[at + 1]);
      if (!end || isOpen) {
        if (text.length - at < MOST_PENDING) {
          this.#pending = text.slice(at);
          return;
        }
        end = at + 1;
      }
      at = end;
    }
  }

  #print(character) {
    if (this.#isGraphics && character >= "`" && character <= "~")
      character = GRAPHICS[character.charCodeAt(0) - 96];
    if (COMBINING.test(character)) {
      const before = this.lines[this.y][Math.max(0, this.#isWrapDue ? this.x : this.x - 1)];
      if (before.text.length < 16) before.text += character;
      this.dirty.add(this.y);
      return;
    }
    const width = WIDE.test(character) ? 2 : 1;
    if (this.#isWrapDue || (width === 2 && this.x === this.columns - 1 && this.#wraps)) {
      this.x = 0;
      this.#feed();
    }
    const line = this.lines[this.y];
    if (this.#isInsert) line.splice(this.x, 0, ...Array.from({length: width}, () => blank(PLAIN)));
    line[this.x] = {text: character, style: this.#style};
    if (width === 2 && this.x + 1 < this.columns) line[this.x + 1] = {text: "", style: this.#style};
    line.length = this.columns;
    this.dirty.add(this.y);
    this.x += width;
    this.#isWrapDue = this.x >= this.columns && this.#wraps;
    if (this.x >= this.columns) this.x = this.columns - 1;
  }

  #control(character) {
    if (character === "\r") {
      this.x = 0;
    } else if ("\n\v\f".includes(character)) {
      this.#feed();
    } else if (character === "\b") {
      this.x = Math.max(0, this.x - 1);
    } else if (character === "\t") {
      this.x = Math.min(this.columns - 1, (Math.floor(this.x / TAB) + 1) * TAB);
    } else {
      return;
    }
    this.#isWrapDue = false;
  }

  #feed() {
    this.#isWrapDue = false;
    if (this.y === this.#bottom)
      this.#scroll(this.#top, 1);
    else
      this.y = Math.min(this.rows - 1, this.y + 1);
  }

  // Moves the lines from `top` to the bottom of the region up, or down if `count` is negative.
  #scroll(top, count) {
    const size = this.#bottom - top + 1;
    const many = Math.min(Math.abs(count), size);
    const fresh = Array.from({length: many}, () => this.#line());
    if (count > 0) {
      const gone = this.lines.splice(top, many);
      this.lines.splice(this.#bottom - many + 1, 0, ...fresh);
      if (top === 0 && !this.#other) this.scrolled.push(...gone);
    } else {
      this.lines.splice(this.#bottom - many + 1, many);
      this.lines.splice(top, 0, ...fresh);
    }
    this.#all();
  }

#short(letter) {
  if(letter === "7") {
    this.#saved = {x: this.x, y: this.y, style: this.#style, isGraphics: this.#isGraphics};
  }
  else if(letter === "8") {
    this.#restore();
  }
  else if(letter === "D" || letter === "E") {
    if (letter === "E") this.x = 0;
    this.#feed();
  }
  else if(letter === "M") {
    if (this.y === this.#top)
      this.#scroll(this.#top, -1);
    else
      this.y = Math.max(0, this.y - 1);
  }
  else if(letter === "c") {
    this.#reset();
  }
}

#restore() {
  const {x, y, style, isGraphics} = this.#saved ?? {x: 0, y: 0, style: PLAIN, isGraphics: false};
  this.#go(x, y);
  this.#style = style;
  this.#isGraphics = isGraphics;
}

#go(x, y) {
  this.x = Math.max(0, Math.min(this.columns - 1, x));
  this.y = Math.max(0, Math.min(this.rows - 1, y));
  this.#isWrapDue = false;
}

#sequence(mark, text, between, letter) {
  const numbers = text.split(/[;:]/).map((each) => Math.min(parseInt(each, 10) || 0, 65535));
  if (mark === "?" && (letter === "h" || letter === "l")) {
    for (const number of numbers) this.#mode(number, letter === "h");
    return;
  }
  if (between || (mark && letter !== "c")) return;
  const first = numbers[0];
  const count = first || 1;
  const line = this.lines[this.y];
  switch (letter) {
    case "A":
      return this.#go(this.x, Math.max(this.y - count, this.y >= this.#top ? this.#top : 0));
    case "B":
    case "e":
      return this.#go(
          this.x, Math.min(this.y + count, this.y <= this.#bottom ? this.#bottom : this.rows));
    case "C":
    case "a":
      return this.#go(this.x + count, this.y);
    case "D":
      return this.#go(this.x - count, this.y);
    case "E":
      return this.#go(0, this.y + count);
    case "F":
      return this.#go(0, this.y - count);
    case "G":
    case "`":
      return this.#go(count - 1, this.y);
    case "H":
    case "f":
      return this.#go((numbers[1] || 1) - 1, count - 1);
    case "d":
      return this.#go(this.x, count - 1);
    case "J":
      return this.#eraseScreen(first);
    case "K":
      return this.#erase(this.y, first === 0 ? this.x : 0, first === 1 ? this.x + 1 : this.columns);
    case "X":
      return this.#erase(this.y, this.x, this.x + count);
    case "@":
      line.splice(this.x, 0, ...this.#line().slice(0, count));
      line.length = this.columns;
      break;
    case "P":
      line.push(...this.#line().slice(0, line.splice(this.x, count).length));
      break;
    case "L":
    case "M":
      if (this.y >= this.#top && this.y <= this.#bottom)
        this.#scrollWithin(this.y, letter === "M" ? count : -count);
      break;
    case "S":
      return this.#scroll(this.#top, count);
    case "T":
      return this.#scroll(this.#top, -count);
    case "b": {
      const before = line[Math.max(0, this.x - 1)].text;
      for (let i = 0; before && i < Math.min(count, this.columns); ++i) this.#print(before);
      break;
    }
    case "c":
      if (!mark) this.answer("\x1b[?6c");
      break;
    case "h":
    case "l":
      if (first === 4) this.#isInsert = letter === "h";
      break;
    case "m":
      return this.#paint(numbers);
    case "n":
      if (first === 5) this.answer("\x1b[0n");
      if (first === 6) this.answer(`\x1b[${this.y + 1};${this.x + 1}R`);
      break;
    case "r": {
      const bottom = Math.min(numbers[1] || this.rows, this.rows) - 1;
      if (count - 1 >= bottom) return;
      this.#top = count - 1;
      this.#bottom = bottom;
      return this.#go(0, 0);
    }
    case "s":
      return this.#short("7");
    case "u":
      return this.#restore();
  }
  this.dirty.add(this.y);
}

// Lines that are deleted there do not leave the screen by its top.
#scrollWithin(top, count) {
  const kept = this.scrolled;
  this.scrolled = [];
  this.#scroll(top, count);
  this.scrolled = kept;
}

#eraseScreen(how) {
  if (how === 3) return;
  if (how === 0) this.#erase(this.y, this.x, this.columns);
  if (how === 1) this.#erase(this.y, 0, this.x + 1);
  const [from, to] = how === 0 ? [this.y + 1, this.rows] : how === 1 ? [0, this.y] : [0, this.rows];
  for (let y = from; y < to; ++y) this.#erase(y, 0, this.columns);
}
#erase(y, from, to) {
  const fresh = this.#line();
  for (let x = from; x < Math.min(to, this.columns); ++x) this.lines[y][x] = fresh[x];
  this.dirty.add(y);
  this.#isWrapDue = false;
}

#mode(number, isOn) {
  if (number === 1) this.isKeypad = isOn;
  if (number === 7) this.#wraps = isOn;
  if (number === 25) {
    this.isCursorShown = isOn;
    this.dirty.add(this.y);
  }
  if (number === 2004) this.isPasteMarked = isOn;
  if (number === 1048) this.#short(isOn ? "7" : "8");
  if (![47, 1047, 1049].includes(number) || isOn === Boolean(this.#other)) return;
  if (isOn) {
    if (number === 1049) this.#short("7");
    this.#other = {lines: this.lines};
    this.lines = Array.from({length: this.rows}, () => this.#line());
  } else {
    this.lines = this.#other.lines;
    this.#other = null;
    if (number === 1049) this.#restore();
  }
  this.#all();
}

#paint(numbers) {
  let style = {...this.#style};
  for (let i = 0; i < numbers.length; ++i) {
    const number = numbers[i];
    if (number === 0) style = {};
    if (number === 1) style.bold = true;
    if (number === 2) style.dim = true;
    if (number === 3) style.italic = true;
    if (number === 4) style.underline = true;
    if (number === 7) style.inverse = true;
    if (number === 9) style.strike = true;
    if (number === 22) style.bold = style.dim = false;
    if (number === 23) style.italic = false;
    if (number === 24) style.underline = false;
    if (number === 27) style.inverse = false;
    if (number === 29) style.strike = false;
    if (number >= 30 && number <= 37) style.fg = number - 30;
    if (number >= 90 && number <= 97) style.fg = number - 82;
    if (number >= 40 && number <= 47) style.bg = number - 40;
    if (number >= 100 && number <= 107) style.bg = number - 92;
    if (number === 39) delete style.fg;
    if (number === 49) delete style.bg;
    if (number === 38 || number === 48) {
      const what = number === 38 ? "fg" : "bg";
      if (numbers[i + 1] === 5) {
        style[what] = Math.min(numbers[i + 2] ?? 0, 255);
        i += 2;
      } else if (numbers[i + 1] === 2) {
        style[what] = `rgb(${numbers.slice(i + 2, i + 5).map((each) => each & 255).join(" ")})`;
        i += 4;
      }
    }
  }
  this.#style = Object.freeze(style);
}

// The text of a line without the blanks at its end.
textOf(y) {
  return this.lines[y].map((cell) => cell.text).join("").trimEnd();
}
}
