/**
 * The template `code-hosting`, served in this process, with the vendor's client for it: `@octokit/rest` from the
 * registry, with only its base address and token changed.
 */
import { retry } from '@octokit/plugin-retry';
import { Octokit } from '@octokit/rest';
import { afterAll, beforeEach } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '../host/serve-world.ts';
import { templateTree } from '../worlds/worlds.ts';

const RetryingOctokit = Octokit.plugin(retry);

export type Client = InstanceType<typeof RetryingOctokit>;

export type CodeHost = ServedWorld & {
  /** Returns the client with all its plugins. */
  octokit(auth?: string | undefined): Client;
  /** Returns its methods by topic. */
  client(): Client['rest'];
  clientWith(auth: string | undefined): Client['rest'];
  /** Sends a request without the client, which would refuse to send it. */
  ask(method: string, path: string, body?: unknown): Promise<{ response: Response; body: Row }>;
  /** Returns the webhooks that were sent, in order, from the request ledger. */
  deliveries(): Promise<Row[]>;
  /** Returns the output of a tool; throws the error of a failed call. */
  tool(name: string, input: Row): Promise<unknown>;
  /** Grades the session; returns the result and the names of the failed checks. */
  grade(): Promise<{ passed: boolean; failed: string[] }>;
};

export const repository = { owner: 'northquay', repo: 'berth' };
export const on = (number: number) => ({ ...repository, issue_number: number });
export const pull = (number: number) => ({ ...repository, pull_number: number });
export const seconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

export const documentation_url = 'https://docs.code.example/rest';

/** Builds the vendor's error answer, in the form that `errorOf` returns. */
export const refused = (status: number, message: string, errors?: unknown[]) => ({
  status,
  data: { message, documentation_url, status: String(status), ...(errors ? { errors } : {}) },
});
export const notFound = refused(404, 'Not Found');
export const invalid = (...errors: unknown[]) => refused(422, 'Validation Failed', errors);

/** Returns the status and the body of the error that a call ends with. */
export const errorOf = async (
  call: Promise<unknown>,
): Promise<{ status: number; data: unknown }> => {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: { status: number; response: { data: unknown } }) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error('the call was answered, and should not have been');
  return { status: outcome.error.status, data: outcome.error.response?.data };
};

export const names = (labels: readonly (string | { name?: string })[]) =>
  labels.map((label) => (typeof label === 'string' ? label : label.name));

export const numbers = (rows: readonly { number: number }[]): number[] =>
  rows.map(({ number }) => number);

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Serves the template, or a tree made of it, on the task of this name; without a name, on the template's first task.
 * The caller must stop it.
 */
export const openCodeHost = async (
  task?: string,
  tree = templateTree('code-hosting'),
): Promise<CodeHost> => {
  const world = await serveWorld(tree, task === undefined ? {} : { task });
  const octokit = (auth: string | undefined): Client =>
    new RetryingOctokit({
      baseUrl: world.url,
      ...(auth === undefined ? {} : { auth }),
      log: silent,
      // The plugin retries after seconds; here it retries at once.
      retry: { retryAfterBaseValue: 1 },
    });
  return {
    ...world,
    octokit: (auth = world.token) => octokit(auth),
    client: () => octokit(world.token).rest,
    clientWith: (auth) => octokit(auth).rest,
    async ask(method, path, body) {
      const response = await fetch(`${world.url}${path}`, {
        method,
        headers: { authorization: `token ${world.token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const isJson = response.headers.get('content-type')?.includes('json') ?? false;
      const text = await response.text();
      return { response, body: (isJson ? JSON.parse(text) : {}) as Row };
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
    async grade() {
      const { output } = await world.call('grade');
      const { passed, checks } = output as {
        passed: boolean;
        checks: { name: string; passed: boolean }[];
      };
      return { passed, failed: checks.filter((check) => !check.passed).map(({ name }) => name) };
    },
  };
};

/**
 * Serves the template, or a tree made of it, on the task of this name; without a name, on the template's first task.
 * Each test of a file starts from the task's initial state.
 */
export const serveCodeHost = async (task?: string, tree?: TreeFile[]): Promise<CodeHost> => {
  const world = await openCodeHost(task, tree);
  beforeEach(() => world.reset());
  afterAll(() => world.stop());
  return world;
};
