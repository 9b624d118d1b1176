/**
 * Limits that more than one program has to know. Sizes are in bytes, times in milliseconds. Every list, body, wait and
 * retry in the project has a limit, here or next to the code that uses it.
 */
export const limits = {
  /** Limits of a world tree that a client sends. */
  treeFiles: 2_000,
  treeFileBytes: 8 * 1024 * 1024,
  treeBytes: 32 * 1024 * 1024,
  /**
   * Maximum size of a JSON body of the public API. The body that creates a world is limited by `treeBytes` in base64
   * instead.
   */
  bodyBytes: 1024 * 1024,
  worldBodyBytes: 48 * 1024 * 1024,
  /**
   * Size above which a body is parsed in another process, so that it does not block the event loop that all requests
   * share.
   */
  directBodyBytes: 256 * 1024,
  directBodyValues: 20_000,
  /**
   * Size above which a protobuf body is parsed in another process. It is smaller, because such a body holds more values
   * in a byte.
   */
  directProtobufBytes: 64 * 1024,
  /** Maximum nesting depth of a body, and maximum number of values in it. */
  bodyLevels: 200,
  bodyValues: 4_000_000,
  /** Maximum number of members of an object that is used as a map. */
  members: 10_000,
  /** Maximum number of labels of all versions of one world together. */
  worldLabels: 100,
  /** Maximum number of stored tasks of one project, and of versions of one task. */
  storedTasks: 10_000,
  taskVersions: 1_000,
  /** Maximum number of tools that a task lists. */
  taskTools: 1_000,
  /** Maximum length of ids and of names, in characters. */
  idChars: 64,
  nameChars: 256,
  /** Maximum number of rows of one entity in a request, and of checks of a grader. */
  seedRows: 500_000,
  checks: 1_000,
  /** Maximum length of an error's message, of its path and of its detail, in characters. */
  messageChars: 16_000,
  /**
   * Maximum length of a pools file that the control plane stores for an orchestrator that starts later, in characters.
   * A longer file is not stored.
   */
  poolsFileChars: 256 * 1024,
  /** Maximum size of the input and of the output of one call. */
  callInputBytes: 1024 * 1024,
  callOutputBytes: 4 * 1024 * 1024,
  /**
   * Maximum length of a browser checkpoint, from which the next browser of a session continues, in characters. A
   * character may take several bytes.
   */
  checkpointChars: 8 * 1024 * 1024,
  checkpointBytes: 16 * 1024 * 1024,
  /** Maximum number of calls of one session that are queued for its host. */
  queuedCalls: 1_000,
  /** Maximum of `?wait=` of a public route, and of the wait of a long poll. */
  waitMs: 60_000,
  pollMs: 25_000,
  /**
   * Time without contact after which the control plane may declare a host lost. After the same time, the host stops
   * serving on its own.
   */
  hostSilenceMs: 10_000,
  /** Maximum number of rows and bytes of one page of a state call; a single row may exceed the bytes. */
  statePageRows: 1_000,
  statePageBytes: 1024 * 1024,
  /** Maximum number of requests that are kept of a closed session; the oldest are dropped first. */
  sessionRequests: 5_000,
  sessionRequestBytes: 16 * 1024 * 1024,
  /** Maximum number of webhook deliveries that are kept of a closed session; at least as many as one call may send. */
  sessionDeliveries: 5_000,
  sessionDeliveryBytes: 160 * 1024 * 1024,
  /** Limits of one ledger entry, and of a batch of entries that a host delivers. A character may take several bytes. */
  ledgerEntryChars: 2 * 1024 * 1024,
  ledgerBatchEntries: 500,
  ledgerBatchChars: 1024 * 1024,
  ledgerBatchBytes: 8 * 1024 * 1024,
  /** Maximum size of a project file. */
  fileBytes: 1024 * 1024 * 1024,
  /** Default and maximum number of items on one page of a list route. */
  pageDefault: 50,
  pageMax: 100,
  /**
   * Maximum total that a list reports, and maximum number of entries that it examines for the total. Page numbers
   * cannot go beyond the total.
   */
  countedItems: 10_000,
  lookedAtItems: 100_000,
  filesPageMax: 200,
  /** Maximum size of one list page. Members that do not fit are left out, and the answer names them. */
  pageBytes: 4 * 1024 * 1024,
} as const;
