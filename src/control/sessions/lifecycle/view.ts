/** A session as clients see it. */
import {
  type BrowserState,
  isReady,
  type SessionState,
  type SurfaceKind,
} from '#domain/session.ts';
import { localSurfaceUrl, surfaceUrl } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';
import type { SessionListView, SessionView } from '#wire/public-api/sessions/session.ts';
import { pickTools } from '../../base/contracts/contract-view.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { ListedSession, SessionRow } from '../../db/sessions/sessions.ts';
import { browserToken, type KeyLevel, sessionToken } from '../../platform/tokens/tokens.ts';
import type { SessionParts } from '../parts.ts';

/** States in which its host is the session's own: later the address may be another session's. */
const servedStates: readonly SessionState[] = ['PROVISIONING', 'READY'];

type Served = Pick<SessionRow, 'id' | 'hostAddress'>;

/**
 * Where clients find a surface of a session. Behind a gateway the address is the session's own, whichever
 * host serves it, and known from the start. Without one it is the host's; people then find theirs only where the
 * host is on this machine.
 */
export const surfaceAddress = (
  { gateway }: SessionParts['config'],
  { id, hostAddress }: Served,
  surface: SurfaceKind,
): string | null => {
  if (gateway !== null) return surfaceUrl(gateway.template, id, surface);
  if (hostAddress === null || surface === 'api') return hostAddress;
  return localSurfaceUrl(hostAddress, id, surface) ?? null;
};

/** Where clients find the API of a session. */
export const apiAddress = (config: SessionParts['config'], session: Served): string | null =>
  surfaceAddress(config, session, 'api');

/** Where agents find the MCP server of a session: below its own name behind a gateway, else at the API. */
const mcpAddress = ({ config, publicUrl }: SessionParts, { id }: Served): string =>
  config.gateway === null
    ? `${publicUrl()}/api/public/world-sessions/${id}/mcp`
    : `${surfaceUrl(config.gateway.template, id, 'mcp')}/mcp`;

/** How clients find a browser: its live view, and its DevTools. */
export const browserUrls = (
  { gateway }: SessionParts['config'],
  sessionId: string,
  address: string | null,
): { url: string; cdpUrl: string } | undefined => {
  const origin = (): string | undefined => {
    if (gateway !== null) return surfaceUrl(gateway.template, sessionId, 'browser');
    return address === null
      ? undefined
      : (localSurfaceUrl(address, sessionId, 'browser') ?? address);
  };
  const url = origin();
  // Names below `localhost` are looked up by browsers alone; a program is told the address itself.
  const direct = gateway === null ? address : url;
  if (url === undefined || direct == null) return undefined;
  return { url: `${url}/view`, cdpUrl: `${direct.replace(/^http/, 'ws')}/cdp` };
};

/** How it stands with the browser of a session. */
const viewBrowser = (
  { config }: Pick<SessionParts, 'config'>,
  { id, browser, browserTier: tier }: SessionRow,
): NonNullable<SessionView['surfaces']['browser']> => {
  const state = browserStateOf(browser);
  return { ...browserUrls(config, id, browser?.address ?? null), tier, state };
};

const browserStateOf = (browser: SessionRow['browser']): BrowserState => {
  if (browser?.isReady === true) return 'ready';
  return browser?.isGivenUp === true ? 'failed' : 'waiting';
};

const viewSurfaces = (
  parts: SessionParts,
  session: SessionRow,
  level: KeyLevel,
): SessionView['surfaces'] => {
  const { config, secrets } = parts;
  const { id, surfaces, state } = session;
  if (!servedStates.includes(state)) return {};
  const addressOf = (surface: 'api' | 'ui'): string | null =>
    surfaces.includes(surface) ? surfaceAddress(config, session, surface) : null;
  const [api, ui] = [addressOf('api'), addressOf('ui')];
  const secret = level === 'secret' ? secrets.of(session) : undefined;
  const token = secret === undefined ? {} : { token: sessionToken(secret, id) };
  const browser = surfaces.includes('browser') ? viewBrowser(parts, session) : undefined;
  const devTools =
    secret === undefined ? {} : { token: browserToken(new Secret(sessionToken(secret, id))) };
  return {
    ...(api === null ? {} : { api: { url: api, ...token } }),
    mcp: { url: mcpAddress(parts, session), ...token },
    ...(ui === null ? {} : { ui: { url: ui } }),
    ...(browser === undefined ? {} : { browser: { ...browser, ...devTools } }),
  };
};

