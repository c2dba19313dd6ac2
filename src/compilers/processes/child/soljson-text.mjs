// soljson.js is an Emscripten program with embedded machine code: WebAssembly as base64 (0.6.2 to 0.8.11),
// the same compressed with LZ4 (since 0.8.12), or asm.js, which is itself JavaScript (before). If the
// WebAssembly is extracted from the text, it is compiled only once, and evaluating the rest for each
// compilation takes almost no time.

/** Start of a WebAssembly data URL: base64 of the magic bytes `\0asm`. */
const DATA_URL = '"data:application/octet-stream;base64,';
const WASM_MAGIC = 'AGFzb';
/** The end of the decompression function at the start of the text since 0.8.12, called with the base64 text. */
const LZ4_CALL = '})("';
const LZ4_CALL_WITHIN = 10_000;
/** The second argument of that call: the decompressed size. */
const LZ4_SIZE = /^",\s*(\d{1,10})\)/;

/**
 * Decompresses LZ4 in the format of solc-bin: each block follows its length (32 bits, little-endian, with the highest
 * bit set if the block is not compressed), with 0 at the end. The blocks are in the format of
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
 *
 * @param {Buffer} source
 * @param {number} size decompressed size in bytes
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
      // Copies byte by byte, since a match may overlap its output.
      for (const stop = written + length; written < stop; written += 1) {
        output[written] = output[written - offset] ?? 0;
      }
    }
  }
  return output.subarray(0, written);
}

/**
 * Extracts the WebAssembly from the text of a soljson.js. If there is none, or its form is unknown, the text is left
 * unchanged and loads its own code.
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
