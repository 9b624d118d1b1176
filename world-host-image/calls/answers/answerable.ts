/**
 * Detects answers that the control plane would reject: too large, nested too deep, or with member names that set
 * prototypes. The host checks an answer before sending it, while the call can still fail with a clear error.
 */
import { limits } from '#domain/limits.ts';
import { type Extent, holdsInheriting, measureJson } from '#wire/json-extent.ts';

/** Reason for rejecting an answer, with the code of the error that replaces it. */
export type AnswerFault = { code: 'invalid_output' | 'too_large'; message: string };

/** Levels of nesting that the message to the control plane adds around an answer. */
const levelsAround = 1;
/** Bytes that the message to the control plane may have in addition to an output. */
const envelopeBytes = 32 * 1024;

const tooDeep: AnswerFault = {
  code: 'invalid_output',
  message: `it nests deeper than ${limits.bodyLevels} levels`,
};

const inheriting: AnswerFault = {
  code: 'invalid_output',
  message: 'it has a member "__proto__" or "constructor.prototype"',
};

const tooLarge = (what: string): AnswerFault => ({ code: 'too_large', message: `it ${what}` });

const textOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

const faultOfExtent = ({ levels, values }: Extent): AnswerFault | undefined => {
  if (levels > limits.bodyLevels - levelsAround) return tooDeep;
  if (values < limits.bodyValues) return undefined;
  return tooLarge(`holds more than ${limits.bodyValues} values`);
};

const faultOfText = (text: string, bytes: number, answer: object): AnswerFault | undefined => {
  const most = limits.callOutputBytes + envelopeBytes;
  if (bytes > most) return tooLarge(`is ${bytes} bytes of JSON, more than ${most}`);
  const fault = faultOfExtent(measureJson(text));
  return fault ?? (holdsInheriting(text, answer) ? inheriting : undefined);
};

/**
 * Returns the size of an answer as JSON, in bytes, and its fault. The size is undefined if the answer cannot be
 * serialized; the fault is undefined if there is none.
 */
export const measureAnswer = (
  answer: object,
): { bytes: number | undefined; fault: AnswerFault | undefined } => {
  const text = textOf(answer);
  if (text === undefined) return { bytes: undefined, fault: tooDeep };
  const bytes = Buffer.byteLength(text);
  return { bytes, fault: faultOfText(text, bytes, answer) };
};

/** Returns the fault of an answer; undefined if it has none. */
export const findAnswerFault = (answer: object): AnswerFault | undefined =>
  measureAnswer(answer).fault;
