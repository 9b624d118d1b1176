/** Measures the size of requests for batching, in events; a large event counts as several events. */
import type { ScoreWrite } from '../../db/observability/scores.ts';
import type { Report } from './fold.ts';

/** Number of characters of text that count as one event. */
const charsOfEvent = 8_192;
/** Size at which counting stops, in characters; all larger requests count as this size. */
const mostChars = 16_000_000;

/**
 * Returns the total length of the texts in a JSON value, plus one for each value. It stops counting soon after `most`.
 */
const charsOf = (value: unknown, most: number): number => {
  let chars = 0;
  const left = [value];
  while (left.length > 0 && chars <= most) {
    const one = left.pop();
    chars += typeof one === 'string' ? one.length : 1;
    if (typeof one !== 'object' || one === null) continue;
    for (const [name, member] of Object.entries(one)) {
      chars += name.length;
      left.push(member);
    }
  }
  return chars;
};

const charsOfTexts = (texts: readonly (string | null)[]): number =>
  texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);

type Events = readonly { reports: readonly Report[]; scores: readonly ScoreWrite[] }[];

/** Returns the size of events, in units of 8,192 characters. */
export const sizeOfEvents = (events: Events): number => {
  let chars = 0;
  for (const { reports, scores } of events) {
    for (const { score } of scores) {
      chars += charsOfTexts([score.stringValue, score.comment, score.metadataJson]);
    }
    for (const { state } of reports) {
      chars += charsOfTexts(state.tags);
      for (const field in state.values) {
        const value = state.values[field]?.[1];
        if (typeof value === 'string') chars += value.length;
      }
      for (const [, value] of state.metadata) chars += charsOf(value, mostChars - chars);
    }
    if (chars > mostChars) break;
  }
  return Math.max(events.length, chars / charsOfEvent);
};
