import { type VNode } from 'preact';
import { describedBy, FieldNotes } from '../parts/field-notes.tsx';

interface Props {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly type?: 'password';
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}

/** A text field with its hint and its error. */
export function TextField({ id, label, hint, type, value, fault, onChange }: Props): VNode {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...(type && { type })}
        value={value}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={describedBy(id, fault)}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <FieldNotes id={id} hint={hint} fault={fault} />
    </div>
  );
}

/** The contract of the compilation: one that the files declare, or typed if unknown. */
export function ContractField({
  choices,
  isOptional,
  ...rest
}: Pick<Props, 'value' | 'fault' | 'onChange'> & {
  readonly choices: readonly string[];
  /** Whether the contract is identified by the bytecode on chain if none is named. */
  readonly isOptional: boolean;
}): VNode {
  const { value, fault, onChange } = rest;
  const id = 'contract';
  if (choices.length === 0) {
    return (
      <TextField
        id={id}
        label="Contract"
        hint="As path:Name, such as contracts/Token.sol:Token."
        {...rest}
      />
    );
  }
  return (
    <div class="field">
      <label for={id}>Contract</label>
      <select
        id={id}
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : `${id}-fault`}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        <option value="">
          {isOptional ? 'Detect from the deployed code' : `Choose one of ${choices.length}`}
        </option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}
