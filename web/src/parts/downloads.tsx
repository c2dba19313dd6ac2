import { type VNode } from 'preact';
import { DownloadButton } from './download-button.tsx';

/** Downloads of a table's rows, as CSV and as JSON. */
export function Downloads({
  name,
  makeCsv,
  makeJson,
}: {
  /** Name of the files, without extensions. */
  readonly name: string;
  readonly makeCsv: () => string | Promise<string>;
  readonly makeJson: () => string | Promise<string>;
}): VNode {
  return (
    <p class="downloads">
      <DownloadButton name={`${name}.csv`} type="text/csv" make={makeCsv}>
        Download CSV
      </DownloadButton>{' '}
      <DownloadButton name={`${name}.json`} type="application/json" make={makeJson}>
        Download JSON
      </DownloadButton>
    </p>
  );
}
