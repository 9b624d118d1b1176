/** Answers the poll of a warm host with a directive: serve a session, preload a version, or drain. */
import { AppError } from '#domain/error.ts';
import type { HostState } from '#domain/host.ts';
import { limits } from '#domain/limits.ts';
import type { Assignment, LinkedWorld, WorldSources } from '#wire/host-api/assignment.ts';
import type { pollHost } from '#wire/host-api/operations.ts';
import type { Answer } from '#wire/operation.ts';
import { jsonText } from '../../base/json/json-text.ts';
import { findHostWork, type HostWork, type WarmReport } from '../../db/sessions/hosts.ts';
import { sentColumns } from '../../db/sessions/session-row.ts';
import { holdUntil, toMs } from '../../platform/notifications/held-requests.ts';
import type { NotifiedValues } from '../../platform/notifications/notifications.ts';
import { sessionToken } from '../../platform/tokens/tokens.ts';
import type { Version } from '../../worlds/caches/versions.ts';
import { findAssignment } from '../browsers/serve.ts';
import { bundledSpec } from '../lifecycle/task.ts';
import { apiAddress } from '../lifecycle/view.ts';
import type { SessionParts } from '../parts.ts';
import { loseHost } from './lose.ts';
import { pageFilesOf } from './page-files.ts';
import { reportWarm, staleGeneration } from './warm.ts';

export type HostPoll = {
  hostId: string;
  generation: number;
  /** Seconds that the host asks to hold the poll; if undefined, the poll is not held. */
  hold?: number | undefined;
  signal: AbortSignal;
};
type HostAnswer = Answer<typeof pollHost>['body'];

const findVersion = async ({ versions }: SessionParts, id: string): Promise<Version> => {
  const version = await versions.get(id);
  if (version === undefined) throw new Error(`the database has no version ${id}`);
  return version;
};

/**
 * Returns the sources of a version. The bytes of small blobs are included, unless the host has the version loaded
 * already.
 */
const toSources = async (
  { smallBlobs }: SessionParts,
  { bundle, projectId, snapshot }: Version,
  isHeld: boolean,
): Promise<WorldSources> => ({
  bundle,
  snapshot,
  blobs: isHeld ? {} : await smallBlobs.pick(projectId, [bundle, snapshot]),
});

/**
 * Returns the linked worlds of a version. Each is seeded by the bundled task that its link names. If the link names no
 * task, the linked world has its base rows.
 */
export const linkedWorldsOf = (
  parts: SessionParts,
  { contract, links }: Version,
): Promise<LinkedWorld[]> =>
  Promise.all(
    links.map(async ({ alias, versionId, tools }) => {
      const version = await findVersion(parts, versionId);
      const task = contract.dependencies.find((link) => link.alias === alias)?.task ?? null;
      return {
        alias,
        worldSlug: version.slug,
        ...(await toSources(parts, version, false)),
        task: task === null ? null : bundledSpec(version, task),
        tools,
      };
    }),
  );

const toAssignment = async (
  parts: SessionParts,
  session: NonNullable<HostWork['session']>,
  { address: hostAddress, generation }: HostWork,
): Promise<Assignment> => {
  const address = apiAddress(parts.config, { id: session.id, hostAddress });
  const secret = parts.secrets.of(session);
  if (secret === undefined) {
    const message = `${session.id} was opened with a value of SVC_SECRET that this control plane does not have; add that value to SVC_SECRET after the current value`;
    throw new AppError('unavailable', message);
  }
  const version = await findVersion(parts, session.versionId);
  return {
    sessionId: session.id,
    generation,
    sessionToken: sessionToken(secret, session.id),
    worldSlug: version.slug,
    ...(await toSources(parts, version, session.isHeld)),
    task: jsonText(session.taskJson) as unknown as Assignment['task'],
    ...sentColumns(session),
    ...(address === null ? {} : { address }),
    ...(session.surfaces.includes('ui') ? { ui: { files: pageFilesOf(version) } } : {}),
    ...(version.links.length === 0 ? {} : { links: await linkedWorldsOf(parts, version) }),
  };
};

/**
 * Looks for the assignment of a browser. Returns undefined while the session's page is not served yet; a later poll
 * gets the assignment. If the session ended before the browser got the assignment, the browser's host has no state to
 * clean and is drained.
 */
