/**
 * Records which keys and tokens are in use. Uses are written periodically and in batches: no request waits for a write,
 * and each credential is written at most once a period.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Queryable } from '../../db/core/database.ts';
import { noteCredentialUses } from '../../db/projects/credentials.ts';
import type { Caller } from './endpoint.ts';

export type KeyUsage = {
  note(caller: Caller): void;
  loop: Loop<void>;
  /** Stops the loop, and writes the uses that were not written yet. */
  stop(): Promise<void>;
};

const everyMs = 20_000;
/** Maximum number of credentials recorded in one period; further ones are dropped. */
const mostNoted = 100_000;

/** Starts the recorder. */
export const startKeyUsage = (db: Queryable, log: Log): KeyUsage => {
  const used = new Set<string>();
  const tick = async (): Promise<void> => {
    if (used.size === 0) return;
    const ids = [...used];
    used.clear();
    await noteCredentialUses(db, ids);
  };
  const loop = startLoop({ name: 'uses', everyMs, tick, log });
  return {
    note(caller) {
      const credential = 'credential' in caller ? caller.credential : undefined;
      if (credential !== undefined && used.size < mostNoted) used.add(credential.id);
    },
    loop,
    async stop() {
      await loop.stop();
      await tick();
    },
  };
};
