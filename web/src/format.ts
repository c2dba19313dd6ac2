/** A number with separated thousands, equal on the server and in every browser. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}

/** A size in bytes or, from 1,000 on, in kilobytes: `23 bytes`, `4.1 kB`. */
export function formatBytes(bytes: number): string {
  return bytes < 1000 ? `${bytes}\u00a0bytes` : `${(bytes / 1000).toFixed(1)}\u00a0kB`;
}

/** A number of chains, in words. */
export function formatChains(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'chain' : 'chains'}`;
}

/** A time in UTC, as `2026-11-21 12:30 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** A change with its sign: `+12`, `−3`, `±0`. */
export function formatChange(value: number): string {
  if (value === 0) return '±0';
  return value > 0 ? `+${formatCount(value)}` : `−${formatCount(-value)}`;
}

/** A fraction in whole percent; never rounded up to 100% or down to 0%. */
export function formatShare(share: number): string {
  const percent = Math.round(share * 100);
  if (percent === 100 && share < 1) return '> 99%';
  if (percent === 0 && share > 0) return '< 1%';
  return `${percent}%`;
}

const SPANS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** A duration in its largest unit: `12 s`, `3 min`, `5 h`, `2 d`. */
export function formatSpan(seconds: number): string {
  for (const [size, unit] of SPANS) {
    if (seconds >= size) return `${formatCount(Math.floor(seconds / size))}\u00a0${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))}\u00a0s`;
}

/** Time before a reference time: `3 min ago`. */
export function formatAgo(iso: string, now: string): string {
  return `${formatSpan((Date.parse(now) - Date.parse(iso)) / 1000)} ago`;
}
