import { FullmatchError } from '../../errors.ts';
import { type SubmittedCodeMatch } from './submitted-codes.ts';

/** Limit on a response, which contains the sources once per matched bytecode and is serialized on the main thread. */
const MAX_BYTES = 16 * 2 ** 20;
/** Artifacts are JSON within JSON, so quoting may double their size. */
const QUOTED_TIMES = 2;

/** Estimates the size of the response before it is built. */
export class ResponseSizeLimiter {
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
    if (this.#bytes <= MAX_BYTES) return;
    throw new FullmatchError(
      'answer_too_large',
      `The sources of all matches exceed ${MAX_BYTES} bytes; send less bytecode at once.`,
      { details: { limitBytes: MAX_BYTES } },
    );
  }
}
