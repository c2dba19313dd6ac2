import { FetchFault } from './lib/fetch-fault.ts';

/**
 * Error codes. They are stable, so clients and scripts may depend on them; the text may change. `status` is the
 * HTTP status, `exit` the exit code of a command: 1 invalid input, 2 faulty installation, 6 differences found,
 * 75 try again later, 130 interrupted (128 + SIGINT). docs/errors.md lists the same codes, which a test checks.
 */
export const ERROR_CODES = {
  // requests
  route_not_found: { status: 404, exit: 1, title: 'No such route' },
  method_not_allowed: { status: 405, exit: 1, title: 'Method not allowed' },
  invalid_parameter: { status: 400, exit: 1, title: 'Invalid parameter' },
  not_acceptable: { status: 406, exit: 1, title: 'No acceptable coding' },
  malformed_request: { status: 400, exit: 1, title: 'Malformed request' },
  request_timeout: { status: 408, exit: 75, title: 'Request timed out' },
  unsupported_content_coding: { status: 415, exit: 1, title: 'Unsupported content coding' },
  request_too_many_values: { status: 413, exit: 1, title: 'Too many values in the request' },
  source_path_too_long: { status: 400, exit: 1, title: 'Source path too long' },
  request_too_many_sources: { status: 413, exit: 1, title: 'Too many source files' },
  request_too_complex: { status: 413, exit: 1, title: 'Request too complex' },
  too_many_bodies: { status: 503, exit: 75, title: 'Too many request bodies' },
  too_many_client_bodies: {
    status: 429,
    exit: 75,
    title: 'Too many request bodies from this client',
  },
  too_many_answers: { status: 503, exit: 75, title: 'Too many large responses' },
  too_many_client_answers: {
    status: 429,
    exit: 75,
    title: 'Too many large responses for this client',
  },
  feed_position_unknown: { status: 410, exit: 1, title: 'Unknown position in the feed' },
  answer_too_large: { status: 422, exit: 1, title: 'Response too large' },
  page_too_large: { status: 503, exit: 75, title: 'Page too large' },
  request_too_large: { status: 413, exit: 1, title: 'Request too large' },
  expectation_failed: { status: 417, exit: 1, title: 'Expectation failed' },
  request_headers_too_large: { status: 431, exit: 1, title: 'Request headers too large' },
  shutting_down: { status: 503, exit: 75, title: 'Service is shutting down' },
  too_many_clients: { status: 503, exit: 75, title: 'Too many event streams' },
  not_ready: { status: 503, exit: 75, title: 'Service is not ready' },
  internal_error: { status: 500, exit: 1, title: 'Internal error' },
  // chains
  chain_not_found: { status: 404, exit: 1, title: 'Chain not found' },
  ambiguous_chain_reference: { status: 409, exit: 1, title: 'Ambiguous chain reference' },
  icon_not_found: { status: 404, exit: 1, title: 'Icon not found' },
  invalid_chain_list: { status: 500, exit: 1, title: 'Invalid chain list' },
  chain_list_unavailable: { status: 503, exit: 75, title: 'Chain list unavailable' },
  chain_list_refused: { status: 500, exit: 6, title: 'Chain list refused' },
  secret_in_document: { status: 500, exit: 1, title: 'Secret in a public document' },
  // configuration
  invalid_configuration: { status: 500, exit: 1, title: 'Invalid configuration' },
  unknown_configuration_key: { status: 500, exit: 1, title: 'Unknown configuration key' },
  configuration_file_unreadable: { status: 500, exit: 1, title: 'Configuration file unreadable' },
  configuration_refused: { status: 500, exit: 1, title: 'Configuration refused' },
  installation_faulty: { status: 500, exit: 2, title: 'Installation has errors' },
  installation_warnings: { status: 500, exit: 1, title: 'Installation has warnings' },
  service_not_running: { status: 500, exit: 1, title: 'Service not running' },
  environment_variable_missing: { status: 500, exit: 1, title: 'Environment variable missing' },
  // store
  database_unreachable: { status: 503, exit: 75, title: 'Database unreachable' },
  database_too_old: { status: 500, exit: 1, title: 'PostgreSQL is too old' },
  database_error: { status: 500, exit: 1, title: 'Database error' },
  database_unavailable: { status: 503, exit: 75, title: 'Database unavailable' },
  database_damaged: { status: 503, exit: 75, title: 'Database damaged' },
  database_behind: { status: 503, exit: 75, title: 'Database has lost acknowledged data' },
  storage_full: { status: 503, exit: 75, title: 'Not enough disk space' },
  schema_too_new: { status: 500, exit: 1, title: 'Database schema too new' },
  data_directory_unusable: { status: 500, exit: 1, title: 'Data directory unusable' },
  data_directory_full: { status: 503, exit: 75, title: 'No space in the data directory' },
  data_directory_too_new: {
    status: 500,
    exit: 1,
    title: 'Data directory is from a newer PostgreSQL',
  },
  data_directory_too_old: {
    status: 500,
    exit: 1,
    title: 'Data directory is from an older PostgreSQL',
  },
  embedded_server_unavailable: { status: 500, exit: 1, title: 'Embedded PostgreSQL unavailable' },
  access_token_exists: { status: 409, exit: 1, title: 'Token already exists' },
  access_token_not_found: { status: 404, exit: 1, title: 'Token not found' },
  no_data: { status: 500, exit: 1, title: 'No data found' },
  backup_not_written: { status: 500, exit: 1, title: 'Backup not written' },
  backup_unusable: { status: 500, exit: 1, title: 'Backup unusable' },
  backup_behind: { status: 500, exit: 6, title: 'Backup is behind the database' },
  database_in_use: { status: 503, exit: 75, title: 'Database in use' },
  // repository
  contract_not_found: { status: 404, exit: 1, title: 'Contract not found' },
  file_not_found: { status: 404, exit: 1, title: 'File not found' },
  search_too_broad: { status: 400, exit: 1, title: 'Search too broad' },
  signature_import_refused: { status: 403, exit: 1, title: 'Signature import disabled' },
  signature_budget_spent: { status: 403, exit: 1, title: 'Signature import limit reached' },
  counts_differ: { status: 500, exit: 6, title: 'Counts differ from the stored matches' },
  // compilers
  invalid_compiler_version: { status: 400, exit: 1, title: 'Invalid compiler version' },
  unsupported_compiler_version: { status: 400, exit: 1, title: 'Unsupported compiler version' },
  unsupported_language: { status: 400, exit: 1, title: 'Unsupported language' },
  invalid_compiler_input: { status: 400, exit: 1, title: 'Invalid compiler input' },
  missing_sources: { status: 400, exit: 1, title: 'Imported sources are missing' },
  compiler_unavailable: { status: 503, exit: 75, title: 'Compiler unavailable' },
  compiler_bundle_refused: { status: 500, exit: 1, title: 'Compiler bundle refused' },
  compiler_checksum_mismatch: { status: 500, exit: 1, title: 'Compiler checksum mismatch' },
  compiler_timeout: { status: 422, exit: 1, title: 'Compilation took too long' },
  compiler_out_of_memory: { status: 422, exit: 1, title: 'Compilation needs too much memory' },
  compiler_output_too_large: { status: 422, exit: 1, title: 'Compiler output is too large' },
  compiler_crashed: { status: 422, exit: 1, title: 'Compiler crashed' },
  // bytecode
  malformed_compiler_output: { status: 500, exit: 1, title: 'Inconsistent compiler output' },
  // verification
  unsupported_chain: { status: 400, exit: 1, title: 'Chain not supported' },
  files_missing: { status: 404, exit: 1, title: 'No files submitted' },
  invalid_json: { status: 400, exit: 1, title: 'Invalid JSON' },
  already_verified: { status: 409, exit: 1, title: 'Already verified' },
  duplicate_verification_request: {
    status: 429,
    exit: 75,
    title: 'Verification already in progress',
  },
  queue_full: { status: 429, exit: 75, title: 'Verification queue full' },
  etherscan_limit: { status: 429, exit: 75, title: 'Explorer rate limit exceeded' },
  etherscan_request_failed: { status: 502, exit: 1, title: 'Explorer request failed' },
  malformed_etherscan_response: { status: 502, exit: 1, title: 'Malformed explorer response' },
  not_etherscan_verified: { status: 404, exit: 1, title: 'Not verified on the explorer' },
  job_not_found: { status: 404, exit: 1, title: 'Verification job not found' },
  job_not_retriable: { status: 409, exit: 1, title: 'Verification job cannot be retried' },
  job_ended: { status: 409, exit: 1, title: 'Verification job has ended' },
  not_on_this_machine: { status: 403, exit: 1, title: 'Only available on the local machine' },
  job_of_another_client: { status: 403, exit: 1, title: 'Job of another client' },
  verification_off: { status: 403, exit: 1, title: 'Verification disabled' },
  token_required: { status: 401, exit: 1, title: 'Token required' },
  token_unknown: { status: 401, exit: 1, title: 'Invalid token' },
  too_many_verifications: { status: 429, exit: 75, title: 'Verification rate limit exceeded' },
  too_many_waiters: { status: 429, exit: 75, title: 'Too many waiting requests' },
  no_match: { status: 422, exit: 6, title: 'Bytecode does not match' },
  not_verifiable: { status: 422, exit: 1, title: 'Verification not possible with this input' },
  not_checked: { status: 503, exit: 75, title: 'Verification could not be completed' },
  verification_input_unusable: { status: 400, exit: 1, title: 'Verification input unusable' },
  no_demo_node: { status: 500, exit: 1, title: 'No node for the demo' },
  // import
  import_path_unusable: { status: 400, exit: 1, title: 'Import path unusable' },
  export_path_unusable: { status: 400, exit: 1, title: 'Export path unusable' },
  export_of_another_database: {
    status: 409,
    exit: 1,
    title: 'Export from another database',
  },
  import_source_unavailable: { status: 503, exit: 75, title: 'Import source unavailable' },
  import_interrupted: { status: 503, exit: 130, title: 'Import interrupted' },
  // network
  port_unavailable: { status: 500, exit: 1, title: 'Port unavailable' },
  url_not_allowed: { status: 502, exit: 1, title: 'URL not allowed' },
  scheme_not_allowed: { status: 502, exit: 1, title: 'URL scheme not allowed' },
  address_not_allowed: { status: 502, exit: 1, title: 'Address not allowed' },
  connection_failed: { status: 503, exit: 75, title: 'Connection failed' },
  deadline_exceeded: { status: 503, exit: 75, title: 'Deadline exceeded' },
  too_many_redirects: { status: 502, exit: 1, title: 'Too many redirects' },
  response_too_large: { status: 502, exit: 1, title: 'Response too large' },
  malformed_response: { status: 502, exit: 1, title: 'Malformed response' },
  circuit_open: { status: 503, exit: 75, title: 'Host temporarily disabled after failures' },
  throttled: { status: 503, exit: 75, title: 'Throttled by the host' },
  // chain access
  rpc_unreachable: { status: 503, exit: 75, title: 'RPC endpoint unreachable' },
  rpc_refused: { status: 502, exit: 1, title: 'RPC call refused' },
  rpc_invalid_answer: { status: 502, exit: 1, title: 'Invalid RPC response' },
  wrong_chain: { status: 502, exit: 1, title: 'RPC endpoint serves another chain' },
  endpoints_disagree: { status: 503, exit: 75, title: 'RPC endpoints disagree' },
  endpoints_unhealthy: { status: 503, exit: 75, title: 'RPC endpoints unhealthy' },
  cannot_fetch_bytecode: { status: 503, exit: 75, title: 'Bytecode could not be fetched' },
  code_too_large: { status: 422, exit: 1, title: 'Bytecode too large' },
  contract_changed: { status: 503, exit: 75, title: 'Contract changed on chain' },
  contract_not_deployed: { status: 404, exit: 1, title: 'No code at the address' },
  creation_transaction_not_found: {
    status: 404,
    exit: 1,
    title: 'Creation transaction not found',
  },
} as const satisfies Record<string, { status: number; exit: number; title: string }>;

/** A stable code of {@link ERROR_CODES}, in lower_snake_case. */
export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * An error with a stable code and a message that states the problem, the value and what to do. The message is
 * safe to publish: it never contains a secret.
 */
export class FullmatchError extends Error {
  override readonly name = 'FullmatchError';
  readonly code: ErrorCode;
  /** Machine-readable facts, such as the chain id or the configuration key; shown with the message. */
  readonly details: Readonly<Record<string, unknown>>;
  /**
   * Message for the operator, in the log and in commands. Unlike the public message it may name folders and
   * private addresses.
   */
  readonly forOperator: string;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Record<string, unknown>; forOperator?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.forOperator = options.forOperator ?? message;
  }
}

/** Converts a FetchFault to a FullmatchError with the same code; returns anything else unchanged. */
export function asFullmatchError(error: unknown): unknown {
  if (!(error instanceof FetchFault)) return error;
  return new FullmatchError(error.code, error.message, {
    cause: error,
    details: { ...error.details },
  });
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
