import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it, vi } from 'vitest';
import { AppError } from '#domain/error.ts';
import { Secret } from '#runtime/secret.ts';
import { createPasses } from '#runtime/surface-pass.ts';
import type { Client } from '#wire/client.ts';
import { createSurfaceAccess } from './enter.ts';

const template = { scheme: 'http', suffix: '.test', port: '' } as const;
const target = {
  kind: 'surface',
  sessionId: 'ses_1',
  surface: 'ui',
  host: 'ses_1--ui.test',
  path: '/.svc/enter?token=lt-1',
} as const;

/** Opens a link at a gateway whose control plane fails with the given error. */
const openLink = (failure: unknown) => {
  const warn = vi.fn();
  const client = { send: () => Promise.reject(failure) } as unknown as Client;
  const passes = createPasses({ token: new Secret('token'), scheme: 'http' });
  const access = createSurfaceAccess({ client, passes, template, log: { warn } as never });
  const request = { method: 'GET', headers: {} } as IncomingMessage;
  return { warn, opened: access.enter(request, {} as ServerResponse, target) };
};

it.each([new AppError('unavailable', 'away'), new DOMException('too late', 'TimeoutError')])(
  'a link that cannot be checked is not reported as used, and the reason is logged: %s',
  async (failure) => {
    const { warn, opened } = openLink(failure);
    expect(await opened).toMatchObject({ status: 503, code: 'route_unknown' });
    expect(warn).toHaveBeenCalledWith({ sessionId: 'ses_1', err: failure }, expect.any(String));
  },
);

it('an internal fault while checking a link is not reported as an unavailable control plane', async () => {
  const fault = new TypeError('not a function');
  await expect(openLink(fault).opened).rejects.toBe(fault);
});
