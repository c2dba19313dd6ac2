import { hasMetadataHashes, toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from './compilation-task.ts';
import { findNeededSources, type NeededSources, type Trial } from './needed-sources.ts';

/** Returns the input with LF and with CRLF in all sources, without a variant that equals the input. */
function otherEndings(input: StandardJsonInput): readonly StandardJsonInput[] {
  const sources = Object.entries(input.sources);
  const made = ['\n', '\r\n'].map((ending) =>
    sources.map(([path, source]) => {
      const content = source.content?.replaceAll('\r\n', '\n').replaceAll('\n', ending);
      return [path, content === undefined ? source : { ...source, content }] as const;
    }),
  );
  return made
    .filter((texts) =>
      texts.some(([path, { content }]) => content !== input.sources[path]?.content),
    )
    .map((texts) => ({ ...input, sources: Object.fromEntries(texts) }));
}

/**
 * Tries the sources with LF and with CRLF if only the metadata hash differs. Editors and git change line
 * endings, which changes every metadata hash but no code. Sources sent with a metadata.json are tried in the
 * same way.
 * @returns the attempt that matches fully, or the given one
 */
export async function tryOtherLineEndings(
  task: CompilationTask,
  found: NeededSources,
  trial: Trial,
): Promise<NeededSources> {
  if (task.language !== 'solidity' || found.judgement.match !== 'partial') return found;
  if (!hasMetadataHashes(toCodeTemplate(found.compiled.codes.runtime))) return found;
  let { compileTimeMs } = found;
  for (const input of otherEndings(found.input)) {
    const compiled = await trial.compile(input);
    compileTimeMs += compiled.compileTimeMs;
    if (trial.judge(input, compiled).match !== 'full') continue;
    const needed = await findNeededSources({ ...task, input }, compiled, trial);
    const spent = compileTimeMs - compiled.compileTimeMs + needed.compileTimeMs;
    return { ...needed, dropped: found.dropped, compileTimeMs: spent };
  }
  return { ...found, compileTimeMs };
}
