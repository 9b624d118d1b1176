/**
 * Unpacks the archive of a session into a folder and reads it. The archive is untrusted, so its names, sizes and
 * shapes are validated.
 */
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Ajv, type ValidateFunction } from 'ajv';
import { unpackTar } from 'modern-tar/fs';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import { makeFolders } from '#runtime/folders.ts';
import { ArchiveHead, blobFile, ChangeLine } from '#wire/host-api/session-archive.ts';
import { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import type { ExportedLedger } from '../ledger/ledger.ts';

export type Archive = {
  head: ArchiveHead;
  task: TaskSpec | null;
  /** Content of `grade.json`, byte for byte. */
  grade: string;
  changes: ChangeLine[];
  ledger: ExportedLedger;
  blob(digest: Digest): Promise<Uint8Array>;
};

/** Names of the files that are unpacked from an archive. All other files are ignored. */
const needed =
  /^(session|task|grade)\.json$|^(changes|ledger)\/\d{4}\.jsonl$|^blobs\/[0-9a-f]{64}$/;

/** Maximum size of an unpacked archive, in bytes. Most of it is base rows of large worlds. */
const mostBytes = 8 * 2 ** 30;

const ajv = new Ajv({ strict: false, formats: { 'date-time': true } });

const refuse = (path: string, why: string, cause?: unknown): AppError =>
  new AppError('invalid', `${path} is no archive of a session: ${why}`, { cause });

/** Makes a stream that passes on at most `most` bytes, and fails if there are more. */
const bounded = (most: number): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.byteLength;
      done(bytes > most ? new Error(`it unpacks to more than ${most} bytes`) : null, chunk);
    },
  });
};

const unpack = async (path: string, folder: string): Promise<void> => {
  const isNeeded = ({ name, type }: { name: string; type?: string }): boolean =>
    type === 'file' && needed.test(name);
  const options = { filter: isNeeded, maxDepth: 2, fmode: 0o600, dmode: 0o700 };
  const source = createReadStream(path);
  await pipeline(source, createGunzip(), bounded(mostBytes), unpackTar(folder, options));
};

const parse = (path: string, name: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refuse(path, `${name} is no JSON`, cause);
  }
};

/**
 * Unpacks an archive into a folder, which it creates, and reads it.
 *
 * @throws an `invalid` error that names the fault, if the file is not a valid archive.
 */
export const readArchive = async (path: string, folder: string): Promise<Archive> => {
  await makeFolders(folder);
  try {
    await unpack(path, folder);
  } catch (cause) {
    throw refuse(path, cause instanceof Error ? cause.message : 'it cannot be unpacked', cause);
  }

  const read = async (name: string): Promise<string> => {
    try {
      return await readFile(join(folder, name), 'utf8');
    } catch (cause) {
      throw refuse(path, `it has no ${name}`, cause);
    }
  };
  const hold = <Value>(name: string, value: unknown, isValid: ValidateFunction<Value>): Value => {
    if (isValid(value)) return value;
    const [problem] = isValid.errors ?? [];
    throw refuse(path, `${name}${problem?.instancePath ?? ''} ${problem?.message ?? 'is wrong'}`);
  };
  const readLines = async (part: 'changes' | 'ledger'): Promise<unknown[]> => {
    const names = await readdir(join(folder, part)).catch(() => []); // an empty part has no folder
    const lines: unknown[] = [];
    for (const name of names.sort()) {
      const text = await read(`${part}/${name}`);
      for (const line of text.split('\n')) {
        if (line !== '') lines.push(parse(path, `${part}/${name}`, line));
      }
    }
    return lines;
  };

  const head = hold(
    'session.json',
    parse(path, 'session.json', await read('session.json')),
    ajv.compile<ArchiveHead>(ArchiveHead),
  );
  const task = parse(path, 'task.json', await read('task.json'));
  const isTask = ajv.compile<TaskSpec>(TaskSpec);
  const isChange = ajv.compile<ChangeLine>(ChangeLine);
  const entries = (await readLines('ledger')) as { id: number }[];
  return {
    head,
    task: task === null ? null : hold('task.json', task, isTask),
    grade: await read('grade.json'),
    changes: (await readLines('changes')).map((line) => hold('changes', line, isChange)),
    ledger: {
      ...head.state.ledger,
      entries: entries.map((entry) => ({ id: entry.id, json: JSON.stringify(entry) })),
    },
    async blob(digest) {
      try {
        return await readFile(join(folder, blobFile(digest)));
      } catch (cause) {
        throw refuse(path, `it has no ${blobFile(digest)}`, cause);
      }
    },
  };
};
