// Written by scripts/build-openapi.ts from the schemas of openapi.json.
/* eslint max-lines: "off" */

/** Counts of verified contracts by chain id, for every chain that ever had one */
export type Statistics = Record<
  string,
  {
    /** Contracts whose runtime or creation match is full */
    full_match: number;
    /** Contracts whose best match is partial */
    partial_match: number;
  }
>;

/** A match that was stored, upgraded from partial to full, or withdrawn */
export interface MatchEvent {
  /** Decimal digits; identifies the event */
  eventNumber: string;
  kind: 'stored' | 'upgraded' | 'withdrawn';
  chainId: number;
  /** With its EIP-55 checksum */
  address: string;
  /** null after a withdrawal */
  match: 'full' | 'partial' | null;
  /** null if the evidence is unknown */
  name: string | null;
  /** Who judged the match; null after a withdrawal */
  origin: 'verified' | 'imported' | 'monitored' | null;
  at: string;
}

/** The chain registry changed */
export interface RegistryEvent {
  /** Of the bytes of GET /chains */
  sha256: string;
  chains: number;
}

/** Events may have been missed that the service no longer has */
export type ResetEvent = Record<string, unknown>;

/** A chain in the registry */
export interface ChainRecord {
  /** Name of the chain */
  name: string;
  /** The chain's family or ticker, from the public list */
  chain?: string;
  /** mainnet or testnet, or the configured value */
  network?: string;
  /** Name of the chain's icon in the public list */
  icon?: string;
  /** Public endpoints; can be empty */
  rpc: string[];
  /** Pages that give out test coins; can be empty */
  faucets?: string[];
  /** The currency used to pay for transactions */
  nativeCurrency?: {
    name: string;
    symbol: string;
    decimals: number;
  };
  /** The chain's website */
  infoURL?: string;
  /** Short name (EIP-3770); for lookup, not identity */
  shortName?: string;
  /** Chain id (EIP-155): identity */
  chainId: number;
  /** Id in the peer-to-peer network */
  networkId?: number;
  /** Coin type (SLIP-44) */
  slip44?: number;
  /** The ENS registry contract */
  ens?: {
    registry: string;
  };
  /** Explorer sites; standard is EIP3091 or none */
  explorers?: {
    name: string;
    url: string;
    standard: string;
    icon?: string;
  }[];
  /** Whether contracts can be verified on this chain */
  supported: boolean;
  /** Whether the chain is monitored for new contracts */
  monitored: boolean;
  /** URL of a contract's page on an explorer, with the literal ${ADDRESS} */
  contractFetchAddress?: string;
  /** Pattern with one capture group that finds the creation transaction's hash on that page */
  txRegex?: string;
  /** A longer name */
  title?: string;
  /** active, incubating or deprecated */
  status?: string;
  /** Protocol features, such as EIP1559 */
  features?: {
    name: string;
  }[];
  /** The chain on which this one settles */
  parent?: Record<string, unknown>;
  /** Warnings of the public list: reusedChainId */
  redFlags?: string[];
}

/** An error, by RFC 9457 */
export interface Problem {
  /** urn:fullmatch:error: and the code */
  type: string;
  /** What the code means */
  title: string;
  status: number;
  /** Stable; programs branch on it. docs/errors.md lists all of them */
  code: string;
  /** What happened, and what to do */
  detail: string;
  /** Identifies this occurrence */
  instance?: string;
  [name: string]: unknown;
}

/** A page of matching chains */
export interface ChainPage {
  /** Chains of the registry */
  total: number;
  /** Number of chains that match the filters, on all pages */
  matching: number;
  /** The `after` of the next page; absent on the last one */
  next?: number;
  /** Ascending chainId: chain records, or the chosen fields of them */
  results: {
    /** Name of the chain */
    name?: string;
    /** The chain's family or ticker, from the public list */
    chain?: string;
    /** mainnet or testnet, or the configured value */
    network?: string;
    /** Name of the chain's icon in the public list */
    icon?: string;
    /** Public endpoints; can be empty */
    rpc?: string[];
    /** Pages that give out test coins; can be empty */
    faucets?: string[];
    /** The currency used to pay for transactions */
    nativeCurrency?: {
      name: string;
      symbol: string;
      decimals: number;
    };
    /** The chain's website */
    infoURL?: string;
    /** Short name (EIP-3770); for lookup, not identity */
    shortName?: string;
    /** Chain id (EIP-155): identity */
    chainId: number;
    /** Id in the peer-to-peer network */
    networkId?: number;
    /** Coin type (SLIP-44) */
    slip44?: number;
    /** The ENS registry contract */
    ens?: {
      registry: string;
    };
    /** Explorer sites; standard is EIP3091 or none */
    explorers?: {
      name: string;
      url: string;
      standard: string;
      icon?: string;
    }[];
    /** Whether contracts can be verified on this chain */
    supported?: boolean;
    /** Whether the chain is monitored for new contracts */
    monitored?: boolean;
    /** URL of a contract's page on an explorer, with the literal ${ADDRESS} */
    contractFetchAddress?: string;
    /** Pattern with one capture group that finds the creation transaction's hash on that page */
    txRegex?: string;
    /** A longer name */
    title?: string;
    /** active, incubating or deprecated */
    status?: string;
    /** Protocol features, such as EIP1559 */
    features?: {
      name: string;
    }[];
    /** The chain on which this one settles */
    parent?: Record<string, unknown>;
    /** Warnings of the public list: reusedChainId */
    redFlags?: string[];
  }[];
}

/** A chain, and the sources of its record */
export interface ChainDetails {
  record: ChainRecord;
  /** Detected from the words in its names */
  testnet: boolean;
  /** On the operator's machine or private network */
  local: boolean;
  /** Whether /v1/chains/{ref}/icon has its icon */
  hasIcon: boolean;
  /** Where each field of the record comes from: list, default configuration, configuration, derived, service, or two of them with + between */
  origins: Record<string, string>;
  /** Conflicts and other findings about this chain, most severe first */
  findings: {
    level: 'error' | 'warning' | 'info';
    /** Stable; such as reused_chain_id */
    code: string;
    /** The field concerned */
    field?: string;
    message: string;
  }[];
  /** The endpoints that the service uses, in order of preference */
  endpoints: {
    /** The host of a public endpoint; private ones are numbered */
    label: string;
    /** Whether it is in `rpc` */
    public: boolean;
  }[];
  /** The current public list */
  list: {
    source: string;
    sha256: string;
  };
}

/** All chains, one line each */
export interface RegistryOverview {
  /** The current public list */
  list: {
    source: string;
    sha256: string;
  };
  /** Ascending chainId */
  chains: {
    /** Chain id (EIP-155): identity */
    chainId: number;
    /** Name of the chain */
    name: string;
    /** Short name (EIP-3770); for lookup, not identity */
    shortName?: string;
    /** The symbol of the native currency */
    currency?: string;
    currencyName?: string;
    /** Whether contracts can be verified on this chain */
    supported: boolean;
    /** Whether the chain is monitored for new contracts */
    monitored: boolean;
    /** Detected from the words in its names */
    testnet: boolean;
    /** active, incubating or deprecated */
    status?: string;
    /** As seen by the process that responds; absent if the chain is not probed */
    health?: 'unknown' | 'up' | 'degraded' | 'down';
    /** Present if /v1/chains/{chainId}/icon has its icon */
    hasIcon?: true;
    /** Warnings: red flags and the codes of findings above info */
    warnings: string[];
  }[];
}

