import { z } from '@hono/zod-openapi';

/** A verified contract in the format of `getsourcecode`: every member is text. */
export const sourceRecordSchema = z
  .strictObject({
    SourceCode: z
      .string()
      .describe('The standard JSON input in an extra pair of braces; empty if not verified'),
    ABI: z.string().describe('JSON'),
    ContractName: z.string(),
    ContractFileName: z.string(),
    CompilerVersion: z.string().describe('v0.8.30+commit.73712a01, or vyper:0.4.3'),
    CompilerType: z.string().describe('solc or vyper'),
    OptimizationUsed: z.enum(['0', '1', '']),
    Runs: z.string(),
    ConstructorArguments: z.string().describe('Hexadecimal digits without 0x'),
    EVMVersion: z.string().describe('Default, or an EVM version'),
    Library: z.string().describe('Name:0x…, separated by semicolons'),
    LicenseType: z.string().describe('SPDX identifier of the source of the contract'),
    Proxy: z.enum(['0', '1']),
    Implementation: z.string().describe('An address, or empty'),
    SwarmSource: z.string(),
    SimilarMatch: z.string(),
  })
  .meta({ id: 'EtherscanSource', description: 'A contract as getsourcecode returns it' });

/** A contract in Blockscout's dialect of `getsourcecode`; an unverified contract has only a few of the members. */
export const blockscoutRecordSchema = z
  .strictObject({
    Address: z.string(),
    SourceCode: z.string().describe('The file FileName; empty if not verified'),
    ABI: z.string().describe('JSON'),
    ContractName: z.string().optional(),
    FileName: z.string().optional(),
    AdditionalSources: z
      .array(z.strictObject({ Filename: z.string(), SourceCode: z.string() }))
      .optional(),
    CompilerVersion: z.string().optional().describe('v0.8.30+commit.73712a01'),
    CompilerSettings: z.record(z.string(), z.unknown()).optional(),
    OptimizationUsed: z.enum(['true', 'false']).optional(),
    OptimizationRuns: z.int().optional(),
    EVMVersion: z.string().optional().describe('default, or an EVM version'),
    ConstructorArguments: z.string().optional().describe('Hexadecimal digits without 0x'),
    ExternalLibraries: z
      .array(z.strictObject({ name: z.string(), address_hash: z.string() }))
      .optional(),
    LicenseType: z.string().optional().describe('SPDX identifier of the source of the contract'),
    IsProxy: z.enum(['true', 'false']).optional(),
    ImplementationAddress: z.string().optional(),
    VerifiedAt: z.string().optional(),
  })
  .meta({
    id: 'BlockscoutSource',
    description: 'A contract as Blockscout’s getsourcecode returns it',
  });

/** The creation of a contract in the format of `getcontractcreation`. */
const creationRecordSchema = z
  .strictObject({
    contractAddress: z.string(),
    contractCreator: z.string().describe('The account or factory that created the contract'),
    txHash: z.string(),
    blockNumber: z.string(),
    creationBytecode: z.string().describe('Including the constructor arguments'),
  })
  .meta({ id: 'EtherscanCreation', description: 'The creation of a verified contract' });

/** An event in the format of `getLogs`; numbers are hexadecimal. */
const logRecordSchema = z
  .strictObject({
    address: z.string(),
    topics: z.array(z.string()),
    data: z.string(),
    blockNumber: z.string(),
    blockHash: z.string(),
    timeStamp: z.string().optional().describe('If the node reports it with the event'),
    logIndex: z.string(),
    transactionHash: z.string(),
    transactionIndex: z.string(),
  })
  .meta({ id: 'EtherscanLog', description: 'An event of a contract' });

/** Response body of every action. */
export const etherscanAnswerSchema = z
  .strictObject({
    status: z.enum(['0', '1']),
    message: z.enum(['OK', 'NOTOK', 'No records found']),
    result: z.union([
      z.string(),
      z.array(sourceRecordSchema),
      z.array(blockscoutRecordSchema),
      z.array(creationRecordSchema),
      z.array(logRecordSchema),
    ]),
    details: z
      .strictObject({
        customCode: z.string().describe('The code of a failed job'),
        message: z.string(),
        errorId: z.string(),
      })
      .optional()
      .describe('Why a verification failed, in addition to the text that clients compare'),
  })
  .meta({ id: 'EtherscanAnswer', description: 'An answer of the Etherscan protocol' });

/** The body of GET /v2/chainlist. */
export const chainListSchema = z
  .strictObject({
    comments: z.string(),
    totalcount: z.int(),
    result: z.array(
      z.strictObject({
        chainname: z.string(),
        chainid: z.string(),
        blockexplorer: z.string(),
        apiurl: z.string(),
        status: z.int(),
        comment: z.string(),
      }),
    ),
  })
  .meta({ id: 'EtherscanChainList', description: 'The chains on which contracts can be verified' });
