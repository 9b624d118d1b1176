/** `svc worlds session recording`: downloads the recording of a session's browser. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { pause } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import { getRecording, getRecordingFilm, getSession } from '#wire/public-api/operations.ts';
import type { RecordingView } from '#wire/public-api/sessions/recording-operations.ts';
import { connectStream } from '../service/client.ts';
import { saveStream } from '../service/save-stream.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { describeRecording } from '../views/recording.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

/** Time after the end of a session within which its browser uploads the rest of the recording, in milliseconds. */
const lastPartsMs = 10_000;
const askAgainMs = 250;

/**
 * Returns the recording. If the session has ended, waits until the recording is complete, or until its browser has no
 * more time to upload.
 */
const findWhole = async (client: Client, sessionId: string): Promise<RecordingView> => {
  const params = { sessionId };
  const { body: session } = await client.send(getSession, { params, query: {} });
  const endsAt = performance.now() + (session.closedAt === null ? 0 : lastPartsMs);
  for (;;) {
    const { body } = await client.send(getRecording, { params });
    if (body.complete || performance.now() >= endsAt) return body;
    await pause(askAgainMs);
  }
};

const save = async (context: Context, options: ServiceOptions, sessionId: string, path: string) => {
  const stream = connectStream({ env: context.env, cwd: context.cwd, data: options.data });
  await saveStream(
    await stream(getRecordingFilm, { params: { sessionId } }),
    path,
    'the recording',
  );
};

export const addSessionRecording = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'recording <session> [file]',
    summary: 'download the browser recording of a session that was opened with --record',
    example: [
      'svc worlds session recording <session>',
      'svc worlds session recording <session> film.webm --json',
    ].join('\n'),
  });
  withService(command).action(
    async (sessionId: string, file: string | undefined, options: ServiceOptions) => {
      const path = resolve(context.cwd, file ?? `${sessionId}.webm`);
      const recording = await withProgress(
        { out: context.err, step: 'waiting for the rest of the recording' },
        () => findWhole(clientFor(context, options), sessionId),
      );
      await withProgress({ out: context.err, step: `writing ${path}` }, () =>
        save(context, options, sessionId, path),
      );
      printAnswer(context, options, { ...recording, file: path }, () =>
        describeRecording(recording, path),
      );
    },
  );
};
