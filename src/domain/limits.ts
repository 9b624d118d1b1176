/**
 * Limits that more than one program has to know. Sizes are in bytes, times in milliseconds. Every list, body, wait and
 * retry in the project has a limit, here or beside its use.
 */
export const limits = {
  /** World tree that a client sends. */
  treeFiles: 2_000,
  treeFileBytes: 8 * 1024 * 1024,
  treeBytes: 32 * 1024 * 1024,
  /** JSON body of the public API; world creation is bounded by `treeBytes` in base64. */
  bodyBytes: 1024 * 1024,
  worldBodyBytes: 48 * 1024 * 1024,
  /**
   * Threshold above which a body is parsed in another process, so that it does not block the event loop that all
   * requests share.
   */
  directBodyBytes: 256 * 1024,
  directBodyValues: 20_000,
  /** Same threshold for protobuf bodies, which hold more values in a byte. */
  directProtobufBytes: 64 * 1024,
  /** Nesting depth of a body, and the values in it. */
  bodyLevels: 200,
  bodyValues: 4_000_000,
  /** Members of an object that is used as a map. */
  members: 10_000,
  /** Labels of all versions of one world together. */
  worldLabels: 100,
  /** Stored tasks of one project, and versions of one task. */
  storedTasks: 10_000,
  taskVersions: 1_000,
  /** Tools that a task lists. */
  taskTools: 1_000,
  /** Characters of ids and of names. */
  idChars: 64,
  nameChars: 256,
  /** Rows of one entity in a request, and checks of a grader. */
  seedRows: 500_000,
  checks: 1_000,
  /** Characters of an error's message, its path and its detail. */
  messageChars: 16_000,
  /** Pools file that the control plane keeps for an orchestrator that starts later; a longer one is not kept. */
  poolsFileChars: 256 * 1024,
  /** Input and output of one call. */
  callInputBytes: 1024 * 1024,
  callOutputBytes: 4 * 1024 * 1024,
  /** Browser checkpoint, from which the next browser of a session continues; a character may take several bytes. */
  checkpointChars: 8 * 1024 * 1024,
  checkpointBytes: 16 * 1024 * 1024,
  /** Calls of one session that are queued for its host. */
  queuedCalls: 1_000,
  /** `?wait=` of a public route, and the wait of a long poll. */
  waitMs: 60_000,
  pollMs: 25_000,
  /** Silence after which the control plane may declare a host lost; such a host also stops serving on its own. */
  hostSilenceMs: 10_000,
  /** Rows and bytes of one page of a state call; a single row may exceed the bytes. */
  statePageRows: 1_000,
  statePageBytes: 1024 * 1024,
  /** Requests kept of a closed session; the oldest are dropped first. */
  sessionRequests: 5_000,
  sessionRequestBytes: 16 * 1024 * 1024,
  /** Webhook deliveries kept of a closed session; no fewer than one call may send. */
  sessionDeliveries: 5_000,
  sessionDeliveryBytes: 160 * 1024 * 1024,
  /** Ledger entries that a host delivers in one batch; a character may take several bytes. */
  ledgerEntryChars: 2 * 1024 * 1024,
  ledgerBatchEntries: 500,
  ledgerBatchChars: 1024 * 1024,
  ledgerBatchBytes: 8 * 1024 * 1024,
  /** File of a project. */
  fileBytes: 1024 * 1024 * 1024,
  /** Items on one page of a list route. */
  pageDefault: 50,
  pageMax: 100,
  /** Upper bounds for the total that a list reports, and for the entries that it examines; page numbers reach as far. */
  countedItems: 10_000,
  lookedAtItems: 100_000,
  filesPageMax: 200,
  /** Bytes of one list page. Members that do not fit are left out, and the answer names them. */
  pageBytes: 4 * 1024 * 1024,
} as const;
