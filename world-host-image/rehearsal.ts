/**
 * Warm-up of the host. While the workers start, it opens a session of a tiny built-in world, calls a tool, sends an API
 * request and closes the session. When the first real session opens, SQLite, the decompressor and the schema compiler
 * are already loaded and their code is compiled. If one of them does not work on a host, the host never reports warm.
 */
import { createHash } from 'node:crypto';
import type { Digest } from '#domain/world.ts';
import { machineClock } from '#domain/world-clock.ts';
import { encodeBundle } from '#language/artifacts/bundle.ts';
import { type Contract, type JsonSchema, plainPaging } from '#language/contract.ts';
import type { Log } from '#runtime/log.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { answerRequest } from './api/request.ts';
import { runCall } from './call-kinds/run-call.ts';
import { WorldLoader } from './session/load-world.ts';
import { openSession } from './session/open-session.ts';
import { noUserCode } from './usercode/none.ts';

const integer: JsonSchema = { type: 'integer' };
const text: JsonSchema = { type: 'string', minLength: 1 };

const error = (status: number) => ({ status, body: '{}' });

const contract: Contract = {
  language: 'svc-world/1',
  name: 'rehearsal',
  package: { id: 'rehearsal', version: '1' },
  domainVersion: '1',
  definitions: {
    Note: {
      type: 'object',
      properties: { id: integer, about: { type: ['integer', 'null'] }, text },
      required: ['id', 'text'],
      additionalProperties: false,
    },
  },
  entities: [
    {
      name: 'notes',
      schema: { $ref: '#/$defs/Note' },
      primaryKey: ['id'],
      unique: [[['text']]],
      relationships: [{ fields: ['about'], target: 'notes' }],
      columns: [
        { name: 'id', type: 'INTEGER' },
        { name: 'about', type: 'INTEGER' },
        { name: 'text', type: 'TEXT' },
      ],
    },
  ],
  tools: [
    {
      name: 'create_notes',
      input: { $ref: '#/$defs/Note' },
      output: { $ref: '#/$defs/Note' },
      binding: { kind: 'convention', verb: 'create', entity: 'notes' },
    },
  ],
  api: {
    auth: { scheme: 'none', name: null, tokenPath: null, scope: null },
    routes: [
      {
        operation: 'list_notes',
        method: 'GET',
        path: '/notes/{id}',
        segments: [{ literal: 'notes' }, { argument: 'id' }],
        params: [],
        entity: 'notes',
        action: 'read',
        filter: [{ argument: 'id', path: ['id'], match: 'equals' }],
        handler: null,
        status: 200,
        envelope: '',
        single: false,
        body: [],
        defaults: {},
        generate: [],
        sample: {},
        page: 'none',
        cursorAbsentWhenDone: false,
        notFound: error(404),
      },
    ],
    unauthorized: error(401),
    notFound: error(404),
    invalid: error(400),
    errorContentType: 'application/json',
    handlers: null,
    before: null,
    paging: plainPaging,
  },
  vendor: null,
  redact: null,
  webhooks: null,
  ui: null,
  dependencies: [],
  onPush: [],
  tasks: [],
};

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const token = 'rehearsal';

/** Runs the warm-up. Throws if the host cannot serve a session. */
export const rehearse = async (workDir: string, log: Log): Promise<void> => {
  const bundle = encodeBundle({ contract, files: [] });
  const snapshot = buildSnapshot(contract, { notes: [{ id: 1, text: 'base' }] }).bytes;
  const blobs = new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes]));
  const worlds = new WorldLoader({
    fetchBlob: async (digest) => blobs.get(digest) ?? new Uint8Array(),
    readBlob: async (digest) => blobs.get(digest) ?? new Uint8Array(),
    openFiles: async () => {
      throw new Error('the warm-up opened a snapshot folder, which its small world does not need');
    },
    userCode: noUserCode,
    workDir,
    startUserCode: async () => ({ userCode: noUserCode, workDir, end: async () => [] }),
  });
  const session = await openSession(worlds, {
    sessionId: 'rehearsal',
    generation: 0,
    sessionToken: token,
    worldSlug: 'rehearsal',
    bundle: digestOf(bundle),
    snapshot: digestOf(snapshot),
    blobs: {},
    task: { seed: { rows: { notes: [{ id: 2, about: 1, text: 'seed' }] } } },
    surfaces: [],
    clock: machineClock,
    seed: null,
  });
  const call = { id: 'rehearsal', seq: 1, kind: 'tool', name: 'create_notes' } as const;
  const answer = await runCall(session, { ...call, input: { id: 3, about: 2, text: 'x' } }, log);
  const { answer: listed } = await answerRequest(session, {
    method: 'GET',
    path: '/notes/3',
    query: new URLSearchParams(),
    headers: { authorization: `Bearer ${token}` },
    readBody: async () => Buffer.alloc(0),
  });
  session.ledger.close();
  await worlds.release();
  if (listed.body !== `[${JSON.stringify(answer.output)}]`) {
    throw new Error(`the warm-up request was answered ${listed.status} ${listed.body}`);
  }
};
