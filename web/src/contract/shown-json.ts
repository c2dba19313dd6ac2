/** A text of which only the beginning may be shown. */
export interface ShownText {
  readonly text: string;
  readonly isWhole: boolean;
}

/**
 * Formats a value as multi-line JSON up to a number of characters. The time depends on the shown part, not on
 * the size of the value.
 */
export function showJson(value: unknown, limit: number): ShownText {
  let text = '';
  const write = (piece: string): void => {
    text += piece;
  };
  const writeString = (whole: string): void => write(JSON.stringify(whole.slice(0, limit + 1)));
  const writeAll = (
    [open, close]: readonly [string, string],
    members: Iterable<readonly [name: string | undefined, member: unknown]>,
    indent: string,
  ): void => {
    const inner = `${indent}  `;
    let isEmpty = true;
    for (const [name, member] of members) {
      if (text.length > limit) return;
      write(`${isEmpty ? open : ','}\n${inner}`);
      isEmpty = false;
      if (name !== undefined) {
        writeString(name);
        write(': ');
      }
      writeValue(member, inner);
    }
    write(isEmpty ? `${open}${close}` : `\n${indent}${close}`);
  };
  const writeValue = (each: unknown, indent: string): void => {
    if (text.length > limit) return;
    if (typeof each === 'string') writeString(each);
    else if (Array.isArray(each)) writeAll(['[', ']'], unnamed(each), indent);
    else if (typeof each === 'object' && each !== null) {
      writeAll(['{', '}'], Object.entries(each), indent);
    } else write(JSON.stringify(each ?? null));
  };
  writeValue(value, '');
  return { text: text.slice(0, limit), isWhole: text.length <= limit };
}

function* unnamed(members: readonly unknown[]): Iterable<readonly [undefined, unknown]> {
  for (const member of members) yield [undefined, member];
}
