/** Reads JSON bodies: an empty one is no body, and nesting has a limit like everything else. */
import type { FastifyInstance } from 'fastify';
import { AppError } from '#domain/error.ts';

const deepest = 200;

/** Whether a JSON text opens more levels than `limit`. What stands in strings does not count. */
export const isTooDeep = (text: string, limit: number): boolean => {
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      i = endOfString(text, i);
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return false;
};

/** Index of the quote that closes the string opened at `start`; the text's end when none does. */
const endOfString = (text: string, start: number): number => {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
  } while (isEscaped(text, end));
  return end;
};

const isEscaped = (text: string, index: number): boolean => {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
};

/** Makes JSON the one kind of body that the server reads. */
export const readJsonBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body.toString();
    if (text.trim() === '') return done(null, undefined);
    if (isTooDeep(text, deepest)) {
      return done(new AppError('invalid', `the body is nested deeper than ${deepest} levels`));
    }
    return parse(request, text, done);
  });
};