/** The health of a chain and its endpoints */
export interface ChainHealth {
  chainId: number;
  /** degraded: some endpoints are not up. not_probed: see the reason */
  state: 'unknown' | 'up' | 'degraded' | 'down' | 'not_probed';
  /** When the state began */
  since?: string;
  reasons: {
    /** Stable; programs branch on it */
    code: string;
    /** The same as text */
    detail: string;
  }[];
  /** The usual time between blocks, as observed */
  secondsPerBlock?: number;
  /** In the order of the chain’s endpoints */
  endpoints: {
    /** The host of a public endpoint; private ones are numbered */
    label: string;
    /** Whether it is in `rpc` */
    public: boolean;
    /** throttled: it limits our requests. down: five probes failed. wrong_chain: not used until the configuration changes */
    state:
      | 'unknown'
      | 'up'
      | 'lagging'
      | 'stalled'
      | 'throttled'
      | 'down'
      | 'wrong_chain'
      | 'not_probed';
    /** When the state began */
    since?: string;
    /** The reasons; empty if there are none */
    reasons: {
      /** Stable; programs branch on it */
      code: string;
      /** The same as text */
      detail: string;
    }[];
    /** When it was last probed */
    checkedAt?: string;
    /** The newest block it returned */
    head?: {
      number: number;
      timestamp: string;
      seenAt: string;
      /** When it was observed; absent if it lies in the future */
      ageSeconds?: number;
    };
    /** Blocks it was behind another endpoint */
    lagBlocks?: number;
    /** From recent responses, without the first one */
    latency?: {
      p50Ms: number;
      p95Ms: number;
      samples: number;
    };
    /** Whether it has the state of old blocks */
    archive: 'yes' | 'no' | 'unknown';
    /** Whether it traces calls or transactions */
    trace: 'yes' | 'no' | 'unknown';
  }[];
}

/** The monitor of a chain */
export interface ChainMonitor {
  chainId: number;
  /** As in /chains: whether a monitor is configured and keeps up */
  monitored: boolean;
  /** behind: it is catching up. failing: see the fault. stalled: no progress for longer than `monitor.stallSeconds` */
  status: 'starting' | 'current' | 'behind' | 'failing' | 'stalled' | 'not_configured';
  /** Absent before the first block */
  cursor?: {
    /** The first block that is followed */
    startBlock: number;
    /** The newest block up to which every creation is stored */
    block: number;
    hash?: string;
    /** The chain’s newest block when it was last read */
    head?: number;
    finalized?: number;
    lagBlocks: number;
    /** When it last advanced or was up to date */
    currentAt: string;
  };
  fault?: {
    code: string;
    message: string;
    since: string;
  };
  reorganisations?: {
    count: number;
    newest?: {
      toBlock: number;
      at: string;
    };
  };
  /** Contract creations found so far */
  found: number;
  /** The states of the creations found and the reasons, most frequent first within a state */
  creations: {
    state: 'waiting' | 'verifying' | 'verified' | 'given_up' | 'gone';
    reason: string;
    count: number;
  }[];
  gaps?: {
    /** Ranges of older blocks that are still to be read */
    backfillRanges: number;
    backfillBlocks: number;
    /** Blocks in which contracts created by contracts could not be found */
    untracedBlocks: number;
  };
  notes: {
    code: string;
    detail: string;
  }[];
}

/** The available versions */
export interface Compilers {
  /** solc before vyper before solar, newest first */
  compilers: {
    /** solc compiles Solidity and Yul, solar Solidity */
    compiler: 'solc' | 'vyper' | 'solar';
    longVersion: string;
    /** Whether it is available without a download */
    installed: boolean;
    /** What the file is checked against: the catalogue of this service, or only the list in its folder */
    checksum: 'catalogue' | 'list';
  }[];
}

/** A verification in the queue */
export interface V2Submitted {
  /** Poll /v2/verify/{verificationId} */
  verificationId: string;
}

/** An error of the verification API v2 */
export interface V2Error {
  /** Stable; programs branch on it */
  customCode: string;
  /** What happened, and what to do */
  message: string;
  /** Identifies this occurrence */
  errorId: string;
}

/** A compilation by its standard JSON input */
export interface V2VerifyRequest {
  /** The standard JSON input of the compiler */
  stdJsonInput: {
    /** Solidity, Yul or Vyper */
    language: string;
    sources: Record<
      string,
      {
        content: string;
        [name: string]: unknown;
      }
    >;
    settings?: Record<string, unknown> | null;
    /** For Vyper: path to ABI or text */
    interfaces?: Record<string, unknown> | null;
    /** For Vyper: path to layout */
    storage_layout_overrides?: Record<string, unknown> | null;
    [name: string]: unknown;
  };
  /** 0.8.30+commit.73712a01; the v and the commit are optional */
  compilerVersion: string;
  /** path:Name, split at the last colon */
  contractIdentifier: string;
  /** The transaction that created the contract; any other is ignored */
  creationTransactionHash?: string;
  /** Whether to read the metadata setting from the bytecode, and to try other common settings if the sources do not match; `changedSettings` of the job names what was changed */
  trySettings?: boolean;
}

/** A compilation by its metadata */
export interface V2VerifyMetadataRequest {
  /** The metadata.json of the contract */
  metadata: Record<string, unknown>;
  /** Path to content; a source with another path is found by its hash. Not needed if the metadata contains the sources */
  sources?: Record<string, string>;
  /** The transaction that created the contract; any other is ignored */
  creationTransactionHash?: string;
}

/** Details of the deployment */
export interface V2VerifySimilarityRequest {
  /** The transaction that created the contract; any other is ignored */
  creationTransactionHash?: string;
}

/** Credentials for the other explorer */
export interface V2VerifyEtherscanRequest {
  /** Your own key for the other explorer; not stored */
  apiKey?: string;
}

/** A verification job */
export interface V2Job {
  isJobCompleted: boolean;
  verificationId: string;
  jobStartTime: string;
  jobFinishTime?: string;
  /** Milliseconds */
  compilationTime?: string;
  /** Present only when the job failed */
  error?: {
    customCode: string;
    message: string;
    errorId: string;
    [name: string]: unknown;
  };
  contract: V2MinimalContract;
  /** Present while the job waits in the queue for its compiler, which is being downloaded */
  compilerDownload?: {
    longVersion: string;
    receivedBytes: number;
    /** Absent if the mirror does not report it */
    totalBytes?: number;
    /** As text */
    message: string;
  };
  /** Present when the job succeeded: whether it stored a match that was not there before */
  stored?: boolean;
  /** The match was not replaced, because other sources that compile to the same bytecode are shown; these were stored as an alternative */
  keptBeside?: boolean;
  /** The sources compile to the same bytecode without these files, so they are not published; absent if all are needed */
  droppedSources?: {
    count: number;
    /** The first 20 */
    paths: string[];
  };
  /** The sources match with these settings instead of the submitted ones; absent if none was changed */
  changedSettings?: {
    compilerVersion?: string;
    optimizer?: {
      enabled: boolean;
      runs?: number;
    };
    evmVersion?: string;
    viaIR?: boolean;
    /** For Vyper */
    optimize?: string | boolean;
    /** Read from the deployed bytecode */
    metadata?: {
      bytecodeHash?: 'ipfs' | 'bzzr1' | 'none';
      appendCBOR?: boolean;
    };
  };
  /** The state of forwarding to other explorers, if the operator configured it */
  externalVerifications?: {
    etherscan?: {
      /** waiting: not sent yet, or to be sent again; submitted: waiting for the explorer’s verdict */
      state: 'waiting' | 'submitted' | 'verified' | 'failed';
      /** The explorer's own id */
      verificationId?: string;
      /** Its last message, if it did not verify */
      error?: string;
      statusUrl?: string;
      contractApiUrl?: string;
    };
    blockscout?: {
      /** waiting: not sent yet, or to be sent again; submitted: waiting for the explorer’s verdict */
      state: 'waiting' | 'submitted' | 'verified' | 'failed';
      /** The explorer's own id */
      verificationId?: string;
      /** Its last message, if it did not verify */
      error?: string;
      statusUrl?: string;
      contractApiUrl?: string;
    };
    routescan?: {
      /** waiting: not sent yet, or to be sent again; submitted: waiting for the explorer’s verdict */
      state: 'waiting' | 'submitted' | 'verified' | 'failed';
      /** The explorer's own id */
      verificationId?: string;
      /** Its last message, if it did not verify */
      error?: string;
      statusUrl?: string;
      contractApiUrl?: string;
    };
  };
}

