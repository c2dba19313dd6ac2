/** A number with thin groups of digits, the same on the server and in every browser. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US').replaceAll(',', '\u202f');
}

/** A moment in UTC, as `2026-11-21 12:30 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
