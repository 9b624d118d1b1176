/** The public API: what is served below `/api/public`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../endpoint.ts';
import { closeSession } from './close-session.ts';
import { createSurfaceLink } from './create-surface-link.ts';
import { createWorld } from './create-world.ts';
import { enqueueCall } from './enqueue-call.ts';
import { getCall } from './get-call.ts';
import { getSession } from './get-session.ts';
import { getWorld } from './get-world.ts';
import { getWorldOpenApi } from './get-world-open-api.ts';
import { listCalls } from './list-calls.ts';
import { listSessionRequests } from './list-session-requests.ts';
import { listSessions } from './list-sessions.ts';
import { listTemplates } from './list-templates.ts';
import { listWorldEntities } from './list-world-entities.ts';
import { listWorldRequests } from './list-world-requests.ts';
import { listWorldTasks } from './list-world-tasks.ts';
import { listWorlds } from './list-worlds.ts';
import { openSession } from './open-session.ts';
import { runWorldCommand } from './run-world-command.ts';
import { updateSession } from './update-session.ts';

export const publicEndpoints = (parts: Parts): Endpoint[] =>
  [
    createWorld,
    runWorldCommand,
    getWorld,
    getWorldOpenApi,
    listTemplates,
    listWorldEntities,
    listWorldTasks,
    listWorldRequests,
    listWorlds,
    openSession,
    listSessions,
    getSession,
    updateSession,
    closeSession,
    createSurfaceLink,
    enqueueCall,
    listCalls,
    getCall,
    listSessionRequests,
  ].map((make) => make(parts));
