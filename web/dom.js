// Elements made by functions. What comes from the cluster is only ever text here: there is no way
// from a string to markup.

export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled")
      element[name] = value;
    else
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(
      (child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A canvas does not know light-dark(), so an element's computed style gives the colour of that
// name.
export function colourOf(element, name) {
  element.style.color = `var(${name})`;
  const colour = getComputedStyle(element).color;
  element.style.color = "";
  return colour;
}

// Draws again when the element's size or the page's colours change. Returns a function that ends
// that.
export function whenLooksChange(element, draw) {
  const sizes = new ResizeObserver(draw);
  sizes.observe(element);
  const themes = new MutationObserver(draw);
  themes.observe(document.documentElement, {attributes: true});
  return () => {
    sizes.disconnect();
    themes.disconnect();
  };
}

// Shows the parts that the program's texts mark as code, `so`, as code.
export function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", null, part) : part));
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter(
      (child) => child !== null && child !== undefined && child !== false));
  return element;
}

// The same, and parts that a person has opened stay open.
export function refill(element, ...children) {
  const nameOf = (details) => details.firstChild.textContent.replace(/[\d,]+/g, "");
  const opened = [...element.querySelectorAll("details[open]")].map(nameOf);
  fill(element, ...children);
  for (const each of element.querySelectorAll("details")) each.open = opened.includes(nameOf(each));
  return element;
}

// Only if it differs, so that the browser has nothing to do otherwise.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function stateOf(status) {
  return h("span", {class: "state", "data-kind": kindOf(status)}, wordOf(status));
}

export function showState(element, status) {
  element.className = "state";
  element.dataset.kind = kindOf(status);
  setText(element, wordOf(status));
}

// The kind, and so the colour, of the state of a job, a pod or an attempt.
export function kindOf(status) {
  const word = String(status ?? "").toUpperCase();
  if (["RUNNING"].includes(word)) return "running";
  if (["SUCCEEDED", "COMPLETED"].includes(word)) return "good";
  if (["SUSPENDED", "DELETED", "TERMINATING", "ENDING", ""].includes(word)) return "off";
  if ([
        "PENDING", "QUEUING", "CONTAINERCREATING", "PODINITIALIZING", "CREATED", "RESTARTING"
      ].includes(word) ||
      word.startsWith("INIT:"))
    return "waiting";
  return "bad";
}

export function wordOf(status) {
  const word = String(status ?? "");
  if (word === "") return "not there";
  return word === word.toUpperCase() ? word.charAt(0) + word.slice(1).toLowerCase() : word;
}

// The command that does the same, to be copied.
export function command(line) {
  const copy =
      h("button", {
        type: "button",
        class: "quiet",
        title: "Copy: " + line,
        onclick: async () => {
          const isDone = await navigator.clipboard.writeText(line).then(() => true, () => false);
          if (!isDone) getSelection().selectAllChildren(copy.previousElementSibling);
          copy.textContent = isDone ? "copied" : "selected";
          setTimeout(() => {
            copy.textContent = "copy";
          }, 1500);
        }
      },
        "copy");
  return h("span", {class: "command"}, h("code", {title: line}, line), copy);
}
