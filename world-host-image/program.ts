/**
 * Starts all parts of a world host: workers for user code, the API server, the host's lifecycle and the heartbeat. They
 * start in parallel. The host reports warm once its workers run, its server listens and its warm-up has passed.
 */
import { rm } from 'node:fs/promises';
import { createContact } from '#hosting/contact.ts';
import { startHeartbeat } from '#hosting/heartbeat.ts';
import { watchLife } from '#hosting/host-life.ts';
import { type ControlLink, createControlLink, type HostIdentity } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import type { Running } from '#runtime/run.ts';
import { Secret } from '#runtime/secret.ts';
import { openSnapshotFiles, type SnapshotFiles } from '#store/files/snapshot-files.ts';
import { createClient } from '#wire/client.ts';
import { consumeEntry, getBlob, reportLeaving } from '#wire/host-api/operations.ts';
import { startApiServer } from './api/server.ts';
import { codeDirectory, type HostConfig } from './config.ts';
import { runLifecycle } from './control/lifecycle.ts';
import { giveBackWhenIdle } from './idle-memory.ts';
import { createLinkedCode } from './linked-code.ts';
import { startProof } from './proof/proof.ts';
import { rehearse } from './rehearsal.ts';
import { WorldLoader } from './session/load-world.ts';
import { createServing } from './session/serving.ts';
import { answerRows, rowsPrefix } from './ui/rows/answer.ts';
import { createUiSurface, type UiSurfaceParts } from './ui/surface.ts';
import type { UserCode } from './usercode/runner.ts';

/** Time without contact to the control plane, in milliseconds, after which the host considers its session lost. */
const giveUpMs = 10 * 60_000;

export type HostParts = {
  config: HostConfig;
  token: Secret;
  log: Log;
  identity: HostIdentity;
  /** Workers in the host's folder for code. They may still be starting. The host stops them when it stops. */
  userCode: Promise<UserCode>;
};

/**
 * Maximum time, in milliseconds, that a stopping host tries to report that it stops. If the report fails, the control
 * plane detects that the container is gone.
 */
const goodbyeMs = 2_000;

/** Reports that this host stops, so that the control plane need not wait for missing heartbeats. */
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
    log.warn({ err }, 'the control plane did not accept the report that this host stops');
  }
};

/**
 * Maximum time that a page's request waits for the control plane, in milliseconds. It is short, because a person waits
 * for the page.
 */
const uiPatienceMs = 5_000;

/** Returns the functions by which the UI surface sends requests to the control plane. */
const uiSources = (
  link: ControlLink,
  identity: HostIdentity,
  stopping: AbortSignal,
): Pick<UiSurfaceParts, 'fetchBlob' | 'consumeLink'> => {
  const soon = () => ({
    signal: AbortSignal.any([stopping, AbortSignal.timeout(uiPatienceMs)]),
  });
  return {
    fetchBlob: (digest) => link.sendOnce(getBlob, { params: { digest } }, soon()),
    async consumeLink(sessionId, token) {
      const body = { generation: identity.generation, surface: 'ui', token } as const;
      const input = { params: { sessionId }, body };
      return (await link.sendOnce(consumeEntry, input, soon())).accepted;
    },
  };
};

/**
 * Starts a host. It ends by itself when the control plane no longer needs it, and with a failure when it cannot
 * continue.
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
  const ui = createUiSurface({
    serving,
    log,
    services: { [rowsPrefix]: answerRows },
    ...uiSources(link, identity, signal),
  });
  const [userCode, server] = await Promise.all([
    parts.userCode,
    startApiServer({ listen: config.listen, serving, elsewhere: ui, log }),
    rehearse(config.workDir, log),
  ]);
  const linkedCode = createLinkedCode({ config, bounds: userCode.bounds, log });
  let snapshotFiles: Promise<SnapshotFiles> | undefined;
  const worlds = new WorldLoader({
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
      log.info({ reason }, 'the host was asked to stop');
      stopping.abort();
    },
  });
  const { namespaces, snapshots, workDir, ledgerMark } = config;
  const apart = [snapshots.folder, ...(ledgerMark === undefined ? [] : [ledgerMark])];
  const proof = startProof({ workDir, apart, namespaces, userCode, log });
  const lifecycle = {
    identity,
    address,
    takeToken,
    link,
    serving,
    worlds,
    proof,
    ledgerMark,
    log,
    stopping: signal,
  };
  const life = watchLife(runLifecycle(lifecycle), log);
  const endLooking = giveBackWhenIdle();
  return {
    ended: life.ended,
    async stop() {
      const isTaken = !life.hasEnded() && !signal.aborted;
      stopping.abort();
      endLooking();
      await life.settled;
      if (isTaken) await sayGoodbye({ link, log, identity });
      await Promise.all([beat.stop(), server.close(), userCode.stop(), linkedCode.stop()]);
      await (await snapshotFiles)?.close();
      await rm(config.workDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
