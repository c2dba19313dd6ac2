import { type RefObject, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { postJson } from '../parts/post-json.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { ChainField } from '../parts/chain-field.tsx';
import { CompilerField } from './compiler-field.tsx';
import { FileField } from './file-field.tsx';
import { CHOSEN_TAB } from './input-tabs.tsx';
import {
  describeUnsupported,
  KnownContract,
  SupportedChain,
  useChainState,
} from './place-state.tsx';
import { FoundCodeHint, useFoundCode } from './found-code.tsx';
import { type FoundCode } from '../parts/read-code.ts';
import { changeFields } from './input-change.ts';
import { ChangedInput } from './changed-input.tsx';
import { type ChosenInput, NO_INPUT, readInput, unlessChosen } from './chosen-input.ts';
import { areFilesKept, keepFields, keepFiles, readKeptFields, readKeptFiles } from './kept-form.ts';
import { type InputFile } from '../../../src/solidity/input-file.ts';
import {
  compilationOf,
  type InputFiles,
  type PlainInput,
} from '../../../src/solidity/detected-compilation.ts';
import { takeResubmission, recordOwnJob } from './own-jobs.ts';
import { TokenField } from './token-field.tsx';
import { ContractField, TextField } from './text-fields.tsx';
import { proposeCompiler, type Proposal } from './propose-compiler.ts';
import { SettingsFields } from './settings-fields.tsx';
import { useSubmit } from './use-submit.ts';
import {
  buildRequest,
  chooseContract,
  fillFields,
  findFaults,
  NO_SETTINGS,
  type FieldName,
  type VerifyFields,
} from './verify-form.ts';

interface Props {
  readonly base: string;
  /** Whether the service verifies only with a token. */
  readonly needsToken: boolean;
  /** Values in the page's URL. */
  readonly chain: string;
  readonly address: string;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
}

const FOCUS_ORDER = [
  ...['chain', 'address', 'files', 'compilerVersion', 'runs', 'libraries', 'remappings'],
  ...['contract', 'transaction'],
];

/** The compiler proposed for plain sources; it stays until the user types another. */
function useProposal(
  base: string,
  plain: PlainInput | undefined,
  code: FoundCode | undefined,
  setFields: (next: (now: VerifyFields) => VerifyFields) => void,
): Proposal | undefined {
  const [proposal, setProposal] = useState<Proposal>();
  // A ref instead of state: two proposals may arrive between two renders.
  const proposed = useRef<string>(undefined);
  useEffect(() => {
    if (plain === undefined) return undefined;
    let isOver = false;
    void proposeCompiler(base, code, plain).then((next) => {
      if (isOver || next === undefined) return;
      const before = proposed.current;
      proposed.current = next.version;
      setProposal(next);
      setFields((now) =>
        now.compilerVersion === '' || now.compilerVersion === before
          ? { ...now, compilerVersion: next.version }
          : now,
      );
    });
    return () => {
      isOver = true;
    };
  }, [plain, code]);
  return proposal;
}

/** Errors of the fields: of visited ones with content, and of all of them after an attempt to submit. */
function useFaults(
  fields: VerifyFields,
  dropped: InputFiles | undefined,
  chainFault: string | undefined,
) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [isTried, setTried] = useState(false);
  const all = new Map(findFaults(fields, dropped));
  if (chainFault !== undefined) all.set('chain', chainFault);
  const isSaid = (name: FieldName): boolean => {
    if (isTried) return true;
    if (name === 'files') return dropped?.kind === 'unusable';
    // A chain is checked once it is selected, regardless of later typing.
    if (name === 'chain' && chainFault !== undefined) return true;
    return left.has(name) && fields[name] !== '';
  };
  return {
    all,
    said: new Map([...all].filter(([name]) => isSaid(name))),
    leave: (name: string) => setLeft(new Set([...left, name])),
    setTried,
  };
}

/** The element in which an error is fixed; for a hidden panel, its tab. */
function focusField(name: string): void {
  const field = document.getElementById(name);
  const isShown = field !== null && field.offsetParent !== null;
  (isShown ? field : document.getElementById(CHOSEN_TAB))?.focus();
}

