import type { HandlerContext } from 'svc_env';

/** POST /loans/{id}/return: records that the book was brought back today. */
export async function return_loan(ctx: HandlerContext) {
  const id = Number(ctx.args.id);
  const loan = Number.isInteger(id) ? await ctx.get('loans', { id }) : null;
  if (loan === null) ctx.fail(404, { error: 'not_found' });
  if (loan.returned_on !== undefined) ctx.fail(409, { error: 'already_returned' });
  const returned_on = (await ctx.clock.now()).slice(0, 10);
  return { data: await ctx.update('loans', { id }, { returned_on }) };
}
