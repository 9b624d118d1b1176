/**
 * Tests sessions that start, move, end and come back while clients use them, and a control plane that becomes
 * unavailable.
 */

import { createServer } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { ask, endServer, listenLocally, startTestGateway } from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway();

afterAll(() => gateway.stop());

const get = (id: string, path = '/') => ask(gateway.port, { host: gateway.hostOf(id), path });

/** Waits until the session answers with this status, body or code. */
const soon = (id: string, wanted: { status: number; body?: string; code?: string }) =>
  until(
    async () => {
      const { status, body, code } = await get(id);
      const hasBody = wanted.body === undefined || body === wanted.body;
      return (
        status === wanted.status && hasBody && (wanted.code === undefined || code === wanted.code)
      );
    },
    { timeoutMs: 30_000, what: JSON.stringify(wanted) },
  );

describe('a session behind the gateway', () => {
  it.each([
    ['PROVISIONING', null, 503, 'provisioning'],
    ['CLOSING', 'requested', 410, 'closed'],
    ['CLOSED', 'idle', 410, 'closed'],
    ['CLOSED', 'reclaimed', 410, 'reclaimed'],
    ['FAILED', 'reclaimed', 410, 'reclaimed'],
    ['FAILED', 'host_lost', 410, 'failed'],
    ['FAILED', 'out_of_memory', 410, 'failed'],
  ] as const)('that is %s (%s) is answered with %i %s', async (state, endReason, status, code) => {
    const id = newId('ses');
    gateway.control.change(id, { sessionId: id, state, endReason });
    const answer = await get(id);
    expect(answer).toMatchObject({ status, code });
    const { error } = JSON.parse(answer.body);
    expect(error).toEqual({
      code,
      message: expect.stringContaining(id),
      details: expect.objectContaining({ sessionId: id, state }),
    });
    expect(answer.headers['retry-after']).toEqual(status === 503 ? expect.any(String) : undefined);
  });

  it('has its route looked up once, until the feed reports a change', async () => {
    const id = await gateway.serve((_, response) => response.end('first'));
    const asked = gateway.control.asked();
    await Promise.all(Array.from({ length: 20 }, () => get(id)));
    await get(id);
    expect(gateway.control.asked()).toBe(asked + 1);

    const second = createServer((_, response) => response.end('second'));
    const address = `http://127.0.0.1:${await listenLocally(second)}`;
    gateway.control.change(id, { surfaces: { api: address } });
    await soon(id, { status: 200, body: 'second' });
    gateway.control.change(id, { state: 'CLOSED', endReason: 'requested', surfaces: {} });
    await soon(id, { status: 410, code: 'closed' });
    await endServer(second);
  });

  it('that does not exist is cached as missing for a moment', async () => {
    const asked = gateway.control.asked();
    const id = newId('ses');
    for (let i = 0; i < 5; i += 1) expect(await get(id)).toMatchObject({ code: 'no_such_session' });
    expect(gateway.control.asked()).toBe(asked + 1);
  });

  it('that ends in the middle of an answer is reported as closed', async () => {
    const id = await gateway.serve((request) => {
      gateway.control.routes.set(id, {
        sessionId: id,
        state: 'CLOSING',
        endReason: 'requested',
        surfaces: {},
      });
      request.socket.destroy();
    });
    expect(await get(id)).toMatchObject({ status: 410, code: 'closed' });
  });

  it('whose host disconnects while being replaced lets clients retry a GET but not a POST', async () => {
    const id = await gateway.serve((request) => {
      gateway.control.routes.set(id, {
        sessionId: id,
        state: 'PROVISIONING',
        endReason: null,
        surfaces: {},
      });
      request.socket.destroy();
    });
    const ready = gateway.control.routes.get(id);
    expect(await get(id)).toMatchObject({ status: 503, code: 'provisioning' });
    gateway.control.change(id, ready ?? {});
    await until(
      async () => {
        const answer = await ask(gateway.port, { host: gateway.hostOf(id), method: 'POST' });
        return answer.code === 'host_broke_off' && answer;
      },
      { timeoutMs: 30_000, what: 'an answer that asks for no other try' },
    );
  });

  it('that moved is found at its new address when the old one accepts no connection', async () => {
    const gone = createServer();
    const id = await gateway.serveBy(gone);
    const here = createServer((request, response) => {
      request.pipe(response);
    });
    const api = `http://127.0.0.1:${await listenLocally(here)}`;
    const route = gateway.control.routes.get(id);
    gone.on('request', (_, response) => response.end('first'));
    expect((await get(id)).body).toBe('first');
    await endServer(gone);
    if (route !== undefined) gateway.control.routes.set(id, { ...route, surfaces: { api } });
    const body = 'x'.repeat(100_000);
    const answer = await ask(gateway.port, { host: gateway.hostOf(id), method: 'POST', body });
    expect(answer.body).toBe(body);
    await endServer(here);
    expect(await get(id)).toMatchObject({ status: 502, code: 'host_unreachable' });
  });
});

describe('an interruption of the feed', () => {
  it('makes the gateway look up every route again', async () => {
    const id = await gateway.serve((_, response) => response.end('fine'));
    await get(id);
    const route = gateway.control.routes.get(id);
    if (route === undefined) throw new Error('no route');
    gateway.control.routes.set(id, { ...route, state: 'CLOSED', endReason: 'idle', surfaces: {} });
    expect(await get(id)).toMatchObject({ status: 200 });
    gateway.control.breakOff();
    await soon(id, { status: 410 });
  });
});

describe('without a control plane', () => {
  it('known sessions are still served, others get 503, and missed changes are applied afterwards', async () => {
    const id = await gateway.serve((_, response) => response.end('fine'));
    const other = await gateway.serve((_, response) => response.end('fine'));
    expect(await get(id)).toMatchObject({ status: 200 });
    gateway.control.goAway();
    for (let i = 0; i < 5; i += 1) expect(await get(id)).toMatchObject({ status: 200 });
    expect(await get(other)).toMatchObject({
      status: 503,
      code: 'route_unknown',
      headers: { 'retry-after': '1' },
    });
    const ready = await ask(gateway.port, { host: 'x', path: '/ready' });
    expect(ready.status).toBe(200);
    const route = gateway.control.routes.get(id);
    if (route !== undefined) {
      gateway.control.routes.set(id, { ...route, state: 'FAILED', endReason: 'host_lost' });
    }
    gateway.control.comeBack();
    await soon(other, { status: 200 });
    await soon(id, { status: 410, code: 'failed' });
  });
});

describe('a gateway whose token the control plane refuses', () => {
  it('is not ready and serves no session until its token is accepted again', async () => {
    const id = await gateway.serve((_, response) => response.end('fine'));
    expect(await get(id)).toMatchObject({ status: 200 });
    const readiness = () => ask(gateway.port, { host: 'x', path: '/ready' });
    gateway.control.refuse();
    const ready = await until(
      async () => {
        const answer = await readiness();
        return answer.status === 503 ? answer : undefined;
      },
      { timeoutMs: 30_000, what: 'not ready' },
    );
    expect(JSON.parse(ready.body)).toMatchObject({
      checks: { control_plane: expect.stringContaining('refuses this gateway') },
    });
    await soon(id, { status: 503, code: 'route_unknown' });
    gateway.control.comeBack();
    await soon(id, { status: 200 });
    await until(async () => (await readiness()).status === 200, {
      timeoutMs: 30_000,
      what: 'ready again',
    });
  });
});
