// When waiting jobs are predicted to start.
import {duration, moment} from "./format.js";
import {get} from "./server.js";

const MOST = 20;        // that are asked for
const SOONEST = 5_000;  // milliseconds to the next question
const LATEST = 600_000;

// {starts: BY KEY, again: milliseconds after which to ask again, or 0}: a prediction is no longer
// true when its time has come and the job still waits.
export async function startsOf(keys) {
  if (keys.length === 0) return {starts: {}, again: 0};
  try {
    const query = new URLSearchParams(keys.slice(0, MOST).map((key) => ["job", key]));
    const {starts} = await get(`/api/starts?${query}`);
    const times = Object.values(starts).map((each) => Date.parse(each.start) - Date.now());
    const known = times.filter((time) => !Number.isNaN(time));
    const soonest = Math.max(SOONEST, Math.min(LATEST, ...known));
    return {starts, again: known.length ? soonest : 0};
  } catch {
    return {starts: {}, again: LATEST / 10};  // the rest of the page says what is wrong
  }
}

// "about 14:05 (in 12m), by 14:20 in nine of ten cases", "probably never: ..."; "" if it is not
// known.
export function describeStart(told, now) {
  if (told?.kind === "expires") return "probably never: its deadline ends it first";
  const start = Date.parse(told?.start);
  if (told?.kind !== "later" || Number.isNaN(start)) return "";
  const clock = (time) => moment(time).slice(
      ...(moment(time).slice(0, 10) === moment(now).slice(0, 10) ? [11, 16] : [0, 16]));
  const late = Date.parse(told.late);
  const latest = Number.isNaN(late) ? "" : `, by ${clock(late)} in nine of ten cases`;
  return `about ${clock(start)} (in ${duration(start - now)})${latest}`;
}