/** The match of a contract, without its evidence */
export interface V2MinimalContract {
  /** Number of the evidence behind the match; increases with every stored match */
  matchId?: string;
  /** exact_match: full; match: partial; null: none */
  match: 'exact_match' | 'match' | null;
  /** exact_match: full; match: partial; null: none */
  creationMatch: 'exact_match' | 'match' | null;
  /** exact_match: full; match: partial; null: none */
  runtimeMatch: 'exact_match' | 'match' | null;
  /** Decimal digits */
  chainId: string;
  /** With its checksum (EIP-55) */
  address: string;
  /** When this service stored the match */
  verifiedAt?: string;
}

/** Contracts without their evidence */
export interface V2ContractList {
  results: V2MinimalContract[];
}

/** A verified contract; unknown values are null */
export interface V2Contract {
  /** Number of the evidence behind the match; increases with every stored match */
  matchId?: string;
  /** exact_match: full; match: partial; null: none */
  match: 'exact_match' | 'match' | null;
  /** exact_match: full; match: partial; null: none */
  creationMatch?: 'exact_match' | 'match' | null;
  /** exact_match: full; match: partial; null: none */
  runtimeMatch?: 'exact_match' | 'match' | null;
  /** Decimal digits */
  chainId: string;
  /** With its checksum (EIP-55) */
  address: string;
  /** When this service stored the match */
  verifiedAt?: string;
  creationBytecode?: {
    onchainBytecode?: string | null;
    recompiledBytecode?: string | null;
    sourceMap?: string | null;
    linkReferences?: Record<string, unknown> | null;
    cborAuxdata?: Record<string, unknown> | null;
    transformations?: Record<string, unknown>[] | null;
    transformationValues?: Record<string, unknown> | null;
    /** Values without proof. In runtime bytecode: immutables and libraries without matching creation bytecode, and all libraries of a partial match. In creation bytecode: imported constructor arguments until they are proven here; otherwise absent */
    unprovenValues?: ('immutables' | 'libraries' | 'arguments')[] | null;
  };
  runtimeBytecode?: {
    onchainBytecode?: string | null;
    recompiledBytecode?: string | null;
    sourceMap?: string | null;
    linkReferences?: Record<string, unknown> | null;
    cborAuxdata?: Record<string, unknown> | null;
    transformations?: Record<string, unknown>[] | null;
    transformationValues?: Record<string, unknown> | null;
    /** Values without proof. In runtime bytecode: immutables and libraries without matching creation bytecode, and all libraries of a partial match. In creation bytecode: imported constructor arguments until they are proven here; otherwise absent */
    unprovenValues?: ('immutables' | 'libraries' | 'arguments')[] | null;
    immutableReferences?: Record<string, unknown> | null;
  };
  deployment?: {
    transactionHash?: string | null;
    blockNumber?: string | null;
    transactionIndex?: string | null;
    deployer?: string | null;
    /** An imported transaction until it is proven here; otherwise absent */
    unprovenValues?: 'transaction'[];
  };
  sources?: Record<
    string,
    {
      content: string;
    }
  >;
  compilation?: {
    language?: string;
    compiler?: string;
    compilerVersion?: string;
    compilerSettings?: Record<string, unknown>;
    name?: string;
    fullyQualifiedName?: string;
  } | null;
  abi?: Record<string, unknown>[] | null;
  metadata?: Record<string, unknown> | null;
  storageLayout?: Record<string, unknown> | null;
  transientStorageLayout?: Record<string, unknown> | null;
  userdoc?: Record<string, unknown> | null;
  devdoc?: Record<string, unknown> | null;
  sourceIds?: Record<string, unknown> | null;
  stdJsonInput?: Record<string, unknown> | null;
  stdJsonOutput?: Record<string, unknown> | null;
  /** Of the ABI, each once */
  signatures?: {
    function?: {
      signature: string;
      /** Its Keccak-256 hash: the first topic of an event */
      signatureHash32: string;
      /** The first four bytes: the selector */
      signatureHash4: string;
    }[];
    event?: {
      signature: string;
      /** Its Keccak-256 hash: the first topic of an event */
      signatureHash32: string;
      /** The first four bytes: the selector */
      signatureHash4: string;
    }[];
    error?: {
      signature: string;
      /** Its Keccak-256 hash: the first topic of an event */
      signatureHash32: string;
      /** The first four bytes: the selector */
      signatureHash4: string;
    }[];
  };
  values?: {
    /** null if there are none or they are unknown */
    constructorArguments?: {
      data: string;
      /** Decoded by the ABI; null if it has no constructor, if they are not its strict encoding, or if there are more than 500 values */
      decoded: DescribedValue[] | null;
    } | null;
    immutables?: {
      /** As in immutableReferences */
      id: string;
      /** Name of the variable, if known */
      name: string | null;
      /** Its declared type, if known */
      type: string | null;
      /** The bytes in the bytecode */
      data: string;
      /** null if the type does not define how to read it */
      value: string | null;
    }[];
    /** Libraries whose addresses are in the bytecode */
    libraries?: {
      name: string;
      address: string;
    }[];
  };
  /** Read from the chain for this response, so not included in fields=all */
  proxyResolution?: {
    isProxy?: boolean;
    proxyType?:
      | 'EIP1167Proxy'
      | 'EIP1967Proxy'
      | 'ZeppelinOSProxy'
      | 'PROXIABLEProxy'
      | 'GnosisSafeProxy'
      | 'SequenceWalletProxy'
      | 'DiamondProxy'
      | null;
    implementations?: {
      /** With its checksum (EIP-55) */
      address: string;
      /** If the implementation is verified here */
      name?: string;
      /** The match of the implementation */
      match?: 'exact_match' | 'match';
      /** Who verified the implementation */
      origin?: 'verified' | 'imported' | 'monitored';
    }[];
    /** Only this member if the chain could not be read */
    proxyResolutionError?: {
      /** Stable; programs branch on it */
      customCode: string;
      /** What happened, and what to do */
      message: string;
      /** Identifies this occurrence */
      errorId: string;
    };
  };
}

export interface DescribedValue {
  /** The declared name, or the index in a list; empty if it has none */
  name: string;
  type: string;
  /** Numbers in decimal digits, addresses with their checksum, other bytes in hex; absent for lists and tuples */
  value?: string;
  members?: DescribedValue[];
}

/** A verification in the queue */
export interface Submitted {
  /** Poll /v1/jobs/{id} */
  verificationId: string;
}

