/** `svc worlds schema templates`: the templates that come along, to begin worlds with. */
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { summarizeTemplate, type TemplateSummary } from '#language/edit/template-summary.ts';
import { bundledTemplatesDir, readTemplateTree, templateSlugs } from '#runtime/templates.ts';
import { addCommand, printAnswer } from '../../command.ts';
import type { Context } from '../../context.ts';
import { cutLine, formatTable } from '../../print.ts';

const summarize = (slug: string): TemplateSummary => {
  const tree = readTemplateTree(bundledTemplatesDir, slug) ?? [];
  const result = summarizeTemplate(slug, tree);
  if (result.ok) return result.summary;
  const detail = { problems: result.problems };
  throw new AppError('internal', `the template ${slug} does not compile`, { detail });
};

const tableOf = (summaries: readonly TemplateSummary[], { colors }: Context): string =>
  formatTable([
    ['TEMPLATE', 'ENTITIES', 'TOOLS', 'ROUTES', 'TASKS', 'ROWS', 'DESCRIPTION'].map(colors.dim),
    ...summaries.map(({ slug, counts, description }) => [
      slug,
      ...[counts.entities, counts.tools, counts.routes, counts.tasks, counts.rows].map(String),
      cutLine(description, 70),
    ]),
  ]);

export const addTemplates = (schema: Command, context: Context): void => {
  addCommand(schema, {
    usage: 'templates',
    summary: 'the templates that come along',
    example: 'svc worlds schema templates',
  })
    .option('--json', 'print the summaries as JSON')
    .action((options: { json?: boolean }) => {
      const data = templateSlugs(bundledTemplatesDir).map(summarize);
      printAnswer(context, options, { data }, () => tableOf(data, context));
    });
};
