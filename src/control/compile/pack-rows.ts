/** Rows that came in a request, as a chunk of a batch: gzipped JSONL, each line a row, with its entity where there are several. */
import { gzipSync } from 'node:zlib';
import { isObject } from '#domain/json.ts';
import { redactRow } from '#language/capture/redact.ts';
import type { RedactPolicy, Row } from '#language/contract.ts';

/** What is no row stays as it is: the import refuses it by its place. */
const redacted = (policy: RedactPolicy | null, row: unknown): unknown =>
  policy === null || !isObject(row) ? row : redactRow(policy, row as Row).row;

/** Packs them, in the order in which they came; with a policy nothing that it hides is in the chunk. */
export const packRows = ({
  rowsJson,
  policy,
}: {
  rowsJson: string;
  policy: RedactPolicy | null;
}): { ok: true; chunk: Uint8Array; rows: number } => {
  const given = JSON.parse(rowsJson) as Record<string, unknown[]>;
  const isOne = Object.keys(given).length === 1;
  const lines = Object.entries(given).flatMap(([entity, rows]) =>
    rows.map((each) => {
      const row = redacted(policy, each);
      return JSON.stringify(isOne ? row : { entity, row });
    }),
  );
  const text = lines.map((line) => `${line}\n`).join('');
  return { ok: true, chunk: gzipSync(text), rows: lines.length };
};