/** Source files and their settings */
export interface SourcesRequest {
  /** Path to text, as imports name the paths */
  files: Record<string, string>;
  /** 0.8.30+commit.73712a01; the v and the commit are optional */
  compilerVersion: string;
  /** path:Name or Name; by default the contract whose bytecode is on chain */
  contract?: string | null;
  language?: 'Solidity' | 'Yul' | 'Vyper';
  /** By default the optimizer is off */
  optimizer?: {
    enabled?: boolean;
    runs?: number;
  };
  /** Such as paris; by default, or for `default`, that of the compiler */
  evmVersion?: string | null;
  viaIR?: boolean | null;
  /** path:Name, or Name if only one source declares it, to address */
  libraries?: Record<string, string>;
  /** context:prefix=target */
  remappings?: string[];
  /** The transaction that created the contract; any other is ignored */
  creationTransactionHash?: string;
  /** Whether to read the metadata setting from the bytecode, and to try other common settings if the sources do not match; `changedSettings` of the job names what was changed */
  trySettings?: boolean;
}

/** A compiler that may have been used */
export interface CompilerProposal {
  /** Size of the runtime bytecode */
  codeBytes: number;
  /** solc compiles Solidity and Yul */
  compiler?: 'solc' | 'vyper';
  /** Absent if the bytecode does not name it */
  compilerVersion?: string;
  /** Where the version was found */
  from: 'auxdata' | 'none';
}

/** Signatures by their hashes */
export interface FoundSignatures {
  ok: true;
  result: {
    function: Record<
      string,
      | {
          /** transfer(address,uint256) */
          name: string;
          /** Whether filter=true hides it */
          filtered: boolean;
          /** Whether a currently verified contract has it */
          hasVerifiedContract: boolean;
        }[]
      | null
    >;
    event: Record<
      string,
      {
        /** transfer(address,uint256) */
        name: string;
        /** Whether filter=true hides it */
        filtered: boolean;
        /** Whether a currently verified contract has it */
        hasVerifiedContract: boolean;
      }[]
    >;
  };
}

/** An error of the signature database */
export interface SignatureError {
  ok: false;
  /** What happened, and what to do */
  error: string;
  /** A stable code */
  code: string;
}

/** The result of an import */
export interface SignatureImportAnswer {
  ok: true;
  result: {
    function: ImportedSignatures;
    event: ImportedSignatures;
  };
}

/** The result of an import */
export interface ImportedSignatures {
  /** Signature to hash: those that are new */
  imported: Record<string, string>;
  /** Those already known */
  duplicated: Record<string, string>;
  /** Texts that are not canonical signatures */
  invalid: string[];
}

/** Signatures to import */
export interface SignatureImportRequest {
  /** Canonical signatures, such as transfer(address,uint256) */
  function?: string[];
  /** Canonical signatures, such as transfer(address,uint256) */
  event?: string[];
}

/** The number of signatures */
export interface SignatureStats {
  ok: true;
  result: {
    count: {
      function: number;
      event: number;
      error: number;
      /** Those without a verified contract */
      unknown: number;
      total: number;
    };
    metadata: {
      /** The time of the counts */
      refreshed_at: string;
    };
  };
}

/** An answer of the Etherscan protocol */
export interface EtherscanAnswer {
  status: '0' | '1';
  message: 'OK' | 'NOTOK' | 'No records found';
  result: string | EtherscanSource[] | BlockscoutSource[] | EtherscanCreation[] | EtherscanLog[];
  /** Why a verification failed, in addition to the text that clients compare */
  details?: {
    /** The code of a failed job */
    customCode: string;
    message: string;
    errorId: string;
  };
}

/** A contract as getsourcecode returns it */
export interface EtherscanSource {
  /** The standard JSON input in an extra pair of braces; empty if not verified */
  SourceCode: string;
  /** JSON */
  ABI: string;
  ContractName: string;
  ContractFileName: string;
  /** v0.8.30+commit.73712a01, or vyper:0.4.3 */
  CompilerVersion: string;
  /** solc or vyper */
  CompilerType: string;
  OptimizationUsed: '0' | '1' | '';
  Runs: string;
  /** Hexadecimal digits without 0x */
  ConstructorArguments: string;
  /** Default, or an EVM version */
  EVMVersion: string;
  /** Name:0x…, separated by semicolons */
  Library: string;
  /** SPDX identifier of the source of the contract */
  LicenseType: string;
  Proxy: '0' | '1';
  /** An address, or empty */
  Implementation: string;
  SwarmSource: string;
  SimilarMatch: string;
}

/** A contract as Blockscout’s getsourcecode returns it */
export interface BlockscoutSource {
  Address: string;
  /** The file FileName; empty if not verified */
  SourceCode: string;
  /** JSON */
  ABI: string;
  ContractName?: string;
  FileName?: string;
  AdditionalSources?: {
    Filename: string;
    SourceCode: string;
  }[];
  /** v0.8.30+commit.73712a01 */
  CompilerVersion?: string;
  CompilerSettings?: Record<string, unknown>;
  OptimizationUsed?: 'true' | 'false';
  OptimizationRuns?: number;
  /** default, or an EVM version */
  EVMVersion?: string;
  /** Hexadecimal digits without 0x */
  ConstructorArguments?: string;
  ExternalLibraries?: {
    name: string;
    address_hash: string;
  }[];
  /** SPDX identifier of the source of the contract */
  LicenseType?: string;
  IsProxy?: 'true' | 'false';
  ImplementationAddress?: string;
  VerifiedAt?: string;
}

/** The creation of a verified contract */
export interface EtherscanCreation {
  contractAddress: string;
  /** The account or factory that created the contract */
  contractCreator: string;
  txHash: string;
  blockNumber: string;
  /** Including the constructor arguments */
  creationBytecode: string;
}

/** An event of a contract */
export interface EtherscanLog {
  address: string;
  topics: string[];
  data: string;
  blockNumber: string;
  blockHash: string;
  /** If the node reports it with the event */
  timeStamp?: string;
  logIndex: string;
  transactionHash: string;
  transactionIndex: string;
}

/** Parameters of the protocol, in the query or in the body. module is contract, and action verifysourcecode, checkverifystatus, getabi, getsourcecode, getcontractcreation, verifyproxycontract or checkproxyverification; or module is logs, and action getLogs. apikey is the token, where the service asks for one (`access.verify`). Others are ignored. */
export interface EtherscanFields {
  module?: string;
  action?: string;
  chainid?: string;
  chainId?: string;
  guid?: string;
  apikey?: string;
  address?: string;
  contractaddress?: string;
  contractaddresses?: string;
  expectedimplementation?: string;
  fromBlock?: string;
  toBlock?: string;
  page?: string;
  offset?: string;
  topic0?: string;
  topic1?: string;
  topic2?: string;
  topic3?: string;
  topic0_1_opr?: string;
  topic0_2_opr?: string;
  topic0_3_opr?: string;
  topic1_2_opr?: string;
  topic1_3_opr?: string;
  topic2_3_opr?: string;
  sourceCode?: string;
  codeformat?: string;
  contractname?: string;
  compilerversion?: string;
  constructorArguements?: string;
  constructorArguments?: string;
  optimizationUsed?: string;
  runs?: string;
  evmversion?: string;
  viaIR?: string;
  libraryname1?: string;
  libraryaddress1?: string;
  libraryname2?: string;
  libraryaddress2?: string;
  libraryname3?: string;
  libraryaddress3?: string;
  libraryname4?: string;
  libraryaddress4?: string;
  libraryname5?: string;
  libraryaddress5?: string;
  libraryname6?: string;
  libraryaddress6?: string;
  libraryname7?: string;
  libraryaddress7?: string;
  libraryname8?: string;
  libraryaddress8?: string;
  libraryname9?: string;
  libraryaddress9?: string;
  libraryname10?: string;
  libraryaddress10?: string;
}

