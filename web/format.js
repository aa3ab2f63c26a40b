// Times, sizes and counts as people read them.

// "42s", "3m 10s", "2h 5m", "3d 4h"
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined || Number.isNaN(milliseconds)) return "";
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
  const from = parts.findIndex(([unit]) => seconds >= unit);
  if (from < 0) return "0s";
  const [unit, name] = parts[from];
  const [next, below] = parts[from + 1] ?? [0, ""];
  const rest = next ? Math.floor((seconds % unit) / next) : 0;
  return `${Math.floor(seconds / unit)}${name}` + (rest && from < 3 ? ` ${rest}${below}` : "");
}

// "0.27s": the same, with fractions of the first ten seconds.
export function shortDuration(milliseconds) {
  return milliseconds < 10_000 ? `${Number((milliseconds / 1000).toPrecision(2))}s` :
                                 duration(milliseconds);
}

export function ago(time, now) {
  return time ? duration(now - time) + " ago" : "";
}

export function moment(time) {
  if (!time) return "";
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
      `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function bytes(count) {
  if (count === null || count === undefined) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function cores(milli) {
  const value = milli / 1000;
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
}

// A number with five digits that matter; other values as they are.
export function figure(value) {
  if (typeof value !== "number" || Number.isInteger(value)) return String(value ?? "–");
  return String(Number(value.toPrecision(5)));
}

export function percent(share) {
  return share === null || share === undefined ? "" : `${Math.round(100 * share)}%`;
}

export function plural(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many ?? one + "s"}`;
}

// The cluster's texts have times in UTC; everything else here is in this browser's.
function withLocalTimes(text) {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => moment(time) || time);
}

// Why a job is as it is; of one whose ranks are held up, for how long.
export function reasonOf(row, now) {
  if (!row.stall) return withLocalTimes(row.reason ?? "");
  const {kind, since, text} = row.stall;
  return `${kind} ${duration(now - since)}: ${text}`;
}
