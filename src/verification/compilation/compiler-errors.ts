import { printableLines, printableText } from '../../lib/printable-text.ts';
import { type CompilerMessage } from '../../solidity/standard-json.ts';
import { VerificationFailure } from '../verification-failure.ts';

const ERRORS_SHOWN = 10;
const TEXT_CHARACTERS = 2000;
const NAME_CHARACTERS = 300;
/** Maximum length of a job's failure message, which is all that some clients print. */
const MESSAGE_CHARACTERS = 3500;

/** How every version since 0.4.11 reports that an import is not among the sources. */
const MISSING_IMPORT = /^Source "([^"]{1,4096})" not found/;

/**
 * Builds the failure for sources that the compiler rejects. Its message contains the compiler's own lines,
 * its data the errors as the compiler wrote them. If all errors are missing imports, it lists these.
 */
export function compilerErrorFailure(errors: readonly CompilerMessage[]): VerificationFailure {
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
