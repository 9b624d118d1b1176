/** Endpoints by which a host reports on itself and requests work and blobs. A host can act only for itself. */
import { cut } from '#domain/cut.ts';
import { AppError, describeError } from '#domain/error.ts';
import * as api from '#wire/host-api/operations.ts';
import { noteBrowserActivity } from '../../db/sessions/browsers.ts';
import {
  drainUnloaded,
  findWhereabouts,
  type Heartbeat,
  mayReadBlob,
  recordHeartbeat,
} from '../../db/sessions/hosts.ts';
import { noteActivity } from '../../db/sessions/sessions.ts';
import type { Parts } from '../../parts.ts';
import { isLost, missing } from '../../platform/blobs/blobs.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import { workingToken } from '../../platform/tokens/tokens.ts';
import { loseHost } from '../../sessions/hosts/lose.ts';
import { isPageFile } from '../../sessions/hosts/page-files.ts';
import { poll, reportWarmAndPoll } from '../../sessions/hosts/poll.ts';
import { reportWarm, staleGeneration } from '../../sessions/hosts/warm.ts';
import { apiAddress } from '../../sessions/lifecycle/view.ts';
import {
  type Endpoint,
  endpoint,
  type HostCaller,
  respond,
  respondStream,
} from '../server/endpoint.ts';

/** Maximum size of a blob that is sent from memory, in bytes; larger blobs are streamed. */
const mostAtOnceBytes = 2 ** 20;

/** Maximum length of the text of a failure that a host reports, in characters. */
const mostChars = 4_000;

/** Returns the id of the host in the path; throws `forbidden` if the token belongs to another host. */
const checkHost = ({ hostId }: HostCaller, named: string): string => {
  if (hostId !== named)
    throw new AppError('forbidden', `the token belongs to ${hostId}, not to ${named}`);
  return hostId;
};

/** Returns the current API address of the host's session; null if the host does not report its current session. */
const addressFor = (
  config: Parts['config'],
  { generation, sessionId, address: hostAddress }: Heartbeat,
  current: number,
): string | null =>
  sessionId === null || generation !== current
    ? null
    : apiAddress(config, { id: sessionId, hostAddress });

export const ownHostEndpoints = (parts: Parts): Endpoint[] => {
  const { blobs, config, db, log, notifications, secrets } = parts;
  return [
    endpoint(api.reportWarm, async ({ params, body }, { caller, signal }) => {
      const hostId = checkHost(caller, params.hostId);
      const { hold, ...reported } = body;
      const report = { ...reported, hostId, source: caller.source };
      // A host that is about to get another token is answered at once, with that token.
      const isRenewed = caller.isFirst && body.renews === true;
      if (hold !== undefined && !isRenewed) {
        return respond(200, await reportWarmAndPoll(parts, report, { hold, signal }));
      }
      const { state } = await reportWarm(parts, report);
      if (!isRenewed) return respond(200, { state });
      // A replica of the release before may have taken the first report without recording that the host asked for a
      // token.
      const isAsked = (await findWhereabouts(db, hostId))?.renews === true;
      const token = workingToken(secrets.now().secret, hostId);
      return respond(200, { state, ...(isAsked ? { token } : {}) });
    }),

    endpoint(api.pollHost, async ({ params, body }, { caller, signal }) => {
      const hostId = checkHost(caller, params.hostId);
      return respond(200, await poll(parts, { ...body, hostId, signal }));
    }),

    endpoint(api.reportUnloaded, async ({ params, body: { generation, message } }, { caller }) => {
      const hostId = checkHost(caller, params.hostId);
      if (!(await drainUnloaded(db, { hostId, generation, detail: cut(message, mostChars) }))) {
        throw staleGeneration(hostId, generation);
      }
      notifications.notify(hostId, poolTopic);
      return respond(200, {});
    }),

    endpoint(api.heartbeat, async ({ params, body }, { caller }) => {
      const hostId = checkHost(caller, params.hostId);
      const { generation, idleMs, rssBytes } = body;
      const status = await recordHeartbeat(db, { hostId, generation, rssBytes });
      if (status === undefined) throw staleGeneration(hostId, generation);
      const { kind, sessionId, state } = status;
      if (sessionId !== null && idleMs !== undefined) {
        const note = kind === 'browser' ? noteBrowserActivity : noteActivity;
        await note(db, { sessionId, hostId, generation }, idleMs);
      }
      const address = kind === 'browser' ? null : addressFor(config, status, generation);
      return respond(200, {
        drain: state === 'draining',
        ...(address === null ? {} : { address }),
      });
    }),

    endpoint(api.reportLeaving, async ({ params, body: { generation } }, { caller }) => {
      const hostId = checkHost(caller, params.hostId);
      const detail = 'the machine of the host asked it to stop';
      await loseHost(parts, { hostId, generation, to: 'draining', reason: 'reclaimed', detail });
      return respond(200, {});
    }),

    endpoint(api.getBlob, async ({ params: { digest } }, { caller: { hostId } }) => {
      const isItsOwn =
        (await mayReadBlob(db, hostId, digest)) || (await isPageFile(parts, hostId, digest));
      if (!isItsOwn) {
        throw new AppError('forbidden', `no version assigned to ${hostId} has a blob ${digest}`);
      }
      try {
        const bytes = await blobs.size(digest);
        if (bytes <= mostAtOnceBytes) return respond(200, await blobs.get(digest));
        return respondStream(await blobs.read(digest), bytes);
      } catch (error) {
        if (!isLost(error)) throw error;
        // A damaged blob is answered as lost, too: if it were not, the host would retry forever and never load.
        log.error({ hostId }, `a world's blob is lost: ${describeError(error)}`);
        throw missing(digest, error);
      }
    }),
  ];
};