/** The chains on which contracts can be verified */
export interface EtherscanChainList {
  comments: string;
  totalcount: number;
  result: {
    chainname: string;
    chainid: string;
    blockexplorer: string;
    apiurl: string;
    status: number;
    comment: string;
  }[];
}

/** A contract as the Blockscout API returns it */
export interface BlockscoutContract {
  is_verified: boolean;
  is_fully_verified: boolean;
  is_partially_verified: boolean;
  name?: string;
  /** solidity, vyper or yul */
  language?: string;
  /** v0.8.30+commit.73712a01 */
  compiler_version?: string;
  compiler_settings?: Record<string, unknown>;
  /** null for Vyper */
  optimization_enabled?: boolean | null;
  optimization_runs?: number | null;
  /** default, or an EVM version */
  evm_version?: string;
  abi?: unknown[] | null;
  file_path?: string;
  /** The file at file_path */
  source_code?: string;
  additional_sources?: {
    file_path: string;
    source_code: string;
  }[];
  /** Hexadecimal digits without 0x */
  constructor_args?: string | null;
  verified_at?: string;
}

/** A message of the Blockscout API */
export interface BlockscoutMessage {
  message: string;
}

/** What can be verified and how */
export interface BlockscoutVerificationConfig {
  verification_options: (
    | 'standard-input'
    | 'vyper-standard-input'
    | 'flattened-code'
    | 'multi-part'
    | 'vyper-code'
    | 'vyper-multi-part'
    | 'sourcify'
  )[];
  solidity_compiler_versions: string[];
  vyper_compiler_versions: string[];
  solidity_evm_versions: string[];
  vyper_evm_versions: string[];
  is_rust_verifier_microservice_enabled: boolean;
  license_types: Record<string, number>;
}

/** The verdict on bytecode and sources */
export interface BlockscoutVerdict {
  message: string;
  status: 'SUCCESS' | 'FAILURE';
  source: {
    fileName: string;
    contractName: string;
    compilerVersion: string;
    /** JSON */
    compilerSettings: string;
    sourceType: 'SOLIDITY' | 'VYPER' | 'YUL';
    sourceFiles: Record<string, string>;
    /** JSON */
    abi: string | null;
    constructorArguments: string | null;
    matchType: 'PARTIAL' | 'FULL';
    /** JSON */
    compilationArtifacts: string | null;
    /** JSON */
    creationInputArtifacts: string | null;
    /** JSON */
    deployedBytecodeArtifacts: string | null;
    isBlueprint: boolean;
    libraries: Record<string, string>;
  } | null;
  extraData: {
    localCreationInputParts: {
      type: 'main' | 'meta';
      data: string;
    }[];
    localDeployedBytecodeParts: {
      type: 'main' | 'meta';
      data: string;
    }[];
  } | null;
  postActionResponses: {
    lookupMethods: {
      methods: Record<
        string,
        {
          fileName: string;
          fileOffset: number;
          length: number;
        }
      >;
    } | null;
  } | null;
}

/** The verdicts on several bytecodes and one compilation */
export type BlockscoutBatch =
  | {
      compilationFailure: {
        message: string;
      };
    }
  | {
      contractVerificationResults: {
        items: (
          | {
              success: {
                creationCode: string;
                runtimeCode: string;
                compiler: 'SOLC' | 'VYPER';
                compilerVersion: string;
                language: 'SOLIDITY' | 'YUL' | 'VYPER';
                fileName: string;
                contractName: string;
                sources: Record<string, string>;
                /** JSON */
                compilerSettings: string;
                /** JSON */
                compilationArtifacts: string;
                /** JSON */
                creationCodeArtifacts: string;
                /** JSON */
                runtimeCodeArtifacts: string;
                creationMatchDetails?: {
                  matchType: 'PARTIAL' | 'FULL';
                  /** JSON */
                  values: string;
                  /** JSON */
                  transformations: string;
                };
                runtimeMatchDetails?: {
                  matchType: 'PARTIAL' | 'FULL';
                  /** JSON */
                  values: string;
                  /** JSON */
                  transformations: string;
                };
              };
            }
          | {
              failure: Record<string, unknown>;
            }
        )[];
      };
    };

/** Newest first */
export interface BlockscoutVersions {
  compilerVersions: string[];
}

/** By selectors; offsets and lengths in bytes */
export interface BlockscoutMethods {
  methods: Record<
    string,
    {
      fileName: string;
      fileOffset: number;
      length: number;
    }
  >;
}

/** An argument of a call or an event */
export interface DecodedArgument {
  name: string;
  type: string;
  components: DecodedArgument[];
  indexed?: boolean;
  /** Hexadecimal digits without 0x, text as it is */
  value: string;
}

/** The verified contracts that produce a bytecode */
export interface FoundSources {
  sources: {
    fileName: string;
    contractName: string;
    compilerVersion: string;
    /** JSON */
    compilerSettings: string;
    sourceType: 'SOLIDITY' | 'VYPER' | 'YUL';
    sourceFiles: Record<string, string>;
    /** JSON */
    abi: string | null;
    constructorArguments: string | null;
    matchType: 'PARTIAL' | 'FULL';
    /** JSON */
    compilationArtifacts: string | null;
    /** JSON */
    creationInputArtifacts: string | null;
    /** JSON */
    deployedBytecodeArtifacts: string | null;
    isBlueprint: boolean;
    libraries: Record<string, string>;
  }[];
}

/** The verified contracts that produce a bytecode; all results are in the first list */
export interface AllFoundSources {
  ethBytecodeDbSources: {
    fileName: string;
    contractName: string;
    compilerVersion: string;
    /** JSON */
    compilerSettings: string;
    sourceType: 'SOLIDITY' | 'VYPER' | 'YUL';
    sourceFiles: Record<string, string>;
    /** JSON */
    abi: string | null;
    constructorArguments: string | null;
    matchType: 'PARTIAL' | 'FULL';
    /** JSON */
    compilationArtifacts: string | null;
    /** JSON */
    creationInputArtifacts: string | null;
    /** JSON */
    deployedBytecodeArtifacts: string | null;
    isBlueprint: boolean;
    libraries: Record<string, string>;
  }[];
  sourcifySources: {
    fileName: string;
    contractName: string;
    compilerVersion: string;
    /** JSON */
    compilerSettings: string;
    sourceType: 'SOLIDITY' | 'VYPER' | 'YUL';
    sourceFiles: Record<string, string>;
    /** JSON */
    abi: string | null;
    constructorArguments: string | null;
    matchType: 'PARTIAL' | 'FULL';
    /** JSON */
    compilationArtifacts: string | null;
    /** JSON */
    creationInputArtifacts: string | null;
    /** JSON */
    deployedBytecodeArtifacts: string | null;
    isBlueprint: boolean;
    libraries: Record<string, string>;
  }[];
  allianceSources: {
    fileName: string;
    contractName: string;
    compilerVersion: string;
    /** JSON */
    compilerSettings: string;
    sourceType: 'SOLIDITY' | 'VYPER' | 'YUL';
    sourceFiles: Record<string, string>;
    /** JSON */
    abi: string | null;
    constructorArguments: string | null;
    matchType: 'PARTIAL' | 'FULL';
    /** JSON */
    compilationArtifacts: string | null;
    /** JSON */
    creationInputArtifacts: string | null;
    /** JSON */
    deployedBytecodeArtifacts: string | null;
    isBlueprint: boolean;
    libraries: Record<string, string>;
  }[];
}

