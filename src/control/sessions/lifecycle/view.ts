/** Converts a session to the form that clients see. */
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
import { type SessionRow, showColumns } from '../../db/sessions/session-row.ts';
import type { ListedSession } from '../../db/sessions/sessions.ts';
import { browserToken, type KeyLevel, sessionToken } from '../../platform/tokens/tokens.ts';
import type { SessionParts } from '../parts.ts';

/**
 * States in which the host serves this session. In later states, the host's address may already belong to another
 * session.
 */
const servedStates: readonly SessionState[] = ['PROVISIONING', 'READY'];

type Served = Pick<SessionRow, 'id' | 'hostAddress'>;

/**
 * Returns the address of a surface. Behind a gateway, each session has its own addresses, which are known from the
 * start and do not depend on the host. Without a gateway, the surface is addressed at the host; the UI and the live
 * view of the browser then have an address only if the host runs on this machine.
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

/** Returns the address of a session's API; null if it has none at present. */
export const apiAddress = (config: SessionParts['config'], session: Served): string | null =>
  surfaceAddress(config, session, 'api');

/**
 * Returns the address of a session's MCP server: behind a gateway on the session's own domain, otherwise on the public
 * API.
 */
const mcpAddress = ({ config, publicUrl }: SessionParts, { id }: Served): string =>
  config.gateway === null
    ? `${publicUrl()}/api/public/world-sessions/${id}/mcp`
    : `${surfaceUrl(config.gateway.template, id, 'mcp')}/mcp`;

/** Returns the addresses of a browser: its live view and its DevTools. Returns undefined if they are not known yet. */
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
  // Only browsers resolve names below `localhost`; other programs get the IP address.
  const direct = gateway === null ? address : url;
  if (url === undefined || direct == null) return undefined;
  return { url: `${url}/view`, cdpUrl: `${direct.replace(/^http/, 'ws')}/cdp` };
};

/** Returns the state and addresses of a session's browser. */
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

/** Returns true if every requested surface is ready. */
export const isUsable = ({ state, surfaces, browser }: SessionRow): boolean =>
  isReady(state) && (!surfaces.includes('browser') || browser?.isReady === true);

const viewTask = (session: SessionRow): SessionView['task'] => {
  const { taskForm: form, taskName: name, taskHash: contentHash } = session;
  const { taskId: id, taskVersion: version } = session;
  if (form === null || contentHash === null) return null;
  return { form, name, contentHash, id, version };
};

/**
 * Returns the run that the session belongs to. A session of a dataset run may at the same time be a rollout of an agent
 * build; the ids of both runs are then equal.
 */
const viewRun = ({ runId, datasetRunId, agentRunId }: SessionRow): SessionView['run'] => {
  if (runId !== null) return { kind: 'world', id: runId };
  if (datasetRunId !== null) return { kind: 'dataset', id: datasetRunId };
  return agentRunId === null ? null : { kind: 'agent', id: agentRunId };
};

/** Members of a session that do not depend on its world. Their size is bounded. */
type Light = Omit<SessionView, 'tools' | 'instruction'>;

/**
 * Returns the members of a session that do not depend on its world. Only holders of the secret key see the API token.
 */
const viewLight = (
  parts: SessionParts,
  session: SessionRow,
  slug: string,
  level: KeyLevel,
): Light => ({
  ...showColumns(session),
  slug,
  ready: isUsable(session),
  surfaces: viewSurfaces(parts, session, level),
  task: viewTask(session),
  run: viewRun(session),
  traceSessionId: session.traceId === null ? null : (session.traceSessionId ?? session.id),
});

const jsonTools = (json: string): SessionView['tools'] =>
  new JsonText(json) as unknown as SessionView['tools'];

/**
 * Names of the precomputed texts for `tools`: the schemas of all tools as JSON, and the length of each, which is needed
 * when a task offers only some tools.
 */
const toolTexts = ['toolSchemas', 'toolLengths'] as const;
type ToolTexts = Record<(typeof toolTexts)[number], string>;

/** Returns the tools that the task allows, as JSON text. */
const toolsOf = ({ taskTools }: SessionRow, { toolSchemas, toolLengths }: ToolTexts) =>
  jsonTools(taskTools === null ? toolSchemas : pickTools(toolSchemas, toolLengths, taskTools));

/** Returns the view of one session. */
export const viewOne = async (
  parts: SessionParts,
  session: SessionRow,
  level: KeyLevel,
): Promise<SessionView> => {
  const version = await parts.versions.get(session.versionId);
  if (version === undefined) throw new Error(`the database has no version ${session.versionId}`);
  const { texts } = parts.versions;
  const toolSchemas = await texts.one(version, 'toolSchemas');
  const toolLengths = session.taskTools === null ? '' : await texts.one(version, 'toolLengths');
  return {
    ...viewLight(parts, session, version.slug, level),
    instruction: session.instruction,
    tools: toolsOf(session, { toolSchemas, toolLengths }),
  };
};

/** Optional members of a session in a list, which are included if they are requested. */
export const sessionFields = ['tools', 'instruction'] as const;
type SessionField = (typeof sessionFields)[number];

/** Returns the views of a page of sessions. Tools are read only if they are requested. */
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
