import { FullmatchError } from '../../errors.ts';
import { type SubmittedCodeMatch } from './submitted-codes.ts';

/** Codes of one compilation are answered with its sources each, in one text that the thread that serves writes. */
const MOST_BYTES = 16 * 2 ** 20;
/** Artifacts are JSON within JSON. */
const QUOTED_TIMES = 2;

/** How long the answer with some matches becomes, before it is made. */
export class AnswerSize {
  #bytes = 0;

  /** @throws FullmatchError answer_too_large */
  add({ compilation }: SubmittedCodeMatch): void {
    const { sources, artifacts, settings, creationCode, runtimeCode } = compilation;
    const { creationCodeArtifacts, runtimeCodeArtifacts } = compilation;
    const quoted = [artifacts, settings, creationCodeArtifacts ?? {}, runtimeCodeArtifacts ?? {}];
    this.#bytes +=
      JSON.stringify(sources).length +
      QUOTED_TIMES * JSON.stringify(quoted).length +
      2 * ((creationCode?.length ?? 0) + (runtimeCode?.length ?? 0));
    if (this.#bytes <= MOST_BYTES) return;
    throw new FullmatchError(
      'answer_too_large',
      `The sources of all matches exceed ${MOST_BYTES} bytes; send less bytecode at once.`,
      { details: { limitBytes: MOST_BYTES } },
    );
  }
}
