import { type VNode } from 'preact';
import { DownloadButton } from './download-button.tsx';

/** The rows of a table to take along, as CSV and as JSON. */
export function Downloads({
  name,
  makeCsv,
  makeJson,
}: {
  /** The name of the files, without their extensions. */
  readonly name: string;
  readonly makeCsv: () => string;
  readonly makeJson: () => string;
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
