import { readAuxdataAt } from './auxdata.ts';
import { readVyperAuxdata } from './vyper-auxdata.ts';

/** What may differ in an auxdata on chain: where the 32 bytes of its hash begin, if it has one. */
export interface AuxdataForm {
  readonly hashOffset?: number;
}

/** The form of bytes that are exactly one auxdata, of whichever language; their own first bytes tell it. */
export function readAuxdataForm(auxdata: Uint8Array): AuxdataForm | undefined {
  const solidity = readAuxdataAt(auxdata, 0);
  if (solidity?.length === auxdata.length) {
    const { metadataHash } = solidity;
    return metadataHash === undefined ? {} : { hashOffset: metadataHash.offset };
  }
  const vyper = readVyperAuxdata(auxdata);
  if (vyper === undefined) return undefined;
  const { integrityOffset } = vyper;
  return integrityOffset === undefined ? {} : { hashOffset: integrityOffset };
}
