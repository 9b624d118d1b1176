/** Operation that exports the archive of a session; `host-api/session-archive.ts` describes its contents. */
import { getOperation } from '../../operation.ts';
import { Archive } from '../../schemas.ts';
import { Type } from '../../type.ts';

export const exportSession = getOperation({
  id: 'exportSession',
  summary:
    'An open session as an archive: its version, task, calls, ledger, rows and grade; it can be graded again elsewhere',
  path: '/world-sessions/{sessionId}/export',
  access: 'write',
  params: Type.Object({ sessionId: Type.String({ maxLength: 64 }) }),
  answer: Archive,
  refusals: {
    409: 'the session has ended, so its rows are gone with its host; or the session changed during each attempt',
  },
});
