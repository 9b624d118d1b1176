/** Events that a browser reports: those for the session's ledger, and those about the browser itself. */

export type BrowserEvent = { at: string } & (
  | { kind: 'navigated'; url: string; tab: string }
  | { kind: 'downloaded'; url: string; name: string; sizeBytes: number; download: string }
  | { kind: 'download_refused'; url: string; name: string; why: string }
  | {
      kind: 'console_error';
      message: string;
      url: string;
      /** Number of errors dropped before this one. */
      dropped?: number;
    }
  | { kind: 'refused'; what: string; why: string; dropped?: number }
  | { kind: 'crashed'; signal: string | null }
  | { kind: 'restored'; tabs: number; tookMs: number }
  | { kind: 'failed'; why: string }
);

type Without<Event> = Event extends unknown ? Omit<Event, 'at'> : never;
export type NewEvent = Without<BrowserEvent>;

export type Report = (event: NewEvent) => void;

/** Maximum number of reports of one kind in a second; the next report has the number of dropped ones. */
export const mostPerSecond = 20;

/**
 * Creates a throttle for a frequent kind of event. It limits the rate of the events, and reports with the next one how
 * many were dropped.
 */
export const createThrottle = (now: () => number = Date.now) => {
  let second = 0;
  let passed = 0;
  let dropped = 0;
  return (report: (left: { dropped?: number }) => void): void => {
    const current = Math.floor(now() / 1_000);
    if (current !== second) {
      second = current;
      passed = 0;
    }
    if (passed >= mostPerSecond) {
      dropped += 1;
      return;
    }
    passed += 1;
    const left = dropped === 0 ? {} : { dropped };
    dropped = 0;
    report(left);
  };
};
