/**
 * A handler that the worker runs right after `before`, in one round trip. The effects are the same as if the two ran
 * separately.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

const python = `
import os

kept = []
ran = []

def check(ctx):
    kept[:] = [ctx]
    way = ctx.args.get("way")
    ctx.set_header("x-left", 41)
    if ctx.body is not None:
        ctx.body["added"] = True
    ctx.args["added"] = True
    if ctx.get("notes", {"id": 50}) is None:
        ctx.insert("notes", {"id": 50, "title": "by before"})
    if way == "odd":
        ctx.set_header("x-odd", "\\u2192")
    if way == "latin":
        ctx.set_header("x-latin", "\\u00e9")
    if way == "stop":
        ctx.respond(202, {"from": "before"})

def act(ctx):
    ran.append(ctx.args.get("way"))
    way = ctx.args.get("way")
    ctx.set_header("x-own", 1)
    if way == "raise":
        raise ValueError("broken")
    if way == "fail":
        ctx.fail(409, {"message": "taken"})
    if way == "die":
        os._exit(3)
    if way == "other":
        kept[0].get("notes", {"id": 1})
    return {"args": ctx.args, "body": ctx.body, "rows": ctx.count("notes")}

def runs(ctx):
    return ran
`;

const typescript = `
import type { HandlerContext } from 'svc_env';
let kept: HandlerContext;
const ran: unknown[] = [];
export async function check(ctx: HandlerContext) {
  kept = ctx;
  const { way } = ctx.args;
  ctx.setHeader('x-left', 41);
  if (ctx.body !== null) (ctx.body as any).added = true;
  ctx.args.added = true;
  if ((await ctx.get('notes', { id: 50 })) === null)
    await ctx.insert('notes', { id: 50, title: 'by before' });
  if (way === 'odd') ctx.setHeader('x-odd', '\\u2192');
  if (way === 'latin') ctx.setHeader('x-latin', '\\u00e9');
  if (way === 'stop') ctx.respond(202, { from: 'before' });
}
export async function act(ctx: HandlerContext) {
  const { way } = ctx.args;
  ran.push(way);
  ctx.setHeader('x-own', 1);
  if (way === 'raise') throw new Error('broken');
  if (way === 'fail') ctx.fail(409, { message: 'taken' });
  if (way === 'die') (process as any).abort();
  if (way === 'other') await kept.get('notes', { id: 1 });
  return { args: ctx.args, body: ctx.body, rows: await ctx.count('notes') };
}
export const runs = () => ran;
`;

describe.each(['py', 'ts'] as const)(
  'a handler that runs after the function `before` (%s)',
  (language) => {
    let api: ApiClient;
    const serve = async (): Promise<void> => {
      api = await serveApi({
        api: `before = "check"\nhandlers = "api/hooks.${language}"`,
        operations: ['act', 'runs']
          .map((name) =>
            operation('POST', `/${name}`, `action = "handler"\nhandler = "${name}"`, {
              entity: '',
              params: ['way'],
            }),
          )
          .join(''),
        notes: notesUpTo(1),
        files: { [`api/hooks.${language}`]: language === 'py' ? python : typescript },
      });
      onTestFinished(api.stop);
    };
    const act = async (way: string) => {
      const { status, json, headers } = await api.ask('POST', `/act?way=${way}`, {
        body: { a: [1] },
      });
      return { status, json, left: headers.get('x-left'), own: headers.get('x-own'), headers };
    };
    const isKept = (): boolean => api.rows('notes', { id: 50 }).length > 0;

    it('gets the request and the rows that `before` wrote, and its answer has the headers of both functions', async () => {
      await serve();
      expect(await act('on')).toMatchObject({
        ...{ status: 200, left: '41', own: '1' },
        json: { args: { way: 'on' }, body: { a: [1] }, rows: 2 },
      });
      expect(isKept()).toBe(true);
    });

    it('answers a failure with the headers of `before`, and the writes of both functions are rolled back', async () => {
      await serve();
      for (const [way, status] of Object.entries({ raise: 500, fail: 409, other: 500 })) {
        expect(await act(way)).toMatchObject({ status, left: '41', own: '1' });
      }
      expect(await act('die')).toMatchObject({ status: 500, left: '41', own: null });
      expect(isKept()).toBe(false);
      expect((await act('on')).status).toBe(200);
    });

    it('does not run if `before` answers, or sets a header that cannot be sent', async () => {
      await serve();
      expect(await act('odd')).toMatchObject({ status: 500, json: { error: 'internal' } });
      expect(isKept()).toBe(false);
      expect(await act('latin')).toMatchObject({ status: 200, left: '41' });
      expect(await act('stop')).toMatchObject({ status: 202, json: { from: 'before' }, own: null });
      expect((await api.ask('POST', '/runs')).json).toEqual(['latin']);
    });
  },
);
