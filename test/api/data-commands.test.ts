/** `svc worlds data import` and what belongs to it, on a control plane. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDesk, type Desk } from '../support/commands-on-control.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';

let control: OwnControl;
let desk: Desk;

beforeAll(async () => {
  control = await startNotesControl();
  desk = createDesk(control);
});

afterAll(async () => {
  desk.clear();
  await control.stop();
});

const put = (name: string, content: string | Uint8Array): void =>
  writeFileSync(join(desk.folder, name), content);

/** Runs it and answers what it printed; a command that fails fails the test. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

const header = 'id,folder_id,title,done';

/** So many notes as CSV, from an id on. */
const notesCsv = (from: number, count: number): string =>
  [header, ...Array.from({ length: count }, (_, i) => `${from + i},1,note ${from + i},false`)].join(
    '\n',
  );

describe('svc worlds data import', () => {
  it('makes a version of a small file', async () => {
    put('notes.csv', notesCsv(100, 3));
    const out = await svc('worlds data import notes notes.csv -m first');
    expect(out).toMatch(/version +2 \(ver-/);
    expect(out).toMatch(/imported +notes 3\n/);
    expect(out).toMatch(/message +first\n/);
    expect(await svc('worlds versions notes')).toMatch(/^2 .* import .* first$/m);
  });

  it('tells refused rows by file and line, and writes nothing', async () => {
    put(
      'notes.jsonl',
      '{"id":200,"folder_id":1,"title":"x","done":false}\n\n{"id":201,"folder_id":1,"title":5,"done":false}\n',
    );
    put('folders.json', '[\n{"id": 900, "name": "inbox"},\n{"id": 1, "name": "again"}]');
    for (const command of ['import', 'check']) {
      const { status, err } = await desk.svc(`worlds data ${command} notes notes.jsonl`);
      expect(status).toBe(1);
      expect(err).toMatch(
        /1 row (was refused, and nothing was written|would be refused):\n {2}notes.jsonl:3 +notes.title +must be string/,
      );
    }
    const refused = await desk.svc('worlds data import notes folders.json');
    expect(refused.err).toContain('folders.json:3');
    const json = await desk.svc('worlds data import notes notes.jsonl --json');
    expect(JSON.parse(json.err.slice(json.err.indexOf('{'))).error.refusals).toMatchObject([
      { place: 'notes.jsonl:3', entity: 'notes', field: 'title' },
    ]);
    expect(await svc('worlds versions notes')).not.toMatch(/^3 /m);
  });

  it('leaves them out when told to, and writes a report', async () => {
    put(
      'mixed.jsonl',
      [
        '{"id":300,"folder_id":1,"title":"a","done":true}',
        '{"id":301,',
        '{"id":302,"folder_id":77,"title":"b","done":true}',
      ].join('\n'),
    );
    const out = await svc(
      'worlds data import notes mixed.jsonl --entity notes --no-atomic --report refused.jsonl',
    );
    expect(out).toMatch(/imported +notes 1\n/);
    expect(out).toMatch(/left out:\n {2}mixed.jsonl:2 .*\n {2}mixed.jsonl:3 /);
    const report = readFileSync(join(desk.folder, 'refused.jsonl'), 'utf8').trim().split('\n');
    expect(report.map((line) => JSON.parse(line).place)).toEqual([
      'mixed.jsonl:2',
      'mixed.jsonl:3',
    ]);
  });

  it('sends a large file in chunks, and keeps a batch for later when told to', async () => {
    put('large.csv.gz', gzipSync(notesCsv(1_000, 60_000)));
    const out = await svc('worlds data import notes large.csv.gz --entity notes --publish later');
    expect(out).toMatch(/60,000 rows of batch bat-\S+ wait/);
    const [batch] = JSON.parse(await svc('worlds data batches notes --limit 1 --json')).data;
    expect(batch).toMatchObject({
      state: 'applied',
      rowCount: 60_000,
      chunkCount: 2,
      publish: 'later',
    });
    expect(await svc(`worlds data batches notes ${batch.batchId}`)).toMatch(/state +applied/);
    expect(await svc('worlds data publish notes -m later')).toMatch(
      /message +later\n(?:.*\n)*of 1 batch/m,
    );
    expect(await svc('worlds data batches notes')).toMatch(/published .* 60,000 /);
  });

  it('checks rows by what is in the world, too', async () => {
    put('notes.csv', notesCsv(100, 1));
    const { err } = await desk.svc('worlds data check notes notes.csv');
    expect(err).toMatch(/1 row would be refused:\n {2}notes.csv:2 +notes/);
    put('notes.csv', notesCsv(90_000, 2));
    expect(await svc('worlds data check notes notes.csv')).toBe(
      '2 rows would be taken; nothing was written\n',
    );
  });
});
