/**
 * Limits that more than one program has to know. Sizes in bytes, times in milliseconds. Every list,
 * body, wait and retry in the project has one, here or beside its use.
 */
export const limits = {
  /** A world tree that a client sends. */
  treeFiles: 2_000,
  treeFileBytes: 8 * 1024 * 1024,
  treeBytes: 32 * 1024 * 1024,
  /** A JSON body of the public API; world creation is bounded by `treeBytes` in base64. */
  bodyBytes: 1024 * 1024,
  worldBodyBytes: 48 * 1024 * 1024,
  /** A body that is larger, or holds more values, is read apart from the loop that all requests share. */
  directBodyBytes: 256 * 1024,
  directBodyValues: 20_000,
  /** The same of a body in protobuf, which has more values in its bytes. */
  directProtobufBytes: 64 * 1024,
  /** How deep a body may nest, and the values that it may hold. */
  bodyLevels: 200,
  bodyValues: 4_000_000,
  /** Members of an object whose members have no names of their own. */
  members: 10_000,
  /** Labels that the versions of one world have together. */
  worldLabels: 100,
  /** Tasks that one project stores, and versions of one task. */
  storedTasks: 10_000,
  taskVersions: 1_000,
  /** Tools that a task names. */
  taskTools: 1_000,
  /** Ids and names of all kinds. */
  idChars: 64,
  nameChars: 256,
  /** The rows of one entity in a request, and the checks of a grader. */
  seedRows: 500_000,
  checks: 1_000,
  /** The message of a failure, its path, and its detail. */
  messageChars: 16_000,
  /** A file of pools that is kept for an orchestrator that starts later; longer ones are not. */
  poolsFileChars: 256 * 1024,
  /** The input and the output of one call. */
  callInputBytes: 1024 * 1024,
  callOutputBytes: 4 * 1024 * 1024,
  /** What the next browser of a session goes on from; a character may take several bytes. */
  checkpointChars: 8 * 1024 * 1024,
  checkpointBytes: 16 * 1024 * 1024,
  /** Calls of one session that wait for its host. */
  queuedCalls: 1_000,
  /** `?wait=` of a public route and the hold of a long poll. */
  waitMs: 60_000,
  pollMs: 25_000,
  /** A host that was not heard for so long may be given up, and serves nobody from then on by itself. */
  hostSilenceMs: 10_000,
  /** Rows that one page of a state call returns, and the bytes of them; one row alone may have more. */
  statePageRows: 1_000,
  statePageBytes: 1024 * 1024,
  /** What is kept of a session's requests once it is over; the oldest make room. */
  sessionRequests: 5_000,
  sessionRequestBytes: 16 * 1024 * 1024,
  /** And of the webhooks that it sent: no less than one call may send. */
  sessionDeliveries: 5_000,
  sessionDeliveryBytes: 160 * 1024 * 1024,
  /** Entries of a ledger that a host delivers together; a character may take several bytes. */
  ledgerEntryChars: 2 * 1024 * 1024,
  ledgerBatchEntries: 500,
  ledgerBatchChars: 1024 * 1024,
  ledgerBatchBytes: 8 * 1024 * 1024,
  /** A file of a project. */
  fileBytes: 1024 * 1024 * 1024,
  /** List routes. */
  pageDefault: 50,
  pageMax: 100,
  /** Up to so many entries a list counts; it looks at so many for that, and pages by number reach as far. */
  countedItems: 10_000,
  lookedAtItems: 100_000,
  filesPageMax: 200,
  /** What a page of a list may hold; members that have no room are left out and named. */
  pageBytes: 4 * 1024 * 1024,
} as const;
