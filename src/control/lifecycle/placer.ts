/**
 * Brings waiting sessions and warm hosts together after the fact. An open that found no host and a
 * host that found no session each look once more when their own write is done: whichever came second
 * sees the other. A polling host looks, too, in case the process died between the two.
 *
 * A host that holds a world version nobody waits for is left to the planner (`orchestrator/plan/plan.ts`),
 * which alone knows whether there is room for a fresh one and drains what stands in the way.
 */
import type { Placement } from '../db/placement.ts';
import { poolTopic } from '../news/notices.ts';
import type { Parts } from '../parts.ts';

export type PlaceParts = Pick<Parts, 'log' | 'metrics' | 'notices' | 'placer' | 'tracer'>;

const tellPlaced = ({ log, metrics, notices, tracer }: PlaceParts, placed: Placement): void => {
  log.info(placed, 'session placed');
  const endedMs = Date.now();
  tracer.add(placed.sessionId, { name: 'wait', beganMs: endedMs - placed.waitedMs, endedMs });
  metrics.claimSeconds.observe({ start: 'cold' }, placed.waitedMs / 1_000);
  notices.tell(placed.hostId, placed.sessionId, poolTopic);
};

/** Looks for a host for a session that waits. */
export const placeWaiting = async (parts: PlaceParts, sessionId: string): Promise<void> => {
  const placed = await parts.placer.placeSession(sessionId);
  for (const one of placed) tellPlaced(parts, one);
  if (!placed.some((one) => one.sessionId === sessionId)) parts.notices.tell(poolTopic);
};

/** Looks for a session for a host that is warm; true when it got one. */
export const placeWarm = async (parts: PlaceParts, hostId: string): Promise<boolean> => {
  const placed = await parts.placer.placeHost(hostId);
  for (const one of placed) tellPlaced(parts, one);
  return placed.length > 0;
};
