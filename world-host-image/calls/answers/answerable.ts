/**
 * What an answer must not be to be taken by the control plane: too large, nested too deep, or with names by
 * which objects inherit. It is found here, where the call can still fail for it in words.
 */
import { limits } from '#domain/limits.ts';
import { type Extent, holdsInheriting, measureJson } from '#wire/json-extent.ts';

/** Why an answer is not taken, with the code of the error that stands in for it. */
export type AnswerFault = { code: 'invalid_output' | 'too_large'; message: string };

/** Levels that the message has around an answer. */
const levelsAround = 1;
/** Room in the message for what stands around an output. */
const roomBytes = 32 * 1024;

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
  const most = limits.callOutputBytes + roomBytes;
  if (bytes > most) return tooLarge(`is ${bytes} bytes of JSON, more than ${most}`);
  const fault = faultOfExtent(measureJson(text));
  return fault ?? (holdsInheriting(text, answer) ? inheriting : undefined);
};

/** An answer's size in bytes of JSON, where it can be written, and what is at fault with it, if anything is. */
export const measureAnswer = (
  answer: object,
): { bytes: number | undefined; fault: AnswerFault | undefined } => {
  const text = textOf(answer);
  if (text === undefined) return { bytes: undefined, fault: tooDeep };
  const bytes = Buffer.byteLength(text);
  return { bytes, fault: faultOfText(text, bytes, answer) };
};

/** What is at fault with an answer, if anything is. */
export const findAnswerFault = (answer: object): AnswerFault | undefined =>
  measureAnswer(answer).fault;
