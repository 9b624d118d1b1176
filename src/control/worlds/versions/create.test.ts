import { pino } from 'pino';
import { expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import type { Database } from '../../db/core/database.ts';
import type { WorldParts } from '../parts.ts';
import { createWorld } from './create.ts';

it('if an upload cannot be released, that is logged, and the client still gets the reason why the world was refused', async () => {
  const lines: object[] = [];
  const db = {
    query: async ({ name }: { name: string }) => {
      if (name === 'abandon_upload') throw new AppError('unavailable', 'the database is away');
      return name === 'begin_upload' ? [{ quota: null, limit: 0, doomed: false }] : [];
    },
  } as unknown as Database;
  const parts = {
    db,
    log: pino({}, { write: (line) => lines.push(JSON.parse(line)) }),
    config: { quotas: {}, templatesDir: '' },
  } as unknown as WorldParts;
  const body = { slug: 'empty', from: [], rowsJson: null, redact: 'off' as const, hash: null };
  await expect(createWorld(parts, { projectId: 'prj-1', publicKey: 'pk-1' }, body)).rejects.toThrow(
    'nothing to make a world from',
  );
  expect(lines).toMatchObject([
    {
      projectId: 'prj-1',
      upload: expect.stringMatching(/^upl-/),
      msg: expect.stringContaining('not released'),
    },
  ]);
});
