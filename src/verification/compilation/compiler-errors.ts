import { printableLines, printableText } from '../../lib/printable-text.ts';
import { type CompilerMessage } from '../../solidity/standard-json.ts';
import { VerificationFailure } from '../verification-failure.ts';

const ERRORS_SHOWN = 10;
const TEXT_CHARACTERS = 2000;
const NAME_CHARACTERS = 300;
/** Of the message of a job, which some clients print as all that they say. */
const MESSAGE_CHARACTERS = 3500;

/** How every version since 0.4.11 says that an import is not among the sources. */
const MISSING_IMPORT = /^Source "([^"]{1,4096})" not found/;

/**
 * The failure of sources that a compiler refuses. Its message says what the compiler says, in the compiler's own lines; its
 * facts have the errors as the compiler writes them. Where nothing but imports is missing, it names these.
 */
export function refusedByCompiler(errors: readonly CompilerMessage[]): VerificationFailure {
  const missing = missingImports(errors);
  const texts = errors
    .slice(0, ERRORS_SHOWN)
    .map(({ formattedMessage, message }) =>
      printableLines((formattedMessage ?? message).trim(), TEXT_CHARACTERS),
    );
  const data = {
    compilerErrors: errors.slice(0, ERRORS_SHOWN).map(toShown),
    ...(missing.length > 0 && { missingSources: missing }),
  };
  const intro =
    missing.length === 0
      ? 'Compilation failed.'
      : `Compilation failed: missing imports: ${missing.join(', ')}.`;
  const message = `${intro}\n\n${texts.join('\n\n')}`;
  const shown =
    message.length > MESSAGE_CHARACTERS ? `${message.slice(0, MESSAGE_CHARACTERS)}…` : message;
  return new VerificationFailure('compiler_error', shown, { data });
}

function missingImports(errors: readonly CompilerMessage[]): readonly string[] {
  const names = errors.map(({ message }) => MISSING_IMPORT.exec(message)?.[1]);
  const found = [...new Set(names)].filter((name) => name !== undefined);
  return found.slice(0, ERRORS_SHOWN).map((name) => printableText(name, NAME_CHARACTERS));
}

function toShown(error: CompilerMessage): Record<string, string> {
  const { severity, type, component, errorCode, message, formattedMessage = message } = error;
  return {
    ...(component !== undefined && { component: printableText(component) }),
    ...(errorCode !== undefined && { errorCode: printableText(errorCode) }),
    severity: printableText(severity),
    type: printableText(type),
    message: printableLines(message, TEXT_CHARACTERS),
    formattedMessage: printableLines(formattedMessage, TEXT_CHARACTERS),
  };
}
