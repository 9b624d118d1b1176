/**
 * Serves the world of a folder while its author edits it: the API and the page, without control plane or database. Each
 * new world replaces the previous one. Changes made in the previous world are carried over if they still fit, and
 * requests that arrive meanwhile wait. If a new world cannot be served, the previous one stays.
 */
import { rm } from 'node:fs/promises';
import { AppError, describeError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import type { Log } from '#runtime/log.ts';
import type { Running } from '#runtime/run.ts';
import { Secret } from '#runtime/secret.ts';
import type { RowDifference } from '#store/write/state-before.ts';
import type { LedgerEntry } from '#wire/host-api/ledger.ts';
import { type FolderWorld, say } from '#wire/program-lines/lines.ts';
import { startApiServer } from '../api/server.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { WorldLoader } from '../session/load-world.ts';
import { assertImports, openSession } from '../session/open-session.ts';
import { createServing } from '../session/serving.ts';
import type { Session } from '../session/session.ts';
import { answerRows, rowsPrefix } from '../ui/rows/answer.ts';
import { createUiSurface } from '../ui/surface.ts';
import type { FolderConfig } from './config.ts';
import { keepChanges } from './keep-changes.ts';
import { createOwnLoader } from './loader.ts';

export type FolderHostParts = {
  config: FolderConfig;
  /** Worlds to serve, one after another. */
  worlds: AsyncIterable<FolderWorld>;
  log: Log;
};

/** World that is being served, with everything needed to serve it again if its successor fails. */
type Held = { given: FolderWorld; session: Session; loader: WorldLoader };

const mostPrinted = { entries: 100, chars: 4 * 2 ** 20 };

/** Wraps a ledger so that it also prints each entry, after the event-loop turn that recorded it. */
const printingLedger = (ledger: Ledger): Ledger => {
  let isScheduled = false;
  const print = (): void => {
    isScheduled = false;
    for (;;) {
      const entries = ledger.backlog.first(mostPrinted);
      const last = entries.at(-1);
      if (last === undefined) return;
      for (const { json } of entries) say({ request: JSON.parse(json) as LedgerEntry });
      ledger.backlog.removeTo(last.id);
    }
  };
  return {
    ...ledger,
    note(note) {
      if (!isScheduled) setImmediate(print);
      isScheduled = true;
      return ledger.note(note);
    },
  };
};

/**
 * Starts to serve the worlds. Until the first world arrives, requests are answered with an error that nothing is served
 * yet.
 */
export const startFolderHost = async ({
  config,
  worlds,
  log,
}: FolderHostParts): Promise<Running> => {
  const serving = createServing();
  const blobs = new Map<Digest, Uint8Array>();
  let held: Held | undefined;
  let swap: Promise<void> | undefined;
  let link = new Secret('');

  const fetchBlob = async (digest: Digest): Promise<Uint8Array> => {
    const bytes = blobs.get(digest);
    if (bytes === undefined) throw new AppError('not_found', `there is no blob ${digest}`);
    return bytes;
  };
  const ui = createUiSurface({
    serving,
    log,
    services: { [rowsPrefix]: answerRows },
    fetchBlob,
    consumeLink: async (_, token) => link.matches(token),
  });
  const server = await startApiServer({
    listen: config.listen,
    serving,
    elsewhere: ui,
    held: () => swap,
    log,
  });

  const worldsAtHand = createOwnLoader({ config, fetchBlob, log });

  const open = async (given: FolderWorld, changes: readonly RowDifference[]) => {
    const loader = await worldsAtHand.open(given.hasCode);
    const opened = await openSession(loader, { ...given.assignment, address: server.address });
    await assertImports(opened);
    const session = { ...opened, ledger: printingLedger(opened.ledger) };
    link = new Secret(given.link);
    held = { given, session, loader };
    const carried = await keepChanges(session.world, changes);
    serving.begin(session);
    return carried;
  };

  /** Stops serving the current session; returns the changes made in it. */
  const takeOut = async (): Promise<RowDifference[]> => {
    if (held === undefined) return [];
    const { session, loader } = held;
    await serving.end();
    const changes = [...session.world.store.changesSinceTask()];
    session.ledger.close();
    await (await worldsAtHand.code())?.restart();
    await loader.release();
    return changes;
  };

  const put = async (given: FolderWorld): Promise<void> => {
    for (const [digest, text] of Object.entries(given.blobs)) {
      blobs.set(digest as Digest, Buffer.from(text, 'base64'));
    }
    const before = held?.given;
    const changes = await takeOut();
    held = undefined;
    try {
      const { kept, leftOut } = await open(given, changes);
      say({ serving: { kept, leftOut } });
    } catch (error) {
      log.debug({ err: error }, 'a world cannot be served');
      if (before !== undefined) await open(before, changes);
      say({ notServed: { reason: describeError(error), hasBefore: before !== undefined } });
    }
  };

  const followWorlds = async (): Promise<void> => {
    for await (const given of worlds) {
      swap = put(given);
      await swap;
      swap = undefined;
    }
  };
  say({ listening: [server.address] });
  return {
    ended: followWorlds(),
    async stop() {
      await takeOut();
      await server.close();
      await worldsAtHand.stop();
      await rm(config.workDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
