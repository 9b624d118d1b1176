/**
 * Writes traces as JSON text directly from their rows, because an answer may hold fifty thousand traces of one trace
 * session. JSON of clients is passed on as stored.
 */
import { usualEnvironment } from '#observability/environment.ts';
import { quoted, quotedOrNull } from '../../base/json/json-text.ts';
import { isoOf } from '../../db/core/times.ts';
import type { ShownTraceRow } from '../../db/observability/trace-reads.ts';

/**
 * Returns the member `omitted` if the object's large members were left out because of the page's size budget; else an
 * empty text.
 */
export const omittedJson = (isCut: boolean | null): string =>
  isCut ? ',"omitted":["input","output","metadata"]' : '';

/** Writes a trace without its observations and scores. Its metadata is an empty object if no event gave any. */
export const writeTrace = (row: ShownTraceRow, projectId: string): string => {
  const tags = row.tags === null ? '[]' : JSON.stringify(row.tags);
  const createdAt = isoOf(row.createdAt);
  const updatedAt = row.updatedAt === null ? createdAt : isoOf(row.updatedAt);
  const htmlPath = `/project/${projectId}/traces/${encodeURIComponent(row.id)}`;
  return (
    `{"id":${quoted(row.id)},"externalId":${quotedOrNull(row.externalId)},` +
    `"timestamp":"${isoOf(row.timestamp)}","name":${quotedOrNull(row.name)},` +
    `"userId":${quotedOrNull(row.userId)},"sessionId":${quotedOrNull(row.sessionId)},` +
    `"metadata":${row.metadata ?? '{}'},"release":${quotedOrNull(row.release)},` +
    `"version":${quotedOrNull(row.version)},"projectId":"${projectId}",` +
    `"environment":${quoted(row.environment ?? usualEnvironment)},"public":${row.public ?? false},` +
    `"bookmarked":false,"tags":${tags},"input":${row.input},"output":${row.output},` +
    `"createdAt":"${createdAt}","updatedAt":"${updatedAt}","htmlPath":"${htmlPath}"${omittedJson(row.isCut)}}`
  );
};