/** An event as verified contracts declare it */
export interface EventDescriptions {
  eventDescriptions: {
    type: 'event';
    name: string;
    /** JSON, as in the ABI */
    inputs: string;
  }[];
}

/** The number of contracts verified here */
export interface AllianceStats {
  totalContracts: number;
  contractsPerProvider: Record<string, number>;
}

/** A status of gRPC */
export interface BlockscoutHealth {
  status: 'SERVING';
}

/** All counts at one position of the feed */
export interface StatisticsOverview {
  /** The time of the statistics, which follow events within a second */
  asOf: string;
  /** The newest counted event, in decimal digits */
  eventNumber: string;
  /** The position in the event feed up to which everything is counted, in decimal digits */
  position: string;
  totals: {
    full: number;
    partial: number;
    /** Those of them that other services claim: imported, and not verified here */
    claimed: {
      full: number;
      partial: number;
    };
    /** Chains with contracts */
    chains: number;
    /** Unique runtime bytecodes ever verified, as far as the bytecode is known */
    uniqueCodes: number;
  };
  /** Changes in the last 24 hours and 7 days, by whole hours */
  changes: {
    day: {
      full: number;
      partial: number;
      claimed: {
        full: number;
        partial: number;
      };
    };
    week: {
      full: number;
      partial: number;
      claimed: {
        full: number;
        partial: number;
      };
    };
  };
  /** Every chain that ever had a verified contract, ordered by chainId */
  chains: {
    chainId: number;
    name: string;
    full: number;
    partial: number;
    /** Those of them that other services claim: imported, and not verified here */
    claimed: {
      full: number;
      partial: number;
    };
    /** full / (full + partial) */
    share: number | null;
    firstVerifiedAt: string | null;
    lastVerifiedAt: string | null;
  }[];
  /** By the origin of the current match */
  origins: {
    verified: {
      full: number;
      partial: number;
    };
    imported: {
      full: number;
      partial: number;
    };
    monitored: {
      full: number;
      partial: number;
    };
  };
  /** By how far this service checked the current match */
  trusts: {
    claimed: {
      full: number;
      partial: number;
    };
    rechecked: {
      full: number;
      partial: number;
    };
    recompiled: {
      full: number;
      partial: number;
    };
    verified: {
      full: number;
      partial: number;
    };
  };
  /** Those with the most contracts first */
  compilers: {
    language: string;
    version: string;
    full: number;
    partial: number;
    /** Those of them that other services claim: imported, and not verified here */
    claimed: {
      full: number;
      partial: number;
    };
  }[];
}

/** The counts over time, by day in UTC */
export interface StatisticsHistory {
  interval: 'day' | 'week' | 'month';
  from: string;
  to: string;
  /** The position in the event feed up to which everything is counted, in decimal digits */
  position: string;
  /** null: all chains together */
  chains: number[] | null;
  /** The counts at the end of each interval, without gaps; `date` is its last day */
  points: {
    date: string;
    full: number;
    partial: number;
    /** Those of them that other services claim: imported, and not verified here */
    claimed: {
      full: number;
      partial: number;
    };
  }[];
  /** Withdrawals on a chain on one day for one reason */
  withdrawals: {
    date: string;
    chainId: number;
    full: number;
    partial: number;
    claimed: {
      full: number;
      partial: number;
    };
    reason: string;
  }[];
}

/** Events of the feed, oldest first */
export interface FeedPage {
  results: MatchEvent[];
  /** The `after` of the next request; null while the feed is empty */
  next: string | null;
  /** Whether there are more events already */
  hasMore: boolean;
}

/** Contracts, in pages */
export interface ContractPage {
  results: ContractSummary[];
  /** The `after` of the next page; null on the last one */
  next: string | null;
}

/** A verified contract in a list */
export interface ContractSummary {
  chainId: number;
  /** With its EIP-55 checksum */
  address: string;
  /** The better of the two matches */
  match: 'full' | 'partial';
  runtimeMatch: 'full' | 'partial' | null;
  creationMatch: 'full' | 'partial' | null;
  name: string;
  language: string;
  compilerVersion: string;
  origin: 'verified' | 'imported' | 'monitored';
  /** How far this service checked the match: claimed by an import; rechecked, if the delivered bytecode is consistent with it; recompiled here; or verified here against the chain */
  trust: 'claimed' | 'rechecked' | 'recompiled' | 'verified';
  /** When the current match was stored */
  verifiedAt: string;
  /** Decimal digits; new evidence gets a higher number */
  matchId: string;
}

/** A match and its evidence */
export interface Evidence {
  chainId: number;
  /** With its checksum (EIP-55) */
  address: string;
  match: 'full' | 'partial';
  runtimeMatch: 'full' | 'partial' | null;
  creationMatch: 'full' | 'partial' | null;
  /** Who verified it: this service on request, another service, or this service’s monitor */
  origin: 'verified' | 'imported' | 'monitored';
  /** How far this service checked the match: claimed by an import; rechecked, if the delivered bytecode is consistent with it; recompiled here; or verified here against the chain */
  trust: 'claimed' | 'rechecked' | 'recompiled' | 'verified';
  /** Where an imported match comes from, if the import named it */
  source: string | null;
  /** When this service stored its first match */
  firstVerifiedAt: string;
  /** When this service stored the current match */
  verifiedAt: string;
  matchId: string | null;
  /** What the match does not prove: names, comments and settings without the metadata hash; immutables, library addresses and the storage written by the constructor without matching creation bytecode; libraries if the settings of a partial match contain their addresses; creation if the creation bytecode is known and differs; the imported creation transaction and constructor arguments until they are proven here */
  unproven: (
    | 'names'
    | 'comments'
    | 'settings'
    | 'immutables'
    | 'libraries'
    | 'storage'
    | 'creation'
    | 'transaction'
    | 'arguments'
  )[];
  /** Where the bytecode on chain was read; null if it was not read here */
  codeReading: {
    blockNumber: number;
    blockHash: string;
    /** The labels of those that agreed */
    endpoints: string[];
    /** The number of independent operators that agreed, by registrable domain; absent if an older version read it */
    witnesses?: number;
  } | null;
  /** The result of each method used to find the creation transaction; null if there was no search */
  creationSearch:
    | {
        method: string;
        outcome: string;
        detail?: string;
        durationMs: number;
      }[]
    | null;
  /** Whether there are files that the metadata does not list. They are needed to reproduce the bytecode, but no hash proves their text */
  hasUnlistedSources: boolean;
  /** As last read from the chain; null if unknown */
  proxyResolution: {
    isProxy?: boolean;
    proxyType?:
      | 'EIP1167Proxy'
      | 'EIP1967Proxy'
      | 'ZeppelinOSProxy'
      | 'PROXIABLEProxy'
      | 'GnosisSafeProxy'
      | 'SequenceWalletProxy'
      | 'DiamondProxy'
      | null;
    implementations?: {
      /** With its checksum (EIP-55) */
      address: string;
      /** If the implementation is verified here */
      name?: string;
      /** The match of the implementation */
      match?: 'exact_match' | 'match';
      /** Who verified the implementation */
      origin?: 'verified' | 'imported' | 'monitored';
    }[];
    /** Only this member if the chain could not be read */
    proxyResolutionError?: {
      /** Stable; programs branch on it */
      customCode: string;
      /** What happened, and what to do */
      message: string;
      /** Identifies this occurrence */
      errorId: string;
    };
  } | null;
  /** SPDX identifier from a comment in the contract’s source; a partial match does not prove it */
  license: string | null;
  /** Other sources that compile to the bytecode of a partial match; at most 5 */
  alternatives: {
    matchId: string;
    name: string;
    fullyQualifiedName: string;
    language: string;
    compilerVersion: string;
    runtimeMatch: 'full' | 'partial' | null;
    creationMatch: 'full' | 'partial' | null;
    recordedAt: string;
  }[];
  runtimeCode: {
    /** keccak256; null if the bytecode is unknown */
    onChain: string | null;
    /** keccak256; null if the bytecode is unknown */
    recompiled: string | null;
  };
  creationCode: {
    /** keccak256; null if the bytecode is unknown */
    onChain: string | null;
    /** keccak256; null if the bytecode is unknown */
    recompiled: string | null;
  };
}

