/**
 * Limits of a recording of a session's browser. A picture is taken when the page changes and is shown until the next
 * one. A part is the unit of storage: if a browser is lost, at most one part is lost with it.
 */

/** Sizes in bytes, times in milliseconds, lengths in pixels. */
export const recordingLimits = {
  /** All pictures of a session together; at this size the recording is cut off. */
  bytes: 128 * 1024 * 1024,
  width: 1_280,
  height: 800,
  /** Shortest time between two pictures. */
  pictureMs: 250,
  /** Longest duration and largest size of a part, and of one picture. */
  partMs: 5_000,
  partBytes: 512 * 1024,
  partPictures: 32,
  pictureBytes: 512 * 1024,
  /** Retention after the end of the session, in days. */
  keptDays: 30,
} as const;

/**
 * Marks of the points where a recording shows a new browser or profile. `start`: the first one. `reset`: the session
 * was reset. `restored`: Chromium crashed and was started again. `reclaimed`: another browser replaced a lost one.
 */
export const recordingMarks = ['start', 'reset', 'restored', 'reclaimed'] as const;
export type RecordingMark = (typeof recordingMarks)[number];
