/** A played host that goes on taking calls of its session, and answers each as a test says. */
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import type { PlayedHost } from './host.ts';

export type Answering = {
  /** The calls that it was given, in their order. */
  calls: HostCall[];
  /** Takes no more calls; what is under way is answered. */
  stop(): Promise<void>;
};

/** Begins. Calls are taken one at a time, and the end of the session is reported, as real hosts do. */
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
