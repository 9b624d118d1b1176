/**
 * Limits of a recording of a session's browser. A picture is taken when the page changes and is shown until the next
 * picture. Pictures are stored in parts: if a browser is lost, at most one part is lost with it.
 */

/** Limits of a recording. Sizes are in bytes, times in milliseconds, lengths in pixels. */
export const recordingLimits = {
  /** Maximum size of all pictures of a session together; a recording that reaches this size ends. */
  bytes: 128 * 1024 * 1024,
  width: 1_280,
  height: 800,
  /** Minimum time between two pictures. */
  pictureMs: 250,
  /** Maximum duration and maximum size of a part, and maximum size of one picture. */
  partMs: 5_000,
  partBytes: 512 * 1024,
  partPictures: 32,
  pictureBytes: 512 * 1024,
  /** Time for which a recording is kept after the end of its session, in days. */
  keptDays: 30,
} as const;

/**
 * Marks of the points at which a new browser or profile begins in a recording. `start`: the first browser. `reset`: the
 * session was reset. `restored`: Chromium crashed and was started again. `reclaimed`: another browser replaced a lost
 * one.
 */
export const recordingMarks = ['start', 'reset', 'restored', 'reclaimed'] as const;
export type RecordingMark = (typeof recordingMarks)[number];
