import { writeLine, type CliContext } from './cli-context.ts';

const LINE_INTERVAL_MS = 10_000;
const DEFAULT_COLUMNS = 80;
/** Returns to the line's start and clears it. */
const CLEAR_LINE = '\r\u001b[K';

/**
 * Progress on standard error: one line that is rewritten on a terminal, else a line in ten seconds.
 * @param render the line; with `columns` it is cut to fit
 */
export function showProgress<Progress>(
  { stderr }: Pick<CliContext, 'stderr'>,
  render: (progress: Progress, columns?: number) => string,
): { readonly update: (progress: Progress) => void; readonly end: () => void } {
  if (stderr.isTTY === true) {
    return {
      update: (progress) =>
        void stderr.write(`${CLEAR_LINE}${render(progress, stderr.columns ?? DEFAULT_COLUMNS)}`),
      end: () => void stderr.write(CLEAR_LINE),
    };
  }
  let lastMs = performance.now();
  return {
    update: (progress) => {
      if (performance.now() - lastMs < LINE_INTERVAL_MS) return;
      lastMs = performance.now();
      writeLine(stderr, render(progress));
    },
    end: () => undefined,
  };
}
