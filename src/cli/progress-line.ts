import { writeLine, type CliContext } from './cli-context.ts';

const LINE_INTERVAL_MS = 10_000;
const DEFAULT_COLUMNS = 80;
/** Moves to the start of the line and clears it. */
const CLEAR_LINE = '\r\u001b[K';

/**
 * Shows progress on standard error: as one updating line on a terminal, else as a line every ten seconds.
 * @param render the line, which a terminal truncates to its width
 */
export function showProgress<Progress>(
  { stderr }: Pick<CliContext, 'stderr'>,
  render: (progress: Progress, isTerminal: boolean) => string,
): { readonly update: (progress: Progress) => void; readonly end: () => void } {
  if (stderr.isTTY === true) {
    return {
      update: (progress) => {
        const width = (stderr.columns ?? DEFAULT_COLUMNS) - 1;
        stderr.write(`${CLEAR_LINE}${render(progress, true).slice(0, width)}`);
      },
      end: () => void stderr.write(CLEAR_LINE),
    };
  }
  let lastMs = performance.now();
  return {
    update: (progress) => {
      if (performance.now() - lastMs < LINE_INTERVAL_MS) return;
      lastMs = performance.now();
      writeLine(stderr, render(progress, false));
    },
    end: () => undefined,
  };
}
