/** How much a request says, for what is written together: its events, of which a large one counts as several. */
import type { ScoreWrite } from '../../db/observability/scores.ts';
import type { Told } from './fold.ts';

/** So many characters of texts count as one event. */
const charsOfEvent = 8_192;
/** What says so much is as large as any: it is not counted to the end. */
const mostChars = 16_000_000;

/** The characters of a JSON value's texts, and one for each value; counts hardly further than `most`. */
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

type Events = readonly { told: readonly Told[]; scores: readonly ScoreWrite[] }[];

/** In events of up to 8,192 characters. */
export const sizeOfEvents = (events: Events): number => {
  let chars = 0;
  for (const { told, scores } of events) {
    for (const { score } of scores) {
      chars += charsOfTexts([score.stringValue, score.comment, score.metadataJson]);
    }
    for (const { state } of told) {
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
