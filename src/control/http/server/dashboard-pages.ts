/**
 * Serves rendered dashboards at signed addresses, see `observability/dashboards/links.ts`: the page, and the frame in
 * it. The service serves the frame only to requests from an iframe. If the frame were opened at the top level, its code
 * could navigate the whole window to another address and leak its data.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#domain/error.ts';
import { kindOf } from '../../observability/dashboards/code.ts';
import { documentPolicy } from '../../observability/dashboards/document.ts';
import {
  frameAddress,
  pageAddressUntil,
  readShownTerms,
  type ShownPart,
  type ShownTerms,
  sessionsAddress,
  shownPath,
} from '../../observability/dashboards/links.ts';
import {
  frameHeaders,
  pageHeaders,
  writeFault,
  writePage,
} from '../../observability/dashboards/page.ts';
import { makeDocument } from '../../observability/dashboards/render.ts';
import { asSessionDashboard, checkShown } from '../../observability/dashboards/session-page.ts';
import { type Dashboard, getDashboard } from '../../observability/dashboards/stored.ts';
import type { Parts } from '../../parts.ts';

type Asked = { Querystring: Record<string, unknown> };

const notInFrame = (): AppError =>
  new AppError(
    'forbidden',
    'this address is only for the frame of a dashboard page: open the page itself',
  );

const goneSignal = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
};

/** Adds the routes. */
export const addDashboardPages = (app: FastifyInstance, parts: Parts): void => {
  const read = async (part: ShownPart, { query }: FastifyRequest<Asked>) => {
    const { terms, until } = readShownTerms(parts.config.secret, part, query);
    return {
      terms,
      until,
      dashboard: await getDashboard(parts, terms.projectId, terms.dashboardId),
    };
  };

  const page = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const { terms, until, dashboard } = await read('page', request);
    const frame = frameAddress(parts, terms, until);
    const { sessionId, ...whole } = terms;
    const kind = kindOf(dashboard);
    if (kind === 'session') return send(reply, writePage({ ...dashboard, kind }, { frame }));
    const addresses =
      sessionId === undefined
        ? { frame, sessions: sessionsAddress(parts, terms, until) }
        : { frame, back: pageAddressUntil(parts, whole, until) };
    const shown = sessionId === undefined ? kind : 'session';
    return send(reply, writePage({ ...dashboard, kind: shown }, addresses));
  };

  /** Redirects a visitor who picks a session on a dashboard's page to the page of that session. */
  const session = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const { terms, until, dashboard } = await read('session', request);
    const { projectId, dashboardId } = terms;
    const sessionId = await checkShown(parts.db, projectId, dashboard, request.query.session);
    return reply.redirect(
      pageAddressUntil(parts, { projectId, dashboardId, sessionId }, until),
      302,
    );
  };

  const send = (reply: FastifyReply, html: string) => {
    return reply.headers({ ...pageHeaders }).send(html);
  };

  const write = async (
    { projectId, sessionId, taskSetId, taskId }: ShownTerms,
    dashboard: Dashboard,
    signal: AbortSignal,
  ): Promise<string> => {
    const asked = {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(taskSetId === undefined ? {} : { taskSetId }),
      ...(taskId === undefined ? {} : { taskId }),
    };
    const asker = { projectId, signal };
    try {
      const isOther = sessionId !== undefined && kindOf(dashboard) !== 'session';
      const shown = isOther ? await asSessionDashboard(parts, asker, dashboard) : dashboard;
      const made = await makeDocument(parts, asker, shown, asked);
      return made.document ?? writeFault(made.error ?? '');
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return writeFault(error.message);
    }
  };

  const frame = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const { terms, dashboard } = await read('frame', request);
    if (request.headers['sec-fetch-dest'] !== 'iframe') throw notInFrame();
    const html = await write(terms, dashboard, goneSignal(reply));
    return reply.headers(frameHeaders(documentPolicy)).send(html);
  };

  app.get<Asked>(`${shownPath}/page`, { config: { operation: 'showDashboardPage' } }, page);
  app.get<Asked>(
    `${shownPath}/session`,
    { config: { operation: 'showDashboardSession' } },
    session,
  );
  app.get<Asked>(`${shownPath}/frame`, { config: { operation: 'showDashboardFrame' } }, frame);
};
