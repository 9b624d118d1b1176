/**
 * What a recording of a session's browser is held to. Pictures are taken when something has changed, and each stands
 * until the next; a part is what is kept at once, and what is lost at most when a browser is.
 */

/** Sizes in bytes, times in milliseconds, lengths in pixels. */
export const recordingLimits = {
  /** All pictures of a session together; then it is cut. */
  bytes: 128 * 1024 * 1024,
  width: 1_280,
  height: 800,
  /** Between two pictures, at least. */
  pictureMs: 250,
  /** A part ends when it has lasted so long or holds so much. */
  partMs: 5_000,
  partBytes: 512 * 1024,
  partPictures: 32,
  pictureBytes: 512 * 1024,
  /** How long it is kept when its session has ended. */
  keptDays: 30,
} as const;

/**
 * Where another browser, or another profile, begins to be seen. `start`: the first; `reset`: the session was; `restored`:
 * Chromium was lost and started again; `reclaimed`: another browser took the place of one that was lost.
 */
export const recordingMarks = ['start', 'reset', 'restored', 'reclaimed'] as const;
export type RecordingMark = (typeof recordingMarks)[number];
