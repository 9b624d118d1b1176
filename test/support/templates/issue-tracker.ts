/**
 * The template `issue-tracking`, served in this process, with the vendor's client for it: `jira.js` from the registry,
 * with only its address and token changed.
 */
import { createCloudClient } from 'jira.js';
import { afterAll, beforeEach } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '../host/serve-world.ts';
import { templateTree } from '../worlds/worlds.ts';

export type Client = ReturnType<typeof createCloudClient>;

export type IssueTracker = ServedWorld & {
  client(token?: string): Client;
  /** Sends a request without the client, which would refuse to send it or read the answer differently. */
  ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Row; response: Response }>;
  /** Returns the webhooks that were sent, in order, from the request ledger. */
  deliveries(): Promise<Row[]>;
  /** Returns the output of a tool; throws the error of a failed call. */
  tool(name: string, input: Row): Promise<unknown>;
};

export const viewer = '5f03a91c20a100009d5e4431';

/** Converts a text to a document of the tracker. */
export const documentOf = (text: string) => ({
  type: 'doc' as const,
  version: 1 as const,
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
});

/**
 * Serves the template, or a tree made of it, on the task of this name; without a name, on the template's first task.
 * The caller must stop it.
 */
export const openIssueTracker = async (
  task?: string,
  tree: TreeFile[] = templateTree('issue-tracking'),
): Promise<IssueTracker> => {
  const world = await serveWorld(tree, task === undefined ? {} : { task });
  const basic = (token: string) =>
    `Basic ${Buffer.from(`quay-triage@northquay.example:${token}`).toString('base64')}`;
  return {
    ...world,
    client: (apiToken = world.token) =>
      createCloudClient({
        host: world.url,
        auth: { type: 'basic', email: 'quay-triage@northquay.example', apiToken },
        // The client knows the vendor's schemas, and checks every answer against them.
        onSchemaMismatch: 'throw',
      }),
    async ask(method, path, body) {
      const response = await fetch(`${world.url}${path}`, {
        method,
        headers: { authorization: basic(world.token), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        response,
        body: (text === '' ? {} : JSON.parse(text)) as Row,
      };
    },
    async deliveries() {
      const asked = { entity: 'svc_requests', where: { via: 'webhook' }, limit: 1_000 };
      const { output, error } = await world.call('state', 'state', asked);
      if (error !== undefined) throw new Error(JSON.stringify(error));
      return (output as { rows: Row[] }).rows;
    },
    async tool(name, input) {
      const { output, error } = await world.call('tool', name, input);
      if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
      return output;
    },
  };
};

/** Serves the template; each test of a file starts from its initial state. */
export const serveIssueTracker = async (task?: string): Promise<IssueTracker> => {
  const world = await openIssueTracker(task);
  beforeEach(() => world.reset());
  afterAll(() => world.stop());
  return world;
};
