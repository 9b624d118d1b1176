/** `svc worlds session`: the life of a session, one command a step. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addSessionCall } from './session-call.ts';
import { addSessionClose } from './session-close.ts';
import { addSessionGrade } from './session-grade.ts';
import { addSessionList } from './session-list.ts';
import { addSessionOpen } from './session-open.ts';
import { addSessionPin } from './session-pin.ts';
import { addSessionRequests } from './session-requests.ts';
import { addSessionReset } from './session-reset.ts';
import { addSessionSeed } from './session-seed.ts';
import { addSessionShow } from './session-show.ts';
import { addSessionState } from './session-state.ts';

export const addSessions = (worlds: Command, context: Context): void => {
  const session = worlds
    .command('session')
    .description('open a session of a world, drive it, grade it, close it');
  addSessionOpen(session, context);
  addSessionList(session, context);
  addSessionShow(session, context);
  addSessionCall(session, context);
  addSessionState(session, context);
  addSessionSeed(session, context);
  addSessionReset(session, context);
  addSessionRequests(session, context);
  addSessionGrade(session, context);
  addSessionPin(session, context);
  addSessionClose(session, context);
};
