/**
 * The MCP server of a session: the tools that its task offers, and the texts for its agent. A tool call is an ordinary
 * call of the session: it is queued and logged like other calls, and runs at most once.
 */
import { type CallError, callTransitions } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { isReady } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { linkedTool } from '#language/contract.ts';
import { objectText } from '../base/bodies/rpc.ts';
import {
  hintsOf,
  type OutputForm,
  outputFormOf,
  type ToolHints,
  wrapped,
} from '../base/contracts/mcp-tools.ts';
import { JsonText } from '../base/json/json-text.ts';
import type { CallRow } from '../db/sessions/calls.ts';
import { notInState } from '../db/sessions/ended-session.ts';
import type { SessionRow } from '../db/sessions/session-row.ts';
import { findSession, noSession } from '../db/sessions/sessions.ts';
import type { Parts } from '../parts.ts';
import type { Facts } from '../sessions/caches/session-facts.ts';
import { enqueue } from '../sessions/calls/enqueue.ts';
import type { Version } from '../worlds/caches/versions.ts';
import {
  failedResult,
  type McpHandler,
  type Resource,
  type ToolResult,
  textResult,
} from './handler.ts';

export type SessionOfProject = { projectId: string; sessionId: string };

/** Maximum time for which a call is awaited, in milliseconds. No host works longer at one call. */
const callMs = 10 * 60_000;

const instructionUri = 'svc://session/instruction';
const readmeUri = 'svc://world/README.md';
const readmePath = 'schema/README.md';

const getVersion = async ({ versions }: Parts, id: string): Promise<Version> => {
  const version = await versions.get(id);
  if (version === undefined) throw new Error(`version ${id} is missing`);
  return version;
};

const getFacts = async (parts: Parts, { projectId, sessionId }: SessionOfProject) => {
  const facts = await parts.facts.get(projectId, sessionId);
  if (facts === undefined) throw noSession(sessionId);
  return facts;
};

/**
 * Returns a session that is provisioning or ready; throws `conflict` if the session is over, and `not_found` if it does
 * not exist.
 */
const getOpen = async (parts: Parts, { projectId, sessionId }: SessionOfProject) => {
  const session = await findSession(parts.db, projectId, sessionId);
  if (session === undefined) throw noSession(sessionId);
  if (isReady(session.state) || session.state === 'PROVISIONING') return session;
  throw notInState(session, '; its tools can no longer be called');
};

/**
 * Finds a tool by its name in the session, with the contract that declares it: that of the session's version, or that
 * of a linked world.
 */
const findTool = async (parts: Parts, version: Version, name: string) => {
  const link = version.links.find(({ alias, tools }) =>
    tools.some((tool) => linkedTool(alias, tool) === name),
  );
  const own = link?.tools.find((tool) => linkedTool(link.alias, tool) === name);
  const { contract } = link === undefined ? version : await getVersion(parts, link.versionId);
  const tool = contract.tools.find((one) => one.name === (own ?? name));
  return tool === undefined ? undefined : { tool, contract };
};

const hintsFor = async (
  parts: Parts,
  version: Version,
  name: string,
): Promise<ToolHints | undefined> => {
  const found = await findTool(parts, version, name);
  if (found === undefined) return undefined;
  const routes = found.contract.api?.routes ?? [];
  return hintsOf(
    found.tool.binding,
    (operation) => routes.find((route) => route.operation === operation)?.action,
  );
};

/** Adds hints to the JSON of a tool. They are inserted at the beginning, because the text is not parsed. */
const withHints = (json: string, hints: ToolHints | undefined): string =>
  hints === undefined ? json : `{"annotations":${JSON.stringify(hints)},${json.slice(1)}`;

const listTools = async (
  parts: Parts,
  { versionId, taskTools }: Pick<Facts, 'versionId' | 'taskTools'>,
  signal: AbortSignal,
): Promise<JsonText> => {
  const version = await getVersion(parts, versionId);
  const given = taskTools === null ? undefined : new Set(taskTools);
  const tools = (await parts.mcpTools.of(version, signal)).filter(
    ({ name }) => given === undefined || given.has(name),
  );
  const texts: string[] = [];
  for (const { name, json } of tools)
    texts.push(withHints(json, await hintsFor(parts, version, name)));
  return new JsonText(`[${texts.join(',')}]`);
};

