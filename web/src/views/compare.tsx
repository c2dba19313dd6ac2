import { type VNode } from 'preact';
import {
  type CompareData,
  type ComparedContract,
  type ComparedFile,
  type Comparison,
  loadComparison,
} from '../compare/compare-data.ts';
import { type DiffRow, type LineDiff } from '../compare/diff-lines.ts';
import { formatCount } from '../format.ts';
import { definePage, onlyInTheService, type ViewProps } from '../page.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { RecordTable } from '../parts/record-table.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { CompareForm } from '../contract/compare-form.tsx';
import './compare.css';

/** Comparison of two verified contracts. */
export const page = definePage<CompareData>({
  isShared: true,
  section: 'contracts',
  title: ({ request: { params } }) => `Compare ${params['address'] ?? ''}`,
  load: import.meta.env.SSR ? loadComparison : onlyInTheService,
  status: ({ comparison }) =>
    comparison?.state === 'failed' ? (comparison.status === 0 ? 503 : comparison.status) : 200,
  View: CompareView,
});

function CompareView({ data, request, context: { base } }: ViewProps<CompareData>): VNode {
  const { chain: chainId = '', address = '' } = request.params;
  const { comparison, missing } = data;
  return (
    <>
      <h1>Compare two contracts</h1>
      <CompareForm {...{ base, chainId, address }} given={data.with} on={data.on} />
      {comparison?.state === 'failed' && comparison.status === 404 && (
        <p class="nothing">
          Cannot compare: <SafeText text={missing ?? ''} /> is not verified here.
        </p>
      )}
      {comparison?.state === 'failed' && comparison.status === 400 && (
        <p class="nothing">
          Cannot compare: <SafeText text={comparison.message} />
        </p>
      )}
      {comparison?.state === 'failed' && ![400, 404].includes(comparison.status) && (
        <Failure what="The contracts" loaded={comparison} />
      )}
      {comparison?.state === 'ready' && <Compared comparison={comparison.value} base={base} />}
    </>
  );
}

function Compared({ comparison, base }: { comparison: Comparison; base: string }): VNode {
  const { left, right, facts, files, hasMore, shown } = comparison;
  const isSame = files.every(({ state }) => state === 'same');
  return (
    <>
      <div class="sides">
        <Contract contract={left} base={base} title="First" />
        <Contract contract={right} base={base} title="Second" />
      </div>
      <section aria-labelledby="compilation">
        <h2 id="compilation">Compilation</h2>
        {facts.length === 0 ? (
          <p>Compiler, contract name and settings are identical.</p>
        ) : (
          <Facts facts={facts} />
        )}
      </section>
      <section aria-labelledby="files">
        <h2 id="files">
          Sources <span class="count">{formatCount(files.length)}</span>
        </h2>
        {files.length === 0 && <p>Neither contract is stored with sources.</p>}
        {files.length > 0 && isSame && !hasMore && (
          <p>All sources are identical, including their paths.</p>
        )}
        {hasMore && (
          <p class="quiet">Only the first files of each contract, ordered by path, are compared.</p>
        )}
        <Files files={files} />
      </section>
      {shown !== undefined && (
        <section aria-labelledby="file">
          <h2 id="file">
            <SafeText text={shown.path} />
          </h2>
          <Difference diff={shown.diff} />
        </section>
      )}
    </>
  );
}

function Contract({
  contract: { chainId, address, name, match, isClaimed },
  base,
  title,
}: {
  readonly contract: ComparedContract;
  readonly base: string;
  readonly title: string;
}): VNode {
  return (
    <div>
      <h2>
        <span class="quiet">{title}</span> <SafeText text={name} />
      </h2>
      <p>
        {match !== null && <MatchMark match={match} isClaimed={isClaimed} />} on chain {chainId}
        <br />
        <a href={`${base}contract/${chainId}/${address}`}>
          <code>{address}</code>
        </a>
      </p>
    </div>
  );
}

