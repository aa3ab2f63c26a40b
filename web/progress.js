// How far a job is, in words, and by which source that is known.
import {duration} from "./format.js";

export function stepOf(progress) {
  const of = (at, all) => all ? `${at}/${all}` : String(at);
  if (progress.step !== null) return `step ${of(progress.step, progress.steps)}`;
  return progress.epoch !== null ?
      `epoch ${of(Number(progress.epoch.toFixed(2)), progress.epochs)}` :
      "";
}

// "12% · 5m left"; "step 120" if the end is not known. If sources disagree, "12% or 40%".
export function describe(progress) {
  if (!progress) return "";
  const short = (each) => each.percent !== null ? `${each.percent}%` : stepOf(each);
  const all = [progress, ...(progress.others ?? [])].map(short).filter(Boolean);
  return [...new Set(all)].join(" or ") + leftOf(progress);
}

function leftOf(progress) {
  return progress.secondsLeft !== null ? ` · ${duration(1000 * progress.secondsLeft)} left` : "";
}

function numberOf(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
}

function nameOfLoss(progress) {
  return Object.keys(progress?.scalars ?? {}).find((each) => /loss/i.test(each));
}

export function lossOf(progress) {
  const name = nameOfLoss(progress);
  return name === undefined ? "" : numberOf(progress.scalars[name]);
}

// A line for the newest source and for each that disagrees with it: {text, source, percent}.
export function linesOfProgress(progress, isRunning = true) {
  return [progress, ...(progress?.others ?? [])].filter(Boolean).map((each) => {
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