const findBrowserDirective = async (
  parts: SessionParts,
  asked: HostPoll,
  { generation, sessionId }: HostWork,
): Promise<HostAnswer | undefined> => {
  const { hostId } = asked;
  const isOwn = generation === asked.generation;
  if (sessionId !== null && (isOwn || generation === asked.generation + 1)) {
    const found = await findAssignment(parts, hostId);
    if (found === 'waiting') return undefined;
    if (found !== 'over') return { browser: found };
    const detail = 'the session ended before its browser started';
    await loseHost(parts, { hostId, to: 'draining', reason: 'session_closed', detail });
    return { drain: true };
  }
  if (!isOwn) throw staleGeneration(hostId, asked.generation);
  return undefined;
};

/** Returns the orders in a notification if they are meant for the next generation of this host. */
const ordersOf = (
  news: NotifiedValues | undefined,
  { generation }: HostPoll,
): HostWork | undefined => (news?.orders?.generation === generation + 1 ? news.orders : undefined);

/**
 * Looks for the next directive in the orders of the notification, or else in the host's row. Returns undefined if there
 * is none. The host learns its new generation only with an assignment or a load order. So a poll that fetches such an
 * order, even a repeated poll, still names the previous generation.
 */
const findDirective = async (
  parts: SessionParts,
  asked: HostPoll,
  news?: NotifiedValues,
): Promise<HostAnswer | undefined> => {
  const { hostId, generation } = asked;
  const work = ordersOf(news, asked) ?? (await findHostWork(parts.db, hostId));
  if (work === undefined || work.state === 'gone') throw staleGeneration(hostId, generation);
  if (work.state === 'draining') return { drain: true };
  if (work.kind === 'browser') {
    const found = await findBrowserDirective(parts, asked, work);
    if (found !== undefined || work.sessionId !== null || !work.isWanted) return found;
    return (await parts.browserAssigner.assign(hostId)) ? findDirective(parts, asked) : undefined;
  }
  const isOwn = work.generation === generation;
  const isNext = isOwn || work.generation === generation + 1;
  if (work.session !== null && isNext) {
    return { assignment: await toAssignment(parts, work.session, work) };
  }
  if (work.isLoading && work.heldVersionId !== null && isNext) {
    const version = await findVersion(parts, work.heldVersionId);
    const sources = await toSources(parts, version, false);
    return { load: { generation: work.generation, ...sources } };
  }
  if (!isOwn) throw staleGeneration(hostId, generation);
  if (!work.isWanted || !(await parts.hostAssigner.assignHost(hostId))) return undefined;
  return findDirective(parts, asked);
};

/** Result of the step that runs before the host's row is read. */
type Begun = { waits: boolean; answer?: HostAnswer };

/**
 * Returns a directive as soon as there is one; `{}` when the time is up. `before` runs after the process listens for
 * notifications. It returns `waits: true` if the host's row cannot have a directive yet. If it returns an `answer`, the
 * poll ends with that answer at once.
 */
export const poll = async (
  parts: SessionParts,
  asked: HostPoll,
  before: () => Promise<Begun> = async () => ({ waits: false }),
): Promise<HostAnswer> => {
  let begin: typeof before | undefined = before;
  const answer = await holdUntil(parts.notifications, {
    topic: asked.hostId,
    ms: Math.min(toMs(asked.hold), limits.pollMs),
    signal: asked.signal,
    look: async (news) => {
      const begun = await begin?.();
      begin = undefined;
      if (begun?.answer !== undefined) return begun.answer;
      return begun?.waits === true ? undefined : findDirective(parts, asked, news);
    },
  });
  return answer ?? {};
};

/** Handles the report of a warm host, then answers like the poll that would follow the report. */
export const reportWarmAndPoll = async (
  parts: SessionParts,
  report: WarmReport,
  hold: Pick<HostPoll, 'hold' | 'signal'>,
): Promise<HostAnswer & { state: HostState }> => {
  let state: HostState = 'warm';
  const directive = await poll(parts, { ...report, ...hold }, async () => {
    const warmed = await reportWarm(parts, report);
    state = warmed.state;
    return warmed;
  });
  return { state, ...directive };
};
