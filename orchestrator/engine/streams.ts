/**
 * The engine's progress streams (pull, import, build): one JSON object after another, of which one may
 * be an error that the request's status did not tell.
 */
import { createInterface } from 'node:readline';
import { AppError } from '#domain/error.ts';

type ProgressLine = { stream?: string; status?: string; error?: string };

/** Reads a stream to its end, each text as it comes. Throws `unavailable` with the error it carries. */
export const followStream = async (
  stream: NodeJS.ReadableStream,
  onText: (text: string) => void,
): Promise<void> => {
  for await (const line of createInterface({ input: stream })) {
    if (line.trim() === '') continue;
    const { stream: text, status, error } = JSON.parse(line) as ProgressLine;
    if (error !== undefined) throw new AppError('unavailable', error.trim());
    const said = (text ?? status ?? '').trim();
    if (said !== '') onText(said);
  }
};
