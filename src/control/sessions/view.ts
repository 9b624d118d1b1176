/** A session as clients see it. */
import { isReady, type SessionState } from '#domain/session.ts';
import { surfaceUrl } from '#domain/surface-address.ts';
import type { SessionView } from '#wire/public-api/session.ts';
import type { SessionRow } from '../db/sessions.ts';
import { sessionToken } from '../http/auth.ts';
import type { ProjectCaller } from '../http/endpoint.ts';
import type { Parts } from '../parts.ts';
import type { Version } from '../worlds/versions.ts';

export type ViewParts = Pick<Parts, 'config' | 'versions'>;

/** States in which its host is the session's own: later the address may be another session's. */
const servedStates: readonly SessionState[] = ['PROVISIONING', 'READY', 'RECOVERING'];

/** Behind a gateway the address is the session's own, whichever host serves it, and known from the start. */
const addressOf = ({ gateway }: ViewParts['config'], session: SessionRow): string | null =>
  gateway === null ? session.hostAddress : surfaceUrl(gateway.template, session.id, 'api');

const viewSurfaces = (
  { config }: ViewParts,
  session: SessionRow,
  level: ProjectCaller['level'],
): SessionView['surfaces'] => {
  const { id, surfaces, state } = session;
  const url = addressOf(config, session);
  if (url === null || !surfaces.includes('api') || !servedStates.includes(state)) return {};
  const token = level === 'secret' ? { token: sessionToken(config.secret, id) } : {};
  return { api: { url, ...token } };
};

const viewTask = (session: SessionRow): SessionView['task'] => {
  const { taskForm: form, taskName: name, taskHash: contentHash } = session;
  if (form === null || contentHash === null) return null;
  return { form, name, contentHash, id: null, version: null };
};

const timestamp = (date: Date | null): string | null => date?.toISOString() ?? null;

/** The view of a session of a version; the API token is shown to holders of the secret key alone. */
export const viewSession = (
  parts: ViewParts,
  session: SessionRow,
  version: Version,
  level: ProjectCaller['level'],
): SessionView => ({
  id: session.id,
  slug: version.slug,
  versionId: version.id,
  state: session.state,
  ready: isReady(session.state),
  endReason: session.endReason,
  error: session.error,
  instruction: session.instruction,
  tools: version.tools,
  surfaces: viewSurfaces(parts, session, level),
  task: viewTask(session),
  pinned: session.pinned,
  browserTier: session.browserTier,
  size: session.size,
  isolation: session.isolation,
  clock: session.clock,
  seed: session.seed,
  hostReused: session.hostReused,
  createdAt: session.createdAt.toISOString(),
  assignedAt: timestamp(session.assignedAt),
  readyAt: timestamp(session.readyAt),
  closedAt: timestamp(session.closedAt),
  lastActivityAt: session.lastActivityAt.toISOString(),
});

/** The views of sessions, whose versions are read together. */
export const viewSessions = async (
  parts: ViewParts,
  sessions: readonly SessionRow[],
  level: ProjectCaller['level'],
): Promise<SessionView[]> => {
  const versions = await parts.versions.getMany(sessions.map(({ versionId }) => versionId));
  return sessions.map((session) => {
    const version = versions.get(session.versionId);
    if (version === undefined) throw new Error(`version ${session.versionId} is missing`);
    return viewSession(parts, session, version, level);
  });
};

/** The view of one session. */
export const viewOne = async (
  parts: ViewParts,
  session: SessionRow,
  level: ProjectCaller['level'],
): Promise<SessionView> => {
  const [view] = await viewSessions(parts, [session], level);
  if (view === undefined) throw new Error(`session ${session.id} has no view`);
  return view;
};
