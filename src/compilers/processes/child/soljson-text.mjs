// soljson.js is an Emscripten program with its machine code inside: WebAssembly as base64 (0.6.2 to 0.8.11), the same
// compressed by LZ4 (since 0.8.12), or asm.js, which is JavaScript itself (before). Taking the WebAssembly out of the
// text lets it be compiled once, and the rest be evaluated anew for each compilation in no time.

/** What a data URL of WebAssembly begins with: base64 of the magic bytes `\0asm`. */
const DATA_URL = '"data:application/octet-stream;base64,';
const WASM_MAGIC = 'AGFzb';
/** The end of the decompressing function that since 0.8.12 begins the text, called with the base64 text. */
const LZ4_CALL = '})("';
const LZ4_CALL_WITHIN = 10_000;
/** The second argument of that call: the decompressed size. */
const LZ4_SIZE = /^",\s*(\d{1,10})\)/;

/**
 * Decompresses LZ4 as solc-bin packs it: each block behind its length (32 bits, little-endian, the highest bit set
 * where the block is not compressed), 0 at the end. The blocks are those of
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
 *
 * @param {Buffer} source
 * @param {number} size bytes when decompressed
 * @returns {Buffer}
 */
function decompressLz4(source, size) {
  const output = Buffer.alloc(size);
  let read = 0;
  let written = 0;
  while (read + 4 <= source.length) {
    const head = source.readUInt32LE(read);
    if (head === 0) break;
    read += 4;
    const end = read + (head & 0x7fffffff);
    if (head >>> 31 === 1) {
      written += source.copy(output, written, read, end);
      read = end;
      continue;
    }
    while (read < end) {
      const token = source[read++] ?? 0;
      let literals = token >> 4;
      if (literals === 15) {
        let more = 255;
        while (more === 255) literals += more = source[read++] ?? 0;
      }
      source.copy(output, written, read, read + literals);
      written += literals;
      read += literals;
      if (read >= end) break;
      const offset = (source[read] ?? 0) | ((source[read + 1] ?? 0) << 8);
      read += 2;
      let length = (token & 15) + 4;
      if (length === 19) {
        let more = 255;
        while (more === 255) length += more = source[read++] ?? 0;
      }
      // Byte by byte: a match may overlap what it writes.
      for (const stop = written + length; written < stop; written += 1) {
        output[written] = output[written - offset] ?? 0;
      }
    }
  }
  return output.subarray(0, written);
}

/**
 * Takes the WebAssembly out of the text of a soljson.js. Where there is none, or where it is in a form that is not
 * known here, the text stays whole and finds its own code.
 *
 * @param {string} text
 * @returns {{ glue: string, wasm?: Buffer }}
 */
export function takeWasm(text) {
  const url = text.indexOf(DATA_URL + WASM_MAGIC);
  if (url !== -1) {
    const start = url + DATA_URL.length;
    const end = text.indexOf('"', start);
    return {
      glue: text.slice(0, start) + text.slice(end),
      wasm: Buffer.from(text.slice(start, end), 'base64'),
    };
  }
  const call = text.slice(0, LZ4_CALL_WITHIN).indexOf(LZ4_CALL);
  if (call === -1) return { glue: text };
  const start = call + LZ4_CALL.length;
  const end = text.indexOf('"', start);
  const [matched, size] = LZ4_SIZE.exec(text.slice(end, end + 40)) ?? [];
  if (matched === undefined) return { glue: text };
  return {
    glue: `${text.slice(0, start)}", 0)${text.slice(end + matched.length)}`,
    wasm: decompressLz4(Buffer.from(text.slice(start, end), 'base64'), Number(size)),
  };
}