/** The history of a contract’s match */
export interface ContractEvents {
  /** The newest 100, newest first; empty if there never was a match */
  results: {
    /** Increases with time */
    eventNumber: string;
    /** A correction changes the record, not the match */
    kind: 'stored' | 'upgraded' | 'withdrawn' | 'corrected';
    /** After the event; null after a withdrawal and for a correction */
    match: 'full' | 'partial' | null;
    origin: 'verified' | 'imported' | 'monitored' | null;
    at: string;
    /** Why it was withdrawn or corrected: `code_replaced`, `creation_replaced`, `creation_disproved`, `creation_rolled_back`, `claim_disproved`, `call_protection_missing`, `verbatim_not_allowed`, `deployment_corrected` with the facts that were wrong, or the operator’s own words */
    reason?: string;
  }[];
}

/** Other sources, as standard JSON */
export interface AlternativeText {
  matchId: string;
  name: string;
  fullyQualifiedName: string;
  language: string;
  compilerVersion: string;
  runtimeMatch: 'full' | 'partial' | null;
  creationMatch: 'full' | 'partial' | null;
  recordedAt: string;
  stdJsonInput: {
    language: string;
    sources: Record<
      string,
      {
        content: string;
      }
    >;
    settings: Record<string, unknown>;
    [name: string]: unknown;
  };
}

/** Some of the sources of a contract */
export interface SourcePage {
  /** The number of sources; 10,000 means 10,000 or more */
  total: number;
  /** Size of metadata.json; 0 if there is none */
  metadataBytes: number;
  /** Ordered by path, at most 200 */
  sources: {
    path: string;
    bytes: number;
    /** null after the first 2 MB of a page */
    content: string | null;
  }[];
  /** `after` of the next page; null on the last one */
  next: string | null;
  /** The source at `path`, otherwise that of the contract, otherwise the first */
  shown: {
    path: string;
    bytes: number;
    /** The first million characters */
    content: string;
  } | null;
}

/** The state of a verification job */
export interface JobState {
  id: string;
  state: 'queued' | 'running' | 'succeeded' | 'failed';
  chainId: number;
  /** With its checksum (EIP-55) */
  address: string;
  createdAt: string;
  startedAt?: string;
  finishedAt?: string;
  compileTimeMs?: number;
  runtimeMatch: 'full' | 'partial' | null;
  creationMatch: 'full' | 'partial' | null;
  /** Whether it stored a match that was not there before */
  stored: boolean;
  /** The match was not replaced, because other sources that compile to the same bytecode are shown; these were stored as an alternative */
  keptBeside: boolean;
  /** The sources compile to the same bytecode without these files, so they are not published; absent if all are needed */
  droppedSources?: {
    count: number;
    /** The first 20 */
    paths: string[];
  };
  /** The sources match with these settings instead of the submitted ones; absent if none was changed */
  changedSettings?: {
    compilerVersion?: string;
    optimizer?: {
      enabled: boolean;
      runs?: number;
    };
    evmVersion?: string;
    viaIR?: boolean;
    /** For Vyper */
    optimize?: string | boolean;
    /** Read from the deployed bytecode */
    metadata?: {
      bytecodeHash?: 'ipfs' | 'bzzr1' | 'none';
      appendCBOR?: boolean;
    };
  };
  /** Present while the job waits in the queue for its compiler, which is being downloaded */
  compilerDownload?: {
    longVersion: string;
    receivedBytes: number;
    /** Absent if the mirror does not report it */
    totalBytes?: number;
    /** As text */
    message: string;
  };
  /** Present only when the job failed */
  failure?: {
    /** The code differs, the input is invalid, or it could not be checked */
    kind: 'no_match' | 'invalid_input' | 'not_checked';
    code: string;
    message: string;
    /** Look it up in the log for details */
    id: string;
    data?: Record<string, unknown>;
    /** 0x and hexadecimal digits */
    recompiledCreationCode?: string;
    /** 0x and hexadecimal digits */
    recompiledRuntimeCode?: string;
    /** 0x and hexadecimal digits */
    onchainCreationCode?: string;
    /** 0x and hexadecimal digits */
    onchainRuntimeCode?: string;
    /** The transaction the creation bytecode comes from */
    creationTransactionHash?: string;
    /** The bytecodes that differ; for large ones, excerpts around the first difference */
    comparedCodes?: {
      runtime?: {
        /** Where both windows begin */
        offset: number;
        recompiled?: {
          bytes: number;
          /** Of the whole bytecode */
          sha256: string;
          /** The bytes from offset on; absent if the whole code is present */
          window?: string;
        };
        onChain?: {
          bytes: number;
          /** Of the whole bytecode */
          sha256: string;
          /** The bytes from offset on; absent if the whole code is present */
          window?: string;
        };
      };
      creation?: {
        /** Where both windows begin */
        offset: number;
        recompiled?: {
          bytes: number;
          /** Of the whole bytecode */
          sha256: string;
          /** The bytes from offset on; absent if the whole code is present */
          window?: string;
        };
        onChain?: {
          bytes: number;
          /** Of the whole bytecode */
          sha256: string;
          /** The bytes from offset on; absent if the whole code is present */
          window?: string;
        };
      };
    };
  };
}

/** The implementations of a proxy over time */
export interface ProxyUpgrades {
  chainId: number;
  /** With its checksum (EIP-55) */
  address: string;
  /** Newest first, up to 100 */
  upgrades: {
    /** With its checksum (EIP-55) */
    implementation: string;
    blockNumber: number;
    transactionHash: string;
    /** If the implementation is verified here */
    name?: string;
    /** The match of the implementation */
    match?: 'full' | 'partial';
    /** Who verified the implementation */
    origin?: 'verified' | 'imported' | 'monitored';
  }[];
  /** Whether these are all upgrades */
  isComplete: boolean;
  /** All events up to this block were read; endpoints limit how many blocks they serve */
  lastBlock: number;
}

/** A match that no longer counts */
export interface WithdrawnMatch {
  chainId: number;
  /** With its checksum (EIP-55) */
  address: string;
  withdrawnAt: string;
  /** As in the events of the contract */
  reason: string;
  /** The match that was withdrawn */
  match: 'full' | 'partial';
  origin: 'verified' | 'imported' | 'monitored' | null;
  /** null if its evidence is unknown */
  compilation: {
    name: string;
    fullyQualifiedName: string;
    language: string;
    compiler: string;
    compilerVersion: string;
  } | null;
  /** null if its evidence is unknown */
  sources: {
    /** The number of sources; 10,000 means 10,000 or more */
    total: number;
    /** Size of metadata.json; 0 if there is none */
    metadataBytes: number;
    /** Ordered by path, at most 200 */
    sources: {
      path: string;
      bytes: number;
      /** null after the first 2 MB of a page */
      content: string | null;
    }[];
    /** `after` of the next page; null on the last one */
    next: string | null;
    /** The source at `path`, otherwise that of the contract, otherwise the first */
    shown: {
      path: string;
      bytes: number;
      /** The first million characters */
      content: string;
    } | null;
  } | null;
}

