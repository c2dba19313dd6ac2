import { type VNode } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { describeInputChange } from './input-change.ts';
import { type VerifyFields } from './verify-form.ts';

/** Says which settings of the standard JSON input are replaced when it is sent. */
export function ChangedInput({
  fields: { inputChange = {} },
  onUndo,
}: {
  readonly fields: VerifyFields;
  readonly onUndo: () => void;
}): VNode | null {
  const change = describeInputChange(inputChange);
  if (change === undefined) return null;
  return (
    <p class="notice">
      Your input will be sent with <SafeText text={change} />.{' '}
      <button type="button" onClick={onUndo}>
        Send it unchanged
      </button>
    </p>
  );
}
