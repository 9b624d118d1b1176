/**
 * Reads the engine's progress streams (pull, import, build): a sequence of JSON objects, one of which may be an error
 * after the request's status reported success.
 */
import { createInterface } from 'node:readline';
import { AppError } from '#domain/error.ts';

type ProgressLine = { stream?: string; status?: string; error?: string };

/** Reads a stream to its end and passes each text on. Throws `unavailable` with the error in the stream. */
export const followStream = async (
  stream: NodeJS.ReadableStream,
  onText: (text: string) => void,
): Promise<void> => {
  for await (const line of createInterface({ input: stream })) {
    if (line.trim() === '') continue;
    const { stream: text, status, error } = JSON.parse(line) as ProgressLine;
    if (error !== undefined) throw new AppError('unavailable', error.trim());
    const message = (text ?? status ?? '').trim();
    if (message !== '') onText(message);
  }
};
