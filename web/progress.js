// How far a job is, in words, and by which source that is known.
import {duration} from "./format.js";

export function stepOf(told) {
  const of = (at, all) => all ? `${at}/${all}` : String(at);
  if (told.step !== null) return `step ${of(told.step, told.steps)}`;
  return told.epoch !== null ? `epoch ${of(Number(told.epoch.toFixed(2)), told.epochs)}` : "";
}

// "12% · 5m left"; "step 120" if the end is not known. If sources disagree, "12% or 40%".
export function describe(told) {
  if (!told) return "";
  const short = (each) => each.percent !== null ? `${each.percent}%` : stepOf(each);
  const all = [told, ...(told.others ?? [])].map(short).filter(Boolean);
  return [...new Set(all)].join(" or ") + leftOf(told);
}

function leftOf(told) {
  return told.secondsLeft !== null ? ` · ${duration(1000 * told.secondsLeft)} left` : "";
}

function numberOf(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
}

function nameOfLoss(told) {
  return Object.keys(told?.scalars ?? {}).find((each) => /loss/i.test(each));
}

export function lossOf(told) {
  const name = nameOfLoss(told);
  return name === undefined ? "" : numberOf(told.scalars[name]);
}

// A line for the newest source and for each that disagrees with it: {text, source, percent}.
export function linesOfProgress(told, isRunning = true) {
  return [told, ...(told?.others ?? [])].filter(Boolean).map((each) => {
    const name = nameOfLoss(each);
    const percent = each.percent !== null ? ` (${each.percent}%)` : "";
    const parts = [
      stepOf(each) + percent + (isRunning ? leftOf(each) : ""),
      name === undefined ? "" : `${name} ${numberOf(each.scalars[name])}`
    ];
    const text = parts.map((part) => part.trim()).filter(Boolean).join(" · ");
    return {text, source: each.source, percent: each.percent};
  });
}