/** A message of the Model Context Protocol (JSON-RPC 2.0) */
export interface McpMessage {
  jsonrpc: '2.0';
  [name: string]: unknown;
}

/** The health of the service */
export interface Health {
  /** degraded: see the reasons; the service still responds */
  status: 'ok' | 'degraded';
  ready: boolean;
  reasons: {
    /** Stable; programs branch on it */
    code:
      | 'stopping'
      | 'chains_not_published'
      | 'statistics_not_published'
      | 'database_unreachable'
      | 'database_damaged'
      | 'database_unavailable'
      | 'database_behind'
      | 'disk_full'
      | 'list_stale'
      | 'list_records_held_back'
      | 'configuration_refused'
      | 'registry_findings'
      | 'feed_stopped'
      | 'queue_stalled'
      | 'chains_down'
      | 'monitor_stopped';
    /** The same as text */
    detail: string;
    /** Whether requests should go elsewhere until it is resolved */
    blocking: boolean;
    /** When it began, if known */
    since?: string;
  }[];
  uptimeSeconds: number;
  registry?: {
    /** embedded, the list file, or the URL the list was synced from */
    source: string;
    /** Hash of the chain list */
    sha256: string;
    /** When the embedded list was published; absent if another list is used */
    listDate?: string;
    chains: number;
    supported: number;
    monitored: number;
    findings: {
      error: number;
      warning: number;
      info: number;
    };
    /** No newer list can be fetched; the last good one is used */
    stale: boolean;
    ageSeconds: number;
    /** Since a source last provided or confirmed the list; absent without sync */
    confirmedSecondsAgo?: number;
  };
  statistics?: {
    chains: number;
    /** As in stats.json, which counts verified and imported contracts */
    full: number;
    /** As in stats.json */
    partial: number;
    lastModified: string;
    /** Since the counts last changed */
    ageSeconds: number;
    /** Since they were last checked against the database */
    confirmedSecondsAgo: number;
  };
  configuration?: {
    /** Since the current configuration was read */
    ageSeconds: number;
    /** A newer one is invalid */
    refused: boolean;
  };
  database?: {
    reachable: boolean;
    checkedSecondsAgo: number;
  };
  /** Unfinished verification jobs of all processes of the database */
  queue?: {
    queued: number;
    running: number;
    /** Age of the oldest waiting job; absent if none waits */
    oldestQueuedSeconds?: number;
  };
  /** The compilers of this process */
  compilers?: {
    /** Running compilations */
    running: number;
    /** Waiting compilations */
    waiting: number;
    /** Idle loaded compilers */
    warm: number;
    /** Their resident memory when last measured */
    warmBytes: number;
  };
  /** Configured chains by the state of their endpoints, as this process sees them */
  probedChains?: {
    up: number;
    degraded: number;
    down: number;
    unknown: number;
  };
  /** Monitoring for new contracts, by any process of the database */
  monitor?: {
    /** Chains with a monitor */
    chains: number;
    /** Chains whose monitor has stopped */
    stopped: {
      chainId: number;
      status: 'failing' | 'stalled';
      /** Why: a code */
      code: string;
      since?: string;
      lagBlocks?: number;
    }[];
  };
}

/** Whether the service is ready for requests */
export interface Readiness {
  ready: boolean;
  /** The chain list in use is not the newest */
  stale: boolean;
  reasons: {
    /** Stable; programs branch on it */
    code:
      | 'stopping'
      | 'chains_not_published'
      | 'statistics_not_published'
      | 'database_unreachable'
      | 'database_damaged'
      | 'database_unavailable'
      | 'database_behind'
      | 'disk_full'
      | 'list_stale'
      | 'list_records_held_back'
      | 'configuration_refused'
      | 'registry_findings'
      | 'feed_stopped'
      | 'queue_stalled'
      | 'chains_down'
      | 'monitor_stopped';
    /** The same as text */
    detail: string;
    /** Whether requests should go elsewhere until it is resolved */
    blocking: boolean;
    /** When it began, if known */
    since?: string;
  }[];
  ages: {
    listSeconds?: number;
    statisticsConfirmedSeconds?: number;
  };
}

/** The running version */
export interface Version {
  name: 'fullmatch';
  /** Version of the service */
  version: string;
  /** Version of Node.js */
  node: string;
  /** Number of the newest database migration */
  schema?: number;
  /** Who may verify contracts: everyone, holders of a token, or no one */
  verify: 'open' | 'token' | 'off';
}

/** The state of the repository */
export interface Manifest {
  /** When the counts last changed, in milliseconds since 1970 */
  timestamp: number;
  /** The same moment, ISO 8601 in UTC */
  dateString: string;
  /** Version of the service */
  version: string;
}

/** The folders of full and partial matches */
export interface RootFolder {
  folders: {
    match: 'full' | 'partial';
    contracts: number;
    /** Path from the root of this host */
    url: string;
  }[];
}

/** The chains with matches of a kind */
export interface MatchFolder {
  match: 'full' | 'partial';
  /** Ascending chainId: those with such a match */
  chains: {
    chainId: number;
    name: string;
    contracts: number;
    /** Path from the root of this host */
    url: string;
  }[];
}

/** The contracts of a chain, in pages */
export interface ChainFolder {
  match: 'full' | 'partial';
  chainId: number;
  name: string;
  /** Contracts of this folder, on all pages */
  total: number;
  /** Newest match first */
  contracts: {
    address: string;
    name: string | null;
    /** Path from the root of this host */
    url: string;
  }[];
  /** The `after` of the next page; null on the last one */
  next: string | null;
}

/** The files of a verified contract */
export interface ContractFolder {
  match: 'full' | 'partial';
  chainId: number;
  address: string;
  files: {
    /** Paths below this folder */
    path: string;
    /** Path from the root of this host */
    url: string;
    /** Its size; absent for compilation.json, which is rendered on request */
    bytes?: number;
  }[];
}

/** The operator’s page */
export interface OperatorState {
  health: Health;
  roles: {
    hosts: ('api' | 'repository')[];
    /** Verifications that this process runs at once */
    workers: number;
    monitor: boolean;
    database: 'embedded' | 'external';
  };
  /** The file system of the data directory; absent if there is none */
  disk?: {
    freeBytes: number;
    totalBytes: number;
  };
  databaseBytes: number;
  /** How many events each table is behind the feed */
  feed: {
    name: string;
    behind: number;
  }[];
  jobs: {
    id: string;
    state: string;
    chainId: number;
    address: string;
    createdAt: string;
  }[];
  /** Jobs that failed in the last 24 hours */
  failures: {
    code: string;
    jobs: number;
    /** Jobs among them whose request is kept */
    retriable: number;
    lastJob: string;
    lastAt: string;
  }[];
  chains: {
    chainId: number;
    name: string;
    state: string;
    endpoints: number;
    up: number;
    /** The most severe */
    reason?: string;
  }[];
  monitors: {
    chainId: number;
    name: string;
    status: string;
    lagBlocks: number;
    found: number;
    waiting: number;
    givenUp: number;
  }[];
}
