/** A simulated host that keeps taking calls of its session, and answers each as a test decides. */
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import type { PlayedHost } from './host.ts';

export type Answering = {
  /** Calls that the host received, in order. */
  calls: HostCall[];
  /** Stops taking calls; calls in progress are answered. */
  stop(): Promise<void>;
};

/** Starts to take calls, one at a time, and reports the end of the session, as real hosts do. */
export const answerCalls = (
  host: PlayedHost,
  answer: (call: HostCall) => Promise<Partial<CallAnswer>> | Partial<CallAnswer>,
): Answering => {
  const calls: HostCall[] = [];
  let isStopped = false;
  const work = async (): Promise<void> => {
    let next = await host.calls(0.2);
    while (!isStopped && next.close === undefined) {
      const call = next.call as HostCall | undefined;
      if (call === undefined) {
        next = await host.calls(0.2);
        continue;
      }
      calls.push(call);
      next = await host.answer(call.id, await answer(call), 0.2);
    }
    if (next.close !== undefined) await host.closed();
  };
  const working = work();
  return {
    calls,
    async stop() {
      isStopped = true;
      await working;
    },
  };
};
