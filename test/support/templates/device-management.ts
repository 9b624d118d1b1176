/** The template `device-management`, served in this process. */
import { afterAll, beforeEach } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '../host/serve-world.ts';
import { templateTree } from '../worlds/worlds.ts';

export type Asked = { status: number; headers: Headers; text: string; json: unknown };

export type DeviceManager = ServedWorld & {
  /** Sends a request with the session's token; a text is sent as XML, anything else as JSON. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Asked>;
  /** Returns the output of a tool; throws the error of a failed call. */
  tool(name: string, input: Row): Promise<unknown>;
  /** Returns the bodies of the webhooks that were sent, in order. */
  deliveries(): Promise<Row[]>;
  /** Returns true if the grade passes. */
  passes(): Promise<boolean>;
};

const typeOf = (body: unknown): Record<string, string> =>
  body === undefined
    ? {}
    : { 'content-type': typeof body === 'string' ? 'text/xml' : 'application/json' };

/** Serves the template on its first task; the caller must stop it. */
export const openDeviceManager = async (): Promise<DeviceManager> => {
  const world = await serveWorld(templateTree('device-management'));
  return {
    ...world,
    async ask(method, path, body, headers = {}) {
      const response = await fetch(`${world.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${world.token}`, ...typeOf(body), ...headers },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') ?? false;
      const json: unknown = isJson && text !== '' ? JSON.parse(text) : undefined;
      return { status: response.status, headers: response.headers, text, json };
    },
    async tool(name, input) {
      const { output, error } = await world.call('tool', name, input);
      if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
      return output;
    },
    async deliveries() {
      const asked = { entity: 'svc_requests', where: { via: 'webhook' }, limit: 1_000 };
      const { output, error } = await world.call('state', 'state', asked);
      if (error !== undefined) throw new Error(JSON.stringify(error));
      return (output as { rows: Row[] }).rows;
    },
    async passes() {
      const { output } = await world.call('grade');
      return (output as { passed: boolean }).passed;
    },
  };
};

/** Serves the template for the tests of a file, each on the initial rows. */
export const serveDeviceManager = async (): Promise<DeviceManager> => {
  const world = await openDeviceManager();
  afterAll(() => world.stop());
  beforeEach(() => world.reset());
  return world;
};
