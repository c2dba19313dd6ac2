import { type VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { SafeText } from '../parts/safe-text.tsx';
import { ChainField } from '../parts/chain-field.tsx';
import { CompilerField } from './compiler-field.tsx';
import { FileField } from './file-field.tsx';
import { keepFields, keepFiles, readKeptFields, readKeptFiles } from './kept-form.ts';
import { type InputFile } from '../../../src/solidity/input-file.ts';
import { compilationOf, readInputFiles } from '../../../src/solidity/read-input-files.ts';
import { ContractField, TextField } from './text-fields.tsx';
import { proposeCompiler, type Proposal } from './propose-compiler.ts';
import { SettingsFields } from './settings-fields.tsx';
import {
  ADDRESS,
  buildRequest,
  CHAIN_ID,
  chooseContract,
  fillFields,
  findFaults,
  NO_SETTINGS,
  type FieldName,
  type VerifyFields,
} from './verify-form.ts';

interface Props {
  readonly base: string;
  /** What the address of the page says already. */
  readonly chain: string;
  readonly address: string;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
}

const NO_FAULTS: ReadonlyMap<FieldName, string> = new Map();
const FOCUS_ORDER = [
  ...['files', 'chain', 'address', 'compilerVersion', 'runs', 'libraries', 'remappings'],
  ...['contract', 'transaction'],
];

/** The compiler that is proposed for plain sources; it stands in the field until somebody types another. */
function useProposal(
  base: string,
  sources: Readonly<Record<string, string>> | undefined,
  { chain, address }: VerifyFields,
  setFields: (next: (now: VerifyFields) => VerifyFields) => void,
): Proposal | undefined {
  const [proposal, setProposal] = useState<Proposal>();
  const isPlace = CHAIN_ID.test(chain) && ADDRESS.test(address);
  useEffect(() => {
    if (sources === undefined) return undefined;
    let isOver = false;
    void proposeCompiler(base, isPlace ? { chain, address } : undefined, sources).then((next) => {
      if (isOver || next === undefined) return;
      setProposal(next);
      setFields((now) =>
        now.compilerVersion === '' || now.compilerVersion === proposal?.version
          ? { ...now, compilerVersion: next.version }
          : now,
      );
    });
    return () => {
      isOver = true;
    };
  }, [sources, isPlace ? `${chain} ${address}` : '']);
  return proposal;
}

/** What stands in the form, and what can be done with it. What was typed and chosen stays until the tab is closed. */
function useVerifyForm({ base, chain, address }: Props) {
  const [fields, setFields] = useState<VerifyFields>({
    chain: /^\d+$/.test(chain) ? chain : '',
    address,
    compilerVersion: '',
    contract: '',
    transaction: '',
    ...NO_SETTINGS,
  });
  const [chainText, setChainText] = useState(chain);
  const [files, setFiles] = useState<readonly InputFile[]>([]);
  const [areLost, setLost] = useState(false);
  const [faults, setFaults] = useState(NO_FAULTS);
  const [refusal, setRefusal] = useState<Refusal>();
  const [isSending, setSending] = useState(false);
  const alert = useRef<HTMLDivElement>(null);
  const dropped = useMemo(() => (files.length === 0 ? undefined : readInputFiles(files)), [files]);
  const compilation = compilationOf(dropped, fields.contract);

  useEffect(() => {
    const keptFiles = readKeptFiles();
    if (keptFiles === 'lost') setLost(true);
    else setFiles(keptFiles);
    const kept = readKeptFields();
    if (kept === undefined) return;
    // What the address of the page says goes before what was typed earlier.
    setFields({
      ...NO_SETTINGS,
      ...kept.fields,
      ...(chain !== '' && { chain: /^\d+$/.test(chain) ? chain : '' }),
      ...(address !== '' && { address }),
    });
    if (chain === '' || chain === kept.fields.chain) setChainText(kept.chainText);
  }, []);

  const plainSources = compilation?.kind === 'sources' ? compilation.sources : undefined;
  const proposal = useProposal(base, plainSources, fields, setFields);

  const change = (part: Partial<VerifyFields>, text = chainText): void => {
    const next = { ...fields, ...part };
    setFields(next);
    setChainText(text);
    keepFields({ fields: next, chainText: text });
    if (faults.size > 0) setFaults(findFaults(next, dropped));
  };
  const takeFiles = (next: readonly InputFile[]): void => {
    const read = next.length === 0 ? undefined : readInputFiles(next);
    const filled = read === undefined ? fields : fillFields(fields, read);
    setFiles(next);
    setLost(false);
    setFields(filled);
    keepFiles(next);
    keepFields({ fields: filled, chainText });
    setFaults(
      read?.kind === 'unusable' ? new Map<FieldName, string>([['files', read.reason]]) : NO_FAULTS,
    );
  };
  const send = async (): Promise<void> => {
    const found = findFaults(fields, dropped);
    setFaults(found);
    setRefusal(undefined);
    const first = FOCUS_ORDER.find((name) => found.has(name as FieldName));
    if (first !== undefined) document.getElementById(first)?.focus();
    if (found.size > 0 || compilation === undefined) return;
    setSending(true);
    const { path, body } = buildRequest(fields, compilation);
    const answer = await submit(`${base}${path}`, body);
    setSending(false);
    if ('id' in answer) location.assign(`${base}job/${answer.id}`);
    else {
      setRefusal(answer);
      setTimeout(() => alert.current?.focus());
    }
  };
  return {
    fields,
    chainText,
    files,
    areLost,
    dropped,
    compilation,
    proposal,
    faults,
    refusal,
    isSending,
    alert,
    change,
    takeFiles,
    send,
  };
}

/** The verification form. */
export function VerifyForm(props: Props): VNode {
  const { base } = props;
  const { fields, chainText, files, areLost, dropped, compilation, ...form } = useVerifyForm(props);
  const { faults, refusal, isSending, alert, change, takeFiles, send, proposal } = form;
  return (
    <form
      class="verify"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <FileField
        {...{ files, areLost, dropped, compilation }}
        fault={faults.get('files')}
        onFiles={takeFiles}
      />
      <ChainField
        base={base}
        label="Chain"
        hint={
          <>
            A name, a short name or an id, such as <kbd>sepolia</kbd> or <kbd>1</kbd>.
          </>
        }
        supported
        text={chainText}
        fault={faults.get('chain')}
        onChange={(text, id) => change({ chain: id }, text)}
      />
      <TextField
        id="address"
        label="Address"
        hint="Where the contract runs: 0x and 40 hexadecimal digits."
        value={fields.address}
        fault={faults.get('address')}
        onChange={(value) => change({ address: value.trim() })}
      />
      {compilation?.kind !== 'metadata' && (
        <CompilerField
          base={base}
          value={fields.compilerVersion}
          fault={faults.get('compilerVersion')}
          onChange={(compilerVersion) => change({ compilerVersion })}
          proposed={
            compilation?.kind === 'sources' && proposal?.version === fields.compilerVersion
              ? proposal.reason
              : undefined
          }
        />
      )}
      {compilation?.kind === 'sources' && (
        <SettingsFields fields={fields} faults={faults} onChange={change} />
      )}
      <ContractField
        choices={dropped?.kind === 'usable' ? dropped.contracts : []}
        isOptional={compilation?.kind === 'sources'}
        value={fields.contract}
        fault={faults.get('contract')}
        onChange={(contract) => change(chooseContract(fields, dropped, contract))}
      />
      <TextField
        id="transaction"
        label="Creation transaction (optional)"
        hint="We look it up if you leave this empty."
        value={fields.transaction}
        fault={faults.get('transaction')}
        onChange={(value) => change({ transaction: value.trim() })}
      />
      {refusal !== undefined && (
        <div class="notice failure" role="alert" tabIndex={-1} ref={alert}>
          <p>
            <strong>Not sent to the queue:</strong> <SafeText text={refusal.message} />{' '}
            <code>{refusal.code}</code>
          </p>
          {refusal.code === 'already_verified' && (
            <p>
              <a href={`${base}contract/${fields.chain}/${fields.address}`}>See the contract</a>
            </p>
          )}
          <p>What you typed and chose is still here.</p>
        </div>
      )}
      <button type="submit" class="primary" disabled={isSending}>
        {isSending ? 'Sending …' : 'Verify'}
      </button>
    </form>
  );
}

/** Sends the request; nothing is thrown. */
async function submit(url: string, body: object): Promise<{ readonly id: string } | Refusal> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Partial<Record<string, string>>;
    if (answer['verificationId'] !== undefined) return { id: answer['verificationId'] };
    return {
      code: answer['customCode'] ?? answer['code'] ?? String(response.status),
      message: answer['message'] ?? answer['detail'] ?? 'The service gave no reason.',
    };
  } catch {
    return {
      code: 'no_answer',
      message: 'The service gave no answer. Check your connection, and send it again.',
    };
  }
}