/** Submits the filled form once if the user requested it on a job page. */
function useSendAgain(isFilled: boolean, isRequested: boolean, send: () => Promise<void>): void {
  const isSent = useRef(false);
  useEffect(() => {
    if (!isFilled || !isRequested || isSent.current) return;
    isSent.current = true;
    void send();
  }, [isFilled, isRequested]);
}

/**
 * Reads the fields that this tab keeps, with the change that a job page requested. Values in the URL override
 * earlier input.
 */
function restoreFields({ chain, address }: Pick<Props, 'chain' | 'address'>) {
  const kept = readKeptFields();
  const requested = takeResubmission();
  if (kept === undefined) return undefined;
  const fields = {
    ...NO_SETTINGS,
    ...kept.fields,
    ...(chain !== '' && { chain: /^\d+$/.test(chain) ? chain : '' }),
    ...(address !== '' && { address }),
  };
  const changed = requested === undefined ? fields : changeFields(fields, requested);
  const chainText = chain === '' || chain === kept.fields.chain ? kept.chainText : chain;
  keepFields({ fields: changed, chainText });
  return { fields: changed, chainText, isRequested: requested !== undefined };
}

/** State and actions of the form. Input is kept until the tab is closed. */
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
  const [{ files, dropped }, setInput] = useState<ChosenInput>(NO_INPUT);
  const [areLost, setLost] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const [isSending, setSending] = useState(false);
  const [isResending, setResending] = useState(false);
  const alert = useRef<HTMLDivElement>(null);
  const compilation = compilationOf(dropped, fields.contract);
  const chainState = useChainState(base, fields.chain);
  const faults = useFaults(fields, dropped, describeUnsupported(chainState, fields.chain));

  useEffect(() => {
    const keptFiles = readKeptFiles();
    if (keptFiles === 'lost') setLost(true);
    else void readInput(keptFiles).then((kept) => setInput(unlessChosen(kept)));
    const restored = restoreFields({ chain, address });
    if (restored === undefined) return;
    setFields(restored.fields);
    setResending(restored.isRequested);
    setChainText(restored.chainText);
  }, []);

  const plain = compilation?.kind === 'sources' ? compilation : undefined;
  const code = useFoundCode(base, fields);
  const proposal = useProposal(base, plain, code, setFields);

  const change = (part: Partial<VerifyFields>, text = chainText): void => {
    const next = { ...fields, ...part };
    setFields(next);
    setChainText(text);
    keepFields({ fields: next, chainText: text });
  };
  const takeFiles = async (next: readonly InputFile[]): Promise<void> => {
    const input = await readInput(next);
    setInput(input);
    setLost(false);
    setFields((now) => {
      // A change belongs to the files that it was suggested for.
      const filled = fillFields({ ...now, inputChange: {} }, input.dropped);
      keepFields({ fields: filled, chainText });
      return filled;
    });
    keepFiles(next);
    faults.setTried(false);
  };
  const send = async (): Promise<void> => {
    faults.setTried(true);
    setRefusal(undefined);
    const first = FOCUS_ORDER.find((name) => faults.all.has(name as FieldName));
    if (first !== undefined) focusField(first);
    if (faults.all.size > 0 || compilation === undefined) return;
    setSending(true);
    const { path, body } = buildRequest(fields, compilation);
    const answer = await submit(`${base}${path}`, body);
    setSending(false);
    if ('id' in answer) {
      recordOwnJob(answer.id, areFilesKept() ? compilation.kind : undefined);
      location.assign(`${base}job/${answer.id}`);
    } else {
      setRefusal(answer);
      setTimeout(() => alert.current?.focus());
    }
  };
  useSendAgain(compilation !== undefined && fields.address !== '', isResending, send);
  const sending = useSubmit({ base, fields, chainText, setFields, setChainText, isSending, send });
  return {
    fields,
    chainText,
    files,
    areLost,
    dropped,
    compilation,
    code,
    proposal,
    faults: faults.said,
    leave: faults.leave,
    chainState,
    refusal,
    isSending,
    alert,
    change,
    takeFiles,
    ...sending,
  };
}

