/**
 * All operations of the public API, from the files of their groups; each has a unique name. Base address:
 * `{base_url}/api/public`.
 */

export * from './evaluation/annotation-operations.ts';
export * from './evaluation/dataset-operations.ts';
export * from './evaluation/proof-operations.ts';
export * from './evaluation/release-operations.ts';
export * from './evaluation/test-run-operations.ts';
export * from './observability/comment.ts';
export * from './observability/dashboard-operations.ts';
export * from './observability/ingestion.ts';
export * from './observability/metrics-operations.ts';
export * from './observability/model-operations.ts';
export * from './observability/otel.ts';
export * from './observability/score-operations.ts';
export * from './observability/trace-operations.ts';
export * from './observability/user-operations.ts';
export * from './projects/account-operations.ts';
export * from './projects/connector-operations.ts';
export * from './projects/context-operations.ts';
export * from './projects/file-connector-operations.ts';
export * from './projects/file-operations.ts';
export * from './projects/media.ts';
export * from './projects/project-operations.ts';
export * from './sessions/agent-end-operations.ts';
export * from './sessions/call-operations.ts';
export * from './sessions/delivery-operations.ts';
export * from './sessions/export-operations.ts';
export * from './sessions/mcp-operations.ts';
export * from './sessions/push-operations.ts';
export * from './sessions/recording-operations.ts';
export * from './sessions/session-operations.ts';
export * from './worlds/bundle-operations.ts';
export * from './worlds/data-operations.ts';
export * from './worlds/data-read.ts';
export * from './worlds/task-operations.ts';
export * from './worlds/task-set-operations.ts';
export * from './worlds/version-operations.ts';
export * from './worlds/world-operations.ts';
