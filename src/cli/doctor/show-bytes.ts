const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Formats a number of bytes for people, with at most three digits: `1.5 GB`. */
export function showBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}