/** The verification form. */
export function VerifyForm(props: Props): VNode {
  const { base } = props;
  const { fields, chainText, files, areLost, dropped, compilation, ...form } = useVerifyForm(props);
  const {
    faults,
    leave,
    chainState,
    code,
    refusal,
    isSending,
    alert,
    change,
    takeFiles,
    addPasted,
    selectNamedChain,
    submitForm,
    proposal,
  } = form;
  return (
    <form
      class="verify"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submitForm();
      }}
      onFocusOut={({ target }) => {
        const { id } = target as HTMLElement;
        leave(id);
        if (id === 'chain') void selectNamedChain();
      }}
    >
      <h2 class="step">Where</h2>
      <PlaceFields {...{ base, fields, chainText, chainState, code, faults, change }} />
      <h2 class="step">What</h2>
      <FileField
        {...{ files, areLost, dropped, compilation, addPasted }}
        fault={faults.get('files')}
        onFiles={takeFiles}
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
        <SettingsFields language={compilation.language} {...{ fields, faults }} onChange={change} />
      )}
      {compilation?.kind === 'standard_json' && (
        <ChangedInput fields={fields} onUndo={() => change({ inputChange: {} })} />
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
      <h2 class="step">Send</h2>
      {props.needsToken && <TokenField />}
      {refusal !== undefined && (
        <RefusalNotice
          {...{ refusal, alert }}
          contract={`${base}contract/${fields.chain}/${fields.address}`}
        />
      )}
      <p class="send">
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? 'Sending …' : describeSending(fields, compilation?.kind)}
        </button>
      </p>
    </form>
  );
}

/** Describes what the button will do, as far as known. */
function describeSending({ compilerVersion }: VerifyFields, kind: string | undefined): string {
  if (kind === 'metadata') return 'Compile with the metadata’s settings and compare';
  const [version = ''] = compilerVersion.split('+');
  return version === '' ? 'Verify' : `Compile with ${version} and compare`;
}

/** Chain and address of the contract. */
function PlaceFields({
  base,
  fields,
  chainText,
  chainState,
  code,
  faults,
  change,
}: { readonly base: string } & Pick<
  ReturnType<typeof useVerifyForm>,
  'fields' | 'chainText' | 'chainState' | 'code' | 'faults' | 'change'
>): VNode {
  return (
    <>
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
      <SupportedChain base={base} state={chainState} />
      <TextField
        id="address"
        label="Address"
        hint="The contract’s address: 0x and 40 hexadecimal digits."
        value={fields.address}
        fault={faults.get('address')}
        onChange={(value) => change({ address: value.trim() })}
      />
      <FoundCodeHint code={code} />
      <KnownContract base={base} fields={fields} />
    </>
  );
}

/** Why nothing was queued. It receives focus. */
function RefusalNotice({
  refusal,
  alert,
  contract,
}: {
  readonly refusal: Refusal;
  readonly alert: RefObject<HTMLDivElement | null>;
  /** Link to the contract's page. */
  readonly contract: string;
}): VNode {
  return (
    <div class="notice failure" role="alert" tabIndex={-1} ref={alert}>
      <p>
        <strong>Not sent:</strong> <SafeText text={refusal.message} /> <code>{refusal.code}</code>
      </p>
      {refusal.code === 'already_verified' && (
        <p>
          <a href={contract}>See the contract</a>
        </p>
      )}
      <p>Your input is still here.</p>
    </div>
  );
}

/** Submits the request; never throws. */
async function submit(url: string, body: object): Promise<{ readonly id: string } | Refusal> {
  try {
    const response = await postJson(url, body);
    const answer = (await response.json()) as Partial<Record<string, string>>;
    if (answer['verificationId'] !== undefined) return { id: answer['verificationId'] };
    return {
      code: answer['customCode'] ?? answer['code'] ?? String(response.status),
      message: answer['message'] ?? answer['detail'] ?? 'The service did not give a reason.',
    };
  } catch {
    return {
      code: 'no_answer',
      message: 'The service did not respond. Check your connection and send it again.',
    };
  }
}