function Facts({ facts }: Pick<Comparison, 'facts'>): VNode {
  return (
    <RecordTable
      label="Differences in the compilation"
      rows={facts}
      columns={[
        { title: 'What', show: ({ name }) => <SafeText text={name} /> },
        { title: 'First', show: ({ left }) => showSetting(left) },
        { title: 'Second', show: ({ right }) => showSetting(right) },
      ]}
    />
  );
}

const showSetting = (text: string): VNode =>
  text === '' ? <span class="quiet">not set</span> : <SafeText text={text} most={Infinity} />;

const STATES: Readonly<Record<ComparedFile['state'], string>> = {
  ...{ same: 'same', changed: 'changed', moved: 'moved to', removed: 'only in the first' },
  ...{ added: 'only in the second', unknown: 'not compared' },
};

function Files({ files }: Pick<Comparison, 'files'>): VNode {
  const same = files.filter(({ state }) => state === 'same');
  const others = files.filter(({ state }) => state !== 'same');
  return (
    <>
      {others.length > 0 && (
        <ul class="plain compared">
          {others.map((file) => (
            <FileLine key={file.path} file={file} />
          ))}
        </ul>
      )}
      {same.length > 0 && (
        <details open={others.length === 0}>
          <summary>{formatCount(same.length)} identical in both</summary>
          <ul class="plain compared">
            {same.map((file) => (
              <FileLine key={file.path} file={file} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function FileLine({ file: { path, state, to, query } }: { readonly file: ComparedFile }): VNode {
  return (
    <li>
      {query === undefined ? (
        <SafeText text={path} />
      ) : (
        <a href={query}>
          <SafeText text={path} />
        </a>
      )}{' '}
      <span class="quiet">
        {STATES[state]}
        {to !== undefined && (
          <>
            {' '}
            <SafeText text={to} />
          </>
        )}
      </span>
    </li>
  );
}

const REASONS = {
  too_large: 'The file is too large to compare here; the downloads of both contracts have it.',
  too_different: 'The files differ in too many lines to show side by side.',
} as const;

function Difference({ diff }: { readonly diff: LineDiff }): VNode {
  if (diff.state !== 'ready') return <p>{REASONS[diff.state]}</p>;
  const { rows, added, removed, more } = diff;
  if (added + removed === 0) return <p>The text is identical in both.</p>;
  return (
    <>
      <p>
        {formatCount(removed)} {removed === 1 ? 'line' : 'lines'} removed, {formatCount(added)}{' '}
        added.
      </p>
      <TableRegion label="The file in both contracts">
        <table class="diff">
          <caption class="unseen">The file in both contracts</caption>
          <colgroup>
            <col class="line-number" />
            <col />
            <col class="line-number" />
            <col />
          </colgroup>
          <thead>
            <tr>
              <th scope="col" colSpan={2}>
                First
              </th>
              <th scope="col" colSpan={2}>
                Second
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <Row key={index} row={row} />
            ))}
          </tbody>
        </table>
      </TableRegion>
      {more > 0 && <p class="quiet">And {formatCount(more)} more rows.</p>}
    </>
  );
}

function Row({ row }: { readonly row: DiffRow }): VNode {
  if (row.kind === 'folded') {
    return (
      <tr class="folded">
        <td colSpan={4}>
          {formatCount(row.count)} equal {row.count === 1 ? 'line' : 'lines'}
        </td>
      </tr>
    );
  }
  const { left, right, kind } = row;
  const isChanged = kind === 'changed';
  return (
    <tr class={kind}>
      <td class="line-number">{left?.number}</td>
      <td class={left === undefined ? 'absent' : 'left'}>
        {left !== undefined && <Text mark={isChanged ? '−' : ' '} text={left.text} />}
      </td>
      <td class="line-number second">{right?.number}</td>
      <td class={right === undefined ? 'absent' : 'right'}>
        {right !== undefined && <Text mark={isChanged ? '+' : ' '} text={right.text} />}
      </td>
    </tr>
  );
}

function Text({ mark, text }: { readonly mark: string; readonly text: string }): VNode {
  return (
    <code>
      {mark} <SafeText text={text} most={Infinity} />
    </code>
  );
}
