/** Formats the recording of a session's browser for a person. */
import type { RecordingView } from '#wire/public-api/sessions/recording-operations.ts';
import { formatCount, formatDuration, formatFields } from '../terminal/print.ts';

const marksText = ({ marks }: RecordingView): string | undefined => {
  const later = marks.filter(({ what }) => what !== 'start');
  if (later.length === 0) return undefined;
  return later.map(({ atMs, what }) => `${what} at ${formatDuration(atMs)}`).join(', ');
};

/** Formats what was written to a file: duration, number of pictures, size. */
export const describeRecording = (recording: RecordingView, path: string): string => {
  const { durationMs, pictures, bytes, complete, cutAt } = recording;
  const length = `${formatDuration(durationMs)}, ${formatCount(pictures, 'picture')}`;
  return formatFields([
    ['file', `${path} (${Math.ceil(bytes / 1024)} KiB)`],
    ['film', length],
    ['marks', marksText(recording)],
    ['cut', cutAt === null ? undefined : `cut at ${cutAt}, because the size limit was reached`],
    ['so far', complete ? undefined : 'the session is open, and its recording continues'],
  ]);
};
