/** Starts a world for a comparison: a folder in a program of its own, or a world of the service in a session. */

import { once } from 'node:events';
import { type IncomingMessage, request as openPlainly } from 'node:http';
import { request as openSecurely } from 'node:https';
import { text } from 'node:stream/consumers';
import { AppError } from '#domain/error.ts';
import { newId, newSecret } from '#domain/id.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Answer } from '#mirror/conform/compare.ts';
import type { AskWorld } from '#mirror/conform/conform.ts';
import type { Client } from '#wire/client.ts';
import type { ProgramLine } from '#wire/program-lines/lines.ts';
import { closeSession, openSession } from '#wire/public-api/operations.ts';
import { buildFolder } from '../files/folder-world.ts';
import type { Context } from '../terminal/context.ts';
import type { CompiledTree } from './captured-world.ts';
import { startFolderProgram } from './folder-program.ts';
import { lookupLocally } from './local-names.ts';
import { waitUntilReady } from './waits.ts';

export type AskedWorld = { base: string; ask: AskWorld };

const answerMs = 60_000;

const parse = (said: string): unknown => {
  if (said.trim() === '') return null;
  try {
    return JSON.parse(said);
  } catch {
    return said; // a world may answer an error as plain text
  }
};

const asker =
  (base: string, token: string, signal: AbortSignal): AskWorld =>
  async ({ method, path, body }): Promise<Answer> => {
    const url = new URL(base + path);
    const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const open = url.protocol === 'https:' ? openSecurely : openPlainly;
    const request = open(url, {
      method,
      lookup: lookupLocally,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        ...(sent === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': sent.length }),
      },
    });
    request.end(sent);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const headers = Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]);
    return {
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(headers) as Record<string, string>,
      body: parse(await text(response)),
    };
  };

export type ServedFolder = {
  folder: string;
  files: readonly TreeFile[];
  compiled: CompiledTree;
  port: number;
};

/** Serves a folder while the work runs. */
export const withServedFolder = async <Value>(
  context: Context,
  { folder, files, compiled, port }: ServedFolder,
  signal: AbortSignal,
  work: (world: AskedWorld) => Promise<Value>,
): Promise<Value> => {
  const token = newSecret('st');
  const served = Promise.withResolvers<string>();
  let address = '';
  const hear = (line: ProgramLine): void => {
    if ('listening' in line) address = line.listening[0] ?? '';
    else if ('serving' in line) served.resolve(address);
    else if ('notServed' in line) {
      served.reject(new AppError('invalid', `${folder} is not served: ${line.notServed.reason}`));
    }
  };
  const program = startFolderProgram({ env: context.env, port, hear });
  try {
    const session = {
      sessionId: newId('ses'),
      token,
      link: newSecret('lk'),
      task: undefined,
      seed: 1,
    };
    program.give(
      buildFolder(folder, files, compiled, { session, kept: { known: new Map(), sent: new Set() } })
        .world,
    );
    const ended = program.ended.then(() => {
      throw new AppError('unavailable', 'the program that serves the folder ended');
    });
    // The program may end later, when no code awaits `ended` any more.
    ended.catch(() => undefined);
    const base = await Promise.race([served.promise, ended]);
    return await work({ base, ask: asker(base, token, signal) });
  } finally {
    await program.stop();
  }
};

const readyMs = 120_000;

/** Opens a session of a world while the work runs. */
export const withSession = async <Value>(
  client: Client,
  versionId: string,
  signal: AbortSignal,
  work: (world: AskedWorld) => Promise<Value>,
): Promise<Value> => {
  const { body: opened } = await client.send(openSession, {
    body: { versionId, surfaces: ['api'] },
    query: { wait: 60 },
  });
  try {
    const endsAt = performance.now() + readyMs;
    const session = await waitUntilReady({ client, session: opened, endsAt, signal });
    const { api } = session.surfaces;
    if (
      !session.ready ||
      api === undefined ||
      api.url === null ||
      api.token === null ||
      api.token === undefined
    ) {
      throw new AppError(
        'unavailable',
        `session ${session.id} is not ready: it is ${session.state}`,
      );
    }
    return await work({ base: api.url, ask: asker(api.url, api.token, signal) });
  } finally {
    await client.send(closeSession, { params: { sessionId: opened.id }, body: {} });
  }
};
