/**
 * Runs a control plane alone in a process, so that its cost can be measured. It gets the address of
 * its database, and has a world and a session served by a host. It sends its addresses and keys to
 * its parent, and exits with it.
 */
import { createWorld, enqueueCall, openSession } from '#wire/public-api/operations.ts';
import { startTestControl } from '../../support/control/control.ts';
import { warmHost } from '../../support/control/host.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

export type Said = {
  /** Base addresses of the listeners. */
  publicUrl: string;
  hostUrl: string;
  publicKey: string;
  secretKey: string;
  hostToken: string;
  /** Values for the `{name}` parts of paths. */
  params: Record<string, string>;
  generation: number;
};

const [, , databaseUrl = ''] = process.argv;
const control = await startTestControl({
  databaseUrl,
  quotas: { sessions: 1_000_000, opensPerMinute: 1_000_000 },
});
await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
const host = await warmHost(control);
const { body: session } = await control.send(openSession, { body: { slug: 'notes' } });
await host.poll();
await host.ready();
const call = { kind: 'reset' as const };
const params = { sessionId: session.id };
const { body: queued } = await control.send(enqueueCall, { params, body: call });
await host.calls();
const said: Said = {
  publicUrl: control.running.addresses.public[0] ?? '',
  hostUrl: control.running.addresses.host[0] ?? '',
  publicKey: control.publicKey,
  secretKey: control.secretKey,
  hostToken: host.token,
  params: { ...params, hostId: host.id, callId: queued.id, slug: 'notes' },
  generation: host.generation,
};
process.on('disconnect', () => process.exit());
process.send?.(said);
