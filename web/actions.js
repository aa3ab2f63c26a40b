// Suspend, resume, run again, delete: each is a command, shown before or after it is carried out.
import {command, fill, h} from "./dom.js";
import {post} from "./server.js";

export function toast(text, {line, bad, action} = {}) {
  const element = h(
      "div", {class: bad ? "toast bad" : "toast"},
      h("div", null, text, line ? h("div", null, command(line)) : null),
      action ? h("button", {
        type: "button",
        class: "undo",
        onclick: () => {
          element.remove();
          action.run();
        }
      },
                 action.title) :
               null,
      h("button",
        {type: "button", class: "quiet", "aria-label": "Dismiss", onclick: () => element.remove()},
        "✕"));
  document.getElementById("toasts").append(element);
  setTimeout(() => element.remove(), bad || action ? 30000 : 8000);
}

// Undoes the last action that offers it.
export function undo() {
  [...document.querySelectorAll("#toasts .undo")].at(-1)?.click();
}

// Resolves to whether the person agreed.
export function confirmed(title, text, line, button, isDanger) {
  const dialog = document.getElementById("dialog");
  return new Promise((resolve) => {
    const answer = (value) => {
      dialog.close();
      resolve(value);
    };
    fill(
        dialog, h("h2", {id: "dialog-title"}, title), h("p", null, text),
        h("p", {class: "muted"}, "The same in a terminal:"), h("pre", null, line),
        h("div", {class: "acts"},
          h("button", {type: "button", onclick: () => answer(false)}, "Cancel"),
          h("button", {
            type: "button",
            class: isDanger ? "danger" : "main",
            autofocus: true,
            onclick: () => answer(true)
          },
            button)));
    dialog.setAttribute("aria-labelledby", "dialog-title");
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
  });
}

async function carryOut(verb, run, done) {
  try {
    const result =
        await post("/api/action", {verb, namespace: run.namespace, run: run.run, uid: run.uid});
    if (result.exitCode !== 0) {
      toast(
          lastLine(result.err) || `${verb} ended with exit code ${result.exitCode}`,
          {line: result.command, bad: true});
      return null;
    }
    done(result);
    return result;
  } catch (error) {
    toast(error.message, {bad: true});
    return null;
  }
}

function lastLine(text) {
  return text.trim().split("\n").pop();
}

const line = (verb, run, flags) => `muster ${verb} ${run.run}${flags} --namespace=${run.namespace}`;

export async function suspend(run) {
  const text = `The instances of ${run.name} end; resume runs it again from its last checkpoint.`;
  if (!await confirmed(
          `Suspend ${run.name}?`, text, line("suspend", run, " --wait=false"), "Suspend", false))
    return;
  await carryOut(
      "suspend", run,
      (result) => toast(
          `${run.name} is suspended.`,
          {line: result.command, action: {title: "Resume", run: () => resume(run)}}));
}

export async function resume(run) {
  await carryOut("resume", run, (result) => toast(`${run.name} goes on.`, {line: result.command}));
}

export async function rerun(run) {
  return carryOut(
      "rerun", {...run, uid: ""},
      (result) => toast(
          lastLine(result.out) || lastLine(result.err) || `${run.name} runs again.`,
          {line: result.command}));
}

// A deleted job can be run again for as long as the history keeps it.
export async function remove(run) {
  const text = `The instances of ${run.name} end, and the job is removed. Its run stays in the ` +
      "history: until it is pruned there, it can be run again.";
  if (!await confirmed(
          `Delete ${run.name}?`, text, line("delete", run, " --wait=false"), "Delete", true))
    return false;
  return Boolean(await carryOut(
      "delete", run,
      (result) => toast(`${run.name} is deleted.`, {
        line: result.command,
        action: {title: "Undo: run it again", run: () => rerun({...run, run: run.id})}
      })));
}

// The target of actions for a row of the jobs' list.
export function targetOf(row) {
  return {name: row.name, namespace: row.namespace, run: row.name, uid: row.uuid, id: row.id};
}

export function isWaiting(status) {
  return ["PENDING", "QUEUING"].includes(status);
}

// It neither runs nor has it ended.
export function isResting(status) {
  return isWaiting(status) || status === "SUSPENDED";
}

export function isOver(status) {
  return ["SUCCEEDED", "FAILED", "DELETED"].includes(status);
}
