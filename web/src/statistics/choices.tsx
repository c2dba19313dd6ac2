import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ChainField } from '../parts/chain-field.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { type SelectedChain } from './load.ts';
import {
  INTERVALS,
  type Preset,
  type StatisticsQuery,
  SCALES,
  SHOWN,
  TOPS,
  formatStatisticsQuery,
} from './statistics-query.ts';

interface Props {
  readonly question: StatisticsQuery;
  readonly chosen: readonly SelectedChain[];
  /** The text that matches no chain, kept for correction. */
  readonly unknown: readonly string[];
  readonly fault: string | undefined;
  readonly presets: readonly Preset[];
  readonly base: string;
}

/** Options of the page as a form that submits to the same page: all state is in the URL. */
export function Choices({ question, presets, ...chains }: Props): VNode {
  return (
    <form class="choices" method="get" aria-label="Series">
      <ChainChoices {...chains} />
      <div class="choice-row">
        <label>
          From
          <input type="date" name="from" value={question.from} />
        </label>
        <label>
          To
          <input type="date" name="to" value={question.to} />
        </label>
        <p class="segments">
          {presets.map(({ name, question: preset }) => (
            <a
              key={name}
              href={`?${formatStatisticsQuery(preset)}`}
              aria-current={isSame(preset, question) ? 'true' : undefined}
            >
              {name}
            </a>
          ))}
        </p>
      </div>
      <div class="choice-row">
        <Choice label="Show" name="show" options={SHOWN} chosen={question.shown} />
        <Choice label="Scale" name="scale" options={SCALES} chosen={question.scale} />
        <Choice label="By" name="interval" options={INTERVALS} chosen={question.interval} />
        <Choice label="Largest" name="top" options={TOPS} chosen={question.top} />
        <button type="submit">Show</button>
      </div>
    </form>
  );
}

const isSame = (left: StatisticsQuery, right: StatisticsQuery): boolean =>
  formatStatisticsQuery(left) === formatStatisticsQuery(right);

/** The selected chains, which can be removed, and a field to add more. Without scripts the field accepts several. */
function ChainChoices({
  chosen,
  unknown,
  fault,
  base,
}: Omit<Props, 'question' | 'presets'>): VNode {
  const [chains, setChains] = useState(chosen.map((chain) => ({ ...chain, isOn: true })));
  const [text, setText] = useState(unknown.join(', '));
  return (
    <div class="choice-row">
      <ChainField
        base={base}
        name="chains"
        label={chains.some(({ isOn }) => isOn) ? 'More chains' : 'Chains (all)'}
        hint="Names, short names or ids, separated by commas."
        supported={false}
        text={text}
        fault={fault}
        onChange={(typed, _, taken) => {
          setText(taken === undefined ? typed : '');
          if (taken === undefined) return;
          const others = chains.filter(({ chainId }) => chainId !== taken.chainId);
          setChains([...others, { ...taken, isOn: true }]);
        }}
      />
      {chains.length > 0 && (
        <fieldset class="chips">
          <legend>Chosen</legend>
          {chains.map(({ chainId, name, isOn }) => (
            <label key={chainId}>
              <input
                type="checkbox"
                name="chain"
                value={chainId}
                checked={isOn}
                onChange={() =>
                  setChains(
                    chains.map((chain) =>
                      chain.chainId === chainId ? { ...chain, isOn: !isOn } : chain,
                    ),
                  )
                }
              />
              <SafeText text={name} />
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}

function Choice({
  label,
  name,
  options,
  chosen,
}: {
  readonly label: string;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly chosen: string;
}): VNode {
  return (
    <label>
      {label}
      <select name={name}>
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