/** Returns JSON in a form for a model: the content of a JSON string as plain text, any other value unchanged. */
const readable = (json: string): string => (json.startsWith('"') ? JSON.parse(json) : json);

const succeeded = (outputJson: string | null, form: OutputForm): ToolResult => {
  const json = outputJson ?? 'null';
  if (form === 'wrapped') {
    return textResult(readable(json), new JsonText(`{${JSON.stringify(wrapped)}:${json}}`));
  }
  return textResult(readable(json), json.startsWith('{') ? new JsonText(json) : undefined);
};

/** Returns a failure that a host reported as text for a model. Very long details are cut. */
const failureOf = ({ id, errorJson }: CallRow): string => {
  if (errorJson === null) return `${id} failed`;
  if (errorJson.length > limits.directBodyBytes) return errorJson.slice(0, limits.messageChars);
  const { code, message, path, details } = JSON.parse(errorJson) as CallError;
  const lines = [`${code}: ${message}`];
  if (path !== undefined) lines.push(`at ${path || 'the input'}`);
  if (details !== undefined) lines.push(JSON.stringify(details));
  return lines.join('\n');
};

const resultOf = async (parts: Parts, version: Version, call: CallRow): Promise<ToolResult> => {
  const { id, name, state, outputJson } = call;
  if (state === 'succeeded') {
    const found = await findTool(parts, version, name ?? '');
    const form = outputFormOf(found?.tool.output, found?.contract.definitions ?? {});
    return succeeded(outputJson, form);
  }
  if (state === 'failed') return failedResult(failureOf(call));
  if (!isFinal(callTransitions, state)) {
    return failedResult(
      `${id} is ${state}: it continues, and the call log of the session will have its result`,
    );
  }
  return failedResult(`${id} is ${state}: ${failureOf(call)}`);
};

const resourcesOf = async (
  parts: Parts,
  { versionId, instruction }: SessionRow,
): Promise<Resource[]> => {
  const { files, slug } = await getVersion(parts, versionId);
  const mimeType = 'text/markdown';
  return [
    ...(instruction === null
      ? []
      : [
          {
            uri: instructionUri,
            name: 'instruction',
            title: 'The task',
            description: 'the task that the agent of this session has to do',
            mimeType,
          },
        ]),
    ...(files.some(({ path }) => path === readmePath)
      ? [
          {
            uri: readmeUri,
            name: 'README.md',
            title: `The world ${slug}`,
            description: 'entities, fields, tools and routes of the world',
            mimeType,
          },
        ]
      : []),
  ];
};

const readText = async (parts: Parts, session: SessionRow, uri: string): Promise<string> => {
  if (uri === instructionUri) return session.instruction ?? '';
  const { files } = await getVersion(parts, session.versionId);
  const readme = files.find(({ path }) => path === readmePath);
  if (readme === undefined) throw new Error('the README of the version is missing');
  return Buffer.from(await parts.blobs.get(readme.sha256)).toString('utf8');
};

/** Creates the server of one session of a project; throws `not_found` if the project has no such session. */
export const createSessionHandler = async (
  parts: Parts,
  session: SessionOfProject,
  traceparent?: string,
): Promise<McpHandler> => {
  const facts = await getFacts(parts, session);
  const version = await getVersion(parts, facts.versionId);
  return {
    title: `A session of the world ${version.slug}`,
    instructions: `The tools act on a session of the world "${version.slug}". If the session has a task, the resource ${instructionUri} has its text.`,
    async listTools(signal) {
      await getOpen(parts, session);
      return listTools(parts, facts, signal);
    },
    async callTool(name, argumentTexts, { signal }) {
      const inputJson = objectText(argumentTexts);
      const input = { inputJson, redact: 'off', keepWarm: false, hash: null } as const;
      const body = { kind: 'tool' as const, name, ...input };
      const request = { ...session, body, idempotencyKey: undefined, traceparent };
      return resultOf(parts, version, await enqueue(parts, request, { ms: callMs, signal }));
    },
    listResources: async () => resourcesOf(parts, await getOpen(parts, session)),
    async readResource(uri) {
      const open = await getOpen(parts, session);
      const found = (await resourcesOf(parts, open)).find((one) => one.uri === uri);
      if (found === undefined)
        throw new AppError('not_found', `there is no resource "${uri}"; resources/list lists all`);
      return { uri, mimeType: found.mimeType, text: await readText(parts, open, uri) };
    },
  };
};
