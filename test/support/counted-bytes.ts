/** Bytes that count how often one of them is read, including through slices. */
export interface CountedBytes {
  readonly bytes: Buffer;
  readonly reads: () => number;
}

/** Counts the reads of single bytes: a measure of work that a busy machine does not change. */
export function countReads(counted: Buffer): CountedBytes {
  let reads = 0;
  const wrap = (part: Buffer): Buffer =>
    new Proxy(part, {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) {
          reads += 1;
          return target[Number(name)];
        }
        if (name === 'subarray') {
          return (begin?: number, end?: number) => wrap(target.subarray(begin, end));
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  return { bytes: wrap(counted), reads: () => reads };
}
