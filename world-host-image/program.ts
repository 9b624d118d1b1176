/**
 * Wires a world host: workers for user code, the API server, the host's lifecycle and the heartbeat. They start
 * side by side; the host reports warm once its workers are up, its server listens and it has rehearsed.
 */
import { rm } from 'node:fs/promises';
import type { Log } from '#runtime/log.ts';
import type { Running } from '#runtime/run.ts';
import { Secret } from '#runtime/secret.ts';
import { openSnapshotFiles, type SnapshotFiles } from '#store/files/snapshot-files.ts';
import { createClient } from '#wire/client.ts';
import { getBlob, reportLeaving } from '#wire/host-api/operations.ts';
import { startApiServer } from './api/server.ts';
import { codeDirectory, type HostConfig } from './config.ts';
import { createContact } from './control/contact.ts';
import { startHeartbeat } from './control/heartbeat.ts';
import { runLifecycle } from './control/lifecycle.ts';
import { type ControlLink, createControlLink, type HostIdentity, isStale } from './control/link.ts';
import { createLinkedCode } from './linked-code.ts';
import { startProof } from './proof/proof.ts';
import { rehearse } from './rehearsal.ts';
import { createWorldLoader } from './session/load-world.ts';
import { createServing } from './session/serving.ts';
import type { UserCode } from './usercode/runner.ts';

/** A host that hears nothing for so long has no session any more. */
const giveUpMs = 10 * 60_000;

export type HostParts = {
  config: HostConfig;
  token: Secret;
  log: Log;
  identity: HostIdentity;
  /** Workers in the host's folder for code, on their way up; the host stops them when it stops. */
  userCode: Promise<UserCode>;
};

/** How long a host tries to say goodbye; who does not hear it finds the container gone. */
const goodbyeMs = 2_000;

/** Tells that this host is taken away, so that nobody waits for its silence. */
const sayGoodbye = async ({
  link,
  log,
  identity: { hostId, generation },
}: {
  link: ControlLink;
  log: Log;
  identity: HostIdentity;
}): Promise<void> => {
  const options = { signal: AbortSignal.timeout(goodbyeMs) };
  try {
    await link.sendOnce(reportLeaving, { params: { hostId }, body: { generation } }, options);
  } catch (err) {
    log.warn({ err }, 'nobody heard that this host goes');
  }
};

/**
 * Starts a host. It ends by itself when the control plane has no more use for it, with a failure when it
 * cannot go on.
 */
export const startHost = async ({
  config,
  token,
  log,
  identity,
  ...parts
}: HostParts): Promise<Running> => {
  const stopping = new AbortController();
  const contact = createContact();
  const serving = createServing(contact.isLost);
  const [userCode, server] = await Promise.all([
    parts.userCode,
    startApiServer({ listen: config.listen, serving, log }),
    rehearse(config.workDir, log),
  ]);
  let bearer = token;
  const client = createClient({
    baseUrl: `${config.controlUrl}/api/host`,
    authorization: () => `Bearer ${bearer.reveal()}`,
  });
  const takeToken = (given: string): void => {
    bearer = new Secret(given);
  };
  const link = createControlLink({ client, log, giveUpMs });
  const { signal } = stopping;
  const linkedCode = createLinkedCode({ config, bounds: userCode.bounds, log });
  let snapshotFiles: Promise<SnapshotFiles> | undefined;
  const worlds = createWorldLoader({
    fetchBlob: (digest) => link.send(getBlob, { params: { digest } }, { signal }),
    readBlob: (digest) => link.stream(getBlob, { params: { digest } }, { signal }),
    openFiles: () => (snapshotFiles ??= openSnapshotFiles(config.snapshots)),
    userCode,
    workDir: codeDirectory(config),
    startUserCode: linkedCode.start,
  });
  const address = config.reportAddress ? server.address : undefined;
  const beat = startHeartbeat({
    identity,
    serving,
    contact,
    link,
    log,
    onEnd(reason) {
      log.info({ reason }, 'told to stop');
      stopping.abort();
    },
  });
  const { namespaces, snapshots, workDir } = config;
  const apart = [snapshots.folder];
  const proof = startProof({ workDir, apart, namespaces, userCode, log });
  const lifecycle = {
    identity,
    address,
    takeToken,
    link,
    serving,
    worlds,
    proof,
    log,
    stopping: signal,
  };
  let hasEnded = false;
  const ended = runLifecycle(lifecycle)
    .catch((error: unknown) => {
      // Another host serves what it served, or nobody does: nothing is wrong with this one.
      if (isStale(error)) {
        log.info({ reason: error.message }, 'this host is of no use any more');
        return;
      }
      log.error({ err: error }, 'the host cannot go on');
      throw error;
    })
    .finally(() => {
      hasEnded = true;
    });
  const settled = ended.catch(() => undefined);
  return {
    ended,
    async stop() {
      const isTaken = !hasEnded && !signal.aborted;
      stopping.abort();
      await settled;
      if (isTaken) await sayGoodbye({ link, log, identity });
      await Promise.all([beat.stop(), server.close(), userCode.stop(), linkedCode.stop()]);
      await (await snapshotFiles)?.close();
      await rm(config.workDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
