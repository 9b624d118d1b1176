/** What a browser tells of itself: what belongs into the session's ledger, and what became of the browser. */

export type BrowserEvent = { at: string } & (
  | { kind: 'navigated'; url: string; tab: string }
  | { kind: 'downloaded'; url: string; name: string; sizeBytes: number; download: string }
  | { kind: 'download_refused'; url: string; name: string; why: string }
  | {
      kind: 'console_error';
      message: string;
      url: string /** Errors left out before it. */;
      dropped?: number;
    }
  | { kind: 'refused'; what: string; why: string; dropped?: number }
  | { kind: 'crashed'; signal: string | null }
  | { kind: 'restored'; tabs: number; tookMs: number }
  | { kind: 'failed'; why: string }
);

type Without<Event> = Event extends unknown ? Omit<Event, 'at'> : never;
export type NewEvent = Without<BrowserEvent>;

export type Tell = (event: NewEvent) => void;

/** So many of a kind a second are told; how many more there were is said with the next one. */
export const mostPerSecond = 20;

/** Lets through what there may be of a noisy kind, and says how many were left out. */
export const createThrottle = (now: () => number = Date.now) => {
  let second = 0;
  let told = 0;
  let dropped = 0;
  return (tell: (left: { dropped?: number }) => void): void => {
    const current = Math.floor(now() / 1_000);
    if (current !== second) {
      second = current;
      told = 0;
    }
    if (told >= mostPerSecond) {
      dropped += 1;
      return;
    }
    told += 1;
    const left = dropped === 0 ? {} : { dropped };
    dropped = 0;
    tell(left);
  };
};
