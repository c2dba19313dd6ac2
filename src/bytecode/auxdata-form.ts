import { readAuxdataAt } from './auxdata.ts';
import { readVyperAuxdata } from './vyper-auxdata.ts';

/** The variable part of an auxdata on chain: the offset of its 32-byte hash, if it has one. */
export interface AuxdataForm {
  readonly hashOffset?: number;
}

/** Reads bytes that are exactly one auxdata of Solidity or Vyper; the first bytes identify the format. */
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
