import { type VNode } from 'preact';
import { describedBy, FieldNotes } from '../parts/field-notes.tsx';
import { TextField } from './text-fields.tsx';
import { type FieldName, type VerifyFields } from './verify-form.ts';

interface Props {
  /** For Vyper only the EVM version is set here; a pragma in the source sets the rest. */
  readonly language: 'Solidity' | 'Vyper';
  readonly fields: VerifyFields;
  readonly faults: ReadonlyMap<FieldName, string>;
  readonly onChange: (part: Partial<VerifyFields>) => void;
}

/** Settings for sources submitted without any: the same ones that explorers request. */
export function SettingsFields({ language, fields, faults, onChange }: Props): VNode {
  const evmVersion = (
    <TextField
      id="evmVersion"
      label="EVM version (optional)"
      hint="Such as paris. Leave it empty for the compiler’s default."
      value={fields.evmVersion}
      fault={undefined}
      onChange={(value) => onChange({ evmVersion: value.trim() })}
    />
  );
  return (
    <fieldset class="field settings">
      <legend>Settings</legend>
      {language === 'Vyper' ? (
        <>
          {evmVersion}
          <p class="hint">
            Other settings are the compiler’s defaults, or what a pragma in the source sets. To
            change them, use a standard JSON input.
          </p>
        </>
      ) : (
        <SolidityFields {...{ fields, faults, onChange }}>{evmVersion}</SolidityFields>
      )}
    </fieldset>
  );
}

function SolidityFields({
  fields,
  faults,
  onChange,
  children,
}: Omit<Props, 'language'> & { readonly children: VNode }): VNode {
  const { optimizer, runs, viaIR, libraries, remappings } = fields;
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          id="optimizer"
          checked={optimizer}
          onChange={(event) => onChange({ optimizer: event.currentTarget.checked })}
        />{' '}
        Optimizer on
      </label>
      {optimizer && (
        <TextField
          id="runs"
          label="Optimizer runs"
          hint="Default: 200."
          value={runs}
          fault={faults.get('runs')}
          onChange={(value) => onChange({ runs: value.trim() })}
        />
      )}
      <label class="check">
        <input
          type="checkbox"
          id="viaIR"
          checked={viaIR}
          onChange={(event) => onChange({ viaIR: event.currentTarget.checked })}
        />{' '}
        Compiled via IR
      </label>
      {children}
      <LinesField
        id="libraries"
        label="Libraries (optional)"
        hint="One per line, as name=address: SafeMath=0x…"
        value={libraries}
        fault={faults.get('libraries')}
        onChange={(value) => onChange({ libraries: value })}
      />
      <LinesField
        id="remappings"
        label="Remappings (optional)"
        hint="One per line, as prefix=target: @openzeppelin/=lib/openzeppelin/"
        value={remappings}
        fault={faults.get('remappings')}
        onChange={(value) => onChange({ remappings: value })}
      />
    </>
  );
}

function LinesField({
  id,
  label,
  hint,
  value,
  fault,
  onChange,
}: {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}): VNode {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={2}
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