/** Whether each surface that was asked for answers. */
export const isUsable = ({ state, surfaces, browser }: SessionRow): boolean =>
  isReady(state) && (!surfaces.includes('browser') || browser?.isReady === true);

const viewTask = (session: SessionRow): SessionView['task'] => {
  const { taskForm: form, taskName: name, taskHash: contentHash } = session;
  const { taskId: id, taskVersion: version } = session;
  if (form === null || contentHash === null) return null;
  return { form, name, contentHash, id, version };
};

/** The run that it was opened for; a rollout of a dataset's run may be one of an agent's build as well, by the same id. */
const viewRun = ({ runId, datasetRunId, agentRunId }: SessionRow): SessionView['run'] => {
  if (runId !== null) return { kind: 'world', id: runId };
  if (datasetRunId !== null) return { kind: 'dataset', id: datasetRunId };
  return agentRunId === null ? null : { kind: 'agent', id: agentRunId };
};

const timestamp = (date: Date | null): string | null => date?.toISOString() ?? null;

/** What there is to say of a session whatever its world holds; it is bounded. */
type Light = Omit<SessionView, 'tools' | 'instruction'>;

/** The API token is shown to holders of the secret key alone. */
const viewLight = (
  parts: SessionParts,
  session: SessionRow,
  slug: string,
  level: KeyLevel,
): Light => ({
  id: session.id,
  slug,
  versionId: session.versionId,
  state: session.state,
  ready: isUsable(session),
  endReason: session.endReason,
  error: session.error,
  surfaces: viewSurfaces(parts, session, level),
  task: viewTask(session),
  run: viewRun(session),
  build: session.build,
  verdict: session.verdict,
  score: session.score,
  pinned: session.pinned,
  browserTier: session.browserTier,
  size: session.size,
  isolation: session.isolation,
  clock: session.clock,
  seed: session.seed,
  hostReused: session.hostReused,
  traceId: session.traceId,
  traceSessionId: session.traceId === null ? null : (session.traceSessionId ?? session.id),
  createdAt: session.createdAt.toISOString(),
  assignedAt: timestamp(session.assignedAt),
  readyAt: timestamp(session.readyAt),
  closedAt: timestamp(session.closedAt),
  lastActivityAt: session.lastActivityAt.toISOString(),
});

const jsonTools = (json: string): SessionView['tools'] =>
  new JsonText(json) as unknown as SessionView['tools'];

/** The texts of a version that its sessions' tools are told with; the lengths where tasks give some of them. */
const toolTexts = ['toolSchemas', 'toolLengths'] as const;
type ToolTexts = Record<(typeof toolTexts)[number], string>;

/** The tools that the task gives. */
const toolsOf = ({ taskTools }: SessionRow, { toolSchemas, toolLengths }: ToolTexts) =>
  jsonTools(taskTools === null ? toolSchemas : pickTools(toolSchemas, toolLengths, taskTools));

/** The view of one session. */
export const viewOne = async (
  parts: SessionParts,
  session: SessionRow,
  level: KeyLevel,
): Promise<SessionView> => {
  const version = await parts.versions.get(session.versionId);
  if (version === undefined) throw new Error(`version ${session.versionId} is missing`);
  const { texts } = parts.versions;
  const toolSchemas = await texts.one(version, 'toolSchemas');
  const toolLengths = session.taskTools === null ? '' : await texts.one(version, 'toolLengths');
  return {
    ...viewLight(parts, session, version.slug, level),
    instruction: session.instruction,
    tools: toolsOf(session, { toolSchemas, toolLengths }),
  };
};

/** Members of a session that a list shows when it is asked to. */
export const sessionFields = ['tools', 'instruction'] as const;
type SessionField = (typeof sessionFields)[number];

/** The views of a page of sessions. The tools that it shows are read, when they are asked for; no others. */
export const viewList = async (
  parts: SessionParts,
  sessions: readonly ListedSession[],
  level: KeyLevel,
  fields: readonly SessionField[],
): Promise<SessionListView[]> => {
  const entries = sessions.map(({ versionId, instructionBytes }) => ({
    versionId,
    otherBytes: instructionBytes,
  }));
  const names = fields.includes('tools') ? toolTexts : [];
  const texts = await parts.versions.texts.page(entries, names);
  return sessions.map((session, at) => {
    const text = texts[at];
    const { instruction, slug } = session;
    return {
      ...viewLight(parts, session, slug, level),
      ...(text !== undefined && fields.includes('instruction') ? { instruction } : {}),
      ...(text?.toolSchemas === undefined ? {} : { tools: toolsOf(session, text) }),
      ...(text === undefined ? { omitted: [...fields] } : {}),
    };
  });
};
