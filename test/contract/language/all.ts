/** Exports the whole corpus; its chapters are in the order in which a world is written. */

import { actionsRules } from './actions.ts';
import { artifactsRules } from './artifacts.ts';
import { captureRules } from './capture.ts';
import { capturesRules } from './captures.ts';
import type { Chapter } from './chapter.ts';
import { codeRules } from './code.ts';
import { connectorRules } from './connector.ts';
import { entitiesRules } from './entities.ts';
import { environmentRules } from './environment.ts';
import { notationRules } from './notation.ts';
import { operationsRules } from './operations.ts';
import { pagingRules } from './paging.ts';
import { redactRules } from './redact.ts';
import { relationshipsRules } from './relationships.ts';
import { rowsRules } from './rows.ts';
import { schemasRules } from './schemas.ts';
import { surfacesRules } from './surfaces.ts';
import { tasksRules } from './tasks.ts';
import { toolsRules } from './tools.ts';
import { treeRules } from './tree.ts';
import { worldJsonRules } from './world-json.ts';

/** Chapters by the name of their files. */
export const corpus: Readonly<Record<string, Chapter>> = {
  tree: treeRules,
  notation: notationRules,
  'world-json': worldJsonRules,
  schemas: schemasRules,
  entities: entitiesRules,
  relationships: relationshipsRules,
  environment: environmentRules,
  tools: toolsRules,
  code: codeRules,
  connector: connectorRules,
  capture: captureRules,
  operations: operationsRules,
  actions: actionsRules,
  paging: pagingRules,
  redact: redactRules,
  surfaces: surfacesRules,
  rows: rowsRules,
  tasks: tasksRules,
  captures: capturesRules,
  artifacts: artifactsRules,
};
