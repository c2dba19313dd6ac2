import { readTrailingAuxdata } from './auxdata.ts';
import { type ExplainedValue } from './explained-value.ts';
import { type CodeReference, type CodeTemplate } from './recompiled-code.ts';
import { type CodeMismatch } from './verdict.ts';

type Place = Pick<CodeMismatch, 'id' | 'within'>;

/** Returns which value, or code, a byte of the template belongs to. */
function placeOf(
  template: CodeTemplate,
  explained: readonly ExplainedValue[],
  offset: number,
): Place {
  const holds = ({ start, length }: CodeReference): boolean =>
    offset >= start && offset < start + length;
  const auxdata = template.auxdata.find((slot) =>
    holds({ start: slot.offset, length: slot.length }),
  );
  if (auxdata !== undefined) return { within: 'cborAuxdata', id: auxdata.id };
  const value = explained.find(({ starts, value: { length } }) =>
    starts.some((start) => holds({ start, length })),
  );
  if (value === undefined) return { within: 'code' };
  return { within: value.reason, ...(value.id !== undefined && { id: value.id }) };
}

/** Returns the members that every mismatch has: the lengths of the bytecodes and the auxdata on chain. */
export function describeCodes(
  template: CodeTemplate,
  onChain: Buffer,
): Pick<CodeMismatch, 'onChainAuxdata' | 'onChainLength' | 'recompiledLength' | 'sameMetadata'> {
  const found = readTrailingAuxdata(onChain);
  const own = template.auxdata.find(
    ({ offset, length }) => offset + length === template.bytes.length,
  );
  const sameMetadata =
    found?.metadataHash !== undefined &&
    own !== undefined &&
    onChain.subarray(found.offset).equals(template.bytes.subarray(own.offset));
  return {
    recompiledLength: template.bytes.length,
    onChainLength: onChain.length,
    sameMetadata,
    ...(found && { onChainAuxdata: found }),
  };
}

/** Describes where and how much two bytecodes differ after the explained values are applied. */
export function describeDifference(
  template: CodeTemplate,
  explained: readonly ExplainedValue[],
  applied: Buffer,
  onChain: Buffer,
  reason: CodeMismatch['reason'],
): CodeMismatch {
  let first: number | undefined;
  let count = 0;
  const shared = Math.min(applied.length, onChain.length);
  for (let offset = 0; offset < shared; offset += 1) {
    if (applied[offset] === onChain[offset]) continue;
    first ??= offset;
    count += 1;
  }
  return {
    match: null,
    reason,
    ...(first !== undefined && { firstDifference: first, ...placeOf(template, explained, first) }),
    differingBytes: count,
    explained: explained.flatMap(({ reason, starts, value: { length } }) =>
      starts.map((offset) => ({ reason, offset, length })),
    ),
    ...describeCodes(template, onChain),
  };
}
