import { pino } from 'pino';
import { expect, it } from 'vitest';
import { AppError, type ErrorCode } from '#domain/error.ts';
import type { StreamingClient } from '#wire/client.ts';
import { heartbeat } from '#wire/host-api/operations.ts';
import { createControlLink } from './link.ts';

const log = pino({ level: 'silent' });
const input = { params: { hostId: 'hst-1' }, body: { generation: 0, rssBytes: 0 } };

/** Creates a link whose client fails once with each of the given codes, in order, and then answers. */
const linkFailing = (codes: ErrorCode[], giveUpMs = 60_000) => {
  let sent = 0;
  const send = async () => {
    const code = codes[sent];
    sent += 1;
    if (code !== undefined) throw new AppError(code, 'on purpose');
    return { status: 200, body: { drain: false } };
  };
  const client = { baseUrl: '', send } as unknown as StreamingClient;
  const link = createControlLink({ client, log, giveUpMs });
  const { signal } = new AbortController();
  return { sent: () => sent, send: () => link.send(heartbeat, input, { signal }) };
};

it('a link repeats a message until it is answered', async () => {
  const link = linkFailing(['unavailable', 'internal', 'timeout']);
  expect(await link.send()).toEqual({ drain: false });
  expect(link.sent()).toBe(4);
});

it('a link does not repeat a message that was refused', async () => {
  const link = linkFailing(['conflict']);
  await expect(link.send()).rejects.toMatchObject({ code: 'conflict' });
  expect(link.sent()).toBe(1);
});

it('a link gives up if the control plane does not answer for too long', async () => {
  const link = linkFailing(['unavailable', 'unavailable', 'unavailable'], 0);
  await expect(link.send()).rejects.toMatchObject({ code: 'timeout' });
});

it('a link stops sending when its signal aborts', async () => {
  const client = {
    baseUrl: '',
    send: async () => {
      throw new AppError('unavailable', 'away');
    },
  } as unknown as StreamingClient;
  const link = createControlLink({ client, log, giveUpMs: 60_000 });
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(link.send(heartbeat, input, { signal })).rejects.toThrow('stopped');
});
